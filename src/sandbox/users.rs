//! Users, as the marketplace shows them.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::http::{Reply, error_body};
use super::state::SandboxState;
use super::things::{Order, Seller, nickname_of};
use crate::base::DAY_S;

/// Orders count as completed in a reputation for this long.
const REPUTATION_S: i64 = 60 * DAY_S;

/// `GET /users/me`: the private record.
pub fn me(call: &mut Call<'_>) -> HandlerResult {
    reply(call, call.seller)
}

/// `GET /users/{id}`: the private record for its owner, the public one for others;
/// also for buyers.
pub fn user(call: &mut Call<'_>) -> HandlerResult {
    let Ok(number) = call.number() else {
        return Err(Reply::bad_request("the user id must be a number"));
    };
    reply(call, number)
}

/// An account. With the switch `partial_users` its reputation is missing, as
/// happens at the real marketplace.
fn reply(call: &Call<'_>, number: i64) -> HandlerResult {
    let mut record = record_of(call, number).ok_or_else(|| Reply::not_found("user not found"))?;
    if !call.state.config.partial_users {
        return Ok(Reply::json(200, &record));
    }
    if let Some(fields) = record.as_object_mut() {
        fields.remove("seller_reputation");
    }
    Ok(Reply::json(206, &record).header("x-content-missing", "seller_reputation"))
}

/// `GET /users/bulk?ids=`: up to twenty, each with its own status.
pub fn users(call: &mut Call<'_>) -> HandlerResult {
    let ids = call.twenty_ids("users")?;
    let elements = ids.into_iter().map(|id| {
        let record = id.parse().ok().and_then(|number| record_of(call, number));
        let missing = || (404, error_body(404, "not_found", "user not found"));
        let (status, body) = record.map_or_else(missing, |record| (200, record));
        json!({ "id": id, "status_code": status, "body": body })
    });
    Ok(Reply::json(200, &elements.collect::<Vec<_>>()))
}

fn record_of(call: &Call<'_>, number: i64) -> Option<Value> {
    let state = &*call.state;
    if let Some(seller) = state.sellers.get(&number) {
        let is_own = number == call.seller;
        return Some(if is_own {
            private_record(call, seller)
        } else {
            public_record(state, seller)
        });
    }
    let bought = state.orders.values().find(|order| order.buyer == number);
    let asked = || state.questions.values().any(|asked| asked.buyer == number);
    let nickname = match bought {
        Some(order) => order.nickname(),
        None if asked() => nickname_of(number),
        None => return None,
    };
    Some(json!({
        "id": number, "nickname": nickname, "site_id": "MLB", "country_id": "BR",
        "user_type": "normal", "tags": ["normal"],
    }))
}

fn public_record(state: &SandboxState, seller: &Seller) -> Value {
    json!({
        "id": seller.id, "nickname": seller.nickname, "site_id": "MLB", "country_id": "BR",
        "permalink": format!("http://perfil.sandbox.invalid/{}", seller.nickname),
        "user_type": "normal", "tags": ["normal", "test_user"],
        "seller_reputation": {
            "level_id": seller.reputation.level,
            "power_seller_status": seller.reputation.power_seller,
            "transactions":
                { "period": "historic", "total": orders_of(state, seller.id).count() },
        },
    })
}

fn private_record(call: &Call<'_>, seller: &Seller) -> Value {
    let (state, now) = (&*call.state, call.now);
    let (mut total, mut cancelled, mut recent) = (0_u32, 0_u32, 0_u32);
    for order in orders_of(state, seller.id) {
        total += 1;
        cancelled += u32::from(order.status == "cancelled");
        recent += u32::from(now.since(order.created) <= REPUTATION_S && order.status == "paid");
    }
    let reputation = &seller.reputation;
    // With fewer than sixty sales in sixty days, the marketplace uses a year.
    let period = if recent >= 60 { "60 days" } else { "365 days" };
    let share = |rate: f64| {
        let value = (rate * f64::from(recent)).round();
        json!({ "period": period, "rate": rate, "value": value,
            "excluded": { "real_value": value, "real_rate": rate } })
    };
    let mut record = public_record(state, seller);
    record["email"] = json!(seller.email);
    record["registration_date"] = json!(state.config.date(seller.id, seller.created));
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
        let end = state.config.date(seller.id, now.plus(30 * DAY_S));
        record["seller_reputation"]["protection_end_date"] = json!(end);
    }
    record
}

fn orders_of(state: &SandboxState, seller: i64) -> impl Iterator<Item = &Order> {
    state.orders.values().filter(move |order| order.seller == seller)
}
