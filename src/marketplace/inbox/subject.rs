//! What a notification is about: its topic and resource, as something to fetch.
//!
//! A resource is untrusted input. Only these fixed forms lead to a call.

use crate::base::OrderId;
use crate::marketplace::books::document::ItemId;

/// A record at the marketplace that can be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Order(OrderId),
    Item(ItemId),
    Question(i64),
    Claim(i64),
    /// Fetched as the orders that it carries.
    Shipment(i64),
}

/// Topics whose notifications are processed.
pub const FOLLOWED: [&str; 6] =
    ["orders_v2", "items", "questions", "post_purchase", "claims", "shipments"];

/// Why a notification leads to no fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nothing {
    /// Its topic is not processed.
    Topic,
    /// Its resource does not fit its topic; the text is the outcome.
    Resource(&'static str),
}

/// Whether notifications of a topic are processed.
pub fn is_followed(topic: &str) -> bool {
    FOLLOWED.contains(&topic)
}

impl Subject {
    /// Reads the resource of a topic.
    pub fn of(topic: &str, resource: &str) -> Result<Self, Nothing> {
        let number_after = |place: &str| number(resource.strip_prefix(place)?);
        let (subject, what) = match topic {
            "orders_v2" => (
                number_after("/orders/").map(|id| Self::Order(OrderId(id))),
                "the resource is not an order",
            ),
            "items" => (
                resource.strip_prefix("/items/").and_then(ItemId::parse).map(Self::Item),
                "the resource is not a listing",
            ),
            "questions" => {
                (number_after("/questions/").map(Self::Question), "the resource is not a question")
            }
            "claims" | "post_purchase" => (
                ["/post-purchase/v1/claims/", "/v1/claims/", "/claims/"]
                    .into_iter()
                    .find_map(number_after)
                    .map(Self::Claim),
                "the resource is not a claim",
            ),
            "shipments" => {
                (number_after("/shipments/").map(Self::Shipment), "the resource is not a shipment")
            }
            _ => return Err(Nothing::Topic),
        };
        subject.ok_or(Nothing::Resource(what))
    }

    /// The outcome when the marketplace has no such record.
    pub const fn not_found(&self) -> &'static str {
        match self {
            Self::Order(_) => "the marketplace has no such order",
            Self::Item(_) => "the marketplace has no such listing",
            Self::Question(_) => "the marketplace has no such question",
            Self::Claim(_) => "the marketplace has no such claim",
            Self::Shipment(_) => "the marketplace has no such shipment",
        }
    }

    /// The outcome when the record belongs to another account.
    pub const fn of_another(&self) -> &'static str {
        match self {
            Self::Order(_) | Self::Shipment(_) => "the order is another account's",
            Self::Item(_) => "the listing is another account's",
            Self::Question(_) => "the question is another account's",
            Self::Claim(_) => "the claim is another account's",
        }
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
        let item = ItemId::parse("MLB123").unwrap();
        for (topic, resource, subject) in [
            ("orders_v2", "/orders/2000001", Subject::Order(OrderId(2_000_001))),
            ("items", "/items/MLB123", Subject::Item(item)),
            ("questions", "/questions/117001", Subject::Question(117_001)),
            ("claims", "/claims/5200001", Subject::Claim(5_200_001)),
            ("claims", "/v1/claims/5200001", Subject::Claim(5_200_001)),
            ("claims", "/post-purchase/v1/claims/5200001", Subject::Claim(5_200_001)),
            ("post_purchase", "/post-purchase/v1/claims/5200001", Subject::Claim(5_200_001)),
            ("shipments", "/shipments/44000001", Subject::Shipment(44_000_001)),
        ] {
            assert_eq!(Subject::of(topic, resource), Ok(subject), "{resource}");
            assert!(is_followed(topic));
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
                    let nothing = Subject::of(topic, &resource);
                    assert!(matches!(nothing, Err(Nothing::Resource(_))), "{topic} {resource}");
                }
            }
        }
        // Another topic's resource.
        assert!(Subject::of("questions", "/orders/1").is_err());
        assert!(Subject::of("post_purchase", "/post-purchase/v2/returns/1").is_err());
        for topic in FOLLOWED {
            assert_ne!(Subject::of(topic, ""), Err(Nothing::Topic), "{topic}");
        }
        assert_eq!(Subject::of("invoices", "/orders/1"), Err(Nothing::Topic));
        assert!(!is_followed("invoices"));
    }
}
