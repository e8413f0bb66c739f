//! What a sale costs its seller.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Answer, Caller, Client, Failure};
use crate::base::Cents;
use crate::marketplace::books::document::text;

/// The sale whose fees are requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeeQuestion {
    pub price: Cents,
    /// Such as `MLB31447`; empty for the marketplace's default.
    pub category: String,
    /// Such as `drop_off`.
    pub logistic: String,
}

/// The fees of the two kinds of listings that people use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fees {
    /// `gold_special`.
    pub classic: Fee,
    /// `gold_pro`.
    pub premium: Fee,
    /// Such as `BRL`.
    pub currency: String,
}

/// What a sale of one unit costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fee {
    /// Percent of the price.
    pub percent: f64,
    /// Independent of the price.
    pub fixed: Cents,
}

impl Client {
    /// The fees of a sale by the caller.
    pub fn fees(&self, caller: &Caller<'_>, question: &FeeQuestion) -> Answer<Fees> {
        let FeeQuestion { price, category, logistic } = question;
        let mut query = vec![
            ("price", price.reais().to_string()),
            ("currency_id", "BRL".to_owned()),
            ("logistic_type", logistic.clone()),
            ("shipping_mode", mode_of(logistic).to_owned()),
        ];
        if !category.is_empty() {
            query.push(("category_id", category.clone()));
        }
        let path = format!("/sites/{}/listing_prices", self.site);
        let answer = self.get(caller, &path, &query)?;
        read(&answer, *price).ok_or(Failure::Garbled("listing_prices"))
    }
}

/// The shipping mode that a kind of shipping belongs to.
fn mode_of(logistic: &str) -> &str {
    match logistic {
        "default" => "me1",
        "custom" | "not_specified" => logistic,
        _ => "me2",
    }
}

/// Reads fees from a list of entries, from one entry, or from a nested list.
fn read(answer: &Value, price: Cents) -> Option<Fees> {
    let mut entries = Vec::new();
    collect(answer, &mut entries);
    let of = |kind: &str| {
        let is_it = |entry: &&&Value| text(&entry["listing_type_id"]).as_deref() == Some(kind);
        entries.iter().find(is_it).copied()
    };
    let (classic, premium) = (of("gold_special")?, of("gold_pro")?);
    Some(Fees {
        classic: fee(classic, price)?,
        premium: fee(premium, price)?,
        currency: text(&classic["currency_id"]).unwrap_or_else(|| "BRL".to_owned()),
    })
}

fn collect<'v>(value: &'v Value, entries: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, entries)),
        Value::Object(_) => entries.push(value),
        _ => {}
    }
}

fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    (number.is_finite() && number >= 0.0).then_some(number)
}

/// The fee of an entry. A missing percentage is computed from the amount
/// without the fixed part.
fn fee(entry: &Value, price: Cents) -> Option<Fee> {
    let details = &entry["sale_fee_details"];
    let fixed = number(&details["fixed_fee"]).unwrap_or(0.0);
    let percent = number(&details["percentage_fee"]).or_else(|| {
        let amount = number(&entry["sale_fee_amount"])?;
        Some((amount - fixed).max(0.0) / price.reais() * 100.0)
    })?;
    Some(Fee {
        // Rounded, because the marketplace's numbers have floating-point noise.
        percent: (percent * 100.0).round() / 100.0,
        fixed: Cents::from_reais(fixed)?,
    })
    .filter(|fee| fee.percent <= 100.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fees_are_read_in_every_shape() {
        let entry = |kind: &str, percent: Value| {
            json!({ "listing_type_id": kind, "currency_id": "BRL", "sale_fee_amount": 20.75,
                "sale_fee_details": { "percentage_fee": percent, "fixed_fee": 6.75 } })
        };
        let (classic, premium) =
            (entry("gold_special", json!(14.000_000_000_000_002)), entry("gold_pro", json!("19")));
        let retired = json!({ "listing_type_id": "gold", "sale_fee_amount": 0 });
        for answer in [
            json!([retired, premium, classic]),
            json!([[classic, premium]]),
            json!({ "0": null, "listing_type_id": "x" }),
        ] {
            let fees = read(&answer, Cents(10_000));
            if answer.is_object() {
                assert_eq!(fees, None);
                continue;
            }
            let fees = fees.unwrap();
            assert_eq!((fees.classic.percent, fees.premium.percent), (14.0, 19.0));
            assert_eq!(fees.classic.fixed, Cents(675));
        }
        let untold = read(&json!([entry("gold_special", Value::Null), premium]), Cents(10_000));
        assert!((untold.unwrap().classic.percent - 14.0).abs() < f64::EPSILON);
        for nonsense in [
            json!(null),
            json!([classic]),
            json!("x"),
            json!([premium, { "listing_type_id": "gold_special" }]),
        ] {
            assert_eq!(read(&nonsense, Cents(10_000)), None, "{nonsense}");
        }
    }
}
