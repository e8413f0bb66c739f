//! What stays of the body of a purchase event when its buyer is erased: what was
//! sold, when and for how much, for the books.

use serde_json::{Map, Value};

/// What stays, by its place in either form of the body.
const KEPT: [&[&str]; 22] = [
    &["event"],
    &["creation_date"],
    &["data", "product", "id"],
    &["data", "product", "name"],
    &["data", "purchase", "transaction"],
    &["data", "purchase", "status"],
    &["data", "purchase", "order_date"],
    &["data", "purchase", "approved_date"],
    &["data", "purchase", "recurrence_number"],
    &["data", "purchase", "offer", "code"],
    &["data", "purchase", "payment", "type"],
    &["data", "purchase", "payment", "installments_number"],
    &["data", "purchase", "price", "value"],
    &["data", "purchase", "price", "currency_value"],
    &["data", "purchase", "full_price", "value"],
    &["data", "purchase", "full_price", "currency_value"],
    &["transaction"],
    &["status"],
    &["prod"],
    &["price"],
    &["full_price"],
    &["currency"],
];

/// The body without its people; `{}` when it cannot be read.
pub fn reduced(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let mut kept = Map::new();
    for path in KEPT {
        let found = path.iter().try_fold(&body, |value, name| value.get(name));
        let Some(value) = found.filter(|value| !value.is_object() && !value.is_array()) else {
            continue;
        };
        let (last, above) = path.split_last().expect("no path is empty");
        let mut place = &mut kept;
        for name in above {
            let entry = place.entry((*name).to_owned()).or_insert_with(|| Map::new().into());
            place = entry.as_object_mut().expect("only objects are above");
        }
        place.insert((*last).to_owned(), value.clone());
    }
    Value::Object(kept).to_string()
}

#[cfg(test)]
mod tests {
    use super::reduced;

    #[test]
    fn amounts_stay_and_people_go() {
        let body = r#"{"event":"PURCHASE_APPROVED","hottok":"x","data":{"buyer":{"email":"ana@exemplo.com"},
            "purchase":{"transaction":"HP1","price":{"value":97.5,"currency_value":"BRL"}}}}"#;
        let kept = r#"{"data":{"purchase":{"price":{"currency_value":"BRL","value":97.5},"transaction":"HP1"}},"event":"PURCHASE_APPROVED"}"#;
        assert_eq!(reduced(body), kept);
        assert_eq!(reduced(kept), kept);
        assert_eq!(reduced("no JSON"), "{}");
        assert_eq!(reduced(r#"{"data":"Ana"}"#), "{}");
    }
}
