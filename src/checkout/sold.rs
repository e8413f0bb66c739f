//! What was sold, for how much and to whom, as the body of a purchase event says.

use serde_json::Value;

use crate::base::{Cents, text};

/// Longest name of a product or a buyer.
const LONGEST: usize = 120;

/// What a body says; what it does not say is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sold {
    pub product: String,
    pub amount: Option<Cents>,
    /// Such as `BRL`.
    pub currency: String,
    pub buyer: String,
}

impl Sold {
    /// Reads either form of the platform's payload.
    pub fn of(body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let (data, price) = (&body["data"], &body["data"]["purchase"]["price"]);
        Self {
            product: first([&data["product"]["name"], &body["prod_name"]]),
            amount: [&price["value"], &data["purchase"]["full_price"]["value"], &body["price"]]
                .into_iter()
                .find_map(cents),
            currency: first([&price["currency_value"], &body["currency"]]),
            buyer: first([&data["buyer"]["name"], &data["subscriber"]["name"], &body["name"]]),
        }
    }
}

fn first<const N: usize>(places: [&Value; N]) -> String {
    let found = places.into_iter().filter_map(Value::as_str).map(str::trim);
    let found = found.filter(|found| !found.is_empty());
    let plain = |text: &str| -> String { text.chars().filter(|one| !one.is_control()).collect() };
    found.map(|found| plain(text::shortened(found, LONGEST))).next().unwrap_or_default()
}

fn cents(value: &Value) -> Option<Cents> {
    let amount = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().replace(',', ".").parse().ok()?,
        _ => return None,
    };
    Cents::from_reais(amount).filter(|amount| amount.0 >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_tell_product_and_amount() {
        let sold = |product: &str, amount: Option<i64>, currency: &str, buyer: &str| Sold {
            product: product.to_owned(),
            amount: amount.map(Cents),
            currency: currency.to_owned(),
            buyer: buyer.to_owned(),
        };
        let enveloped = r#"{"data":{"product":{"name":" Formação "},"buyer":{"name":"Ana"},
            "purchase":{"price":{"value":97.5,"currency_value":"BRL"}}}}"#;
        assert_eq!(Sold::of(enveloped), sold("Formação", Some(9_750), "BRL", "Ana"));
        let flat = r#"{"prod_name":"Curso","price":"1497,00","currency":"BRL","name":"Rui"}"#;
        assert_eq!(Sold::of(flat), sold("Curso", Some(149_700), "BRL", "Rui"));
        for silent in ["", "[]", "{}", r#"{"price":-1,"prod_name":7}"#, r#"{"price":1e300}"#] {
            assert_eq!(Sold::of(silent), Sold::default(), "{silent}");
        }
    }
}
