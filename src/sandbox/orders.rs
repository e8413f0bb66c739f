//! Orders, as the marketplace shows them.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::fees;
use super::http::{Reply, Request};
use super::records::{owned_or_reply, unless_spoiled};
use super::state::SandboxState;
use super::things::{Item, Line, Order, item_id, item_number};
use crate::base::{Cents, DAY_S, Instant};

/// Parameters of the search.
pub const SEARCH: &str = "seller order.status order.date_created.from order.date_created.to \
    order.date_closed.from order.date_closed.to order.date_last_updated.from \
    order.date_last_updated.to q item tags tags.not mediations.status mediations.stage sort \
    limit offset";

const PAGE_MAX: usize = 50;
const OFFSET_MAX: usize = 10_000;
const RETENTION_S: i64 = 366 * DAY_S;
/// States that a search leaves out, unless it filters by status.
const HIDDEN: [&str; 3] = ["cancelled", "pending_cancel", "invalid"];

/// `GET /orders/search`.
pub fn search(call: &mut Call<'_>) -> HandlerResult {
    match call.query("seller") {
        Some(seller) if seller == call.seller.to_string() => {}
        Some(_) => return Err(Reply::forbidden("caller.id.invalid")),
        None => return Err(Reply::bad_request("a filter is required: seller")),
    }
    let (limit, offset) = call.paging(PAGE_MAX)?;
    if limit > PAGE_MAX || offset > OFFSET_MAX {
        call.too_many(&format!("orders/search limit={limit} offset={offset}"));
        return Err(Reply::bad_request("invalid limit or offset"));
    }
    // This limit is not documented, so exceeding it is no violation.
    let is_beyond = offset >= call.state.config.orders_reach;
    if is_beyond && !call.state.config.silent_reach {
        return Err(Reply::bad_request("invalid offset"));
    }
    let filter = Filter::read(call.request).map_err(|problem| Reply::bad_request(&problem))?;
    let sort = call.query("sort").unwrap_or("date_asc");
    let oldest = filter.created.from.unwrap_or(Instant(i64::MIN));
    let newest = filter.created.to.unwrap_or(Instant(i64::MAX));
    let dates = (call.seller, oldest, i64::MIN)..=(call.seller, newest.max(oldest), i64::MAX);
    let state = &*call.state;
    let mut found: Vec<&Order> = state
        .orders_by_date
        .range(dates)
        .filter_map(|(_, _, order)| state.orders.get(order))
        .filter(|order| call.now.since(order.created) <= RETENTION_S)
        .filter(|order| filter.accepts(state, order))
        .collect();
    found.sort_by_key(|order| (order.closed.unwrap_or(order.created), order.id));
    if sort == "date_desc" {
        found.reverse();
    }
    let page = found.iter().skip(offset).take(if is_beyond { 0 } else { limit });
    let results = page.map(|order| {
        let mut body = order_json(state, order);
        body["date_last_updated"] = json!(order.indexed().rfc3339().replace('Z', ".000Z"));
        body
    });
    Reply::ok(json!({
        "query": call.query("q").unwrap_or_default(), "results": results.collect::<Vec<_>>(),
        "sort": { "id": sort }, "available_sorts": [{ "id": "date_asc" }, { "id": "date_desc" }],
        "filters": [], "paging": { "total": found.len(), "offset": offset, "limit": limit },
        "display": "complete",
    }))
}

/// The filters of a search; the marketplace ignores those it does not know.
struct Filter<'a> {
    statuses: Vec<&'a str>,
    created: Span,
    closed: Span,
    updated: Span,
    text: Option<&'a str>,
    item: Option<i64>,
}

/// A time range with optional ends.
struct Span {
    from: Option<Instant>,
    to: Option<Instant>,
}

impl Span {
    /// Reads `order.<name>.from` and `.to`. Both are rounded down to the hour: a
    /// client that does not round `to` up misses the last hour.
    fn read(request: &Request, name: &str) -> Result<Self, String> {
        let end = |end: &str| {
            let parameter = format!("order.{name}.{end}");
            let Some(text) = request.query(&parameter) else {
                return Ok(None);
            };
            Instant::parse(text)
                .map(|at| Some(Instant(at.0 - at.0.rem_euclid(3600))))
                .ok_or_else(|| format!("{parameter} is not a date with offset: {text}"))
        };
        Ok(Self { from: end("from")?, to: end("to")? })
    }

    fn accepts(&self, at: Option<Instant>) -> bool {
        let Some(at) = at else {
            return self.from.is_none() && self.to.is_none();
        };
        self.from.is_none_or(|from| from <= at) && self.to.is_none_or(|to| at <= to)
    }
}

impl<'a> Filter<'a> {
    fn read(request: &'a Request) -> Result<Self, String> {
        let statuses = request.query("order.status").map(|list| list.split(',').collect());
        Ok(Self {
            statuses: statuses.unwrap_or_default(),
            created: Span::read(request, "date_created")?,
            closed: Span::read(request, "date_closed")?,
            updated: Span::read(request, "date_last_updated")?,
            text: request.query("q").filter(|text| !text.is_empty()),
            item: request.query("item").and_then(item_number),
        })
    }

    fn accepts(&self, state: &SandboxState, order: &Order) -> bool {
        let by_status = || {
            if self.statuses.is_empty() {
                !HIDDEN.contains(&order.status.as_str())
            } else {
                self.statuses.contains(&order.status.as_str())
            }
        };
        // Dates first, because they exclude the most orders.
        self.created.accepts(Some(order.created))
            && by_status()
            && self.closed.accepts(order.closed)
            && self.updated.accepts(Some(order.indexed()))
            && self.item.is_none_or(|item| order.lines.iter().any(|line| line.item == item))
            && self.text.is_none_or(|text| mentions(state, order, text))
    }
}

fn mentions(state: &SandboxState, order: &Order, text: &str) -> bool {
    let mut items = order.lines.iter().filter_map(|line| state.items.get(&line.item));
    order.id.to_string() == text
        || order.nickname().eq_ignore_ascii_case(text)
        || items.any(|item| {
            item.id() == text || item.title.to_lowercase().contains(&text.to_lowercase())
        })
}

/// The caller's order that the address names.
fn own_order<'w>(call: &'w Call<'_>) -> Result<&'w Order, Reply> {
    let Ok(number) = call.number() else {
        return Err(Reply::error(400, "invalid_order_id", "the order id must be a number"));
    };
    own_numbered(call, Some(number))
}

fn own_numbered<'w>(call: &'w Call<'_>, number: Option<i64>) -> Result<&'w Order, Reply> {
    owned_or_reply(
        number.and_then(|number| call.state.orders.get(&number)),
        call.seller,
        || Reply::error(404, "order_not_found", "order does not exist"),
        || Reply::error(403, "not_owned_order", "the order belongs to another seller"),
    )
}

/// `GET /orders/{id}`.
pub fn order(call: &mut Call<'_>) -> HandlerResult {
    let body = order_json(call.state, own_order(call)?);
    if call.state.config.partial_orders {
        return Ok(Reply::json(206, &body).header("x-content-missing", "buyer, feedback"));
    }
    Ok(Reply::json(200, &body))
}

/// `GET /orders/{id}/discounts`.
pub fn discounts(call: &mut Call<'_>) -> HandlerResult {
    own_order(call)?;
    Ok(Reply::json(200, &json!({ "details": [] })))
}

/// `GET /orders/{id}/shipments`: always an array; 204 when there is none yet.
pub fn shipments(call: &mut Call<'_>) -> HandlerResult {
    check_new_domain(call);
    let order = own_numbered(call, call.number().ok())?;
    Ok(match order.shipment {
        None => Reply::empty(204),
        Some(id) => Reply::json(200, &json!([{ "id": id, "type": "forward" }])),
    })
}

/// Records a violation when a request for the relation of orders and shipments has
/// no `X-New-Domain` header.
pub fn check_new_domain(call: &mut Call<'_>) {
    if call.request.header("x-new-domain") != Some("true") {
        let detail = format!("GET {} without X-New-Domain", call.request.path);
        call.violation("old_relation", detail);
    }
}

fn order_json(state: &SandboxState, order: &Order) -> Value {
    let config = &state.config;
    let date = |at| config.date(order.id, at);
    let total = order.total();
    let paid = order.closed.is_some();
    let mut buyer = person(order.buyer);
    if let Some(nickname) = &order.buyer_nickname {
        buyer["nickname"] = json!(nickname);
    }
    let mut tags = vec![if paid { "paid" } else { "not_paid" }, "not_delivered"];
    if order.pack.is_some() {
        tags.insert(0, "pack_order");
    }
    tags.extend(order.tags.iter().map(String::as_str));
    let cancelled = order.status == "cancelled";
    let claims = state.claims.values().filter(|claim| claim.order == order.id);
    let mediations: Vec<Value> = claims.map(|claim| json!({ "id": claim.id })).collect();
    let lines = order.lines.iter().zip(1..);
    let lines: Vec<Value> =
        lines.map(|(line, element)| line_json(state, order, line, element)).collect();
    let mut body = json!({
        "id": order.id, "status": order.status, "status_detail": null,
        "date_created": date(order.created), "date_closed": order.closed.map(date),
        "last_updated": date(order.updated), "pack_id": order.pack,
        "buying_mode": "buy_equals_pay", "shipping_cost": 0,
        "total_amount": total, "paid_amount": if paid { total } else { Cents(0) },
        "currency_id": order.currency, "buyer": buyer, "seller": person(order.seller),
        "shipping": { "id": order.shipment }, "tags": tags,
        "order_items": lines, "payments": [payment_json(state, order, total)],
        "feedback": { "seller": null, "buyer": null },
        "mediations": mediations, "coupon": { "id": null, "amount": 0 },
        "taxes": { "amount": null, "currency_id": null, "id": null },
        "cancel_detail": cancelled.then(|| cancel_json(order, &date(order.updated))),
        "context": { "channel": "marketplace", "site": "MLB", "flows": [] }, "fulfilled": null,
        "manufacturing_ending_date": null,
        "order_request": { "change": null, "return": null },
    });
    if config.partial_orders
        && let Some(fields) = body.as_object_mut()
    {
        fields.remove("buyer");
        fields.remove("feedback");
    }
    unless_spoiled(state, &format!("orders/{}", order.id), body)
}

/// A buyer or seller, of whom an order tells hardly more than the id.
fn person(id: i64) -> Value {
    json!({ "id": id, "user_type": null, "tags": [], "status": null, "buy_restrictions": [] })
}

fn cancel_json(order: &Order, date: &str) -> Value {
    let code = order.cancel_code.as_deref().unwrap_or("buyer_cancel_express");
    let (group, by, text) = match code {
        "pack_splitted" => ("shipment", "seller", "O pacote foi dividido em outros"),
        _ => ("buyer", "buyer", "O comprador desistiu da compra"),
    };
    json!({ "group": group, "code": code, "requested_by": by, "description": text, "date": date })
}

fn line_json(state: &SandboxState, order: &Order, line: &Line, element: i64) -> Value {
    let item = state.items.get(&line.item);
    let text = |pick: fn(&Item) -> &str| item.map(pick);
    let variation = item.and_then(|item| item.variation(line.variation));
    let sku = line.sku.as_deref();
    let sku = sku.or_else(|| variation?.sku.as_deref()).or_else(|| item?.sku.as_deref());
    let attributes = variation.map(|variation| {
        json!({ "id": "COLOR", "name": "Cor", "value_id": null, "value_name": variation.value })
    });
    let quantity = if state.config.decimal_quantities {
        json!(Cents(line.quantity * 100).reais())
    } else {
        json!(line.quantity)
    };
    json!({
        "item": {
            "id": item_id(line.item), "title": text(|item| &item.title),
            "category_id": text(|item| &item.category), "variation_id": line.variation,
            "seller_sku": sku, "seller_custom_field": null,
            "variation_attributes": attributes.into_iter().collect::<Vec<_>>(),
            "warranty": null, "condition": "new",
            "user_product_id": format!("MLBU{}", line.item),
        },
        "quantity": quantity, "requested_quantity": { "measure": "unit", "value": quantity },
        "picked_quantity": null, "unit_price": line.unit_price,
        "full_unit_price": line.unit_price, "gross_price": line.total(),
        "currency_id": order.currency, "manufacturing_days": null,
        "sale_fee": fee_of(state, order, line),
        "listing_type_id": text(|item| &item.listing_type), "element_id": element,
    })
}

/// The fee of one unit, which is known once the payment is credited.
fn fee_of(state: &SandboxState, order: &Order, line: &Line) -> Cents {
    let item = state.items.get(&line.item).filter(|_| order.closed.is_some());
    item.map_or(Cents(0), |item| fees::of_unit(line.unit_price, &item.category, &item.listing_type))
}

fn payment_json(state: &SandboxState, order: &Order, total: Cents) -> Value {
    let date = |at| state.config.date(order.id, at);
    let (status, detail, refunded) = match order.status.as_str() {
        "cancelled" => ("refunded", "refunded", total),
        "partially_refunded" => ("approved", "partially_refunded", order.refunded),
        "payment_required" | "payment_in_process" => {
            ("in_process", "pending_review_manual", Cents(0))
        }
        _ => ("approved", "accredited", Cents(0)),
    };
    let fees = order.lines.iter().map(|line| fee_of(state, order, line).0 * line.quantity).sum();
    json!({
        "id": order.payment(), "order_id": order.id, "payer_id": order.buyer,
        "collector": { "id": order.seller }, "site_id": "MLB", "currency_id": order.currency,
        "reason": state.items.get(&order.item()).map(|item| &item.title),
        "status": status, "status_code": null, "status_detail": detail,
        "transaction_amount": total, "total_paid_amount": total,
        "transaction_amount_refunded": refunded, "taxes_amount": 0, "overpaid_amount": 0,
        "coupon_amount": 0, "shipping_cost": 0, "marketplace_fee": Cents(fees),
        "installments": 1, "installment_amount": null, "operation_type": "regular_payment",
        "payment_type": "account_money", "payment_method_id": "account_money",
        "available_actions": ["refund"], "date_created": date(order.created),
        "date_approved": order.closed.map(date), "date_last_modified": date(order.updated),
    })
}
