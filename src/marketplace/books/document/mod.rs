//! Lenient parsing of the marketplace's records.
//!
//! Ids come as numbers or as text, money with rounding noise, dates in several
//! forms. Fields are missing, and new states appear. This module decides what a
//! field can mean, so that one odd record neither fails a page of records nor
//! brings a wrong number into the books. A record without a required field is
//! [`Unreadable`] as a whole.

mod claim;
mod item_id;
mod listing;
mod order;
mod question;
mod seller;

pub use claim::{ClaimDocument, ClaimState};
pub use item_id::ItemId;
pub use listing::{ListingDocument, sale_price};
pub use order::{OrderDocument, Shipment, SoldItem, SoldLine};
pub use question::{QuestionDocument, QuestionRow, QuestionState, UNANSWERABLE};
pub use seller::SellerRecord;

use serde_json::Value;

use crate::base::{Cents, Instant, shortened};

/// Longest title, code or name that is kept whole.
const LONGEST_TEXT: usize = 250;

/// A required field of a record is missing or cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is missing or unreadable")]
pub struct Unreadable(pub &'static str);

/// A record of a list that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct UnreadableRecord {
    /// The record's number, if there is one; the record can be fetched alone by
    /// it.
    pub id: Option<i64>,
    pub why: Unreadable,
}

/// Reads each record of a list separately.
pub fn read_each<T>(
    records: &[Value],
    read: impl Fn(&Value) -> Result<T, Unreadable>,
) -> Vec<Result<T, UnreadableRecord>> {
    let one = |record: &Value| {
        let read = match record {
            Value::Object(_) | Value::Null => read(record),
            _ => Err(Unreadable("the record")),
        };
        read.map_err(|why| UnreadableRecord { id: positive(&record["id"]), why })
    };
    records.iter().map(one).collect()
}

/// A positive whole number, written as a number or as text.
pub fn positive(value: &Value) -> Option<i64> {
    whole(value).filter(|number| *number > 0)
}

/// A whole number that is not negative, written as a number or as text, also as `1.0`.
fn whole(value: &Value) -> Option<i64> {
    let digits = match value {
        Value::Number(number) => match number.as_i64() {
            Some(number) => return (number >= 0).then_some(number),
            None => number.to_string(),
        },
        Value::String(digits) => digits.trim().to_owned(),
        _ => return None,
    };
    let (whole, part) = digits.split_once('.').unwrap_or((&digits, "0"));
    let is_whole = !part.is_empty() && part.bytes().all(|digit| digit == b'0');
    whole.parse().ok().filter(|number| is_whole && *number >= 0)
}

/// A text that is not empty, trimmed and shortened to the limit; a number is
/// taken as it is written.
pub fn text(value: &Value) -> Option<String> {
    bounded_text(value, LONGEST_TEXT)
}

fn bounded_text(value: &Value, longest: usize) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then(|| shortened(&text, longest).to_owned())
}

/// An instant with its offset.
pub fn instant(value: &Value) -> Option<Instant> {
    Instant::parse(value.as_str()?.trim())
}

/// An amount of money that is not negative.
pub fn amount(value: &Value) -> Option<Cents> {
    Cents::from_reais(number(value)?).filter(|cents| cents.0 >= 0)
}

/// A finite number, also written as text.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    number.is_finite().then_some(number)
}

/// The elements of a list; none when it is no list.
pub fn elements(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    /// Values such as the marketplace might send where something else is expected.
    pub fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(|number| json!(number)),
            any::<String>().prop_map(Value::from),
            "(MLB)?[0-9]{1,25}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            let names = proptest::sample::select(vec!["id", "price", "rate", "text", "user_id"]);
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((names, inner), 0..4).prop_map(|fields| {
                    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                    Value::from(fields.collect::<Map<_, _>>())
                }),
            ]
        })
    }

    #[test]
    fn numbers_come_as_text_too() {
        assert_eq!(positive(&json!(" 12 ")), Some(12));
        assert_eq!(whole(&json!(0)), Some(0));
        for odd in [json!(0), json!(-1), json!(1.5), json!(null), json!("1e3"), json!([1])] {
            assert_eq!(positive(&odd), None, "{odd}");
        }
        assert_eq!((number(&json!("0.5")), number(&json!("NaN"))), (Some(0.5), None));
    }

    #[test]
    fn answers_of_any_kind_are_refused_or_read() {
        crate::base::fuzz::fuzz("marketplace", |bytes| {
            let Ok(answer) = serde_json::from_slice::<Value>(bytes) else { return };
            let lists = [&answer["results"], &answer["data"], &answer["questions"], &answer];
            for list in lists.map(elements) {
                let _ = read_each(list, OrderDocument::read);
            }
            for record in [&answer, &answer["results"][0], &answer["data"][0]] {
                if let Ok(order) = OrderDocument::read(record) {
                    let _ = (order.is_sale(), order.sold_at());
                }
                let _ = ListingDocument::read(record, "https://http2.mlstatic.com");
                let _ = QuestionDocument::read(record);
                let _ = ClaimDocument::read(record);
                let _ = SellerRecord::read(record);
                let _ = Shipment::read(record);
            }
        });
    }
}
