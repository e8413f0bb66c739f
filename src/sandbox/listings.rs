//! Listings, as the marketplace shows them: ids by page or by scan, and details one
//! by one or up to twenty at a time.

use serde_json::{Map, Value, json};

use super::call::{Call, HandlerResult};
use super::config::Config;
use super::http::{Reply, error_body};
use super::records::{Paging, unless_spoiled};
use super::things::{Item, Variation, item_id, mode_of};

/// Parameters of the search.
pub const SEARCH: &str = "status sku seller_sku listing_type_id sub_status logistic_type labels \
    missing_product_identifiers reputation_health_gauge orders limit offset search_type \
    scroll_id include_filters user_product_id";

/// `GET /users/{id}/items/search`: ids of a seller's listings, by page or by
/// scan.
pub fn search(call: &mut Call<'_>) -> HandlerResult {
    call.must_be_own(call.id())?;
    let page = Paging::read(call, "items/search", 100, 1_000)?;
    let items = call.state.items.values();
    let matching: Vec<i64> = items
        .filter(|item| item.seller == call.seller && matches(item, call))
        .map(|item| item.number)
        .collect();
    let mut body = json!({
        "seller_id": call.id(), "query": null,
        "paging": { "limit": page.limit, "offset": page.offset, "total": matching.len() },
        "orders": [{ "id": "stop_time_asc", "name": "Order by stop time ascending" }],
        "available_orders": [{ "id": { "field": "price", "missing": "_last", "order": "asc" } }],
    });
    let numbers = page.take(call, matching, &mut body)?;
    body["results"] = numbers.into_iter().map(item_id).collect();
    Ok(Reply::json(200, &body))
}

fn matches(item: &Item, call: &Call<'_>) -> bool {
    let same =
        |name: &str, value: Option<&str>| call.query(name).is_none_or(|asked| value == Some(asked));
    let sub_status =
        call.query("sub_status").is_none_or(|asked| item.sub_status.iter().any(|one| one == asked));
    let sells = |products: &str| products.split(',').any(|one| one == item.user_product());
    same("status", Some(&item.status))
        && call.query("user_product_id").is_none_or(sells)
        && same("sku", None)
        && same("seller_sku", item.sku.as_deref())
        && same("listing_type_id", Some(&item.listing_type))
        && same("logistic_type", Some(&item.logistic))
        && sub_status
}

/// `GET /items/{id}`.
pub fn item(call: &mut Call<'_>) -> HandlerResult {
    let id = call.id();
    let item = call.state.item(id);
    let item = item.ok_or_else(|| Reply::not_found(&format!("Item with id {id} not found")))?;
    Ok(Reply::json(200, &shown(call, item)))
}

/// `GET /items/{id}/sale_price`.
pub fn sale_price(call: &mut Call<'_>) -> HandlerResult {
    if !call.asks("context", "channel_marketplace") {
        return Err(Reply::bad_request("context must be channel_marketplace"));
    }
    let item = call.state.item(call.id()).ok_or_else(|| Reply::not_found("item not found"))?;
    Reply::ok(json!({
        "price_id": "1", "amount": item.price, "regular_amount": null, "currency_id": "BRL",
        "reference_date": call.now.rfc3339(), "metadata": {},
    }))
}

/// `GET /imagens/{id}.svg`: a picture of a listing, with two initials of the title
/// on a colour.
pub fn picture(call: &mut Call<'_>) -> HandlerResult {
    let item = call.id().strip_suffix(".svg").and_then(|id| call.state.item(id));
    let item = item.ok_or_else(|| Reply::not_found("no such picture"))?;
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
    let reply = Reply::new(200, "image/svg+xml", svg.into_bytes());
    Ok(reply.header("cache-control", "max-age=86400"))
}

/// `GET /items/bulk?ids=`: up to twenty, each with its own status.
pub fn items(call: &mut Call<'_>) -> HandlerResult {
    let attributes = call.query("attributes");
    if attributes.is_some_and(|names| names.split(',').any(|name| !name.starts_with("body."))) {
        // Fields of the envelope made the real marketplace answer 403 for all ids.
        call.violation("envelope_attributes", "items/bulk takes attributes of body only");
    }
    many(call, call.state.config.old_elements)
}

/// `GET /items?ids=`: retired; answers in the old format if the switch is on.
pub fn items_retired(call: &mut Call<'_>) -> HandlerResult {
    call.violation("retired_path", "GET /items?ids=");
    if !call.state.config.old_multiget {
        return Err(Reply::not_found("resource not found"));
    }
    many(call, true)
}

fn many(call: &mut Call<'_>, is_old: bool) -> HandlerResult {
    let refused = |status, code| (status, error_body(status, code, code));
    let ids = call.twenty_ids("items")?;
    let elements = ids.into_iter().map(|id| {
        let (status, body) = match call.state.item(id) {
            None => refused(404, "not_found"),
            Some(item) if item.seller != call.seller => refused(403, "forbidden"),
            Some(item) => (200, shown(call, item)),
        };
        if is_old {
            json!({ "code": status, "body": body })
        } else {
            json!({ "id": id, "status_code": status, "body": body })
        }
    });
    Ok(Reply::json(200, &elements.collect::<Vec<_>>()))
}

/// A listing with the requested attributes: `body.price,body.status`, or the old
/// `price,status`.
fn shown(call: &Call<'_>, item: &Item) -> Value {
    let whole = whole(call, item);
    let (Value::Object(fields), Some(wanted)) = (&whole, call.query("attributes")) else {
        return whole;
    };
    let wanted: Vec<&str> =
        wanted.split(',').map(|name| name.strip_prefix("body.").unwrap_or(name)).collect();
    let kept = fields.iter().filter(|(name, _)| wanted.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>().into()
}

fn whole(call: &Call<'_>, item: &Item) -> Value {
    let hides = call.state.config.bulk_hides_codes && call.request.path == "/items/bulk";
    let all = call.asks("include_attributes", "all") && !hides;
    let mut body = item_json(&call.state.config, item, call.seller, all);
    let host = call.request.header("host").unwrap_or("imagens.sandbox.invalid");
    body["thumbnail"] = json!(format!("http://{host}/imagens/{}.svg", item.id()));
    if call.state.config.hides_prices {
        hide_prices(&mut body);
    }
    unless_spoiled(call.state, &format!("items/{}", item.id()), body)
}

/// Takes the prices out of a listing, as the marketplace announced for its own.
fn hide_prices(body: &mut Value) {
    let take = |thing: &mut Value| {
        if let Some(fields) = thing.as_object_mut() {
            fields.retain(|name, _| {
                !matches!(name.as_str(), "price" | "base_price" | "original_price")
            });
        }
    };
    take(body);
    body["variations"].as_array_mut().into_iter().flatten().for_each(take);
}

/// A listing as a caller sees it. Only the owner sees quantities. Attributes of
/// variations are included only when all attributes are requested.
fn item_json(config: &Config, item: &Item, caller: i64, all: bool) -> Value {
    let date = |at| config.date(item.number, at);
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
        "user_product_id": item.user_product(), "family_name": item.title,
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
    let brand = json!({ "id": "BRAND", "name": "Marca", "value_name": "Genérica" });
    let sku = item.sku.iter().map(|sku| attribute("SELLER_SKU", "SKU", sku));
    let ean = item.ean.iter().map(|ean| attribute("GTIN", "EAN", ean));
    [brand].into_iter().chain(sku).chain(ean).collect()
}

fn attribute(id: &str, name: &str, value: &str) -> Value {
    json!({ "id": id, "name": name, "value_id": null, "value_name": value })
}

fn variation_json(item: &Item, variation: &Variation, caller: i64, all: bool) -> Value {
    let mut body = json!({
        "id": variation.id, "price": item.price, "picture_ids": [],
        "attribute_combinations": [attribute("COLOR", "Cor", &variation.value)],
    });
    if item.seller == caller {
        body["available_quantity"] = json!(variation.stock);
        body["sold_quantity"] = json!(variation.sold);
    }
    if all {
        body["seller_custom_field"] = Value::Null;
        let sku = variation.sku.iter().map(|sku| attribute("SELLER_SKU", "SKU", sku));
        body["attributes"] = sku.collect();
    }
    body
}
