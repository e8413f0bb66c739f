//! Listings, as the marketplace answers them: ids by page or by scan, and
//! details one by one or up to twenty at a time.

use serde_json::{Map, Value, json};

use super::config::Config;
use super::http::{Reply, Request};
use super::resources::{paging, wire_date};
use super::routes::Call;
use super::spoil;
use super::state::{Scroll, World};
use super::things::{Item, Variation, mode_of};
use crate::base::secrets::random_hex;

const IDS_MAX: usize = 20;
const IDS_PAGE_MAX: usize = 100;
const IDS_OFFSET_MAX: usize = 1_000;
const SCROLL_S: i64 = 300;
/// Scans that one seller may leave open.
const SCROLLS_MAX: usize = 10;

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
    let matching: Vec<i64> = world
        .items
        .values()
        .filter(|item| item.seller == call.seller && matches(item, request))
        .map(|item| item.number)
        .collect();
    let total = matching.len();
    let (numbers, scroll) = if scanning {
        match scan(world, call, request, matching, limit) {
            Ok((numbers, scroll)) => (numbers, scroll),
            Err(refused) => return refused,
        }
    } else {
        let page = matching.into_iter().skip(offset).take(limit).collect();
        (page, None)
    };
    let results: Vec<String> = numbers.iter().map(|number| format!("MLB{number}")).collect();
    let mut body = json!({
        "seller_id": id, "query": null, "results": results,
        "paging": { "limit": limit, "offset": offset, "total": total },
        "orders": [{ "id": "stop_time_asc", "name": "Order by stop time ascending" }],
        "available_orders": [{ "id": { "field": "price", "missing": "_last", "order": "asc" } }],
    });
    if scanning {
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
        && same("sku", None)
        && same("seller_sku", item.sku.as_deref())
        && same("listing_type_id", Some(&item.listing_type))
        && same("logistic_type", Some(&item.logistic))
        && sub_status
}

/// The next page of a scan, and the id to send for the one after it: none
/// once everything has been given. Used by questions too.
pub fn scan(
    world: &mut World,
    call: Call,
    request: &Request,
    matching: Vec<i64>,
    limit: usize,
) -> Result<(Vec<i64>, Option<String>), Reply> {
    let presented = request.query("scroll_id").filter(|id| !id.is_empty());
    if request.query("offset").is_some() {
        world.violation(call.now, "scan_with_offset", request.raw_query.clone());
        let text = "offset cannot be used with search_type=scan";
        return Err(Reply::error(400, "bad_request", text));
    }
    world.scrolls.retain(|_, scroll| call.now < scroll.until);
    let mut scroll = if let Some(id) = presented {
        match world.scrolls.remove(id) {
            Some(scroll) if scroll.seller == call.seller => scroll,
            _ => return Err(Reply::error(400, "bad_request", "invalid scroll_id")),
        }
    } else {
        let unfinished =
            |scroll: &&Scroll| scroll.seller == call.seller && scroll.taken < scroll.ids.len();
        if world.scrolls.values().filter(unfinished).count() >= SCROLLS_MAX {
            let detail = format!("more than {SCROLLS_MAX} scans left open");
            world.violation(call.now, "scans_left_open", detail);
            let text = "too many open scrolls";
            return Err(Reply::error(429, "too_many_requests", text));
        }
        Scroll { seller: call.seller, ids: matching, taken: 0, until: call.now }
    };
    let page: Vec<i64> = scroll.ids.iter().skip(scroll.taken).take(limit).copied().collect();
    if page.is_empty() {
        return Ok((page, None));
    }
    scroll.taken += limit;
    scroll.until = call.now.plus(SCROLL_S);
    let id = match presented {
        Some(id) if !world.config.new_scroll_ids => id.to_owned(),
        _ => random_hex::<16>(),
    };
    world.scrolls.insert(id.clone(), scroll);
    Ok((page, Some(id)))
}

/// `GET /items/{id}`.
pub fn item(world: &World, call: Call, id: &str, request: &Request) -> Reply {
    let Some(item) = world.item(id) else {
        let text = format!("Item with id {id} not found");
        return Reply::error(404, "not_found", &text);
    };
    let whole = shown(world, item, call.seller, request);
    let wanted = request.query("attributes").map(attributes);
    Reply::json(200, &only(whole, wanted.as_deref()))
}

/// `GET /imagens/{id}.svg`: a listing's picture, its first letters on a colour
/// of its own.
pub fn picture(world: &World, path: &str) -> Reply {
    let id = path.strip_prefix("/imagens/").and_then(|name| name.strip_suffix(".svg"));
    let Some(item) = id.and_then(|id| world.item(id)) else {
        return Reply::error(404, "not_found", "no such picture");
    };
    let letters: String = item
        .title
        .split_whitespace()
        .filter_map(|word| word.chars().find(|c| c.is_alphanumeric()))
        .take(2)
        .collect();
    let hue = item.number * 47 % 360;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 90 90\" width=\"90\" height=\"90\">\
         <rect width=\"90\" height=\"90\" fill=\"hsl({hue} 45% 82%)\"/>\
         <text x=\"45\" y=\"57\" font-size=\"34\" font-family=\"sans-serif\" text-anchor=\"middle\" \
         fill=\"hsl({hue} 50% 28%)\">{letters}</text></svg>"
    );
    Reply::bytes(200, "image/svg+xml", svg.into_bytes()).header("cache-control", "max-age=86400")
}

/// `GET /items/bulk?ids=`: up to twenty, each with its own status.
pub fn items(world: &mut World, call: Call, request: &Request) -> Reply {
    let envelope = request
        .query("attributes")
        .is_some_and(|names| names.split(',').any(|name| !name.starts_with("body.")));
    if envelope {
        // Fields of the envelope have made whole batches answer 403.
        let detail = "items/bulk takes attributes of body only".to_owned();
        world.violation(call.now, "envelope_attributes", detail);
    }
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
    many(world, call, request, |_, status, body| json!({ "code": status, "body": body }))
}

fn many(
    world: &mut World,
    call: Call,
    request: &Request,
    element: fn(&str, u16, Value) -> Value,
) -> Reply {
    let ids: Vec<&str> =
        request.query("ids").unwrap_or_default().split(',').filter(|id| !id.is_empty()).collect();
    if ids.is_empty() || ids.len() > IDS_MAX {
        if ids.len() > IDS_MAX {
            let detail = format!("{} listing ids at once", ids.len());
            world.violation(call.now, "limit_exceeded", detail);
        }
        return Reply::error(400, "bad_request", "ids must name 1 to 20 items");
    }
    let wanted = request.query("attributes").map(attributes);
    let refused = |status: u16, code: &str| json!({ "message": code, "error": code, "status": status, "cause": [] });
    let element = |id: &str, status: u16, body: Value| {
        if world.config.old_elements {
            return json!({ "code": status, "body": body });
        }
        element(id, status, body)
    };
    let answers: Vec<Value> = ids
        .iter()
        .map(|id| match world.item(id) {
            None => element(id, 404, refused(404, "not_found")),
            Some(item) if item.seller != call.seller => element(id, 403, refused(403, "forbidden")),
            Some(item) => {
                let whole = shown(world, item, call.seller, request);
                element(id, 200, only(whole, wanted.as_deref()))
            }
        })
        .collect();
    Reply::json(200, &answers)
}

/// `body.price,body.status` (or the old `price,status`) as field names.
fn attributes(text: &str) -> Vec<&str> {
    text.split(',').map(|name| name.strip_prefix("body.").unwrap_or(name)).collect()
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

fn shown(world: &World, item: &Item, caller: i64, request: &Request) -> Value {
    let hides = world.config.bulk_hides_codes && request.path == "/items/bulk";
    let all = request.query("include_attributes") == Some("all") && !hides;
    let mut body = item_json(&world.config, item, caller, all);
    let host = request.header("host").unwrap_or("imagens.sandbox.invalid");
    body["thumbnail"] = json!(format!("http://{host}/imagens/{}.svg", item.id()));
    spoil::unless_whole(world, &format!("items/{}", item.id()), body)
}

/// A listing as a caller sees it: quantities are the owner's, attributes of
/// variations are for those who ask for all.
fn item_json(config: &Config, item: &Item, caller: i64, all: bool) -> Value {
    let date = |at| wire_date(config, item.number, at);
    let id = item.id();
    let variations: Vec<Value> = item
        .variations
        .iter()
        .map(|variation| variation_json(item, variation, caller, all))
        .collect();
    let mut body = json!({
        "id": id, "site_id": "MLB", "title": item.title, "seller_id": item.seller,
        "category_id": item.category, "price": item.price, "base_price": item.price,
        "original_price": null, "currency_id": "BRL", "listing_type_id": item.listing_type,
        "buying_mode": "buy_it_now", "condition": "new",
        "permalink": format!("https://produto.sandbox.invalid/{id}"),
        "thumbnail": null,
        "status": item.status, "sub_status": item.sub_status, "seller_custom_field": null,
        "catalog_product_id": item.catalog_product,
        "catalog_listing": item.catalog_product.is_some(),
        "user_product_id": format!("MLBU{}", item.number), "family_name": item.title,
        "domain_id": "MLB-HOME_ACCESSORIES",
        "shipping": { "mode": mode_of(&item.logistic), "logistic_type": item.logistic,
            "free_shipping": item.price.0 >= 7_900, "tags": [] },
        "attributes": item_attributes(item), "variations": variations,
        "tags": ["cart_eligible"], "health": 0.85,
        "date_created": date(item.created), "last_updated": date(item.updated),
    });
    if item.seller == caller {
        body["initial_quantity"] = json!(item.stock + item.sold);
        body["available_quantity"] = json!(item.stock);
        body["sold_quantity"] = json!(item.sold);
        body["start_time"] = body["date_created"].clone();
        body["stop_time"] = json!("2046-01-01T00:00:00.000-04:00");
        body["channels"] = json!(["marketplace"]);
    }
    body
}

fn item_attributes(item: &Item) -> Vec<Value> {
    let mut attributes = vec![json!({ "id": "BRAND", "name": "Marca", "value_name": "Genérica" })];
    for (id, name, value) in [("SELLER_SKU", "SKU", &item.sku), ("GTIN", "EAN", &item.ean)] {
        if let Some(value) = value {
            attributes
                .push(json!({ "id": id, "name": name, "value_id": null, "value_name": value }));
        }
    }
    attributes
}

fn variation_json(item: &Item, variation: &Variation, caller: i64, all: bool) -> Value {
    let mut body = json!({
        "id": variation.id, "price": item.price, "picture_ids": [],
        "attribute_combinations": [{ "id": "COLOR", "name": "Cor", "value_id": null,
            "value_name": variation.value }],
    });
    if item.seller == caller {
        body["available_quantity"] = json!(variation.stock);
        body["sold_quantity"] = json!(variation.sold);
    }
    if all {
        body["seller_custom_field"] = Value::Null;
        let sku = variation.sku.iter().map(
            |sku| json!({ "id": "SELLER_SKU", "name": "SKU", "value_id": null, "value_name": sku }),
        );
        body["attributes"] = sku.collect();
    }
    body
}
