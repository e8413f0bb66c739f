//! Users, listings and missed notifications, as the marketplace answers them.

use serde_json::{Map, Value, json};

use super::config::Config;
use super::http::{Reply, Request};
use super::routes::Call;
use super::state::{Item, Sandbox, Scroll, Seller, World};
use crate::clock::{DAY_S, Instant};
use crate::secrets::random_hex;

const IDS_MAX: usize = 20;
const IDS_PAGE_MAX: usize = 100;
const IDS_OFFSET_MAX: usize = 1_000;
const SCROLL_S: i64 = 300;
const SCROLLS_MAX: usize = 100;
const MISSED_S: i64 = 2 * DAY_S;
/// Orders count as completed in a reputation for this long.
const REPUTATION_S: i64 = 60 * DAY_S;

/// `GET /users/me`: the private record.
pub fn me(world: &World, call: Call) -> Reply {
    match world.sellers.get(&call.seller) {
        Some(seller) => Reply::json(200, &private_record(world, seller, call.now)),
        None => Reply::error(404, "not_found", "user not found"),
    }
}

/// `GET /users/{id}`: private for the owner, public for others; buyers too.
pub fn user(world: &World, call: Call, id: &str) -> Reply {
    let Ok(number) = id.parse::<i64>() else {
        return Reply::error(400, "bad_request", "the user id must be a number");
    };
    if let Some(seller) = world.sellers.get(&number) {
        let record = if number == call.seller {
            private_record(world, seller, call.now)
        } else {
            public_record(world, seller)
        };
        return Reply::json(200, &record);
    }
    let is_buyer = |order: &&super::state::Order| order.buyer == number;
    match world.orders.values().find(is_buyer) {
        Some(order) => Reply::json(
            200,
            &json!({
                "id": number, "nickname": super::orders::nickname_of(order),
                "site_id": "MLB", "country_id": "BR", "user_type": "normal", "tags": ["normal"],
            }),
        ),
        None => Reply::error(404, "not_found", "user not found"),
    }
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
    let share = |rate: f64| {
        let value = (rate * f64::from(recent)).round();
        json!({ "period": "60 days", "rate": rate, "value": value,
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
        "sales": { "period": "60 days", "completed": recent },
        "claims": share(reputation.claims),
        "delayed_handling_time": share(reputation.late),
        "cancellations": share(reputation.cancelled),
    });
    record
}

fn orders_of(world: &World, seller: i64) -> impl Iterator<Item = &super::state::Order> {
    world
        .orders
        .values()
        .filter(move |order| order.seller == seller)
}

/// `GET /users/{id}/items/search`: ids of a seller's listings, by page or by
/// scan.
pub fn item_ids(world: &mut World, call: Call, id: &str, request: &Request) -> Reply {
    if id != call.seller.to_string() {
        return Reply::error(403, "forbidden", "the token belongs to another user");
    }
    let scanning = request.query("search_type") == Some("scan");
    let Some((limit, offset)) = paging(request, 50) else {
        return Reply::error(400, "bad_request", "limit and offset must be numbers");
    };
    if limit > IDS_PAGE_MAX || offset + limit > IDS_OFFSET_MAX && !scanning {
        let detail = format!("items/search limit={limit} offset={offset}");
        world.violation(call.now, "limit_exceeded", detail);
        return Reply::error(400, "bad_request", "invalid limit or offset");
    }
    let matching: Vec<String> = world
        .items
        .values()
        .filter(|item| item.seller == call.seller && matches(item, request))
        .map(Item::id)
        .collect();
    let (offset, scroll) = if scanning {
        if request.query("offset").is_some() {
            world.violation(call.now, "scan_with_offset", request.raw_query.clone());
        }
        match scroll(world, call, request.query("scroll_id"), limit) {
            Some((offset, id)) => (offset, Some(id)),
            None => return Reply::error(400, "bad_request", "invalid scroll_id"),
        }
    } else {
        (offset, None)
    };
    let results: Vec<&String> = matching.iter().skip(offset).take(limit).collect();
    let mut body = json!({
        "seller_id": id, "query": null, "results": results,
        "paging": { "limit": limit, "offset": offset, "total": matching.len() },
        "orders": [{ "id": "stop_time_asc", "name": "Order by stop time ascending" }],
        "available_orders": [{ "id": { "field": "price", "missing": "_last", "order": "asc" } }],
    });
    if let Some(scroll) = scroll {
        body["scroll_id"] = json!(scroll);
    }
    Reply::json(200, &body)
}

fn matches(item: &Item, request: &Request) -> bool {
    let same = |name: &str, value: Option<&str>| {
        request.query(name).is_none_or(|asked| value == Some(asked))
    };
    let sub_status = request
        .query("sub_status")
        .is_none_or(|asked| item.sub_status.iter().any(|one| one == asked));
    same("status", Some(&item.status))
        && same("seller_sku", item.sku.as_deref())
        && same("listing_type_id", Some(&item.listing_type))
        && same("logistic_type", Some(&item.logistic))
        && sub_status
}

/// Where a scan goes on: the position and the id to send next.
fn scroll(
    world: &mut World,
    call: Call,
    presented: Option<&str>,
    limit: usize,
) -> Option<(usize, String)> {
    world.scrolls.retain(|_, scroll| call.now < scroll.until);
    let (id, taken) = match presented {
        None if world.scrolls.len() >= SCROLLS_MAX => return None,
        None => (random_hex::<16>(), 0),
        Some(id) => {
            let scroll = world.scrolls.get(id)?;
            if scroll.seller != call.seller {
                return None;
            }
            (id.to_owned(), scroll.taken)
        }
    };
    let next = Scroll {
        seller: call.seller,
        taken: taken + limit,
        until: call.now.plus(SCROLL_S),
    };
    world.scrolls.insert(id.clone(), next);
    Some((taken, id))
}

/// `limit` and `offset` of a request.
pub fn paging(request: &Request, default: usize) -> Option<(usize, usize)> {
    let number = |name: &str, default: usize| match request.query(name) {
        None => Some(default),
        Some(text) => text.parse::<u32>().ok().map(|number| number as usize),
    };
    Some((number("limit", default)?, number("offset", 0)?))
}

/// `GET /items/{id}`.
pub fn item(world: &World, call: Call, id: &str) -> Reply {
    match world.item(id) {
        Some(item) => Reply::json(200, &item_json(&world.config, item, call.seller)),
        None => Reply::error(404, "not_found", &format!("Item with id {id} not found")),
    }
}

/// `GET /items/bulk?ids=`: up to twenty, each with its own status.
pub fn items(world: &mut World, call: Call, request: &Request) -> Reply {
    many(
        world,
        call,
        request,
        |id, status, body| json!({ "id": id, "status_code": status, "body": body }),
    )
}

/// `GET /items?ids=`: retired; answers its old shape when the switch says so.
pub fn items_retired(world: &mut World, call: Call, request: &Request) -> Reply {
    world.violation(call.now, "retired_path", "GET /items?ids=".to_owned());
    if !world.config.old_multiget {
        return Reply::error(404, "not_found", "resource not found");
    }
    many(
        world,
        call,
        request,
        |_, status, body| json!({ "code": status, "body": body }),
    )
}

fn many(
    world: &mut World,
    call: Call,
    request: &Request,
    element: fn(&str, u16, Value) -> Value,
) -> Reply {
    let ids: Vec<&str> = request
        .query("ids")
        .unwrap_or_default()
        .split(',')
        .filter(|id| !id.is_empty())
        .collect();
    if ids.is_empty() || ids.len() > IDS_MAX {
        if ids.len() > IDS_MAX {
            let detail = format!("{} listing ids at once", ids.len());
            world.violation(call.now, "limit_exceeded", detail);
        }
        return Reply::error(400, "bad_request", "ids must name 1 to 20 items");
    }
    let wanted = request.query("attributes").map(attributes);
    let refused = |status: u16, code: &str| json!({ "message": code, "error": code, "status": status, "cause": [] });
    let answers: Vec<Value> = ids
        .iter()
        .map(|id| match world.item(id) {
            None => element(id, 404, refused(404, "not_found")),
            Some(item) if item.seller != call.seller => element(id, 403, refused(403, "forbidden")),
            Some(item) => {
                let whole = item_json(&world.config, item, call.seller);
                element(id, 200, only(whole, wanted.as_deref()))
            }
        })
        .collect();
    Reply::json(200, &answers)
}

/// `body.price,body.status` (or the old `price,status`) as field names.
fn attributes(text: &str) -> Vec<&str> {
    text.split(',')
        .map(|name| name.strip_prefix("body.").unwrap_or(name))
        .collect()
}

fn only(item: Value, wanted: Option<&[&str]>) -> Value {
    match (item, wanted) {
        (Value::Object(fields), Some(wanted)) => fields
            .into_iter()
            .filter(|(name, _)| wanted.contains(&name.as_str()))
            .collect::<Map<_, _>>()
            .into(),
        (item, _) => item,
    }
}

/// A listing as a caller sees it: quantities are the owner's.
fn item_json(config: &Config, item: &Item, caller: i64) -> Value {
    let date = |at| wire_date(config, item.number, at);
    let mut attributes = vec![json!({ "id": "BRAND", "name": "Marca", "value_name": "Genérica" })];
    for (id, name, value) in [("SELLER_SKU", "SKU", &item.sku), ("GTIN", "EAN", &item.ean)] {
        if let Some(value) = value {
            attributes
                .push(json!({ "id": id, "name": name, "value_id": null, "value_name": value }));
        }
    }
    let id = item.id();
    let mut body = json!({
        "id": id, "site_id": "MLB", "title": item.title, "seller_id": item.seller,
        "category_id": item.category, "price": item.price, "base_price": item.price,
        "original_price": null, "currency_id": "BRL", "listing_type_id": item.listing_type,
        "condition": "new", "permalink": format!("https://produto.sandbox.invalid/{id}"),
        "thumbnail": format!("http://imagens.sandbox.invalid/{id}.jpg"),
        "status": item.status, "sub_status": item.sub_status, "seller_custom_field": null,
        "catalog_product_id": null, "catalog_listing": false,
        "user_product_id": format!("MLBU{}", item.number),
        "shipping": { "mode": "me2", "logistic_type": item.logistic,
            "free_shipping": item.price.0 >= 7_900, "tags": [] },
        "attributes": attributes, "variations": [], "tags": ["cart_eligible"], "health": 0.85,
        "date_created": date(item.created), "last_updated": date(item.updated),
    });
    if item.seller == caller {
        body["initial_quantity"] = json!(item.stock + item.sold);
        body["available_quantity"] = json!(item.stock);
        body["sold_quantity"] = json!(item.sold);
        body["start_time"] = body["date_created"].clone();
    }
    body
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
