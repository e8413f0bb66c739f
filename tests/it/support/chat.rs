//! A site that sends by a chat gateway of the sandbox.

use serde_json::json;

use super::site::{Builder, Site};
use super::world::World;

/// A site whose chat gateway, of this kind, is the sandbox.
pub fn with_gateway(world: &World, gateway: &str) -> Builder {
    Site::builder()
        .unlimited()
        .world(world)
        .config("cron.enabled", true)
        .config("chat.gateway", gateway)
        .config("chat.base_url", format!("http://{}", world.address()))
        .config("chat.api_key", "segredo-do-gateway")
        .config("chat.instance", "escola")
        .config("messages.pace_evolution_per_s", 0)
}

/// Registers a student, who gets a welcome message.
#[track_caller]
pub fn welcome(site: &Site, name: &str, number: &str) {
    let body = json!({
        "nome": format!("{name} da Silva"), "email": format!("{name}@example.com"), "chat_number": number,
    });
    let crm = site.key(&["write"]);
    crm.post("/api/v1/alunos/criar", &body).expect(201);
}
