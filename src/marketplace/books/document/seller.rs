//! Seller accounts and their reputation.

use serde_json::Value;

use super::{Unreadable, number, positive, text};
use crate::base::MlUserId;

/// A seller account, as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SellerRecord {
    pub id: MlUserId,
    /// Empty when the marketplace left it out.
    pub nickname: String,
    /// `None` when the marketplace left it out; the stored one stays then.
    pub reputation: Option<Reputation>,
}

/// The marketplace's rating of a seller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reputation {
    /// Such as `5_green`; empty before there is one.
    pub level: String,
    /// Such as `platinum`; empty for most.
    pub power_seller: String,
    /// Shares of sales, in millionths.
    pub claims_rate: Option<i64>,
    pub late_rate: Option<i64>,
    pub cancel_rate: Option<i64>,
}

impl SellerRecord {
    /// Reads `/users/me`; everything but the id may be missing (206).
    pub fn read(user: &Value) -> Result<Self, Unreadable> {
        let reputation = &user["seller_reputation"];
        Ok(Self {
            id: MlUserId(positive(&user["id"]).ok_or(Unreadable("id"))?),
            nickname: text(&user["nickname"]).unwrap_or_default(),
            reputation: reputation.get("level_id").is_some().then(|| Reputation::read(reputation)),
        })
    }
}

impl Reputation {
    fn read(reputation: &Value) -> Self {
        let rate = |metric: &str| {
            let share = number(&reputation["metrics"][metric]["rate"])?;
            #[expect(clippy::cast_possible_truncation, reason = "at most a million")]
            (0.0..=1.0).contains(&share).then_some((share * 1e6).round() as i64)
        };
        Self {
            level: text(&reputation["level_id"]).unwrap_or_default(),
            power_seller: text(&reputation["power_seller_status"]).unwrap_or_default(),
            claims_rate: rate("claims"),
            late_rate: rate("delayed_handling_time"),
            cancel_rate: rate("cancellations"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_of_a_user_is_enough() {
        let user = SellerRecord::read(&json!({ "id": "777" })).unwrap();
        assert_eq!((user.id, &*user.nickname, user.reputation), (MlUserId(777), "", None));
        let none = json!({ "id": 777, "seller_reputation": { "level_id": null } });
        assert_eq!(SellerRecord::read(&none).unwrap().reputation, Some(Reputation::default()));
        assert_eq!(SellerRecord::read(&json!({ "nickname": "X" })), Err(Unreadable("id")));
    }

    #[test]
    fn rates_are_shares() {
        let user = json!({ "id": 777, "nickname": "LOJA_X", "seller_reputation": {
            "level_id": "5_green", "power_seller_status": "gold", "metrics": {
                "claims": { "rate": 0.0125 }, "delayed_handling_time": { "rate": 0 },
                "cancellations": { "rate": 7 } } } });
        let reputation = SellerRecord::read(&user).unwrap().reputation.unwrap();
        assert_eq!((&*reputation.level, &*reputation.power_seller), ("5_green", "gold"));
        assert_eq!(
            (reputation.claims_rate, reputation.late_rate, reputation.cancel_rate),
            (Some(12_500), Some(0), None)
        );
    }
}
