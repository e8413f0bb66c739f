//! What a notification is about: its topic and resource, as something to fetch.
//!
//! A resource is untrusted input. Only these fixed forms lead to a call.

use super::outcome::InboxOutcome;
use crate::marketplace::books::document::ItemId;
use crate::marketplace::kinds::{OutcomeCode, RecordKind};

/// Before and behind the id of a user product whose stock changed. Several listings may
/// sell one user product.
const PRODUCT_STOCK: (&str, &str) = ("/user-products/", "/stock");

/// A record at the marketplace that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub kind: RecordKind,
    /// Its id; without a site when ids of its kind have none.
    pub id: ItemId,
    /// Whether the id is that of a user product, and all its listings are meant.
    pub is_product: bool,
}

impl Subject {
    /// Reads the resource of a topic; the outcome when it leads to no fetch.
    pub fn of(topic: &str, resource: &str) -> Result<Self, OutcomeCode> {
        let kind = RecordKind::of_topic(topic).ok_or(InboxOutcome::OtherTopic.code())?;
        let row = kind.row();
        if kind == RecordKind::Listing
            && let Some(id) = product(resource)
        {
            return Ok(Self { kind, id, is_product: true });
        }
        let id = |id| {
            if row.has_site {
                return ItemId::parse(without_part(id));
            }
            number(id).map(|number| ItemId { site: String::new(), number })
        };
        let mut ids = row.paths.iter().filter_map(|path| resource.strip_prefix(path));
        ids.find_map(id).map(|id| Self { kind, id, is_product: false }).ok_or(row.not_one)
    }
}

/// The user product whose stock a resource is.
fn product(resource: &str) -> Option<ItemId> {
    let (before, behind) = PRODUCT_STOCK;
    ItemId::parse(resource.strip_prefix(before)?.strip_suffix(behind)?)
}

/// The id without a part of the listing that is named behind it, such as `/prices`: the
/// whole listing is read.
fn without_part(id: &str) -> &str {
    let is_word = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    match id.split_once('/') {
        Some((id, part)) if part.split('/').all(is_word) => id,
        _ => id,
    }
}

/// A positive number in plain digits.
fn number(digits: &str) -> Option<i64> {
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_plain)?;
    (number > 0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::kinds::topics;

    #[test]
    fn resources_of_their_topic_are_fetched() {
        for (topic, resource, kind, id) in [
            ("orders_v2", "/orders/2000001", RecordKind::Order, "2000001"),
            ("items", "/items/MLB123", RecordKind::Listing, "MLB123"),
            ("questions", "/questions/117001", RecordKind::Question, "117001"),
            ("claims", "/claims/5200001", RecordKind::Claim, "5200001"),
            ("claims", "/v1/claims/5200001", RecordKind::Claim, "5200001"),
            ("claims", "/post-purchase/v1/claims/5200001", RecordKind::Claim, "5200001"),
            ("post_purchase", "/post-purchase/v1/claims/5200001", RecordKind::Claim, "5200001"),
            ("shipments", "/shipments/44000001", RecordKind::Shipment, "44000001"),
            ("orders", "/orders/2000001", RecordKind::Order, "2000001"),
            ("created_orders", "/orders/2000001", RecordKind::Order, "2000001"),
            ("items_prices", "/items/MLB123", RecordKind::Listing, "MLB123"),
            ("items_prices", "/items/MLB123/prices", RecordKind::Listing, "MLB123"),
            ("items", "/items/MLB123/prices/standard", RecordKind::Listing, "MLB123"),
            ("stock-locations", "/user-products/MLBU9/stock", RecordKind::Listing, "MLBU9"),
            ("stock-location", "/user-products/MLBU9/stock", RecordKind::Listing, "MLBU9"),
        ] {
            let found = Subject::of(topic, resource).unwrap();
            assert_eq!((found.kind, found.id.to_string()), (kind, id.to_owned()), "{resource}");
            assert_eq!(found.is_product, topic.starts_with("stock"), "{resource}");
        }
    }

    #[test]
    fn nothing_else_is_asked_for() {
        let forms = [
            "",
            "x",
            "/x/y",
            "/../users/me",
            "1/../../users/me",
            "+1",
            "0",
            "-1",
            "1?a=b",
            "1#x",
            "%31",
            "١",
            "99999999999999999999999999",
        ];
        for (topic, _) in topics() {
            for place in [
                "orders",
                "items",
                "questions",
                "claims",
                "post-purchase/v1/claims",
                "shipments",
                "user-products",
            ] {
                for form in forms {
                    for resource in [format!("/{place}/{form}"), format!("/{place}/{form}/stock")] {
                        let not_one = RecordKind::of_topic(topic).unwrap().row().not_one;
                        let found = Subject::of(topic, &resource);
                        assert_eq!(found, Err(not_one), "{topic} {resource}");
                    }
                }
            }
        }
        for odd in
            ["/items/MLB1/../MLB2", "/items/MLB1/", "/items/MLB1/a?b", "/user-products/MLBU9"]
        {
            assert!(Subject::of("items_prices", odd).is_err(), "{odd}");
        }
        // Another topic's resource.
        assert!(Subject::of("questions", "/orders/1").is_err());
        assert!(Subject::of("post_purchase", "/post-purchase/v2/returns/1").is_err());
        assert_eq!(Subject::of("invoices", "/orders/1"), Err(InboxOutcome::OtherTopic.code()));
    }
}
