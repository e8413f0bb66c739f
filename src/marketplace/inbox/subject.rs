//! What a notification is about: its topic and resource, as something to fetch.
//!
//! A resource is untrusted input. Only these fixed forms lead to a call.

use super::outcome::InboxOutcome;
use crate::marketplace::books::document::ItemId;
use crate::marketplace::kinds::{OutcomeCode, RecordKind};

/// A record at the marketplace that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub kind: RecordKind,
    /// Its id; without a site when ids of its kind have none.
    pub id: ItemId,
}

impl Subject {
    /// Reads the resource of a topic; the outcome when it leads to no fetch.
    pub fn of(topic: &str, resource: &str) -> Result<Self, OutcomeCode> {
        let kind = RecordKind::of_topic(topic).ok_or(InboxOutcome::OtherTopic.code())?;
        let row = kind.row();
        let id = |id| {
            if row.has_site {
                return ItemId::parse(id);
            }
            number(id).map(|number| ItemId { site: String::new(), number })
        };
        let mut ids = row.paths.iter().filter_map(|path| resource.strip_prefix(path));
        ids.find_map(id).map(|id| Self { kind, id }).ok_or(row.not_one)
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
        ] {
            let found =
                Subject::of(topic, resource).map(|found| (found.kind, found.id.to_string()));
            assert_eq!(found, Ok((kind, id.to_owned())), "{resource}");
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
        for topic in ["orders_v2", "items", "questions", "claims", "post_purchase", "shipments"] {
            for place in
                ["orders", "items", "questions", "claims", "post-purchase/v1/claims", "shipments"]
            {
                for form in forms {
                    let resource = format!("/{place}/{form}");
                    let not_one = RecordKind::of_topic(topic).unwrap().row().not_one;
                    assert_eq!(Subject::of(topic, &resource), Err(not_one), "{topic} {resource}");
                }
            }
        }
        // Another topic's resource.
        assert!(Subject::of("questions", "/orders/1").is_err());
        assert!(Subject::of("post_purchase", "/post-purchase/v2/returns/1").is_err());
        assert_eq!(Subject::of("invoices", "/orders/1"), Err(InboxOutcome::OtherTopic.code()));
    }
}
