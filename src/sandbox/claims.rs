//! Claims of buyers: as the marketplace shows them, and how they come about.

use serde::Deserialize;
use serde_json::{Value, json};

use super::deliver::{self, News};
use super::http::{Reply, Request};
use super::resources::{paging, wire_date};
use super::routes::Call;
use super::shops::no_seller;
use super::spoil;
use super::state::{CLAIMS_MAX, World};
use super::things::{Claim, state_word};
use crate::base::clock::{DAY_S, Instant};

const PAGE: usize = 30;
const PAGE_MAX: usize = 100;
const END_MAX: usize = 10_000;
/// What narrows a search; one of them has to be there.
const FILTERS: [&str; 14] = [
    "id",
    "type",
    "stage",
    "status",
    "resource",
    "resource_id",
    "reason_id",
    "order_id",
    "pack_id",
    "parent_id",
    "site_id",
    "players.role",
    "players.user_id",
    "range",
];

/// `GET /post-purchase/v1/claims/search`.
pub fn search(world: &mut World, call: Call, request: &Request) -> Reply {
    let has = |name: &str| request.query(name).is_some_and(|value| !value.is_empty());
    if !FILTERS.iter().any(|name| has(name)) {
        return refused(400, "invalid_query", "at least one filter is required");
    }
    let halves = has("players.role") != has("players.user_id")
        || has("resource_id") && !has("resource")
        || has("order_id") && has("pack_id");
    if halves {
        return refused(400, "invalid_params", "filters that do not go together");
    }
    if let Some(user) = request.query("players.user_id") {
        if user != call.seller.to_string() {
            return refused(403, "forbidden_error", "the token belongs to another user");
        }
    } else if !has("resource_id") && !has("order_id") && !has("id") {
        // Valid and slow: the marketplace answers it with a limit soon.
        let detail = format!("claims/search?{}", request.raw_query);
        world.violation(call.now, "costly_search", detail);
    }
    let Some((limit, offset)) = paging(request, PAGE) else {
        return refused(400, "invalid_params", "limit and offset must be numbers");
    };
    if limit > PAGE_MAX || offset + limit >= END_MAX {
        let detail = format!("claims/search limit={limit} offset={offset}");
        world.violation(call.now, "limit_exceeded", detail);
    }
    if offset + limit >= END_MAX {
        return refused(400, "invalid_params", "offset + limit is too large");
    }
    let limit = limit.min(PAGE_MAX);
    let span = match request.query("range").map(Range::read) {
        None => None,
        Some(Some(range)) => Some(range),
        Some(None) => return refused(400, "invalid_params", "range is malformed"),
    };
    let mut found: Vec<&Claim> = world
        .claims
        .values()
        .filter(|claim| claim.seller == call.seller && matches(claim, request))
        .filter(|claim| span.as_ref().is_none_or(|span| span.takes(claim)))
        .collect();
    let sort = request.query("sort").unwrap_or("date_created:desc");
    let (field, direction) = sort.split_once(':').unwrap_or((sort, "asc"));
    found.sort_by_key(|claim| match field {
        "last_updated" => (claim.updated, claim.id),
        _ => (claim.created, claim.id),
    });
    if direction == "desc" {
        found.reverse();
    }
    let data: Vec<Value> =
        found.iter().skip(offset).take(limit).map(|claim| shown(world, claim)).collect();
    let body = json!({
        "paging": { "total": found.len(), "offset": offset, "limit": limit }, "data": data,
    });
    Reply::json(200, &body)
}

/// The error shape of these addresses: neither status nor cause.
fn refused(status: u16, code: &str, text: &str) -> Reply {
    Reply::json(status, &json!({ "error": code, "message": text }))
}

fn matches(claim: &Claim, request: &Request) -> bool {
    let same = |name: &str, value: &str| request.query(name).is_none_or(|asked| asked == value);
    let role = request.query("players.role");
    same("id", &claim.id.to_string())
        && same("type", &claim.kind)
        && same("stage", &claim.stage)
        && same("status", &claim.status)
        && same("resource", &claim.resource)
        && same("resource_id", &claim.resource_id.to_string())
        && same("reason_id", &claim.reason)
        && same("order_id", &claim.order.to_string())
        && role.is_none_or(|role| role == "respondent")
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
        let mut range = Self {
            by_change: match field {
                "last_updated" => true,
                "date_created" => false,
                _ => return None,
            },
            after: None,
            before: None,
        };
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

    fn takes(&self, claim: &Claim) -> bool {
        let at = if self.by_change { claim.updated } else { claim.created };
        self.after.is_none_or(|after| at >= after) && self.before.is_none_or(|before| at <= before)
    }
}

fn shown(world: &World, claim: &Claim) -> Value {
    let date = |at| wire_date(&world.config, claim.id, at);
    let actions: Vec<Value> = claim
        .action
        .iter()
        .map(|(action, due)| json!({ "action": action, "mandatory": true, "due_date": date(*due) }))
        .collect();
    let buyer = world.orders.get(&claim.order).map(|order| order.buyer);
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
                "available_actions": actions },
        ],
        "date_created": date(claim.created), "last_updated": date(claim.updated),
    });
    spoil::unless_whole(world, &format!("claims/{}", claim.id), body)
}

fn own<'w>(world: &'w World, call: Call, id: &str) -> Result<&'w Claim, Reply> {
    let claim = id.parse().ok().and_then(|id: i64| world.claims.get(&id));
    match claim {
        None => Err(refused(404, "business_logic_error", "claim not found")),
        Some(claim) if claim.seller != call.seller => {
            Err(refused(403, "forbidden_error", "not a player of the claim"))
        }
        Some(claim) => Ok(claim),
    }
}

/// `GET /post-purchase/v1/claims/{id}`.
pub fn claim(world: &World, call: Call, id: &str) -> Reply {
    let claim = match own(world, call, id) {
        Ok(claim) => claim,
        Err(refused) => return refused,
    };
    let mut body = shown(world, claim);
    body["claim_version"] = json!("2.0");
    body["claimed_quantity"] = json!(1);
    let is_return = claim.kind.starts_with("return");
    body["related_entities"] = if is_return { json!(["return"]) } else { json!([]) };
    Reply::json(200, &body)
}

/// `GET /post-purchase/v1/claims/{id}/detail`.
pub fn detail(world: &World, call: Call, id: &str) -> Reply {
    let claim = match own(world, call, id) {
        Ok(claim) => claim,
        Err(refused) => return refused,
    };
    let due = claim.action.as_ref();
    let body = json!({
        "due_date": due.map(|(_, at)| wire_date(&world.config, claim.id, *at)),
        "action_responsible": if due.is_some() { "seller" } else { "mediator" },
        "title": "Reclamação do comprador",
        "description": "O comprador disse que o produto não é o que esperava.",
        "problem": "O produto chegou diferente do anúncio",
    });
    Reply::json(200, &body)
}

/// A claim to be opened.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewClaim {
    /// The seller.
    pub ml_user_id: i64,
    /// The order; the seller's newest one without a claim when absent.
    #[serde(default)]
    pub order: Option<i64>,
    /// `mediations`, `return` …
    #[serde(default = "mediations", rename = "type")]
    pub kind: String,
    /// `claim`, `dispute` …
    #[serde(default = "first_stage")]
    pub stage: String,
    /// Code of the reason.
    #[serde(default = "different")]
    pub reason: String,
    /// `order`, or `shipment`: then the order is not named directly.
    #[serde(default = "by_order")]
    pub resource: String,
    /// What the seller has to do within three days; nothing when empty.
    #[serde(default = "answer_message")]
    pub action: String,
    /// RFC 3339; now when absent.
    #[serde(default)]
    pub date_created: Option<String>,
    /// Whether a notification goes out.
    #[serde(default = "super::sales::yes")]
    pub notify: bool,
}

fn mediations() -> String {
    "mediations".to_owned()
}

fn first_stage() -> String {
    "claim".to_owned()
}

fn different() -> String {
    "PDD9939".to_owned()
}

fn by_order() -> String {
    "order".to_owned()
}

fn answer_message() -> String {
    "send_message_to_complainant".to_owned()
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
    /// How it ended; goes with `closed`.
    pub resolution: Option<String>,
    /// Whether a notification goes out; it does unless `false`.
    pub notify: Option<bool>,
}

/// How long a seller has to act.
const DUE_S: i64 = 3 * DAY_S;

/// A buyer complains; gives the claim's id.
pub fn open(world: &mut World, new: NewClaim, now: Instant) -> Result<i64, String> {
    if !world.sellers.contains_key(&new.ml_user_id) {
        return Err(no_seller(new.ml_user_id));
    }
    if world.claims.len() >= CLAIMS_MAX {
        return Err(format!("at most {CLAIMS_MAX} claims fit"));
    }
    let order = claimed_order(world, &new)?;
    let resource_id = match (new.resource.as_str(), world.orders.get(&order)) {
        ("order", _) => order,
        ("shipment", Some(order)) => order.shipment.ok_or("the order has no shipment yet")?,
        _ => return Err("resource must be order or shipment".to_owned()),
    };
    let created = match &new.date_created {
        None => now,
        Some(text) => Instant::parse(text)
            .ok_or_else(|| format!("date_created is not an RFC 3339 date: {text}"))?,
    };
    let id = 5_200_000_000 + world.next_number();
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
        created,
        updated: created,
    };
    world.claims.insert(id, claim);
    if new.notify {
        tell(world, id, "claims", now);
    }
    Ok(id)
}

fn claimed_order(world: &World, new: &NewClaim) -> Result<i64, String> {
    if let Some(id) = new.order {
        return match world.orders.get(&id) {
            Some(order) if order.seller == new.ml_user_id => Ok(id),
            _ => Err(format!("seller {} has no order {id}", new.ml_user_id)),
        };
    }
    let is_claimed = |id: i64| world.claims.values().any(|claim| claim.order == id);
    world
        .orders
        .values()
        .rev()
        .filter(|order| order.seller == new.ml_user_id && order.closed.is_some())
        .find(|order| !is_claimed(order.id))
        .map(|order| order.id)
        .ok_or_else(|| format!("seller {} has no order without a claim", new.ml_user_id))
}

/// Changes a claim.
pub fn change(world: &mut World, id: i64, change: ClaimChange, now: Instant) -> Result<(), String> {
    let claim = world.claims.get_mut(&id).ok_or_else(|| format!("there is no claim {id}"))?;
    if let Some(status) = change.status {
        state_word(&status)?;
        if status == "closed" {
            let reason = change.resolution.as_deref().unwrap_or("payment_refunded");
            claim.resolution = Some((reason.to_owned(), "mediator".to_owned()));
            claim.action = None;
        } else {
            claim.resolution = None;
        }
        claim.status = status;
    }
    if let Some(stage) = change.stage {
        claim.stage = stage;
    }
    if let Some(action) = change.action {
        claim.action = (!action.is_empty()).then(|| (action, now.plus(DUE_S)));
    }
    // A change is visible as one even within the second of the one before.
    claim.updated = now.max(claim.updated.plus(1));
    if change.notify != Some(false) {
        tell(world, id, "claims_actions", now);
    }
    Ok(())
}

fn tell(world: &mut World, id: i64, action: &str, now: Instant) {
    let Some(seller) = world.claims.get(&id).map(|claim| claim.seller) else {
        return;
    };
    if world.config.legacy_claims {
        deliver::notify(world, now, seller, "claims", &format!("/claims/{id}"));
        return;
    }
    // This topic's resources have no slash in front.
    let resource = format!("post-purchase/v1/claims/{id}");
    let news = News { seller, topic: "post_purchase", resource: &resource, actions: &[action] };
    deliver::announce(world, now, &news);
}
