//! Claims of buyers.

use serde_json::Value;

use super::{Unreadable, elements, instant, positive, text};
use crate::base::{Instant, MlUserId, OrderId};
use crate::{named, row};

named! {
    /// Whether a claim has ended.
    pub enum ClaimState: number {
        Open = 1, "aberta", "Abertas";
        Closed = 2, "encerrada", "Encerradas";
    }
}

row! {
    /// A claim as the marketplace has it at one moment, and as it is stored.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ClaimDocument: stored {
        pub id: i64 = "claim_id",
        pub opened_at: Instant,
        /// The account it is made against.
        pub seller: MlUserId = "ml_user_id",
        pub state: ClaimState,
        /// Such as `mediations` or `return`.
        pub kind: String,
        /// Such as `claim` or `dispute`.
        pub stage: String,
        /// The marketplace's code for the reason; may be empty.
        pub reason: String,
        /// What it is about: `order`, `shipment`, `payment` or `purchase`.
        pub resource: String,
        pub resource_id: Option<i64>,
        /// What the seller has to do, and until when; empty and `None` when nothing.
        pub due_at: Option<Instant>,
        pub action: String,
        /// How it ended; empty while it is open.
        pub resolution: String,
        /// When the marketplace last changed it.
        pub updated_at: Instant,
        /// Whether the goods are said to be back with the seller.
        pub came_back: bool,
    }
}

impl ClaimDocument {
    /// Reads a claim of `/post-purchase/v1/claims/{id}` or of a search.
    pub fn read(claim: &Value) -> Result<Self, Unreadable> {
        let players = elements(&claim["players"]).iter();
        let respondent = players
            .filter(|player| player["role"] == "respondent")
            .find_map(|player| Some((positive(&player["user_id"])?, player)));
        let (seller, respondent) = respondent.ok_or(Unreadable("players"))?;
        let opened_at = match &claim["date_created"] {
            Value::Null => instant(&claim["last_updated"]),
            date => instant(date),
        };
        let opened_at = opened_at.ok_or(Unreadable("date_created"))?;
        let (action, due_at) = next_action(respondent);
        let kind = text(&claim["type"]).unwrap_or_default();
        Ok(Self {
            id: positive(&claim["id"]).ok_or(Unreadable("id"))?,
            seller: MlUserId(seller),
            state: match &*text(&claim["status"]).ok_or(Unreadable("status"))? {
                "closed" => ClaimState::Closed,
                _ => ClaimState::Open,
            },
            // The marketplace sends both names.
            kind: if kind == "returns" { "return".to_owned() } else { kind },
            stage: text(&claim["stage"]).unwrap_or_default(),
            reason: text(&claim["reason_id"]).unwrap_or_default(),
            resource: text(&claim["resource"]).unwrap_or_default(),
            resource_id: positive(&claim["resource_id"]),
            opened_at,
            updated_at: instant(&claim["last_updated"]).unwrap_or(opened_at),
            action,
            due_at,
            came_back: false,
            resolution: text(&claim["resolution"]["reason"])
                .or_else(|| text(&claim["resolution"]))
                .unwrap_or_default(),
        })
    }

    pub fn is_open(&self) -> bool {
        self.state == ClaimState::Open
    }

    /// Whether a claim, as the marketplace has it, is about goods that are sent back.
    pub fn has_return(&self, claim: &Value) -> bool {
        self.kind == "return"
            || elements(&claim["related_entities"]).iter().any(|one| one == "return")
    }

    /// Adds what `/post-purchase/v2/claims/{id}/returns` tells: goods that arrived at the
    /// seller's are back; at the marketplace's warehouse they are not.
    pub fn add_return(&mut self, returned: &Value) {
        self.came_back = elements(&returned["shipments"]).iter().any(|shipment| {
            shipment["status"] == "delivered" && shipment["destination"]["name"] == "seller_address"
        });
    }

    /// The order that it names; `None` when it is about a parcel or something else.
    pub fn named_order(&self) -> Option<OrderId> {
        self.resource_id.filter(|_| self.resource == "order").map(OrderId)
    }
}

/// The next action of a player: mandatory ones before optional ones, then the
/// one that is due first.
fn next_action(player: &Value) -> (String, Option<Instant>) {
    let actions = elements(&player["available_actions"]).iter();
    let first = actions.filter_map(|action| Some((action, text(&action["action"])?))).min_by_key(
        |(action, _)| {
            let due = instant(&action["due_date"]);
            let is_duty = action["mandatory"] == true;
            (!is_duty, due.is_none(), due)
        },
    );
    first.map_or((String::new(), None), |(action, name)| (name, instant(&action["due_date"])))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sample() -> Value {
        json!({
            "id": 5_200_001, "resource": "order", "resource_id": "2000001", "status": "opened", "type": "returns",
            "stage": "claim", "reason_id": "PDD1", "resolution": null, "date_created": "2026-11-18T09:00:00.000-04:00",
            "last_updated": "2026-11-18T10:00:00.000-0400",
            "players": [
                { "role": "complainant", "type": "buyer", "user_id": 555, "available_actions": [] },
                { "role": "respondent", "type": "seller", "user_id": "777", "available_actions": [
                    { "action": "send_message", "mandatory": false, "due_date": null },
                    { "action": "refund", "mandatory": true, "due_date": "2026-11-25T00:00:00.000-04:00" },
                    { "action": "send_tracking", "mandatory": true, "due_date": "2026-11-20T00:00:00Z" } ] } ],
        })
    }

    #[test]
    fn a_claim_reads_with_what_is_due_first() {
        let claim = ClaimDocument::read(&sample()).unwrap();
        assert_eq!((claim.id, claim.seller), (5_200_001, MlUserId(777)));
        assert_eq!((&*claim.kind, &*claim.stage, &*claim.reason), ("return", "claim", "PDD1"));
        assert_eq!(claim.named_order(), Some(OrderId(2_000_001)));
        assert_eq!((&*claim.action, claim.due_at), ("send_tracking", Some(Instant(1_795_132_800))));
        assert!(claim.is_open() && claim.resolution.is_empty());
    }

    #[test]
    fn a_closed_claim_tells_how_it_ended() {
        let mut closed = sample();
        closed["status"] = json!("closed");
        closed["resolution"] =
            json!({ "reason": "payment_refunded", "benefited": ["complainant"] });
        closed["resource"] = json!("shipment");
        closed["players"][1]["available_actions"] = json!(null);
        let claim = ClaimDocument::read(&closed).unwrap();
        assert!(!claim.is_open());
        assert_eq!(
            (&*claim.resolution, &*claim.action, claim.due_at),
            ("payment_refunded", "", None)
        );
        assert_eq!(claim.named_order(), None);
    }

    #[test]
    fn goods_are_back_once_they_arrived_at_their_seller() {
        let back = |status: &str, place: &str| {
            let mut claim = ClaimDocument::read(&sample()).unwrap();
            claim.add_return(&json!({ "status": status, "shipments": [
                { "status": status, "destination": { "name": place }, "type": "return" } ] }));
            claim.came_back
        };
        assert!(back("delivered", "seller_address"));
        assert!(!back("shipped", "seller_address") && !back("delivered", "warehouse"));
        let mut plain = sample();
        plain["type"] = json!("mediations");
        let claim = ClaimDocument::read(&plain).unwrap();
        assert!(!claim.has_return(&plain));
        plain["related_entities"] = json!(["return"]);
        assert!(claim.has_return(&plain));
    }

    #[test]
    fn a_claim_without_its_seller_is_refused() {
        let mut claim = sample();
        claim["players"][1]["role"] = json!("mediator");
        assert_eq!(ClaimDocument::read(&claim), Err(Unreadable("players")));
    }

    proptest! {
        #[test]
        fn any_value_in_any_field_is_read_or_refused(
            field in proptest::sample::select(vec!["id", "resource", "resource_id", "status", "type", "stage", "players", "resolution", "date_created", "last_updated"]),
            value in crate::marketplace::books::document::tests::any_json(),
        ) {
            let mut claim = sample();
            claim[field] = value;
            if let Ok(claim) = ClaimDocument::read(&claim) {
                prop_assert!(claim.id > 0 && claim.seller.0 > 0);
            }
        }
    }
}
