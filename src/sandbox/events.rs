//! What happens at the marketplace when a test or a script says so: shops
//! open, things are sold, asked, claimed and changed.

use serde::Deserialize;
use serde_json::{Value, json};

use super::claims::{self, ClaimChange, NewClaim};
use super::control::{Outcome, Refusal, body, number};
use super::deliver::{self, News};
use super::history::{self, Plan};
use super::http::Request;
use super::questions::{self, NewQuestion, QuestionChange};
use super::sales::{self, NewSale, OrderChange};
use super::shops::{self, ItemChange, NewItem, NewSeller};
use super::spoil;
use super::state::World;
use crate::base::clock::Instant;

/// Does what `POST /_sandbox/…` asks for.
pub fn act(world: &mut World, segments: &[&str], request: &Request, now: Instant) -> Outcome {
    match segments {
        ["sellers"] => {
            let id = shops::open(world, body::<NewSeller>(request)?, now)?;
            Ok(json!({ "ok": true, "ml_user_id": id }))
        }
        ["items"] => {
            let id = shops::publish(world, body::<NewItem>(request)?, now)?;
            Ok(json!({ "ok": true, "id": id }))
        }
        ["items", id] => {
            shops::change_item(world, id, body::<ItemChange>(request)?, now)?;
            Ok(json!({ "ok": true }))
        }
        ["sales"] => {
            let id = sales::sell(world, body::<NewSale>(request)?, now)?;
            Ok(json!({ "ok": true, "order": order_of(world, id) }))
        }
        ["orders", id] => {
            let id = number(id)?;
            sales::change(world, id, body::<OrderChange>(request)?, now)?;
            Ok(json!({ "ok": true, "order": order_of(world, id) }))
        }
        ["questions"] => {
            let id = questions::ask(world, body::<NewQuestion>(request)?, now)?;
            Ok(json!({ "ok": true, "id": id }))
        }
        ["questions", id] => {
            questions::change(world, number(id)?, body::<QuestionChange>(request)?, now)?;
            Ok(json!({ "ok": true }))
        }
        ["claims"] => {
            let id = claims::open(world, body::<NewClaim>(request)?, now)?;
            Ok(json!({ "ok": true, "id": id }))
        }
        ["claims", id] => {
            claims::change(world, number(id)?, body::<ClaimChange>(request)?, now)?;
            Ok(json!({ "ok": true }))
        }
        ["spoil"] => {
            let what: Spoil = body(request)?;
            spoil::set(world, &what.record, what.spoiled)?;
            Ok(json!({ "ok": true }))
        }
        ["topics"] => {
            let what: TopicSwitch = body(request)?;
            switch_topic(world, what);
            Ok(json!({ "ok": true }))
        }
        ["history"] => {
            let orders = history::write(world, body::<Plan>(request)?, now)?;
            Ok(json!({ "ok": true, "orders": orders }))
        }
        ["notifications"] => {
            let what: Announcement = body(request)?;
            deliver::send_out(
                world,
                now,
                &News {
                    seller: what.ml_user_id,
                    topic: &what.topic,
                    resource: &what.resource,
                    actions: &[],
                },
            );
            Ok(json!({ "ok": true }))
        }
        _ => Err(Refusal::NotFound),
    }
}

fn order_of(world: &World, id: i64) -> Value {
    let Some(order) = world.orders.get(&id) else {
        return Value::Null;
    };
    json!({
        "id": order.id, "ml_user_id": order.seller, "status": order.status,
        "item": format!("MLB{}", order.item), "quantity": order.quantity,
        "unit_price": order.unit_price, "total": order.total(),
        "date_created": order.created.rfc3339(), "last_updated": order.updated.rfc3339(),
        "buyer": { "id": order.buyer, "nickname": order.buyer_nickname },
        "shipment": order.shipment.and_then(|id| world.shipments.get(&id)).map(|shipment| json!({
            "id": shipment.id, "status": shipment.status, "substatus": shipment.substatus,
            "logistic_type": shipment.logistic,
        })),
    })
}

/// A notification about anything, known or not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Announcement {
    ml_user_id: i64,
    topic: String,
    resource: String,
}

/// A record to be served unreadable, such as `orders/2000001`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spoil {
    record: String,
    #[serde(default = "super::sales::yes")]
    spoiled: bool,
}

/// A topic to be switched on or off, as the marketplace does to slow receivers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicSwitch {
    topic: String,
    on: bool,
}

/// Topics that may be off.
const SILENCED_MAX: usize = 100;

fn switch_topic(world: &mut World, what: TopicSwitch) {
    if what.on {
        world.silenced.remove(&what.topic);
        world.misses.remove(&what.topic);
    } else if world.silenced.len() < SILENCED_MAX {
        world.silenced.insert(what.topic);
    }
}
