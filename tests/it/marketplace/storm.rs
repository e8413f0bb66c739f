//! Notifications in any order and number: afterwards the state is that of the
//! marketplace, and repeating them changes nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::{Actor, signed_notification};
use crate::support::client::Request;
use crate::support::random::Random;
use crate::support::site::Site;
use crate::support::sync::{wait_until_read, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::World;

const SHOPS: [u64; 2] = [900_000_001, 900_000_002];
const SALES: u64 = 40;
const PATIENCE: Duration = Duration::from_mins(2);

/// What an order must look like in the end.
type Books = BTreeMap<String, (String, Value)>;

#[test]
fn duplicates_and_disorder_end_in_what_the_marketplace_shows() {
    let world = World::start();
    let site = Site::builder().unlimited().world(&world).start();
    let person = site.person("ana");
    for shop in SHOPS {
        world.seller(shop, &format!("LOJA {shop}"));
        world.item(shop, "Garrafa térmica 1 litro", 89.9);
        world.link(&person, shop);
    }
    wait_until_read(&site, &person);
    let ana = site.seller("ana").plan("scale");
    world.configure(&json!({ "duplicates": 2, "reorder": true, "hold": true }));
    let wanted = trade(&world, &mut Random::new(7));
    world.configure(&json!({ "hold": false }));
    flood(&site, &wanted, 1);
    world.deliveries();
    until("the books agree", PATIENCE, || {
        // Each check advances the clock, so that retries run.
        site.clock().advance_s(1);
        (books(&ana) == wanted.iter().map(shown).collect()).then_some(())
    });
    wait_until_worked(&world, &site);
    let extension = site.extension("ana");
    let settled = || -> (Value, Value) {
        let orders = ana.get("/api/v1/partner/orders?limit=200").ok();
        let mut me = extension.get("/api/ext/me").ok();
        for account in me["ml"]["contas"].as_array_mut().unwrap() {
            account["sincronizado_em"] = Value::Null;
        }
        (orders, me["ml"].take())
    };
    let before = settled();
    let paid = wanted.iter().filter(|sale| sale.status == "paid").count();
    assert_eq!(before.1["vendas_hoje"], paid, "{}", before.1);
    flood(&site, &wanted, 2);
    // After a stop the worker has nothing left in memory.
    site.stop();
    site.start_again();
    flood(&site, &wanted, 1);
    assert_eq!(settled(), before, "more of the same changed something");
}

/// A sale with the status it has in the end.
struct Sale {
    shop: u64,
    id: String,
    status: String,
    total: Value,
}

fn shown(sale: &Sale) -> (String, (String, Value)) {
    (sale.id.clone(), (sale.status.clone(), sale.total.clone()))
}

/// Sales with later changes, each with a notification.
fn trade(world: &World, random: &mut Random) -> Vec<Sale> {
    (0..SALES)
        .map(|_| {
            let shop = *random.pick(&SHOPS);
            let status = random.pick(&["paid", "payment_in_process", "confirmed"]);
            let fields = json!({ "status": status, "quantity": 1 + random.below(2) });
            let mut order = world.sale_with(shop, &fields);
            for _ in 0..random.below(3) {
                let changes = [
                    json!({ "status": "paid" }),
                    json!({ "status": "cancelled" }),
                    json!({ "shipping_status": "shipped" }),
                ];
                let change = random.pick(&changes);
                let path = format!("/_sandbox/orders/{}", order["id"]);
                order = world.control(&path, change)["order"].take();
            }
            Sale {
                shop,
                id: order["id"].to_string(),
                status: order["status"].as_str().unwrap().to_owned(),
                total: order["total"].clone(),
            }
        })
        .collect()
}

/// Sends every notification again over four connections at once, each in its
/// own order: the same ones, and new ones of the same orders.
fn flood(site: &Site, sales: &[Sale], round: u64) {
    std::thread::scope(|scope| {
        for side in 0..4 {
            scope.spawn(move || {
                let mut random = Random::new(round * 10 + side);
                let marketplace = site.anonymous();
                let now = site.clock().now().as_second();
                for turn in 0..sales.len() * 3 {
                    let sale = random.pick(sales);
                    let resource = format!("/orders/{}", sale.id);
                    let id = if turn % 2 == 0 {
                        format!("mesmo-{}", sale.id)
                    } else {
                        format!("outro-{round}-{side}-{turn}")
                    };
                    let request = signed_notification(&resource, "orders_v2", sale.shop, &id, now);
                    marketplace.send(request).expect(200);
                }
            });
        }
    });
}

#[track_caller]
fn books(ana: &Actor<'_>) -> Books {
    let page = Request::new("GET", "/api/v1/partner/orders?limit=200");
    let page = ana.send(page).ok();
    let orders = page["data"].as_array().unwrap();
    let books: Books = orders
        .iter()
        .map(|order| {
            let text = |name: &str| order[name].as_str().unwrap().to_owned();
            (text("order_id"), (text("status"), order["total_amount"].clone()))
        })
        .collect();
    assert_eq!(books.len(), orders.len(), "an order is listed twice");
    books
}
