//! Until when parcels have to be handed over, when they arrive, and when they are
//! collected.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::http::Reply;
use super::shipments::{check_new_format, estimate_json, own_shipment, promised};
use super::things::{Shipment, Step, ZONE};
use crate::base::{DAY_S, Instant};

/// How soon a parcel of a sale nearby has to leave.
const NEARBY_S: i64 = 25 * 60;
/// Kinds of logistics whose parcels are collected or brought at fixed hours.
const WITH_SCHEDULE: [&str; 3] = ["cross_docking", "xd_drop_off", "xd_same_day"];
const WORKDAYS: [&str; 5] = ["monday", "tuesday", "wednesday", "thursday", "friday"];
/// Sub-statuses of a parcel that its seller has handed over.
const HANDED_OVER: [&str; 4] = ["dropped_off", "picked_up", "in_hub", "in_transit"];

/// Until when a parcel is to be handed over: 18:00 of the day after it was made,
/// unless the marketplace moved that.
fn expected(shipment: &Shipment) -> Instant {
    let usual = || ZONE.start_of(ZONE.day(shipment.created).plus(1)).plus(18 * 3600);
    let nearby = is_nearby(shipment).then(|| shipment.created.plus(NEARBY_S));
    shipment.expected.or(nearby).unwrap_or_else(usual)
}

fn is_nearby(shipment: &Shipment) -> bool {
    shipment.tags.iter().any(|tag| tag == "proximity")
}

fn is_handed_over(step: &Step) -> bool {
    let finer = step.substatus.as_deref().unwrap_or_default();
    matches!(&*step.status, "shipped" | "delivered" | "not_delivered")
        || HANDED_OVER.contains(&finer)
}

/// `GET /shipments/{id}/sla`. The marketplace tells none of cancelled parcels and of
/// those from its warehouse.
pub fn sla(call: &mut Call<'_>) -> HandlerResult {
    let shipment = own_shipment(call).map_err(|reply| match reply.status {
        404 => Reply::not_found("failed to retrieve data"),
        _ => reply,
    })?;
    if shipment.status == "cancelled" || shipment.logistic == "fulfillment" {
        return Err(Reply::not_found("failed to retrieve data"));
    }
    let expected = expected(shipment);
    let status = match shipment.since(is_handed_over) {
        Some(at) if at > expected => "delayed",
        Some(at) if ZONE.day(at) < ZONE.day(expected) => "early",
        None if call.now > expected => "delayed",
        _ => "on_time",
    };
    let service = shipment.service.as_deref();
    Reply::ok(json!({
        "status": status,
        "service": service.or(is_nearby(shipment).then_some("instant_gm")),
        // With an offset and without a fraction.
        "expected_date": with_offset(expected),
        "last_updated": shipment.updated.rfc3339(),
    }))
}

/// An instant as Brasília's clocks show it, which have had no summer time since 2019.
fn with_offset(at: Instant) -> String {
    at.minus(3 * 3600).utc().strftime("%Y-%m-%dT%H:%M:%S-03:00").to_string()
}

/// `GET /shipments/{id}/lead_time`.
pub fn lead_time(call: &mut Call<'_>) -> HandlerResult {
    check_new_format(call)?;
    let shipment = own_shipment(call)?;
    let date = |at| call.state.config.date(shipment.id, at);
    let promised = promised(shipment);
    let is_late = shipment.since(is_handed_over).unwrap_or(call.now) > expected(shipment);
    Reply::ok(json!({
        "option_id": shipment.id % 1_000_000_000, "service_id": 22, "currency_id": "BRL",
        "cost": 0, "cost_type": "free",
        "shipping_method":
            { "id": 511_948, "name": "Normal", "type": "standard", "deliver_to": "address" },
        "estimated_delivery_time": estimate_json(&date(promised), &date(shipment.created)),
        "estimated_delivery_extended": { "date": date(promised.plus(2 * DAY_S)) },
        "estimated_delivery_limit": { "date": date(promised.plus(5 * DAY_S)) },
        "estimated_delivery_final": { "date": date(promised.plus(21 * DAY_S)) },
        "delay": is_late.then_some("handling_delayed").into_iter().collect::<Vec<_>>(),
    }))
}

/// `GET /shipments/{id}/delays`: 404 when there is none.
pub fn delays(call: &mut Call<'_>) -> HandlerResult {
    check_new_format(call)?;
    let shipment = own_shipment(call)?;
    let expected = expected(shipment);
    if shipment.since(is_handed_over).unwrap_or(call.now) <= expected {
        return Err(Reply::not_found("Delays Not Found for shipment"));
    }
    Reply::ok(json!({
        "shipment_id": shipment.id,
        "delays": [{ "type": "sla_delayed", "date": expected.rfc3339(), "source": "shipping-delays" }],
    }))
}

/// `GET /users/{id}/shipping/schedule/{logistic}`: on workdays from 13:00 to 15:00,
/// for sales until noon.
pub fn schedule(call: &mut Call<'_>) -> HandlerResult {
    call.must_be_own(call.id())?;
    let logistic = call.variables.get(1).copied().unwrap_or_default();
    if !WITH_SCHEDULE.contains(&logistic) {
        return Err(Reply::not_found("not valid logistic type"));
    }
    let is_fast = logistic == "xd_same_day";
    let window = json!({
        "milkrun_same_day": is_fast, "from": "13:00", "to": "15:00", "cutoff": "12:00",
        "carrier": { "id": "17501840", "name": "Coleta Sul" },
        "vehicle": { "id": "12345", "license_plate": "ABC1D23", "vehicle_type": "Van",
            "only_for_today": false, "new_driver": false },
        "driver": { "id": "12345", "name": "João da Coleta" },
        "sla": "same_day", "logistic_type": logistic,
    });
    let mut days = serde_json::Map::new();
    for day in WORKDAYS {
        days.insert(day.to_owned(), json!({ "work": true, "detail": [window] }));
    }
    for day in ["saturday", "sunday"] {
        days.insert(day.to_owned(), json!({ "work": false, "detail": null }));
    }
    Reply::ok(json!({ "seller_id": call.id(), "schedule": Value::Object(days) }))
}
