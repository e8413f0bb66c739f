//! Users and missed notifications, as the marketplace answers them, and what
//! all resources share: paging and dates.

use serde_json::{Value, json};

use super::config::Config;
use super::http::{Reply, Request};
use super::routes::Call;
use super::state::{Sandbox, World};
use super::things::{Order, Seller};
use crate::base::clock::{DAY_S, Instant};

/// Users of one call.
const USERS_MAX: usize = 20;
const MISSED_S: i64 = 2 * DAY_S;
/// Orders count as completed in a reputation for this long.
const REPUTATION_S: i64 = 60 * DAY_S;

/// `GET /users/me`: the private record.
pub fn me(world: &World, call: Call) -> Reply {
    match world.sellers.get(&call.seller) {
        Some(seller) => record_reply(world, private_record(world, seller, call.now)),
        None => Reply::error(404, "not_found", "user not found"),
    }
}

/// `GET /users/{id}`: private for the owner, public for others; buyers too.
pub fn user(world: &World, call: Call, id: &str) -> Reply {
    let Ok(number) = id.parse::<i64>() else {
        return Reply::error(400, "bad_request", "the user id must be a number");
    };
    match record_of(world, call, number) {
        Some(record) => record_reply(world, record),
        None => Reply::error(404, "not_found", "user not found"),
    }
}

/// `GET /users/bulk?ids=`: up to twenty, each with its own status.
pub fn users(world: &mut World, call: Call, request: &Request) -> Reply {
    let ids = request.query("ids").unwrap_or_default().split(',');
    let ids: Vec<&str> = ids.filter(|id| !id.is_empty()).collect();
    if ids.is_empty() || ids.len() > USERS_MAX {
        if ids.len() > USERS_MAX {
            let detail = format!("{} user ids at once", ids.len());
            world.violation(call.now, "limit_exceeded", detail);
        }
        return Reply::error(400, "bad_request", "ids must name 1 to 20 users");
    }
    let answer = |id: &&str| {
        let record = id.parse().ok().and_then(|number| record_of(world, call, number));
        let (status, body) = match record {
            Some(record) => (200, record),
            None => (
                404,
                json!({ "message": "user not found", "error": "not_found", "status": 404, "cause": [] }),
            ),
        };
        json!({ "id": id, "status_code": status, "body": body })
    };
    Reply::json(200, &ids.iter().map(answer).collect::<Vec<_>>())
}

fn record_of(world: &World, call: Call, number: i64) -> Option<Value> {
    if let Some(seller) = world.sellers.get(&number) {
        return Some(if number == call.seller {
            private_record(world, seller, call.now)
        } else {
            public_record(world, seller)
        });
    }
    let bought = world.orders.values().find(|order| order.buyer == number);
    let asked = || world.questions.values().any(|asked| asked.buyer == number);
    let nickname = match bought {
        Some(order) => super::orders::nickname_of(order),
        None if asked() => format!("COMPRADOR{number}"),
        None => return None,
    };
    Some(json!({
        "id": number, "nickname": nickname, "site_id": "MLB", "country_id": "BR",
        "user_type": "normal", "tags": ["normal"],
    }))
}

/// An account; the switch leaves its reputation out, as happens in life.
fn record_reply(world: &World, mut record: Value) -> Reply {
    if !world.config.partial_users {
        return Reply::json(200, &record);
    }
    if let Some(fields) = record.as_object_mut() {
        fields.remove("seller_reputation");
    }
    Reply::json(206, &record).header("x-content-missing", "seller_reputation")
}

fn public_record(world: &World, seller: &Seller) -> Value {
    let total = orders_of(world, seller.id).count();
    json!({
        "id": seller.id, "nickname": seller.nickname, "site_id": "MLB", "country_id": "BR",
        "permalink": format!("http://perfil.sandbox.invalid/{}", seller.nickname),
        "user_type": "normal", "tags": ["normal", "test_user"],
        "seller_reputation": {
            "level_id": seller.reputation.level,
            "power_seller_status": seller.reputation.power_seller,
            "transactions": { "period": "historic", "total": total },
        },
    })
}

fn private_record(world: &World, seller: &Seller, now: Instant) -> Value {
    let (mut total, mut cancelled, mut recent) = (0_u32, 0_u32, 0_u32);
    for order in orders_of(world, seller.id) {
        total += 1;
        cancelled += u32::from(order.status == "cancelled");
        recent += u32::from(now.since(order.created) <= REPUTATION_S && order.status == "paid");
    }
    let reputation = &seller.reputation;
    // Fewer than sixty sales in sixty days: the marketplace looks at a year.
    let period = if recent >= 60 { "60 days" } else { "365 days" };
    let share = |rate: f64| {
        let value = (rate * f64::from(recent)).round();
        json!({ "period": period, "rate": rate, "value": value,
            "excluded": { "real_value": value, "real_rate": rate } })
    };
    let mut record = public_record(world, seller);
    record["email"] = json!(seller.email);
    record["registration_date"] = json!(wire_date(&world.config, seller.id, seller.created));
    record["status"] = json!({
        "site_status": "active", "list": { "allow": true }, "sell": { "allow": true },
    });
    record["seller_reputation"]["transactions"] = json!({
        "period": "historic", "total": total, "completed": total - cancelled,
        "canceled": cancelled,
        "ratings": { "positive": 0.97, "neutral": 0.01, "negative": 0.02 },
    });
    record["seller_reputation"]["metrics"] = json!({
        "sales": { "period": period, "completed": recent },
        "claims": share(reputation.claims),
        "delayed_handling_time": share(reputation.late),
        "cancellations": share(reputation.cancelled),
    });
    if let Some(level) = &reputation.real_level {
        record["seller_reputation"]["real_level"] = json!(level);
        let end = wire_date(&world.config, seller.id, now.plus(30 * DAY_S));
        record["seller_reputation"]["protection_end_date"] = json!(end);
    }
    record
}

fn orders_of(world: &World, seller: i64) -> impl Iterator<Item = &Order> {
    world.orders.values().filter(move |order| order.seller == seller)
}

/// `limit` and `offset` of a request.
pub fn paging(request: &Request, default: usize) -> Option<(usize, usize)> {
    let number = |name: &str, default: usize| match request.query(name) {
        None => Some(default),
        Some(text) => text.parse::<u32>().ok().map(|number| number as usize),
    };
    Some((number("limit", default)?, number("offset", 0)?))
}

/// `GET /missed_feeds`: notifications of two days that were given up.
pub fn missed_feeds(sandbox: &Sandbox, world: &World, call: Call, request: &Request) -> Reply {
    if request.query("app_id") != Some(&sandbox.client_id) {
        return Reply::error(403, "forbidden", "app_id is not the token's application");
    }
    let topic = request.query("topic");
    if topic == Some("items") && request.query("site_id") != Some("MLB") {
        return Reply::error(400, "bad_request", "topic items needs site_id");
    }
    let Some((limit, offset)) = paging(request, 10) else {
        return Reply::error(400, "bad_request", "limit and offset must be numbers");
    };
    let messages: Vec<Value> = world
        .missed
        .iter()
        .rev()
        .filter(|missed| call.now.since(missed.at) <= MISSED_S)
        .filter(|missed| topic.is_none_or(|topic| missed.body["topic"] == topic))
        .skip(offset)
        .take(limit)
        .map(|missed| missed.body.clone())
        .collect();
    Reply::json(200, &json!({ "messages": messages }))
}

/// A date as the marketplace writes it: mostly `-04:00`, and with the switch
/// in every form that has been seen, by the record's id.
pub fn wire_date(config: &Config, id: i64, at: Instant) -> String {
    let (hours, form) = match (config.mixed_dates, id.rem_euclid(4)) {
        (false, _) | (true, 0) => (4, "%Y-%m-%dT%H:%M:%S.000-04:00"),
        (true, 1) => (3, "%Y-%m-%dT%H:%M:%S.000-03:00"),
        (true, 2) => (0, "%Y-%m-%dT%H:%M:%S.123456789Z"),
        (true, _) => (4, "%Y-%m-%dT%H:%M:%S.000-0400"),
    };
    chrono::DateTime::from_timestamp(at.minus(hours * 3600).0, 0)
        .unwrap_or_default()
        .format(form)
        .to_string()
}
