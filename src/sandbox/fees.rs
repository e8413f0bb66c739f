//! What a sale costs its seller: `listing_prices` and the fee of a unit.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::config::FeesShape;
use super::http::Reply;
use crate::base::Cents;

/// From this price on there is no fixed fee: shipping is free there.
const FREE_SHIPPING_FROM: Cents = Cents(7_900);

/// Kinds of listings. Retired kinds have no fee and cannot be used.
const KINDS: [(&str, &str, &str); 7] = [
    ("gold_pro", "Premium", "highest"),
    ("gold_special", "Clássico", "highest"),
    ("gold_premium", "Diamante", "highest"),
    ("gold", "Ouro", "high"),
    ("silver", "Prata", "mid"),
    ("bronze", "Bronze", "low"),
    ("free", "Grátis", "lowest"),
];

/// Parameters of `listing_prices`.
pub const PRICES: &str =
    "price currency_id category_id listing_type_id logistic_type shipping_mode";

/// Percent of the price, by category and kind of listing.
fn percentage(category: &str, kind: &str) -> i64 {
    let digits = category.trim_start_matches(|c: char| !c.is_ascii_digit());
    let classic = 10 + digits.parse::<i64>().unwrap_or(2) % 5;
    match kind {
        "gold_special" => classic,
        "gold_pro" => classic + 5,
        _ => 0,
    }
}

/// The fixed fee of a unit. It applies below the price from which shipping is
/// free, to parcels that the marketplace does not carry itself.
fn fixed_fee(price: Cents, logistic: &str, mode: &str) -> Cents {
    let charged = match (mode, logistic) {
        ("me2", "self_service") | ("me1" | "custom" | "not_specified" | "", _) => true,
        _ => logistic == "self_service",
    };
    if !charged || price >= FREE_SHIPPING_FROM {
        return Cents(0);
    }
    match price.0 {
        ..1_250 => Cents(price.0 / 2),
        1_250..2_900 => Cents(625),
        2_900..5_000 => Cents(650),
        _ => Cents(675),
    }
}

/// The fee for the sale of one unit, as an order shows it.
pub fn of_unit(price: Cents, category: &str, kind: &str) -> Cents {
    Cents(price.0 * percentage(category, kind) / 100)
}

/// `GET /sites/MLB/listing_prices`.
pub fn listing_prices(call: &mut Call<'_>) -> HandlerResult {
    let price = call.query("price").and_then(|text| text.parse().ok());
    let price = price
        .and_then(Cents::from_reais)
        .filter(|price| price.0 > 0)
        .ok_or_else(|| Reply::bad_request("price is required and must be positive"))?;
    if call.query("currency_id").is_some_and(|id| id != "BRL") {
        return Err(Reply::bad_request("currency_id must be BRL"));
    }
    let category = call.query("category_id").unwrap_or("MLB31447");
    if !category.starts_with("MLB") {
        return Err(Reply::not_found("category not found"));
    }
    let logistic = call.query("logistic_type").unwrap_or_default();
    let mode = call.query("shipping_mode").unwrap_or_default();
    let asked = call.query("listing_type_id");
    let rows: Vec<Value> = KINDS
        .iter()
        .filter(|(kind, ..)| asked.is_none_or(|asked| asked == *kind))
        .map(|kind| entry(*kind, price, category, fixed_fee(price, logistic, mode)))
        .collect();
    let body = match call.state.config.fees_shape {
        FeesShape::Object if asked.is_some() => rows.into_iter().next().unwrap_or_default(),
        FeesShape::Nested => json!([rows]),
        FeesShape::Array | FeesShape::Object => json!(rows),
    };
    Ok(Reply::json(200, &body))
}

fn entry(
    (kind, name, exposure): (&str, &str, &str),
    price: Cents,
    category: &str,
    fixed: Cents,
) -> Value {
    let percent = percentage(category, kind);
    let fixed = if percent > 0 { fixed } else { Cents(0) };
    let gross = Cents(price.0 * percent / 100 + fixed.0);
    json!({
        "currency_id": "BRL", "listing_type_id": kind, "listing_type_name": name,
        "listing_exposure": exposure, "requires_picture": true,
        "listing_fee_amount": 0, "listing_fee_details": { "fixed_fee": 0, "gross_amount": 0 },
        "sale_fee_amount": gross,
        "sale_fee_details": { "percentage_fee": percent, "fixed_fee": fixed,
            "gross_amount": gross, "meli_percentage_fee": percent, "financing_add_on_fee": 0 },
        "stop_time": "2046-01-01T00:00:00.000-04:00",
    })
}
