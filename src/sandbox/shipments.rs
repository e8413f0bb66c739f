//! Shipments and their labels: how the marketplace shows them, and how they are
//! created and changed.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult, listed};
use super::http::Reply;
use super::notifications::notify;
use super::orders::check_new_domain;
use super::pdf;
use super::records::owned_or_reply;
use super::state::SandboxState;
use super::things::{Order, Shipment, ZONE, item_id, mode_of, touch};
use crate::base::{Cents, DAY_S, Instant};
use crate::marketplace::kinds::RecordKind;

/// Most labels of one call.
const LABELS_MAX: usize = 50;
/// Kinds of logistics whose labels the seller prints.
const PRINTED_BY_SELLERS: [&str; 4] = ["drop_off", "xd_drop_off", "cross_docking", "self_service"];
/// From this value on a shipment costs its seller more; the buyer pays nothing.
const FULL_COST_FROM: Cents = Cents(7_900);

/// What a shipment costs its seller, in reais.
fn cost(state: &SandboxState, shipment: &Shipment) -> f64 {
    if value_of(state, shipment) < FULL_COST_FROM { 6.85 } else { 20.5 }
}

/// Every status that a shipment may have, with the sub-statuses that the sandbox
/// simulates.
#[rustfmt::skip] // A table: one status per row.
const STATUSES: [(&str, &[&str]); 15] = [
    ("to_be_agreed", &[]),
    ("pending", &[]),
    ("handling", &[]),
    ("ready_to_ship", &["ready_to_print", "printed", "buffered", "invoice_pending"]),
    ("shipped", &[]),
    ("delivered", &[]),
    ("not_delivered", &[]),
    ("not_verified", &[]),
    ("cancelled", &[]),
    ("closed", &[]),
    ("error", &[]),
    ("active", &[]),
    ("not_specified", &[]),
    ("stale_ready_to_ship", &[]),
    ("stale_shipped", &[]),
];

/// `GET /shipments/{id}`; the header `x-format-new: true` is required.
pub fn shipment(call: &mut Call<'_>) -> HandlerResult {
    check_new_format(call)?;
    let shipment = own_shipment(call)?;
    let is_flat = call.state.config.flat_shipments;
    let body = if is_flat { flat(call.state, shipment) } else { nested(call.state, shipment) };
    Ok(Reply::json(200, &body))
}

/// `GET /shipments/{id}/costs`.
pub fn costs(call: &mut Call<'_>) -> HandlerResult {
    check_new_format(call)?;
    let shipment = own_shipment(call)?;
    let cost = cost(call.state, shipment);
    Reply::ok(json!({
        "gross_amount": cost,
        "receiver": { "user_id": buyer_of(call.state, shipment).map(|order| order.buyer), "cost": 0 },
        "senders": [{ "user_id": shipment.seller, "cost": cost }],
    }))
}

/// `GET /shipment_statuses`.
pub fn statuses(_call: &mut Call<'_>) -> HandlerResult {
    let named = |id: &str| json!({ "id": id, "name": id.replace('_', " ") });
    let statuses = STATUSES.map(|(status, finer)| {
        let mut shown = named(status);
        shown["substatuses"] = finer.iter().map(|id| named(id)).collect();
        shown
    });
    Ok(Reply::json(200, &statuses))
}

/// Checks the header that requests for shipments need.
fn check_new_format(call: &mut Call<'_>) -> Result<(), Reply> {
    if call.request.header("x-format-new") == Some("true") {
        return Ok(());
    }
    let detail = format!("GET {} without x-format-new", call.request.path);
    call.violation("old_shipment_format", detail);
    if call.state.config.flat_shipments {
        return Ok(());
    }
    Err(Reply::bad_request("header x-format-new is required"))
}

/// The caller's shipment that the address names.
fn own_shipment<'w>(call: &'w Call<'_>) -> Result<&'w Shipment, Reply> {
    owned_or_reply(
        call.number().ok().and_then(|id| call.state.shipments.get(&id)),
        call.seller,
        || Reply::not_found("shipment does not exist"),
        || Reply::forbidden("the shipment belongs to another seller"),
    )
}

fn orders_of<'w>(
    state: &'w SandboxState,
    shipment: &'w Shipment,
) -> impl Iterator<Item = &'w Order> + use<'w> {
    shipment.orders.iter().filter_map(|id| state.orders.get(id))
}

fn buyer_of<'w>(state: &'w SandboxState, shipment: &Shipment) -> Option<&'w Order> {
    state.orders.get(shipment.orders.first()?)
}

fn value_of(state: &SandboxState, shipment: &Shipment) -> Cents {
    Cents(orders_of(state, shipment).map(|order| order.total().0).sum())
}

fn nested(state: &SandboxState, shipment: &Shipment) -> Value {
    let date = |at| state.config.date(shipment.id, at);
    let buyer = buyer_of(state, shipment);
    json!({
        "id": shipment.id, "status": shipment.status, "substatus": shipment.substatus,
        "tracking_number": format!("BR{}", shipment.id), "tracking_method": "Normal",
        "logistic": { "mode": mode_of(&shipment.logistic), "type": shipment.logistic,
            "direction": "forward" },
        "declared_value": value_of(state, shipment), "tags": [],
        "lead_time": { "cost": 0, "list_cost": cost(state, shipment), "cost_type": "free",
            "buffering": { "date": shipment.buffered_until.map(date) },
            "estimated_handling_limit": { "date": date(hand_over_by(shipment)) },
            "estimated_delivery_time": { "date": date(shipment.created.plus(5 * DAY_S)) } },
        "origin": { "sender_id": shipment.seller },
        "destination": { "receiver_id": buyer.map(|order| order.buyer),
            "receiver_name": buyer.map(Order::nickname), "shipping_address": {} },
        "source": { "site_id": "MLB" }, "date_created": date(shipment.created),
        "last_updated": date(shipment.updated),
    })
}

/// Until when a parcel is to be handed over: 18:00 of the day after it was made.
fn hand_over_by(shipment: &Shipment) -> Instant {
    ZONE.start_of(ZONE.day(shipment.created).plus(1)).plus(18 * 3600)
}

/// A shipment in the format that the marketplace has retired.
fn flat(state: &SandboxState, shipment: &Shipment) -> Value {
    let date = |at| state.config.date(shipment.id, at);
    json!({
        "id": shipment.id, "mode": mode_of(&shipment.logistic),
        "logistic_type": shipment.logistic, "order_id": shipment.orders.first(),
        "status": shipment.status, "substatus": shipment.substatus,
        "tracking_number": format!("BR{}", shipment.id), "site_id": "MLB",
        "sender_id": shipment.seller, "order_cost": value_of(state, shipment),
        "status_history": { "date_shipped": null, "date_delivered": null },
        "shipping_option": { "cost": 0, "list_cost": cost(state, shipment) },
        "date_created": date(shipment.created), "last_updated": date(shipment.updated),
    })
}

/// `GET /shipments/{id}/orders`: ids as text; 204 when there are none.
pub fn orders(call: &mut Call<'_>) -> HandlerResult {
    check_new_domain(call);
    let shown = |order: &Order| {
        json!({
            "order_id": order.id.to_string(), "pack_id": order.pack.map(|pack| pack.to_string()),
            "item_id": item_id(order.item),
            "variation_id": order.variation.map(|id| id.to_string()),
            "seller_id": order.seller.to_string(), "requested_quantity": order.quantity,
        })
    };
    let orders: Vec<Value> = orders_of(call.state, own_shipment(call)?).map(shown).collect();
    Ok(if orders.is_empty() { Reply::empty(204) } else { Reply::json(200, &orders) })
}

/// `GET /shipment_labels?shipment_ids=`: one PDF for all, or what is wrong
/// with each.
pub fn labels(call: &mut Call<'_>) -> HandlerResult {
    let ids = listed(call.query("shipment_ids").unwrap_or_default());
    if ids.len() > LABELS_MAX {
        call.too_many(&format!("{} labels at once", ids.len()));
        return Err(Reply::error(400, "shipment_ids", "at most 50 shipments"));
    }
    match call.query("response_type") {
        Some("pdf") => {}
        Some("zpl2") => return Err(Reply::bad_request("only pdf here")),
        _ => return Err(Reply::bad_request("response_type must be pdf or zpl2")),
    }
    let numbers = ids.iter().filter_map(|id| id.parse().ok());
    let known: Vec<&Shipment> =
        numbers.filter_map(|id: i64| call.state.shipments.get(&id)).collect();
    if known.is_empty() || known.len() < ids.len() {
        return Err(Reply::not_found("no valid shipment id"));
    }
    let failed: Vec<Value> = known
        .iter()
        .filter_map(|shipment| Some((shipment, unprintable(shipment, call.seller)?)))
        .map(|(shipment, (cause, message))| {
            json!({ "shipment_id": shipment.id.to_string(), "message": message,
                "cause": cause, "retry": false })
        })
        .collect();
    if !failed.is_empty() {
        return Err(Reply::json(400, &json!({ "failed_shipments": failed })));
    }
    let pages: Vec<_> = known.iter().map(|shipment| label(call.state, shipment)).collect();
    let printed: Vec<i64> = known.iter().map(|shipment| shipment.id).collect();
    let context = call.notified();
    for id in printed {
        if let Some(shipment) = call.state.shipments.get_mut(&id)
            && shipment.substatus.as_deref() == Some("ready_to_print")
        {
            shipment.substatus = Some("printed".to_owned());
            touch(&mut shipment.updated, call.now);
            notify(call.state, context, call.seller, RecordKind::Shipment, id);
        }
    }
    Ok(Reply::pdf(pdf::document(&pages)))
}

/// Why a label cannot be printed: the cause and its text.
fn unprintable(shipment: &Shipment, caller: i64) -> Option<(&'static str, String)> {
    if shipment.seller != caller {
        return Some(("INVALID_SHIPMENT_CALLER", "caller is not the sender".to_owned()));
    }
    let logistic = shipment.logistic.as_str();
    if logistic == "fulfillment" {
        let text = "fulfillment shipments are not printed by sellers";
        return Some(("INVALID_SHIPMENT_FF_PUBLIC", text.to_owned()));
    }
    if mode_of(logistic) != "me2" || !PRINTED_BY_SELLERS.contains(&logistic) {
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
fn label(state: &SandboxState, shipment: &Shipment) -> Vec<String> {
    let sender = state.sellers.get(&shipment.seller);
    let buyer = buyer_of(state, shipment);
    let mut lines = vec![
        format!("BR{}", shipment.id),
        format!("Envio {}", shipment.id),
        format!("Remetente: {}", sender.map_or("", |seller| &seller.nickname)),
        format!("Destinatário: {}", buyer.map(Order::nickname).unwrap_or_default()),
        format!("Criado em {}", ZONE.page(shipment.created)),
    ];
    for order in orders_of(state, shipment) {
        let title = state.items.get(&order.item).map_or("", |item| &item.title);
        lines.push(format!("{} x {title}", order.quantity));
    }
    lines
}

/// Creates an order's shipment, or changes its status. The orders of a cart share
/// one shipment.
pub fn ship(state: &mut SandboxState, order: i64, logistic: &str, status: &str, at: Instant) {
    let number = state.next_number();
    let Some(of) = state.orders.get(&order) else {
        return;
    };
    let (seller, pack) = (of.seller, of.pack);
    let together = pack.and_then(|pack| {
        let in_pack = |other: &&Order| {
            other.seller == seller && other.pack == Some(pack) && other.shipment.is_some()
        };
        state.orders.values().find(in_pack)?.shipment
    });
    let id = of.shipment.or(together).unwrap_or(44_000_000_000 + number);
    let is_new = !state.shipments.contains_key(&id);
    let shipment = state.shipments.entry(id).or_insert_with(|| Shipment {
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
        touch(&mut shipment.updated, at);
    }
    if let Some(order) = state.orders.get_mut(&order) {
        order.shipment = Some(id);
    }
}

/// Sets the sub-status of a shipment.
pub fn refine(state: &mut SandboxState, id: i64, substatus: String, now: Instant) {
    if let Some(shipment) = state.shipments.get_mut(&id) {
        shipment.buffered_until = (substatus == "buffered").then(|| now.plus(DAY_S));
        shipment.substatus = (!substatus.is_empty()).then_some(substatus);
        touch(&mut shipment.updated, now);
    }
}
