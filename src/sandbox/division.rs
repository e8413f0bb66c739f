//! Shipments that their sellers divide into two boxes.

use serde::Deserialize;
use serde_json::json;

use super::call::{ButtonResult, Call, ControlResult};
use super::notifications::notify;
use super::parcels::{NewParcel, enter, pressed, ship};
use super::sales;
use super::state::SandboxState;
use super::things::{ChangeContext, Line, Order, check_length, touch};
use crate::marketplace::kinds::RecordKind;
use crate::usual;

/// Divides a shipment into two, as sellers may do once, for the reason that they
/// give. What was bought is cancelled and there again under new numbers; the goods
/// are sold only once. Returns the new orders.
pub fn split(
    state: &mut SandboxState,
    id: i64,
    reason: &str,
    context: ChangeContext,
) -> Result<Vec<i64>, String> {
    let now = context.now;
    let shipment = state.shipments.get(&id).ok_or_else(|| format!("there is no shipment {id}"))?;
    check_length(reason, 60, "reason")?;
    if matches!(&*shipment.logistic, "fulfillment" | "self_service") {
        return Err(format!("a shipment of {} is not divided", shipment.logistic));
    }
    if shipment.sibling.is_some() || !matches!(&*shipment.status, "handling" | "ready_to_ship") {
        return Err("a shipment is divided once, and before it has left".to_owned());
    }
    let (old, logistic) = (shipment.clone(), shipment.logistic.clone());
    let orders: Vec<Order> =
        old.orders.iter().filter_map(|order| state.orders.get(order)).cloned().collect();
    let boxes = divided(&orders).ok_or("there is only one unit in it")?;
    for order in &orders {
        if let Some(order) = state.orders.get_mut(&order.id) {
            "cancelled".clone_into(&mut order.status);
            order.cancel_code = Some("pack_splitted".to_owned());
            touch(&mut order.updated, now);
        }
        notify(state, context, old.seller, RecordKind::Order, order.id);
    }
    if let Some(shipment) = state.shipments.get_mut(&id) {
        enter(shipment, "cancelled".into(), Some("pack_splitted".into()), now);
        touch(&mut shipment.updated, now);
    }
    notify(state, context, old.seller, RecordKind::Shipment, id);
    let mut made = Vec::new();
    for orders in boxes {
        let pack = 2_000_000_000_000_000 + state.next_number();
        for order in orders {
            let order = Order {
                pack: Some(pack),
                shipment: None,
                created: now,
                closed: order.closed.map(|_| now),
                updated: now,
                ..order
            };
            let order = sales::record(state, order)?;
            let parcel =
                NewParcel { order, logistic: &logistic, status: "ready_to_ship".into(), at: now };
            let parcel = ship(state, parcel);
            if let Some(parcel) = parcel.and_then(|id| state.shipments.get_mut(&id)) {
                parcel.sibling = Some((id, reason.to_owned()));
            }
            notify(state, context, old.seller, RecordKind::Order, order);
            made.push(order);
        }
        let parcel = made.last().and_then(|order| state.orders.get(order)?.shipment);
        if let Some(parcel) = parcel {
            notify(state, context, old.seller, RecordKind::Shipment, parcel);
        }
    }
    Ok(made)
}

/// The contents of the two boxes: the first order alone, or one unit of the only
/// one; `None` when there is nothing to divide.
fn divided(orders: &[Order]) -> Option<[Vec<Order>; 2]> {
    match orders {
        [first, rest @ ..] if !rest.is_empty() => Some([vec![first.clone()], rest.to_vec()]),
        [order] => {
            let line = order.lines.iter().position(|line| line.quantity > 1);
            let lines = order.lines.len();
            let (mut one, mut other) = (order.clone(), order.clone());
            match line {
                Some(line) => {
                    one.lines = vec![Line { quantity: 1, ..order.lines[line].clone() }];
                    other.lines[line].quantity -= 1;
                }
                None if lines > 1 => {
                    one.lines.truncate(1);
                    other.lines.remove(0);
                }
                None => return None,
            }
            Some([vec![one], vec![other]])
        }
        _ => None,
    }
}

usual! {
    /// Why a shipment is divided.
    #[derive(Debug, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Division {
        reason: String = "OTHER_MOTIVE".to_owned(),
    }
}

/// `POST /_sandbox/shipments/{id}/split`.
pub fn control_split(call: &mut Call<'_>) -> ControlResult {
    let (Division { reason }, context) = call.body_and_context(true)?;
    let id = call.number()?;
    let orders = split(call.state, id, &reason, context)?;
    let mut shipments: Vec<i64> =
        orders.iter().filter_map(|order| call.state.orders.get(order)?.shipment).collect();
    shipments.dedup();
    Ok(json!({ "ok": true, "orders": orders, "shipments": shipments }))
}

/// `POST /acoes/envio/dividir`.
pub fn press_split(call: &mut Call<'_>) -> ButtonResult {
    let id = pressed(call)?;
    let made = split(call.state, id, "OTHER_MOTIVE", call.notified())
        .map_err(|_| format!("O envio {id} não pode ser dividido."))?;
    Ok(format!("Envio {id} dividido em dois: {} vendas novas no lugar das antigas.", made.len()))
}
