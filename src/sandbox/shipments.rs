//! Shipments and their labels: as the marketplace shows them, and how they
//! come about.

use serde_json::{Value, json};

use super::deliver;
use super::http::{Reply, Request};
use super::orders::nickname_of;
use super::pdf;
use super::resources::wire_date;
use super::routes::Call;
use super::state::World;
use super::things::{Shipment, mode_of};
use crate::base::clock::{DAY_S, Instant, Zone};
use crate::base::money::Cents;

/// Labels of one call.
const LABELS_MAX: usize = 50;
const ZONE: Zone = Zone(chrono_tz::America::Sao_Paulo);
/// Kinds of logistics whose labels the seller prints.
const PRINTED_BY_SELLERS: [&str; 4] = ["drop_off", "xd_drop_off", "cross_docking", "self_service"];

/// `GET /shipments/{id}`; the header `x-format-new: true` is a must.
pub fn shipment(world: &mut World, call: Call, id: &str, request: &Request) -> Reply {
    if let Err(refused) = needs_new_format(world, call, request) {
        return refused;
    }
    let shipment = match own(world, call, id) {
        Ok(shipment) => shipment,
        Err(refused) => return refused,
    };
    let body =
        if world.config.flat_shipments { flat(world, shipment) } else { nested(world, shipment) };
    Reply::json(200, &body)
}

/// Shipments are asked for with a header of their own.
pub fn needs_new_format(world: &mut World, call: Call, request: &Request) -> Result<(), Reply> {
    if request.header("x-format-new") == Some("true") {
        return Ok(());
    }
    let detail = format!("GET {} without x-format-new", request.path);
    world.violation(call.now, "old_shipment_format", detail);
    if world.config.flat_shipments {
        return Ok(());
    }
    let text = "header x-format-new is required";
    Err(Reply::error(400, "bad_request", text))
}

/// The caller's shipment of an id.
pub fn own<'w>(world: &'w World, call: Call, id: &str) -> Result<&'w Shipment, Reply> {
    let found = id.parse().ok().and_then(|id: i64| world.shipments.get(&id));
    match found {
        None => Err(Reply::error(404, "not_found", "shipment does not exist")),
        Some(shipment) if shipment.seller != call.seller => {
            Err(Reply::error(403, "forbidden", "the shipment belongs to another seller"))
        }
        Some(shipment) => Ok(shipment),
    }
}

fn value_of(world: &World, shipment: &Shipment) -> Cents {
    let orders = shipment.orders.iter().filter_map(|id| world.orders.get(id));
    Cents(orders.map(|order| order.total().0).sum())
}

fn nested(world: &World, shipment: &Shipment) -> Value {
    let date = |at| wire_date(&world.config, shipment.id, at);
    let buyer = shipment.orders.first().and_then(|id| world.orders.get(id));
    json!({
        "id": shipment.id, "status": shipment.status, "substatus": shipment.substatus,
        "tracking_number": format!("BR{}", shipment.id), "tracking_method": "Normal",
        "logistic": { "mode": mode_of(&shipment.logistic), "type": shipment.logistic,
            "direction": "forward" },
        "declared_value": value_of(world, shipment), "tags": [],
        "lead_time": { "cost": 0, "list_cost": 20.5, "cost_type": "free",
            "buffering": { "date": shipment.buffered_until.map(date) },
            "estimated_delivery_time": { "date": date(shipment.created.plus(5 * DAY_S)) } },
        "origin": { "sender_id": shipment.seller },
        "destination": { "receiver_id": buyer.map(|order| order.buyer),
            "receiver_name": buyer.map(nickname_of), "shipping_address": {} },
        "source": { "site_id": "MLB" }, "date_created": date(shipment.created),
        "last_updated": date(shipment.updated),
    })
}

/// The shape that the marketplace has retired.
fn flat(world: &World, shipment: &Shipment) -> Value {
    let date = |at| wire_date(&world.config, shipment.id, at);
    json!({
        "id": shipment.id, "mode": mode_of(&shipment.logistic),
        "logistic_type": shipment.logistic, "order_id": shipment.orders.first(),
        "status": shipment.status, "substatus": shipment.substatus,
        "tracking_number": format!("BR{}", shipment.id), "site_id": "MLB",
        "sender_id": shipment.seller, "order_cost": value_of(world, shipment),
        "status_history": { "date_shipped": null, "date_delivered": null },
        "shipping_option": { "cost": 0, "list_cost": 20.5 },
        "date_created": date(shipment.created), "last_updated": date(shipment.updated),
    })
}

/// `GET /shipments/{id}/orders`: ids as text; 204 when there are none.
pub fn orders_of(world: &mut World, call: Call, id: &str, request: &Request) -> Reply {
    needs_new_domain(world, call, request);
    let shipment = match own(world, call, id) {
        Ok(shipment) => shipment,
        Err(refused) => return refused,
    };
    let orders: Vec<Value> = shipment
        .orders
        .iter()
        .filter_map(|id| world.orders.get(id))
        .map(|order| {
            json!({
                "order_id": order.id.to_string(),
                "pack_id": order.pack.map(|pack| pack.to_string()),
                "item_id": format!("MLB{}", order.item),
                "variation_id": order.variation.map(|id| id.to_string()),
                "seller_id": order.seller.to_string(), "requested_quantity": order.quantity,
            })
        })
        .collect();
    if orders.is_empty() {
        return Reply::text(204, String::new());
    }
    Reply::json(200, &orders)
}

/// `GET /orders/{id}/shipments`: always an array; 204 when there is none yet.
pub fn of_order(world: &mut World, call: Call, id: &str, request: &Request) -> Reply {
    needs_new_domain(world, call, request);
    let order = id.parse().ok().and_then(|id: i64| world.orders.get(&id));
    let shipment = match order {
        None => return Reply::error(404, "order_not_found", "order does not exist"),
        Some(order) if order.seller != call.seller => {
            let text = "the order belongs to another seller";
            return Reply::error(403, "not_owned_order", text);
        }
        Some(order) => order.shipment,
    };
    match shipment {
        None => Reply::text(204, String::new()),
        Some(id) => Reply::json(200, &json!([{ "id": id, "type": "forward" }])),
    }
}

fn needs_new_domain(world: &mut World, call: Call, request: &Request) {
    if request.header("x-new-domain") != Some("true") {
        let detail = format!("GET {} without X-New-Domain", request.path);
        world.violation(call.now, "old_relation", detail);
    }
}

/// `GET /shipment_labels?shipment_ids=`: one PDF for all, or what is wrong
/// with each.
pub fn labels(world: &mut World, call: Call, request: &Request) -> Reply {
    let ids = request.query("shipment_ids").unwrap_or_default();
    let ids: Vec<&str> = ids.split(',').filter(|id| !id.is_empty()).collect();
    if ids.len() > LABELS_MAX {
        let detail = format!("{} labels at once", ids.len());
        world.violation(call.now, "limit_exceeded", detail);
        return Reply::error(400, "shipment_ids", "at most 50 shipments");
    }
    match request.query("response_type") {
        Some("pdf") => {}
        Some("zpl2") => return Reply::error(400, "bad_request", "only pdf here"),
        _ => return Reply::error(400, "bad_request", "response_type must be pdf or zpl2"),
    }
    let known: Vec<i64> = ids
        .iter()
        .filter_map(|id| id.parse().ok())
        .filter(|id| world.shipments.contains_key(id))
        .collect();
    if known.is_empty() || known.len() < ids.len() {
        return Reply::error(404, "not_found", "no valid shipment id");
    }
    let failed: Vec<Value> = known
        .iter()
        .filter_map(|id| world.shipments.get(id))
        .filter_map(|shipment| Some((shipment, unprintable(shipment, call.seller)?)))
        .map(|(shipment, (cause, message))| {
            json!({ "shipment_id": shipment.id.to_string(), "message": message,
                "cause": cause, "retry": false })
        })
        .collect();
    if !failed.is_empty() {
        return Reply::json(400, &json!({ "failed_shipments": failed }));
    }
    let pages: Vec<Vec<String>> = known
        .iter()
        .filter_map(|id| world.shipments.get(id))
        .map(|shipment| label(world, shipment))
        .collect();
    for id in known {
        if let Some(shipment) = world.shipments.get_mut(&id)
            && shipment.substatus.as_deref() == Some("ready_to_print")
        {
            shipment.substatus = Some("printed".to_owned());
            touch(shipment, call.now);
            let resource = format!("/shipments/{id}");
            deliver::notify(world, call.now, call.seller, "shipments", &resource);
        }
    }
    Reply::bytes(200, "application/pdf", pdf::document(&pages))
}

/// Why a label cannot be had: the cause and its text.
fn unprintable(shipment: &Shipment, caller: i64) -> Option<(&'static str, String)> {
    if shipment.seller != caller {
        return Some(("INVALID_SHIPMENT_CALLER", "caller is not the sender".to_owned()));
    }
    if shipment.logistic == "fulfillment" {
        let text = "fulfillment shipments are not printed by sellers";
        return Some(("INVALID_SHIPMENT_FF_PUBLIC", text.to_owned()));
    }
    if mode_of(&shipment.logistic) != "me2"
        || !PRINTED_BY_SELLERS.contains(&shipment.logistic.as_str())
    {
        return Some(("INVALID_SHIPMENT_MODE", "mode is not me2".to_owned()));
    }
    let substatus = shipment.substatus.as_deref().unwrap_or_default();
    let is_ready =
        shipment.status == "ready_to_ship" && matches!(substatus, "ready_to_print" | "printed");
    let state = match substatus {
        "" => format!("status is {}", shipment.status),
        substatus => format!("status is {}, substatus is {substatus}", shipment.status),
    };
    (!is_ready).then_some(("NOT_PRINTABLE_STATUS", state))
}

/// The lines of a label.
fn label(world: &World, shipment: &Shipment) -> Vec<String> {
    let orders: Vec<_> = shipment.orders.iter().filter_map(|id| world.orders.get(id)).collect();
    let sender = world.sellers.get(&shipment.seller);
    let mut lines = vec![
        format!("BR{}", shipment.id),
        format!("Envio {}", shipment.id),
        format!("Remetente: {}", sender.map_or("", |seller| &seller.nickname)),
        format!(
            "Destinatário: {}",
            orders.first().map(|order| nickname_of(order)).unwrap_or_default()
        ),
        format!("Criado em {}", ZONE.page(shipment.created)),
    ];
    for order in orders {
        let title = world.items.get(&order.item).map_or("", |item| &item.title);
        lines.push(format!("{} x {title}", order.quantity));
    }
    lines
}

/// Makes an order's shipment, or moves it on. The orders of one cart travel
/// together.
pub fn ship(world: &mut World, order: i64, logistic: &str, status: &str, at: Instant) {
    let number = world.next_number();
    let Some(of) = world.orders.get(&order) else {
        return;
    };
    let (seller, pack) = (of.seller, of.pack);
    let together = pack.and_then(|pack| {
        let in_pack = |other: &&super::things::Order| {
            other.seller == seller && other.pack == Some(pack) && other.shipment.is_some()
        };
        world.orders.values().find(in_pack)?.shipment
    });
    let id = of.shipment.or(together).unwrap_or(44_000_000_000 + number);
    let is_new = !world.shipments.contains_key(&id);
    let shipment = world.shipments.entry(id).or_insert_with(|| Shipment {
        id,
        seller,
        orders: Vec::new(),
        status: String::new(),
        substatus: None,
        logistic: logistic.to_owned(),
        buffered_until: None,
        created: at,
        updated: at,
    });
    if !shipment.orders.contains(&order) {
        shipment.orders.push(order);
    }
    if shipment.status != status {
        shipment.substatus = (status == "ready_to_ship").then(|| "ready_to_print".to_owned());
    }
    status.clone_into(&mut shipment.status);
    if !is_new {
        touch(shipment, at);
    }
    if let Some(order) = world.orders.get_mut(&order) {
        order.shipment = Some(id);
    }
}

/// Sets the finer state of a shipment.
pub fn refine(world: &mut World, id: i64, substatus: String, now: Instant) {
    if let Some(shipment) = world.shipments.get_mut(&id) {
        shipment.buffered_until = (substatus == "buffered").then(|| now.plus(DAY_S));
        shipment.substatus = (!substatus.is_empty()).then_some(substatus);
        touch(shipment, now);
    }
}

/// A change is visible as one even within the second of the one before.
fn touch(shipment: &mut Shipment, now: Instant) {
    shipment.updated = now.max(shipment.updated.plus(1));
}
