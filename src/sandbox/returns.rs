//! Goods that come back because of a claim.

use serde_json::{Value, json};

use super::state::SandboxState;
use super::things::{Claim, Order, Return, check_status, item_id, touch};
use crate::base::Instant;

/// All units of an order, on their way back.
pub fn begin(
    state: &mut SandboxState,
    order: i64,
    status: String,
    at: Instant,
) -> Result<Return, String> {
    check_status(&status)?;
    let number = state.next_number();
    Ok(Return {
        id: 160_000_000 + number,
        shipment: 47_000_000_000 + number,
        status,
        destination: "seller_address".to_owned(),
        quantity: state.orders.get(&order).map_or(1, Order::units),
        created: at,
        updated: at,
    })
}

/// A change of the way back; absent fields stay.
pub struct ReturnChange {
    pub status: Option<String>,
    pub destination: Option<String>,
    pub quantity: Option<i64>,
}

impl ReturnChange {
    pub fn is_empty(&self) -> bool {
        self.status.is_none() && self.destination.is_none() && self.quantity.is_none()
    }
}

/// Changes the way back.
pub fn alter(back: &mut Return, change: ReturnChange, now: Instant) -> Result<(), String> {
    if let Some(status) = change.status {
        check_status(&status)?;
        back.status = status;
    }
    if let Some(destination) = change.destination {
        if !matches!(&*destination, "seller_address" | "warehouse") {
            return Err("return_destination must be seller_address or warehouse".to_owned());
        }
        back.destination = destination;
    }
    if let Some(quantity) = change.quantity {
        if !(1..=10_000).contains(&quantity) {
            return Err("return_quantity must be from 1 to 10000".to_owned());
        }
        back.quantity = quantity;
    }
    touch(&mut back.updated, now);
    Ok(())
}

/// The way back as the marketplace shows it: quantities are texts.
pub fn shown(state: &SandboxState, claim: &Claim, back: &Return) -> Value {
    let date = |at: Instant| at.rfc3339().replace('Z', ".000+00:00");
    // How far each unit comes back is told by line, beginning with the first.
    let mut left = back.quantity;
    let order = state.orders.get(&claim.order);
    let lines =
        order.into_iter().flat_map(|order| order.lines.iter().map(move |line| (order, line)));
    let orders = lines.map(|(order, line)| {
        let units = line.quantity.min(left);
        left -= units;
        let kind = if units == line.quantity { "total" } else { "partial" };
        json!({
            "order_id": order.id, "item_id": item_id(line.item), "variation_id": line.variation,
            "context_type": kind, "total_quantity": format!("{}.0", line.quantity),
            "return_quantity": format!("{units}.0"),
        })
    });
    let orders: Vec<Value> = orders.collect();
    let is_whole = order.is_none_or(|order| order.units() <= back.quantity);
    let is_refunded = claim.resolution.is_some();
    let is_over = matches!(&*back.status, "delivered" | "cancelled" | "failed" | "expired");
    let status = match &*back.status {
        "label_generated" | "scheduled" => "ready_to_ship",
        status => status,
    };
    json!({
        "id": back.id, "claim_id": claim.id, "status": back.status,
        "subtype": if is_whole { "return_total" } else { "return_partial" },
        "status_money": if is_refunded { "refunded" } else { "retained" },
        "refund_at": "delivered", "resource_type": "order", "resource_id": claim.order,
        "shipments": [{
            "shipment_id": back.shipment, "status": status, "type": "return",
            "tracking_number": format!("BR{}", back.shipment),
            "destination": { "name": back.destination },
        }],
        "orders": orders, "related_entities": [], "intermediate_check": false,
        "date_created": date(back.created), "last_updated": date(back.updated),
        "date_closed": is_over.then(|| date(back.updated)),
    })
}
