//! All records of a seller, in the columns of the platform's tables. Tests compare
//! the platform's copy with them.

use serde_json::{Value, json};

use super::state::SandboxState;
use super::things::{Claim, Item, Order, Owned, Question, Seller};

/// All records of a seller.
pub fn of(state: &SandboxState, seller: &Seller) -> Value {
    let listings = of_seller(state.items.values(), seller);
    let questions = of_seller(state.questions.values(), seller);
    let claims = of_seller(state.claims.values(), seller);
    let orders = of_seller(state.orders.values(), seller);
    let is_shown = |item: &&&Item| matches!(item.status.as_str(), "active" | "paused");
    let is_open = |question: &&&Question| question.status == "UNANSWERED";
    json!({
        "account": {
            "nickname": seller.nickname,
            "reputation": seller.reputation.level.as_deref().unwrap_or_default(),
            "listings": listings.iter().filter(is_shown).count(),
            "open_questions": questions.iter().filter(is_open).count(),
            "open_claims": claims.iter().filter(|claim| claim.status != "closed").count(),
        },
        "orders": orders.into_iter().map(|order| order_row(state, order)).collect::<Vec<_>>(),
        "listings": listings.into_iter().map(listing_row).collect::<Vec<_>>(),
        "questions": questions.into_iter().map(question_row).collect::<Vec<_>>(),
        "claims": claims.into_iter().map(claim_row).collect::<Vec<_>>(),
    })
}

fn of_seller<'w, T: Owned>(records: impl Iterator<Item = &'w T>, seller: &Seller) -> Vec<&'w T> {
    records.filter(|record| record.seller() == seller.id).collect()
}

fn order_row(state: &SandboxState, order: &Order) -> Value {
    let shipment = order.shipment.and_then(|id| state.shipments.get(&id));
    json!({
        "order_id": order.id, "ml_user_id": order.seller, "status": order.status,
        "created_at": order.created.0, "closed_at": order.closed.map(|at| at.0),
        "updated_at": order.updated.0, "total_cents": order.total().0, "currency": order.currency,
        "item_id": order.item(),
        "variation_id": order.lines.first().and_then(|line| line.variation).unwrap_or(0),
        "quantity": order.units(), "buyer_id": order.buyer,
        "buyer_nickname": order.nickname(), "shipping_id": order.shipment,
        "shipping_status": shipment.map(|shipment| &shipment.status),
        "logistic_type": shipment.map(|shipment| &shipment.logistic),
    })
}

fn listing_row(item: &Item) -> Value {
    let by_variation = item.variations.iter().find_map(|kind| kind.sku.as_deref());
    json!({
        "item_id": item.number, "ml_user_id": item.seller, "site": "MLB", "title": item.title,
        "status": item.status, "sub_status": item.sub_status.join(" "),
        "price_cents": item.price.0, "currency": "BRL", "available": item.stock,
        "sold": item.sold, "listing_type": item.listing_type, "logistic_type": item.logistic,
        "category": item.category, "sku": item.sku.as_deref().or(by_variation).unwrap_or_default(),
        "ean": item.ean.as_deref().unwrap_or_default(),
        "permalink": format!("https://produto.sandbox.invalid/{}", item.id()),
        "created_at": item.created.0, "updated_at": item.updated.0,
    })
}

fn question_row(question: &Question) -> Value {
    let state = match question.status.as_str() {
        "UNANSWERED" => 1,
        "ANSWERED" => 2,
        _ => 3,
    };
    json!({
        "question_id": question.id, "ml_user_id": question.seller, "item_id": question.item,
        "asked_at": question.created.0, "state": state, "status": question.status,
        "text": question.shown_text(),
        "answer": question.answer.as_ref().map(|(text, _)| text),
        "answered_at": question.answer.as_ref().map(|(_, at)| at.0),
        "asker_id": question.buyer,
    })
}

fn claim_row(claim: &Claim) -> Value {
    json!({
        "claim_id": claim.id, "ml_user_id": claim.seller, "opened_at": claim.created.0,
        "state": if claim.status == "closed" { 2 } else { 1 }, "kind": claim.kind,
        "stage": claim.stage, "reason": claim.reason, "resource": claim.resource,
        "resource_id": claim.resource_id, "order_id": claim.order,
        "due_at": claim.action.as_ref().map(|(_, due)| due.0),
        "action": claim.action.as_ref().map(|(action, _)| action.as_str()).unwrap_or_default(),
        "resolution": claim.resolution.as_ref().map(|(why, _)| why.as_str()).unwrap_or_default(),
        "updated_at": claim.updated.0,
    })
}
