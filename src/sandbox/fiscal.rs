//! Fiscal notes of sales: those of the marketplace's own biller, and files
//! that sellers attached.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::config::date_without_colon;
use super::http::Reply;
use super::pdf;
use super::state::SandboxState;
use super::things::{Invoice, Order, item_id, mode_of};

/// A note's number is this plus the number of its order.
const NOTE: i64 = 7_000_000_000_000_000;

/// `GET /users/{id}/invoices/orders/{id}`.
pub fn by_order(call: &mut Call<'_>) -> HandlerResult {
    let number = second_number(call);
    note_reply(call, number)
}

/// `GET /users/{id}/invoices/shipments/{id}`.
pub fn by_shipment(call: &mut Call<'_>) -> HandlerResult {
    let shipment = second_number(call).and_then(|id| call.state.shipments.get(&id));
    let order = shipment.and_then(|shipment| shipment.orders.first().copied());
    note_reply(call, order)
}

/// `GET /users/{id}/invoices/{id}`, by the note's own number.
pub fn by_note(call: &mut Call<'_>) -> HandlerResult {
    let order = noted_order(call);
    note_reply(call, order)
}

/// `GET /users/{id}/invoices/documents/xml/{id}/authorized`.
pub fn xml(call: &mut Call<'_>) -> HandlerResult {
    let order = issued(call, noted_order(call))?;
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<nfeProc><NFe><infNFe Id=\"NFe{:044}\">\
         <total><vNF>{:.2}</vNF></total></infNFe></NFe></nfeProc>\n",
        order.id,
        order.total().reais()
    );
    Ok(Reply::new(200, "application/xml", text.into_bytes()))
}

/// `GET /users/{id}/invoices/sites/MLB/documents/danfe/{id}`.
pub fn danfe(call: &mut Call<'_>) -> HandlerResult {
    let order = issued(call, noted_order(call))?;
    Ok(Reply::pdf(danfe_of(call.state, order)))
}

fn second_number(call: &Call<'_>) -> Option<i64> {
    call.variables.get(1)?.parse().ok()
}

fn noted_order(call: &Call<'_>) -> Option<i64> {
    second_number(call).map(|id| id - NOTE)
}

/// The caller's order, if the marketplace's biller has issued its note.
fn issued<'w>(call: &'w Call<'_>, order: Option<i64>) -> Result<&'w Order, Reply> {
    call.must_be_own(call.id())?;
    order
        .and_then(|id| call.state.orders.get(&id))
        .filter(|order| order.seller == call.seller && order.invoice == Invoice::Issued)
        .ok_or_else(|| Reply::not_found("invoice not found"))
}

fn note_reply(call: &Call<'_>, order: Option<i64>) -> HandlerResult {
    Ok(Reply::json(200, &note(call.state, issued(call, order)?)))
}

fn note(state: &SandboxState, order: &Order) -> Value {
    let id = NOTE + order.id;
    let seller = order.seller;
    let host =
        if state.config.foreign_invoices { "https://documentos.sandbox.invalid" } else { "" };
    let at = state.config.date(order.id, order.updated);
    let shipment = order.shipment.and_then(|id| state.shipments.get(&id));
    json!({
        "id": id.to_string(), "status": "authorized", "transaction_status": "authorized",
        "issuer": { "id": seller }, "recipient": { "id": order.buyer },
        "shipment": shipment.map(|shipment| json!({ "id": shipment.id,
            "mode": mode_of(&shipment.logistic),
            "logistic_type": shipment.logistic })),
        "items": order.lines.iter().map(|line| {
            json!({ "item_id": item_id(line.item), "quantity": line.quantity })
        }).collect::<Vec<_>>(),
        "invoice_number": order.id % 1_000_000, "invoice_series": 1, "issued_date": at,
        "amount": order.total(), "items_amount": order.total(), "errors": [], "site_id": "mlb",
        "attributes": {
            "invoice_key": format!("{:044}", order.id), "protocol": order.id.to_string(),
            "authorization_date": at, "status_code": "100", "cancellation_date": null,
            "xml_location": format!("{host}/users/{seller}/invoices/documents/xml/{id}/authorized"),
            "danfe_location": format!("{host}/users/{seller}/invoices/sites/MLB/documents/danfe/{id}"),
        },
    })
}

fn danfe_of(state: &SandboxState, order: &Order) -> Vec<u8> {
    let seller = state.sellers.get(&order.seller);
    pdf::document(&[vec![
        format!("NF{}", order.id % 1_000_000),
        format!("DANFE da nota {}", order.id % 1_000_000),
        format!("Emitente: {}", seller.map_or("", |seller| &seller.nickname)),
        format!("Pedido {}", order.id),
        format!("Valor {}", order.total().page()),
    ]])
}

/// `GET /packs/{id}/fiscal_documents`, by the number of a cart or an order.
pub fn documents(call: &mut Call<'_>) -> HandlerResult {
    let order = attached(call)?;
    Reply::ok(json!({
        "pack_id": order.pack.unwrap_or(order.id),
        "fiscal_documents": [{
            "id": document_id(order), "date": order.updated.rfc3339(),
            "file_type": "application/pdf", "filename": "nota.pdf",
        }],
    }))
}

/// `GET /packs/{id}/fiscal_documents/{id}`.
pub fn document(call: &mut Call<'_>) -> HandlerResult {
    let order = attached(call)?;
    if call.variables.get(1) != Some(&&*document_id(order)) {
        return Err(Reply::bad_request("unknown fiscal document"));
    }
    Ok(Reply::pdf(danfe_of(call.state, order)))
}

fn document_id(order: &Order) -> String {
    format!("{}_{:032x}", order.seller, order.id)
}

fn attached<'w>(call: &'w Call<'_>) -> Result<&'w Order, Reply> {
    let orders = in_pack(call);
    if orders.iter().any(|order| order.seller != call.seller) {
        return Err(Reply::forbidden("not the seller's pack"));
    }
    orders
        .into_iter()
        .find(|order| order.invoice == Invoice::Attached)
        .ok_or_else(|| Reply::not_found("no fiscal documents"))
}

/// Orders of a cart. The number of an order gives that order alone.
fn in_pack<'w>(call: &'w Call<'_>) -> Vec<&'w Order> {
    let orders = &call.state.orders;
    let Ok(number) = call.number() else {
        return Vec::new();
    };
    match orders.get(&number) {
        Some(order) => vec![order],
        None => orders.values().filter(|order| order.pack == Some(number)).collect(),
    }
}

/// `GET /packs/{id}`.
pub fn pack(call: &mut Call<'_>) -> HandlerResult {
    let orders = in_pack(call);
    let first = orders.first().ok_or_else(|| Reply::not_found("pack not found"))?;
    if first.seller != call.seller {
        return Err(Reply::forbidden("not the seller's pack"));
    }
    let cancelled = orders.iter().all(|order| order.status == "cancelled");
    let is_divided = orders.iter().all(|order| {
        order.status == "cancelled" && order.cancel_code.as_deref() == Some("pack_splitted")
    });
    Reply::ok(json!({
        "id": first.pack.unwrap_or(first.id),
        "status": if cancelled { "cancelled" } else { "released" }, "status_detail": is_divided.then_some("splitted"),
        "orders": orders.iter().map(|order| json!({ "id": order.id })).collect::<Vec<_>>(),
        "shipment": { "id": first.shipment }, "buyer": { "id": first.buyer },
        "date_created": date_without_colon(first.created),
        "last_updated": date_without_colon(first.updated),
    }))
}
