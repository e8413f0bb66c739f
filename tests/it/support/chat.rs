//! A site that sends by a chat gateway of the sandbox.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::client::Request;
use super::site::{Builder, Site};
use super::wait::until;
use super::world::World;

/// Where the official API tells what becomes of messages.
pub const HOOK: &str = "/api/v1/webhook/chat";
/// The app's secret, and what the API shows when it asks whether the address is ours.
pub const APP_SECRET: &str = "segredo-do-aplicativo";
pub const VERIFY_TOKEN: &str = "ficha-do-webhook";
/// How long anything of the sandbox may take.
const PATIENCE: Duration = Duration::from_mins(1);

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

/// The same with the official API and a template, set up to hear what becomes of messages.
pub fn with_receipts(world: &World) -> Builder {
    with_gateway(world, "cloud")
        .config("chat.instance", "106540352242922")
        .config("chat.template", "aviso_geral")
        .config("chat.app_secret", APP_SECRET)
        .config("chat.verify_token", VERIFY_TOKEN)
        .config("messages.pace_cloud_per_s", 0)
}

/// Tells the sandbox's official API where the site is, and waits until it has made sure.
/// With `hold` it then tells only what a test says.
#[track_caller]
pub fn tell_to(world: &World, site: &Site, hold: bool) {
    let hook = json!({
        "url": format!("http://{}{HOOK}", site.address()),
        "app_secret": APP_SECRET, "verify_token": VERIFY_TOKEN, "hold": hold,
    });
    world.control("/_sandbox/chat/webhook", &hook);
    until("the address is ours", PATIENCE, || {
        (world.chat()["webhook"]["verified"] == true).then_some(())
    });
}

/// The official API tells these things, and the site took them.
#[track_caller]
pub fn tell(world: &World, statuses: &Value) {
    world.control("/_sandbox/chat/statuses", &json!({ "statuses": statuses }));
    until("all is told", PATIENCE, || (world.chat()["waiting"] == 0).then_some(()));
}

/// A body as the official API posts it, signed with a secret.
pub fn posted(body: &[u8], secret: &str) -> Request {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    let digits: Vec<String> =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let digest = digits.concat();
    Request::new("POST", HOOK)
        .header("X-Hub-Signature-256", &format!("sha256={digest}"))
        .body("application/json", body)
}
