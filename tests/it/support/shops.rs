//! A student with two shops: sales, listings, questions and claims.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::cron::json_of;
use crate::support::site::Site;
use crate::support::sync::{wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

pub const PATIENCE: Duration = Duration::from_mins(1);
pub const SALES: &str = "/painel/vendas";
pub const LISTINGS: &str = "/painel/anuncios";
pub const QUESTIONS: &str = "/painel/perguntas";
pub const CLAIMS: &str = "/painel/reclamacoes";

/// Two accounts of a student, with a sale each.
pub fn shops() -> (World, Site) {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    let ana = site.person("ana");
    for (number, name) in [(0, "LOJA UM"), (1, "LOJA DOIS")] {
        world.seller(LOJA + number, name);
        world.item(LOJA + number, "Caneca de ágata", 35.5);
        world.link(&ana, LOJA + number);
    }
    wait_until_read(&site, &ana);
    for number in [0, 1] {
        world.sale(LOJA + number);
    }
    wait_until_worked(&world, &site);
    listed(&ana, SALES, 2);
    (world, site)
}

/// Waits until a list has `count` rows, and returns them.
#[track_caller]
pub fn listed(actor: &Actor<'_>, list: &str, count: usize) -> Vec<Value> {
    until(list, PATIENCE, || {
        let found = json_of(actor, list);
        let rows = found["dados"].as_array().unwrap().clone();
        if rows.len() == count && found["total"] == count {
            return Some(rows);
        }
        // A notification that failed waits for its retry.
        actor.site().clock().advance_s(1);
        None
    })
}

#[track_caller]
pub fn ask(world: &World, account: u64, text: &str) {
    let question = json!({ "ml_user_id": account, "text": text });
    world.control("/_sandbox/questions", &question);
}
