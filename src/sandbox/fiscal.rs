//! Fiscal notes of sales: those of the marketplace's own biller, and files
//! that sellers attached.

use serde_json::{Value, json};

use super::http::Reply;
use super::pdf;
use super::resources::wire_date;
use super::routes::Call;
use super::state::World;
use super::things::{Invoice, Order, mode_of};
use crate::base::clock::Instant;

/// What is asked about a note of the biller's.
pub enum Asked<'a> {
    /// By the number of an order.
    Order(&'a str),
    /// By the number of a shipment.
    Shipment(&'a str),
    /// By its own number.
    Note(&'a str),
    /// Its XML.
    Xml(&'a str),
    /// Its PDF.
    Danfe(&'a str),
}

/// Notes are numbered by their order's number, with this in front.
const NOTE: i64 = 7_000_000_000_000_000;

/// `GET /users/{id}/invoices/…`.
pub fn invoices(world: &World, call: Call, user: &str, asked: &Asked<'_>) -> Reply {
    if user != call.seller.to_string() {
        return Reply::error(403, "forbidden", "the token belongs to another user");
    }
    let number = |text: &str| text.parse::<i64>().ok();
    let order = match asked {
        Asked::Order(id) => number(id),
        Asked::Shipment(id) => number(id)
            .and_then(|id| world.shipments.get(&id))
            .and_then(|shipment| shipment.orders.first().copied()),
        Asked::Note(id) | Asked::Xml(id) | Asked::Danfe(id) => number(id).map(|id| id - NOTE),
    };
    let order = order
        .and_then(|id| world.orders.get(&id))
        .filter(|order| order.seller == call.seller && order.invoice == Invoice::Issued);
    let Some(order) = order else {
        return Reply::error(404, "not_found", "invoice not found");
    };
    match asked {
        Asked::Xml(_) => Reply::bytes(200, "application/xml", xml(order).into_bytes()),
        Asked::Danfe(_) => Reply::bytes(200, "application/pdf", danfe(world, order)),
        _ => Reply::json(200, &note(world, order)),
    }
}

fn note(world: &World, order: &Order) -> Value {
    let id = NOTE + order.id;
    let seller = order.seller;
    let host =
        if world.config.foreign_invoices { "https://documentos.sandbox.invalid" } else { "" };
    let at = wire_date(&world.config, order.id, order.updated);
    let shipment = order.shipment.and_then(|id| world.shipments.get(&id));
    json!({
        "id": id.to_string(), "status": "authorized", "transaction_status": "authorized",
        "issuer": { "id": seller }, "recipient": { "id": order.buyer },
        "shipment": shipment.map(|shipment| json!({ "id": shipment.id,
            "mode": mode_of(&shipment.logistic),
            "logistic_type": shipment.logistic })),
        "items": [{ "item_id": format!("MLB{}", order.item), "quantity": order.quantity }],
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

fn xml(order: &Order) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<nfeProc><NFe><infNFe Id=\"NFe{:044}\">\
         <total><vNF>{:.2}</vNF></total></infNFe></NFe></nfeProc>\n",
        order.id,
        order.total().reais()
    )
}

fn danfe(world: &World, order: &Order) -> Vec<u8> {
    let seller = world.sellers.get(&order.seller);
    pdf::document(&[vec![
        format!("NF{}", order.id % 1_000_000),
        format!("DANFE da nota {}", order.id % 1_000_000),
        format!("Emitente: {}", seller.map_or("", |seller| &seller.nickname)),
        format!("Pedido {}", order.id),
        format!("Valor {}", order.total().page()),
    ]])
}

/// `GET /packs/{id}/fiscal_documents`, by the number of a cart or an order.
pub fn documents(world: &World, call: Call, pack: &str) -> Reply {
    let order = match attached(world, call, pack) {
        Ok(order) => order,
        Err(refused) => return refused,
    };
    let body = json!({
        "pack_id": order.pack.unwrap_or(order.id),
        "fiscal_documents": [{
            "id": document_id(order), "date": order.updated.rfc3339(),
            "file_type": "application/pdf", "filename": "nota.pdf",
        }],
    });
    Reply::json(200, &body)
}

/// `GET /packs/{id}/fiscal_documents/{document}`.
pub fn document(world: &World, call: Call, pack: &str, document: &str) -> Reply {
    match attached(world, call, pack) {
        Err(refused) => refused,
        Ok(order) if document_id(order) == document => {
            Reply::bytes(200, "application/pdf", danfe(world, order))
        }
        Ok(_) => Reply::error(400, "bad_request", "unknown fiscal document"),
    }
}

fn document_id(order: &Order) -> String {
    format!("{}_{:032x}", order.seller, order.id)
}

fn attached<'w>(world: &'w World, call: Call, pack: &str) -> Result<&'w Order, Reply> {
    let orders = in_pack(world, pack);
    if orders.iter().any(|order| order.seller != call.seller) {
        return Err(Reply::error(403, "forbidden", "not the seller's pack"));
    }
    orders
        .into_iter()
        .find(|order| order.invoice == Invoice::Attached)
        .ok_or_else(|| Reply::error(404, "not_found", "no fiscal documents"))
}

/// Orders of a cart; an order's own number stands for a cart of its own.
fn in_pack<'w>(world: &'w World, pack: &str) -> Vec<&'w Order> {
    let Ok(number) = pack.parse::<i64>() else {
        return Vec::new();
    };
    match world.orders.get(&number) {
        Some(order) => vec![order],
        None => world.orders.values().filter(|order| order.pack == Some(number)).collect(),
    }
}

/// `GET /packs/{id}`.
pub fn pack(world: &World, call: Call, id: &str) -> Reply {
    let orders = in_pack(world, id);
    let Some(first) = orders.first() else {
        return Reply::error(404, "not_found", "pack not found");
    };
    if first.seller != call.seller {
        return Reply::error(403, "forbidden", "not the seller's pack");
    }
    // Without a colon in the offset, here alone.
    let date = |at: Instant| {
        chrono::DateTime::from_timestamp(at.minus(4 * 3600).0, 0)
            .unwrap_or_default()
            .format("%Y-%m-%dT%H:%M:%S.000-0400")
            .to_string()
    };
    let cancelled = orders.iter().all(|order| order.status == "cancelled");
    let body = json!({
        "id": first.pack.unwrap_or(first.id),
        "status": if cancelled { "cancelled" } else { "released" }, "status_detail": null,
        "orders": orders.iter().map(|order| json!({ "id": order.id })).collect::<Vec<_>>(),
        "shipment": { "id": first.shipment }, "buyer": { "id": first.buyer },
        "date_created": date(first.created), "last_updated": date(first.updated),
    });
    Reply::json(200, &body)
}
