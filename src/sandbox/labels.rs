//! Labels of shipments: one PDF for all that are asked for, or what is wrong with each.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult, listed};
use super::http::Reply;
use super::notifications::notify;
use super::parcels::enter;
use super::pdf;
use super::shipments::{buyer_of, lines_of};
use super::state::SandboxState;
use super::things::{Order, Shipment, ZONE, mode_of, touch};
use crate::marketplace::kinds::RecordKind;

/// Most labels of one call.
const LABELS_MAX: usize = 50;
/// Kinds of logistics whose labels the seller prints.
const PRINTED_BY_SELLERS: [&str; 4] = ["drop_off", "xd_drop_off", "cross_docking", "self_service"];

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
            && shipment.finer() == "ready_to_print"
        {
            enter(shipment, "ready_to_ship".into(), Some("printed".into()), call.now);
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
    let substatus = shipment.finer();
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
    for (_, line) in lines_of(state, shipment) {
        let title = state.items.get(&line.item).map_or("", |item| &item.title);
        lines.push(format!("{} x {title}", line.quantity));
    }
    lines
}
