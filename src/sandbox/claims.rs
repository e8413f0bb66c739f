//! Claims of buyers: how the marketplace shows them, and how they are opened and
//! changed.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{ButtonResult, Call, HandlerResult};
use super::http::Reply;
use super::notifications::{NewNotification, announce};
use super::records::{owned_or_reply, unless_spoiled};
use super::returns::{self, ReturnChange, alter, begin};
use super::state::{SandboxState, check_room};
use super::things::{ChangeContext, Claim, Order, check_status, created_at, touch};
use crate::base::{DAY_S, Instant};
use crate::usual;

const PAGE: usize = 30;
const PAGE_MAX: usize = 100;
const END_MAX: usize = 10_000;
const CLAIMS_MAX: usize = 50_000;
/// How long a seller has to act.
const DUE_S: i64 = 3 * DAY_S;
/// Parameters of the search that are not filters; at least one filter is required.
const NO_FILTERS: [&str; 3] = ["sort", "limit", "offset"];
/// Parameters of the search.
pub const SEARCH: &str = "id type stage status resource resource_id reason_id order_id pack_id \
    parent_id site_id players.role players.user_id range sort limit offset";

/// `GET /post-purchase/v1/claims/search`.
pub fn search(call: &mut Call<'_>) -> HandlerResult {
    let request = call.request;
    let has = |name: &str| request.query(name).is_some_and(|value| !value.is_empty());
    let mut filters = SEARCH.split(' ').filter(|name| !NO_FILTERS.contains(name));
    if !filters.any(has) {
        return Err(refused(400, "invalid_query", "at least one filter is required"));
    }
    let invalid = |text: &str| refused(400, "invalid_params", text);
    let halves = has("players.role") != has("players.user_id")
        || has("resource_id") && !has("resource")
        || has("order_id") && has("pack_id");
    if halves {
        return Err(invalid("filters that do not go together"));
    }
    if let Some(user) = call.query("players.user_id") {
        call.must_be_own(user)
            .map_err(|_| refused(403, "forbidden_error", "the token belongs to another user"))?;
    } else if !has("resource_id") && !has("order_id") && !has("id") {
        // Valid but slow: the marketplace soon limits the rate of such searches.
        call.violation("costly_search", format!("claims/search?{}", request.raw_query));
    }
    let paging = call.paging(PAGE);
    let (limit, offset) = paging.map_err(|_| invalid("limit and offset must be numbers"))?;
    if limit > PAGE_MAX || offset + limit >= END_MAX {
        call.too_many(&format!("claims/search limit={limit} offset={offset}"));
    }
    if offset + limit >= END_MAX {
        return Err(invalid("offset + limit is too large"));
    }
    let limit = limit.min(PAGE_MAX);
    let span = match call.query("range").map(Range::read) {
        Some(None) => return Err(invalid("range is malformed")),
        span => span.flatten(),
    };
    let claims = call.state.claims.values();
    let mut found: Vec<&Claim> = claims
        .filter(|claim| claim.seller == call.seller && matches(claim, call))
        .filter(|claim| span.as_ref().is_none_or(|span| span.accepts(claim)))
        .collect();
    let sort = call.query("sort").unwrap_or("date_created:desc");
    let (field, direction) = sort.split_once(':').unwrap_or((sort, "asc"));
    found.sort_by_key(|claim| match field {
        "last_updated" => (claim.updated, claim.id),
        _ => (claim.created, claim.id),
    });
    if direction == "desc" {
        found.reverse();
    }
    let page = found.iter().skip(offset).take(limit);
    let data: Vec<Value> = page.map(|claim| shown(call.state, claim)).collect();
    let paging = json!({ "total": found.len(), "offset": offset, "limit": limit });
    Ok(Reply::json(200, &json!({ "paging": paging, "data": data })))
}

/// An error of these addresses. Its body has neither `status` nor `cause`.
fn refused(status: u16, code: &str, text: &str) -> Reply {
    Reply::json(status, &json!({ "error": code, "message": text }))
}

fn matches(claim: &Claim, call: &Call<'_>) -> bool {
    let same = |name: &str, value: &str| call.query(name).is_none_or(|asked| asked == value);
    same("id", &claim.id.to_string())
        && same("type", &claim.kind)
        && same("stage", &claim.stage)
        && same("status", &claim.status)
        && same("resource", &claim.resource)
        && same("resource_id", &claim.resource_id.to_string())
        && same("reason_id", &claim.reason)
        && same("order_id", &claim.order.to_string())
        && is_of_pack(claim, call)
        && same("players.role", "respondent")
}

/// Whether the claim is about an order of the cart that the search names.
fn is_of_pack(claim: &Claim, call: &Call<'_>) -> bool {
    let pack = call.state.orders.get(&claim.order).and_then(|order| order.pack);
    call.query("pack_id").is_none_or(|asked| pack.is_some_and(|pack| pack.to_string() == asked))
}

/// `range=last_updated:after:…,before:…`.
struct Range {
    by_change: bool,
    after: Option<Instant>,
    before: Option<Instant>,
}

impl Range {
    fn read(text: &str) -> Option<Self> {
        let (field, ends) = text.split_once(':')?;
        let by_change = match field {
            "last_updated" => true,
            "date_created" => false,
            _ => return None,
        };
        let mut range = Self { by_change, after: None, before: None };
        for end in ends.split(',') {
            let (name, at) = end.split_once(':')?;
            // Times need milliseconds.
            let at = Instant::parse(at).filter(|_| at.contains('.'))?;
            match name {
                "after" => range.after = Some(at),
                "before" => range.before = Some(at),
                _ => return None,
            }
        }
        Some(range)
    }

    fn accepts(&self, claim: &Claim) -> bool {
        let at = if self.by_change { claim.updated } else { claim.created };
        self.after.is_none_or(|after| at >= after) && self.before.is_none_or(|before| at <= before)
    }
}

fn shown(state: &SandboxState, claim: &Claim) -> Value {
    let date = |at| state.config.date(claim.id, at);
    let actions = claim.action.iter().map(
        |(action, due)| json!({ "action": action, "mandatory": true, "due_date": date(*due) }),
    );
    let buyer = state.orders.get(&claim.order).map(|order| order.buyer);
    let resolution = claim.resolution.as_ref().map(|(reason, closed_by)| {
        json!({ "reason": reason, "benefited": ["complainant"], "closed_by": closed_by,
            "applied_coverage": false, "date_created": date(claim.updated) })
    });
    let body = json!({
        "id": claim.id, "resource": claim.resource, "resource_id": claim.resource_id,
        "status": claim.status, "type": claim.kind, "stage": claim.stage, "parent_id": null,
        "reason_id": claim.reason, "fulfilled": true, "quantity_type": "total",
        "resolution": resolution, "site_id": "MLB",
        "players": [
            { "role": "complainant", "type": "buyer", "user_id": buyer, "available_actions": [] },
            { "role": "respondent", "type": "seller", "user_id": claim.seller,
                "available_actions": actions.collect::<Vec<_>>() },
        ],
        "date_created": date(claim.created), "last_updated": date(claim.updated),
    });
    unless_spoiled(state, &format!("claims/{}", claim.id), body)
}

/// The caller's claim that the address names.
fn own_claim<'w>(call: &'w Call<'_>) -> Result<&'w Claim, Reply> {
    owned_or_reply(
        call.number().ok().and_then(|id| call.state.claims.get(&id)),
        call.seller,
        || refused(404, "business_logic_error", "claim not found"),
        || refused(403, "forbidden_error", "not a player of the claim"),
    )
}

/// `GET /post-purchase/v1/claims/{id}`.
pub fn claim(call: &mut Call<'_>) -> HandlerResult {
    let claim = own_claim(call)?;
    let mut body = shown(call.state, claim);
    body["claim_version"] = json!("2.0");
    let order = call.state.orders.get(&claim.order);
    body["claimed_quantity"] = json!(order.map_or(1, Order::units));
    let returns = claim.returned.iter().map(|_| "return");
    body["related_entities"] = json!(returns.collect::<Vec<_>>());
    Ok(Reply::json(200, &body))
}

/// `GET /post-purchase/v1/claims/{id}/detail`.
pub fn detail(call: &mut Call<'_>) -> HandlerResult {
    let claim = own_claim(call)?;
    let due = claim.action.as_ref();
    Reply::ok(json!({
        "due_date": due.map(|(_, at)| call.state.config.date(claim.id, *at)),
        "action_responsible": if due.is_some() { "seller" } else { "mediator" },
        "title": "Reclamação do comprador",
        "description": "O comprador disse que o produto não é o que esperava.",
        "problem": "O produto chegou diferente do anúncio",
    }))
}

/// `GET /post-purchase/v2/claims/{id}/returns`; 404 when nothing comes back.
pub fn returns(call: &mut Call<'_>) -> HandlerResult {
    let claim = own_claim(call)?;
    let back = claim.returned.as_ref();
    let back = back.ok_or_else(|| refused(404, "business_logic_error", "return not found"))?;
    Reply::ok(returns::shown(call.state, claim, back))
}

usual! {
    /// A claim to be opened.
    #[derive(Debug, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct NewClaim {
        pub ml_user_id: i64,
        /// The order; the seller's newest one without a claim when absent.
        pub order: Option<i64>,
        /// `mediations`, `return` …
        #[serde(rename = "type")]
        pub kind: String = "mediations".to_owned(),
        /// `claim`, `dispute` …
        pub stage: String = "claim".to_owned(),
        /// Code of the reason.
        pub reason: String = "PDD9939".to_owned(),
        /// `order`; with `shipment`, `payment` or `purchase`, which is a cart, the
        /// order is not named directly.
        pub resource: String = "order".to_owned(),
        /// State of the goods' way back; none come back when absent, except with the
        /// type `return`.
        pub return_status: Option<String>,
        /// What the seller has to do within three days; nothing when empty.
        pub action: String = "send_message_to_complainant".to_owned(),
        /// RFC 3339; now when absent.
        pub date_created: Option<String>,
    }
}

/// A change of a claim; absent fields stay.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClaimChange {
    /// `opened`, `closed` or any other word.
    pub status: Option<String>,
    /// `claim`, `dispute` …
    pub stage: Option<String>,
    /// What the seller has to do within three days; nothing when empty.
    pub action: Option<String>,
    /// How the claim ended; used with the status `closed`.
    pub resolution: Option<String>,
    /// State of the goods' way back, such as `shipped` or `delivered`.
    pub return_status: Option<String>,
    /// `seller_address` or `warehouse`.
    pub return_destination: Option<String>,
    /// Units that come back; all when absent.
    pub return_quantity: Option<i64>,
}

/// Opens a claim of a buyer; returns the claim's id.
pub fn open(
    state: &mut SandboxState,
    new: NewClaim,
    context: ChangeContext,
) -> Result<i64, String> {
    state.check_seller(new.ml_user_id)?;
    check_room(state.claims.len(), CLAIMS_MAX, "claims")?;
    let order = claimed_order(state, &new)?;
    let resource_id = match (new.resource.as_str(), state.orders.get(&order)) {
        ("order", _) => order,
        ("shipment", Some(order)) => order.shipment.ok_or("the order has no shipment yet")?,
        ("payment", Some(order)) => order.payment(),
        ("purchase", Some(order)) => order.pack.ok_or("the order is in no cart")?,
        _ => return Err("resource must be order, shipment, payment or purchase".to_owned()),
    };
    let created = created_at(new.date_created.as_deref(), context.now)?;
    let id = 5_200_000_000 + state.next_number();
    let is_return = matches!(&*new.kind, "return" | "returns");
    let returns = new.return_status.or_else(|| is_return.then(|| "pending".to_owned()));
    let returned = returns.map(|status| begin(state, order, status, created)).transpose()?;
    let claim = Claim {
        id,
        seller: new.ml_user_id,
        order,
        resource: new.resource,
        resource_id,
        status: "opened".to_owned(),
        kind: new.kind,
        stage: new.stage,
        reason: new.reason,
        action: (!new.action.is_empty()).then(|| (new.action, created.plus(DUE_S))),
        resolution: None,
        returned,
        created,
        updated: created,
    };
    state.claims.insert(id, claim);
    notify_about(state, new.ml_user_id, id, "claims", context);
    Ok(id)
}

fn claimed_order(state: &SandboxState, new: &NewClaim) -> Result<i64, String> {
    let seller = new.ml_user_id;
    if let Some(id) = new.order {
        let order = state.orders.get(&id).filter(|order| order.seller == seller);
        return order.map(|_| id).ok_or_else(|| format!("seller {seller} has no order {id}"));
    }
    let is_claimed = |id: i64| state.claims.values().any(|claim| claim.order == id);
    state
        .orders
        .values()
        .rev()
        .filter(|order| order.seller == seller && order.closed.is_some())
        .find(|order| !is_claimed(order.id))
        .map(|order| order.id)
        .ok_or_else(|| format!("seller {seller} has no order without a claim"))
}

/// Changes a claim.
pub fn change(
    state: &mut SandboxState,
    id: i64,
    change: ClaimChange,
    context: ChangeContext,
) -> Result<(), String> {
    let claim = state.claims.get(&id).ok_or_else(|| format!("there is no claim {id}"))?;
    let (order, mut returned) = (claim.order, claim.returned.clone());
    let back = ReturnChange {
        status: change.return_status,
        destination: change.return_destination,
        quantity: change.return_quantity,
    };
    if let (Some(status), None) = (&back.status, &returned) {
        returned = Some(begin(state, order, status.clone(), context.now)?);
    }
    if !back.is_empty() {
        let there = returned.as_mut().ok_or("nothing comes back: name return_status")?;
        alter(there, back, context.now)?;
    }
    let claim = state.claims.get_mut(&id).ok_or_else(|| format!("there is no claim {id}"))?;
    if let Some(status) = change.status {
        check_status(&status)?;
        claim.resolution = None;
        if status == "closed" {
            let reason = change.resolution.as_deref().unwrap_or("payment_refunded");
            claim.resolution = Some((reason.to_owned(), "mediator".to_owned()));
            claim.action = None;
        }
        claim.status = status;
    }
    claim.returned = returned;
    if let Some(stage) = change.stage {
        claim.stage = stage;
    }
    if let Some(action) = change.action {
        claim.action = (!action.is_empty()).then(|| (action, context.now.plus(DUE_S)));
    }
    touch(&mut claim.updated, context.now);
    let seller = claim.seller;
    notify_about(state, seller, id, "claims_actions", context);
    Ok(())
}

fn notify_about(
    state: &mut SandboxState,
    seller: i64,
    id: i64,
    action: &str,
    context: ChangeContext,
) {
    let (topic, resource, actions): (_, _, &[&str]) = if state.config.legacy_claims {
        ("claims", format!("/claims/{id}"), &[])
    } else {
        // The resources of this topic have no leading slash.
        ("post_purchase", format!("post-purchase/v1/claims/{id}"), &[action])
    };
    announce(state, context, &NewNotification { seller, topic, resource: &resource, actions });
}

/// `POST /acoes/reclamar`.
pub fn press_open(call: &mut Call<'_>) -> ButtonResult {
    let id = call.number_field("pedido")?;
    let order = call.state.orders.get(&id).ok_or("O pedido não existe mais.")?;
    let new = NewClaim { ml_user_id: order.seller, order: Some(id), ..NewClaim::default() };
    let claim =
        open(call.state, new, call.notified()).map_err(|_| "A reclamação não pôde ser aberta.")?;
    Ok(format!("Reclamação {claim} aberta e notificação na fila."))
}

/// `POST /acoes/reclamacao`.
pub fn press_change(call: &mut Call<'_>) -> ButtonResult {
    let id = call.number_field("reclamacao")?;
    let new = call
        .chosen(&[
            ("mediar", r#"{ "stage": "dispute" }"#),
            ("encerrar", r#"{ "status": "closed" }"#),
            ("reabrir", r#"{ "status": "opened" }"#),
            ("devolver", r#"{ "return_status": "shipped" }"#),
            ("devolvido", r#"{ "return_status": "delivered" }"#),
        ])
        .ok_or("Escolha levar à mediação, encerrar, reabrir, devolver ou receber de volta.")?;
    change(call.state, id, new, call.notified())
        .map_err(|_| format!("A reclamação {id} não existe mais."))?;
    Ok(format!("Reclamação {id} mudou e a notificação está na fila."))
}
