//! What the marketplace documents beside what the platform uses: small and
//! true answers, so that an integration may ask for them.

use serde_json::{Value, json};

use super::http::{Reply, Request};
use super::orders;
use super::resources::{paging, wire_date};
use super::routes::Call;
use super::shipments;
use super::shops::{self, NewSeller};
use super::state::{Sandbox, World};
use super::things::Reputation;
use crate::base::secrets::random_hex;

/// Grants of one page.
const GRANTS_MAX: usize = 50;
/// Test users that one account may make.
const TEST_USERS_MAX: usize = 10;
/// What a shipment costs its seller, in reais; the buyer pays nothing.
const SHIPPING: f64 = 20.5;

/// Every status that a shipment may have, with those finer states that the
/// sandbox plays.
const SHIPMENT_STATUSES: [(&str, &[&str]); 15] = [
    ("to_be_agreed", &[]),
    ("pending", &[]),
    ("handling", &[]),
    ("ready_to_ship", &["ready_to_print", "printed", "buffered", "invoice_pending"]),
    ("shipped", &[]),
    ("delivered", &[]),
    ("not_delivered", &[]),
    ("not_verified", &[]),
    ("cancelled", &[]),
    ("closed", &[]),
    ("error", &[]),
    ("active", &[]),
    ("not_specified", &[]),
    ("stale_ready_to_ship", &[]),
    ("stale_shipped", &[]),
];

/// Something that is asked for.
pub enum Asked<'a> {
    Application(&'a str),
    /// Who granted an application something.
    Grants(&'a str),
    /// What a user granted to whom.
    GrantsOf(&'a str),
    ShipmentStatuses,
    Discounts(&'a str),
    SalePrice(&'a str),
    ShipmentCosts(&'a str),
    ResponseTime(&'a str),
    TestUser,
    /// It is documented, and there is nothing of it here.
    Nothing,
}

impl<'a> Asked<'a> {
    /// What a path asks for, if it is one of these.
    pub fn read(method: &str, segments: &[&'a str]) -> Option<Self> {
        Some(match (method, segments) {
            ("GET", ["applications", id]) => Self::Application(id),
            ("GET", ["applications", id, "grants"]) => Self::Grants(id),
            ("GET", ["users", id, "applications"]) => Self::GrantsOf(id),
            ("GET", ["shipment_statuses"]) => Self::ShipmentStatuses,
            ("GET", ["orders", id, "discounts"]) => Self::Discounts(id),
            ("GET", ["items", id, "sale_price"]) => Self::SalePrice(id),
            ("GET", ["shipments", id, "costs"]) => Self::ShipmentCosts(id),
            ("GET", ["users", id, "questions", "response_time"]) => Self::ResponseTime(id),
            ("POST", ["users", "test_user"]) => Self::TestUser,
            (
                "GET",
                [
                    "shipments",
                    _,
                    "items" | "lead_time" | "history" | "carrier" | "payments" | "sla" | "delays",
                ]
                | ["item", _, "performance"],
            )
            | ("POST", ["questions"])
            | ("DELETE", ["questions", _]) => Self::Nothing,
            _ => return None,
        })
    }

    /// Parameters that it knows.
    pub const fn parameters(&self) -> &'static [&'static str] {
        match self {
            Self::Grants(_) => &["limit", "offset"],
            Self::SalePrice(_) => &["context"],
            _ => &[],
        }
    }
}

/// Answers one of them.
pub fn answer(
    sandbox: &Sandbox,
    world: &mut World,
    call: Call,
    request: &Request,
    asked: &Asked<'_>,
) -> Reply {
    match asked {
        Asked::Application(id) => application(sandbox, id),
        Asked::Grants(id) => grants(sandbox, world, call, request, id),
        Asked::GrantsOf(user) => grants_of(sandbox, world, call, user),
        Asked::ShipmentStatuses => shipment_statuses(),
        Asked::Discounts(id) => match orders::own(world, call, id) {
            Ok(_) => Reply::json(200, &json!({ "details": [] })),
            Err(refused) => refused,
        },
        Asked::SalePrice(id) => sale_price(world, request, id),
        Asked::ShipmentCosts(id) => shipment_costs(world, call, request, id),
        Asked::ResponseTime(user) => response_time(world, user),
        Asked::TestUser => test_user(world, call, request),
        Asked::Nothing => Reply::error(404, "not_found", "the sandbox has nothing of this"),
    }
}

fn application(sandbox: &Sandbox, id: &str) -> Reply {
    if id != sandbox.client_id {
        return Reply::error(404, "not_found", "application not found");
    }
    let body = json!({
        "id": sandbox.application(), "name": "Sandbox", "site_id": "MLB", "active": true,
        "max_requests_per_hour": 18_000, "certification_status": "not_certified",
        "scopes": SCOPES,
    });
    Reply::json(200, &body)
}

const SCOPES: [&str; 3] = ["read", "write", "offline_access"];

fn grants(sandbox: &Sandbox, world: &World, call: Call, request: &Request, id: &str) -> Reply {
    if id != sandbox.client_id {
        return Reply::error(403, "forbidden", "not the token's application");
    }
    let Some((limit, offset)) = paging(request, GRANTS_MAX) else {
        return Reply::error(400, "bad_request", "limit and offset must be numbers");
    };
    let limit = limit.min(GRANTS_MAX);
    let all = world.grants.granted(call.now);
    let page: Vec<Value> = all
        .iter()
        .skip(offset)
        .take(limit)
        .map(|(seller, since)| {
            json!({ "user_id": seller, "app_id": sandbox.application(),
                "date_created": wire_date(&world.config, *seller, *since), "scopes": SCOPES })
        })
        .collect();
    let body = json!({
        "paging": { "total": all.len(), "limit": limit, "offset": offset }, "grants": page,
    });
    Reply::json(200, &body)
}

/// Ids are text here.
fn grants_of(sandbox: &Sandbox, world: &World, call: Call, user: &str) -> Reply {
    if user != call.seller.to_string() {
        return Reply::error(403, "forbidden", "the token belongs to another user");
    }
    let own = world.grants.granted(call.now).into_iter();
    let own = own.filter(|(seller, _)| *seller == call.seller);
    let body: Vec<Value> = own
        .map(|(seller, since)| {
            json!({ "user_id": user, "app_id": sandbox.client_id,
                "date_created": wire_date(&world.config, seller, since), "scopes": SCOPES })
        })
        .collect();
    Reply::json(200, &body)
}

fn shipment_statuses() -> Reply {
    let named = |id: &str| json!({ "id": id, "name": id.replace('_', " ") });
    let statuses = SHIPMENT_STATUSES.map(|(status, finer)| {
        let mut shown = named(status);
        shown["substatuses"] = finer.iter().map(|id| named(id)).collect();
        shown
    });
    Reply::json(200, &statuses)
}

fn sale_price(world: &World, request: &Request, id: &str) -> Reply {
    if request.query("context") != Some("channel_marketplace") {
        return Reply::error(400, "bad_request", "context must be channel_marketplace");
    }
    let Some(item) = world.item(id) else {
        return Reply::error(404, "not_found", "item not found");
    };
    let body = json!({
        "amount": item.price, "regular_amount": null, "currency_id": "BRL",
        "metadata": {},
    });
    Reply::json(200, &body)
}

fn shipment_costs(world: &mut World, call: Call, request: &Request, id: &str) -> Reply {
    if let Err(refused) = shipments::needs_new_format(world, call, request) {
        return refused;
    }
    let shipment = match shipments::own(world, call, id) {
        Ok(shipment) => shipment,
        Err(refused) => return refused,
    };
    let first = shipment.orders.first().and_then(|id| world.orders.get(id));
    let body = json!({
        "gross_amount": SHIPPING,
        "receiver": { "user_id": first.map(|order| order.buyer), "cost": 0 },
        "senders": [{ "user_id": shipment.seller, "cost": SHIPPING }],
    });
    Reply::json(200, &body)
}

/// Minutes between questions and answers; 404 while nothing was answered.
fn response_time(world: &World, user: &str) -> Reply {
    let answered = world.questions.values().filter_map(|question| {
        let answer = question.answer.as_ref()?;
        (question.seller.to_string() == user).then(|| answer.at.since(question.created))
    });
    let (count, seconds) = answered.fold((0, 0), |(count, sum), each| (count + 1, sum + each));
    if count == 0 {
        return Reply::error(404, "not_found", "no answers to count");
    }
    let minutes = seconds / count / 60;
    let body = json!({ "user_id": user, "total": { "response_time": minutes } });
    Reply::json(200, &body)
}

/// A seller like any other. The password is for nothing: the sandbox asks for
/// none.
fn test_user(world: &mut World, call: Call, request: &Request) -> Reply {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    if body["site_id"] != "MLB" {
        return Reply::error(400, "bad_request", "site_id must be MLB");
    }
    let made = world.test_users.get(&call.seller).copied().unwrap_or(0);
    if made >= TEST_USERS_MAX {
        return Reply::error(400, "bad_request", "too many test users");
    }
    let nickname = format!("TESTUSER{}", random_hex::<4>().to_uppercase());
    let new = NewSeller {
        nickname: nickname.clone(),
        ml_user_id: None,
        reputation: Reputation::default(),
    };
    match shops::open(world, new, call.now) {
        Ok(id) => {
            world.test_users.insert(call.seller, made + 1);
            let body = json!({
                "id": id, "nickname": nickname, "password": random_hex::<5>(),
                "site_status": "active",
            });
            Reply::json(201, &body)
        }
        Err(problem) => Reply::error(400, "bad_request", &problem),
    }
}
