//! Accounts that are read from the marketplace.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::Request;
use crate::support::cron;
use crate::support::site::{Builder, Site};
use crate::support::wait::until;
use crate::support::world::{LOJA, World};

/// Longest real time to wait for the workers.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// A shop with a listing.
pub fn shop() -> World {
    let world = World::start();
    world.seller(LOJA, "LOJA DA ANA");
    world.item(LOJA, "Garrafa térmica 1 litro", 89.9);
    world
}

pub fn joined(world: &World) -> Builder {
    Site::builder().unlimited().world(world)
}

/// Makes a sale without a notification.
pub fn quiet_sale(world: &World, shop: u64) -> String {
    let sale = world.sale_with(shop, &json!({ "notify": false }));
    sale["id"].to_string()
}

#[track_caller]
pub fn accounts(person: &Actor<'_>) -> Vec<Value> {
    let page = Request::new("GET", "/painel/ml").header("Accept", "application/json");
    person.send(page).ok()["contas"].as_array().unwrap().clone()
}

/// An area of a person's first account.
#[track_caller]
pub fn area(person: &Actor<'_>, name: &str) -> Value {
    let accounts = accounts(person);
    let areas = accounts[0]["sincronizacao"].as_array().unwrap();
    areas.iter().find(|area| area["area"] == name).unwrap().clone()
}

pub fn is_read(account: &Value) -> bool {
    let areas = account["sincronizacao"].as_array().unwrap();
    areas.iter().all(|area| area["estado"] == "em_dia")
}

pub fn has_failed(account: &Value) -> bool {
    let areas = account["sincronizacao"].as_array().unwrap();
    areas.iter().any(|area| area["estado"] == "com_erro")
}

/// Advances the clock if a reading waits for its retry. Otherwise time must not
/// pass: the marketplace drops a scan that is not continued within some
/// minutes.
#[track_caller]
pub fn pass_time_for_retries(site: &Site, person: &Actor<'_>) {
    if accounts(person).iter().any(has_failed) {
        site.clock().advance_s(5);
    }
}

/// Waits until all accounts of a person are read.
#[track_caller]
pub fn wait_until_read(site: &Site, person: &Actor<'_>) {
    let mut looks = 0;
    until("everything is read", PATIENCE, || {
        pass_time_for_retries(site, person);
        // A failed area also delays the others, and no state shows that.
        if looks % 20 == 0 {
            site.clock().advance_s(5);
        }
        looks += 1;
        accounts(person).iter().all(is_read).then_some(())
    });
}

/// Waits until every notification was delivered and handled; the clock is
/// advanced, because failed ones wait.
#[track_caller]
pub fn wait_until_worked(world: &World, site: &Site) {
    world.deliveries();
    until("the inbox is worked", PATIENCE, || {
        let waiting = site.stored("SELECT count(*) || '' FROM ml_notification WHERE state = 0");
        site.clock().advance_s(5);
        (waiting == ["0"]).then_some(())
    });
}

/// A platform that has completely read Ana's shop.
#[track_caller]
pub fn mirrored(world: &World) -> Site {
    let site = joined(world).start();
    let ana = site.person("ana");
    world.link(&ana, LOJA);
    wait_until_read(&site, &ana);
    site
}

pub fn orders(site: &Site) -> i64 {
    site.stored("SELECT count(*) || '' FROM sale_order")[0].parse().unwrap()
}

/// Runs the periodic tasks, after this time.
#[track_caller]
pub fn run_after(site: &Site, seconds: i64) -> Value {
    site.clock().advance_s(seconds);
    cron::run(site)["ml_sync"].clone()
}
