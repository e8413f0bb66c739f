//! Shipments, as the marketplace shows them, with what belongs to each: its orders,
//! its goods, its costs and its history.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::http::Reply;
use super::orders::check_new_domain;
use super::records::owned_or_reply;
use super::state::SandboxState;
use super::things::{Line, Order, Shipment, Step, item_id, mode_of};
use crate::base::{Cents, DAY_S, Instant};

/// From this value on a shipment costs its seller more; the buyer pays nothing.
const FULL_COST_FROM: Cents = Cents(7_900);

/// What a shipment costs its seller, in reais.
fn cost(state: &SandboxState, shipment: &Shipment) -> f64 {
    if value_of(state, shipment) < FULL_COST_FROM { 6.85 } else { 20.5 }
}

/// `GET /shipments/{id}`; the header `x-format-new: true` is required.
pub fn shipment(call: &mut Call<'_>) -> HandlerResult {
    check_new_format(call)?;
    let shipment = own_shipment(call)?;
    let is_flat = call.state.config.flat_shipments;
    let body = if is_flat { flat(call.state, shipment) } else { nested(call.state, shipment) };
    Ok(Reply::json(200, &body))
}

/// `GET /shipments/{id}/costs`. Of a larger sale the marketplace pays the seller's
/// other half.
pub fn costs(call: &mut Call<'_>) -> HandlerResult {
    check_new_format(call)?;
    let shipment = own_shipment(call)?;
    let cost = cost(call.state, shipment);
    let is_shared = value_of(call.state, shipment) >= FULL_COST_FROM;
    let discount =
        is_shared.then(|| json!({ "rate": 0.5, "type": "mandatory", "promoted_amount": cost }));
    Reply::ok(json!({
        "gross_amount": if is_shared { cost * 2.0 } else { cost },
        "receiver": {
            "user_id": buyer_of(call.state, shipment).map(|order| order.buyer),
            "cost": 0, "compensation": 0, "discounts": [],
        },
        "senders": [{
            "user_id": shipment.seller, "cost": cost, "compensation": 0,
            "discounts": discount.into_iter().collect::<Vec<_>>(),
        }],
    }))
}

/// `GET /shipments/{id}/history`: the latest state first.
pub fn history(call: &mut Call<'_>) -> HandlerResult {
    check_new_format(call)?;
    let shipment = own_shipment(call)?;
    let shown = |step: &Step| {
        json!({
            "status": step.status, "substatus": step.substatus,
            "date": step.at.rfc3339().replace('Z', ".000Z"),
        })
    };
    Ok(Reply::json(200, &shipment.history.iter().rev().map(shown).collect::<Vec<_>>()))
}

/// `GET /shipments/{id}/items`.
pub fn items(call: &mut Call<'_>) -> HandlerResult {
    check_new_format(call)?;
    let shipment = own_shipment(call)?;
    let state = &*call.state;
    let rows = lines_of(state, shipment).map(|(order, line)| {
        json!({
            "item_id": item_id(line.item),
            "description": state.items.get(&line.item).map(|item| &item.title),
            "quantity": line.quantity, "variation_id": line.variation,
            "dimensions": dimensions(), "order_id": order.id, "sender_id": shipment.seller,
        })
    });
    Ok(Reply::json(200, &rows.collect::<Vec<_>>()))
}

/// Checks the header that requests for shipments need.
pub fn check_new_format(call: &mut Call<'_>) -> Result<(), Reply> {
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
pub fn own_shipment<'w>(call: &'w Call<'_>) -> Result<&'w Shipment, Reply> {
    owned_or_reply(
        call.number().ok().and_then(|id| call.state.shipments.get(&id)),
        call.seller,
        || Reply::not_found("shipment does not exist"),
        || Reply::forbidden("the shipment belongs to another seller"),
    )
}

pub fn orders_of<'w>(
    state: &'w SandboxState,
    shipment: &'w Shipment,
) -> impl Iterator<Item = &'w Order> + use<'w> {
    shipment.orders.iter().filter_map(|id| state.orders.get(id))
}

pub fn buyer_of<'w>(state: &'w SandboxState, shipment: &Shipment) -> Option<&'w Order> {
    state.orders.get(shipment.orders.first()?)
}

fn value_of(state: &SandboxState, shipment: &Shipment) -> Cents {
    Cents(orders_of(state, shipment).map(|order| order.total().0).sum())
}

/// The lines of all orders in a shipment.
pub fn lines_of<'w>(
    state: &'w SandboxState,
    shipment: &'w Shipment,
) -> impl Iterator<Item = (&'w Order, &'w Line)> + use<'w> {
    orders_of(state, shipment).flat_map(|order| order.lines.iter().map(move |line| (order, line)))
}

fn dimensions() -> Value {
    json!({ "height": 10, "width": 20, "length": 30, "weight": 500 })
}

fn nested(state: &SandboxState, shipment: &Shipment) -> Value {
    let date = |at| state.config.date(shipment.id, at);
    let sibling = shipment.sibling.as_ref();
    json!({
        "id": shipment.id, "status": shipment.status, "substatus": shipment.substatus,
        "tracking_number": shipment.tracking, "tracking_method": "Normal",
        "logistic": { "mode": mode_of(&shipment.logistic), "type": shipment.logistic,
            "direction": "forward" },
        "declared_value": value_of(state, shipment), "tags": shipment.tags,
        "items_types": ["new"], "dimensions": dimensions(), "quotation": null,
        "priority_class": { "id": null },
        "sibling": {
            "reason": sibling.map(|(_, reason)| reason), "sibling_id": sibling.map(|(id, _)| id),
            "description": null, "source": null,
            "date_created": sibling.map(|_| date(shipment.created)),
            "last_updated": sibling.map(|_| date(shipment.created)),
        },
        "lead_time": lead_time_json(state, shipment),
        "origin": origin_json(state, shipment), "destination": destination_json(state, shipment),
        "source": { "site_id": "MLB", "market_place": "MELI", "customer_id": null,
            "application_id": null },
        "date_created": date(shipment.created), "last_updated": date(shipment.updated),
    })
}

/// Until when a parcel is promised to arrive.
pub fn promised(shipment: &Shipment) -> Instant {
    shipment.created.plus(5 * DAY_S)
}

fn lead_time_json(state: &SandboxState, shipment: &Shipment) -> Value {
    let date = |at| state.config.date(shipment.id, at);
    let promised = promised(shipment);
    json!({
        "option_id": shipment.id % 1_000_000_000, "service_id": 22, "currency_id": "BRL",
        "cost": 0, "list_cost": cost(state, shipment), "cost_type": "free",
        "processing_time": null, "delivery_type": "estimated", "delivery_promise": "estimated",
        "priority_class": { "id": null },
        "shipping_method":
            { "id": 511_948, "name": "Normal", "type": "standard", "deliver_to": "address" },
        "buffering": { "date": shipment.buffered_until.map(date) },
        "pickup_promise": { "from": null, "to": null },
        "estimated_schedule_limit": { "date": null },
        "estimated_delivery_time": estimate_json(&date(promised), &date(shipment.created)),
        "estimated_delivery_extended": { "date": date(promised.plus(2 * DAY_S)) },
        "estimated_delivery_limit": { "date": date(promised.plus(5 * DAY_S)) },
        "estimated_delivery_final": { "date": date(promised.plus(21 * DAY_S)) },
    })
}

/// When a parcel arrives, if it is paid in time; hours in the units.
pub fn estimate_json(promised: &str, pay_before: &str) -> Value {
    json!({
        "type": "known", "date": promised, "pay_before": pay_before, "schedule": null,
        "unit": "hour", "shipping": 96, "handling": 24,
        "offset": { "date": null, "shipping": null }, "time_frame": { "from": null, "to": null },
    })
}

fn origin_json(state: &SandboxState, shipment: &Shipment) -> Value {
    let date = state.config.date(shipment.id, shipment.created);
    json!({
        "type": "selling_address", "sender_id": shipment.seller, "node": null,
        "snapshot": { "id": shipment.seller.to_string(), "version": 1 },
        "shipping_address": address_json("Rua das Oficinas", "120", "01500-000", &date),
    })
}

/// Where a parcel goes. The address is masked until it is paid for, and the phone
/// number is told only to those who carry parcels themselves.
fn destination_json(state: &SandboxState, shipment: &Shipment) -> Value {
    let date = state.config.date(shipment.id, shipment.created);
    let buyer = buyer_of(state, shipment);
    let is_paid = buyer.is_some_and(|order| order.closed.is_some());
    let (street, number, zip) = if is_paid {
        ("Rua das Acácias", "45", "80010-000")
    } else {
        ("XXXXXXX", "XXXXXXX", "XXXXXXX")
    };
    let phone = (is_paid && mode_of(&shipment.logistic) == "me1").then_some("41999990000");
    let mut address = address_json(street, number, zip, &date);
    address["delivery_preference"] = json!("residential");
    json!({
        "type": "buying_address", "receiver_id": buyer.map(|order| order.buyer),
        "receiver_name": buyer.map(Order::nickname), "receiver_phone": phone, "comments": null,
        "snapshot": { "id": shipment.id.to_string(), "version": 1 },
        "shipping_address": address,
    })
}

fn address_json(street: &str, number: &str, zip_code: &str, date: &str) -> Value {
    json!({
        "address_id": 1_200_000_001, "address_line": format!("{street} {number}"),
        "street_name": street, "street_number": number, "zip_code": zip_code, "comment": null,
        "intersection": null, "location_id": 0, "scoring": 0, "types": ["shipping"],
        "country": { "id": "BR", "name": "Brasil" },
        "state": { "id": "BR-PR", "name": "Paraná" },
        "city": { "id": "BR-PR-45", "name": "Curitiba" },
        "municipality": { "id": null, "name": null },
        "neighborhood": { "id": null, "name": "Centro" },
        "agency": { "carrier_id": null, "phone": null, "agency_id": null, "description": null,
            "type": null, "open_hours": null },
        "latitude": -25.43, "longitude": -49.27, "geolocation_type": "ROOFTOP",
        "geolocation_source": "map", "geolocation_last_updated": date, "node": null,
    })
}

/// A shipment in the format that the marketplace has retired.
fn flat(state: &SandboxState, shipment: &Shipment) -> Value {
    let date = |at| state.config.date(shipment.id, at);
    let since = |status: &str| shipment.since(|step| step.status == status).map(date);
    let printed = shipment.since(|step| step.is("ready_to_ship", "printed")).map(date);
    json!({
        "id": shipment.id, "mode": mode_of(&shipment.logistic),
        "logistic_type": shipment.logistic, "order_id": shipment.orders.first(),
        "status": shipment.status, "substatus": shipment.substatus,
        "tracking_number": shipment.tracking, "site_id": "MLB",
        "sender_id": shipment.seller, "order_cost": value_of(state, shipment),
        "date_first_printed": printed,
        "status_history": {
            "date_handling": since("handling"), "date_ready_to_ship": since("ready_to_ship"),
            "date_shipped": since("shipped"), "date_delivered": since("delivered"),
            "date_not_delivered": since("not_delivered"), "date_cancelled": since("cancelled"),
        },
        "shipping_option": { "cost": 0, "list_cost": cost(state, shipment) },
        "date_created": date(shipment.created), "last_updated": date(shipment.updated),
    })
}

/// `GET /shipments/{id}/orders`: ids as text; 204 when there are none. A cancelled
/// shipment names none any more.
pub fn orders(call: &mut Call<'_>) -> HandlerResult {
    check_new_domain(call);
    let shipment = own_shipment(call)?;
    if shipment.status == "cancelled" {
        return Ok(Reply::empty(204));
    }
    let shown = |(order, line): (&Order, &Line)| {
        json!({
            "order_id": order.id.to_string(), "pack_id": order.pack.map(|pack| pack.to_string()),
            "item_id": item_id(line.item),
            "variation_id": line.variation.map(|id| id.to_string()),
            "seller_id": order.seller.to_string(), "requested_quantity": line.quantity,
        })
    };
    let orders: Vec<Value> = lines_of(call.state, shipment).map(shown).collect();
    Ok(if orders.is_empty() { Reply::empty(204) } else { Reply::json(200, &orders) })
}
