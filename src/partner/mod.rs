//! The Partner API: plans, tokens, quota and the operations.
//!
//! The [`operation`] module defines what an operation is. The operations of
//! sellers are in [`seller`]: one file for each operation or noun, and one line
//! each in its table.

pub mod access;
pub mod accounts;
pub mod agent;
mod by;
pub mod cursor;
pub mod event_stream;
pub mod hub;
pub mod idempotency;
pub mod list;
pub mod oauth;
pub mod operation;
pub mod pages_cache;
mod products;
pub mod seller;
pub mod shown;
pub mod store;
pub mod supplier;
pub mod texts;
pub mod trial;
pub mod usage;
pub mod webhooks;
pub mod wire;

use crate::base::text::is_hex;
use crate::base::{Instant, secrets};
use crate::config;
use crate::http::{Code, Problem};
use crate::named;

/// Path of the operations, and a second path at which they also answer.
pub const PATH: &str = "/api/v1/partner";
pub const PATH_DEV: &str = "/v1/partner";
/// How tokens for sample data begin.
pub const TEST: &str = "ptk_test_";

named! {
    /// The API plans.
    pub enum PlanName: text {
        Starter = "starter", "Starter";
        Pro = "pro", "Pro";
        Scale = "scale", "Scale";
    }
}

impl PlanName {
    /// The limits of the plan, as configured.
    pub const fn limits(self, plans: &config::Plans) -> config::PlanLimits {
        match self {
            Self::Starter => plans.starter,
            Self::Pro => plans.pro,
            Self::Scale => plans.scale,
        }
    }
}

/// An account's API plan with its limits.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub name: PlanName,
    /// Calls a month.
    pub quota: u64,
    /// Calls a minute, over all tokens of the account.
    pub per_minute: u32,
    /// Last civil day, and the first instant after it; `None` for a plan
    /// without an end.
    pub until: Option<(crate::base::clock::Day, Instant)>,
}

impl Plan {
    /// Whether the plan is in force.
    pub fn is_valid(&self, now: Instant) -> bool {
        self.until.is_none_or(|(_, end)| now < end)
    }
}

/// The refusal of what needs a plan in force.
pub fn no_plan() -> Problem {
    Problem::new(Code::PlanRequired, "this account has no active API plan; contract or renew one")
}

/// A new partner token: `ptk_` and 48 hexadecimal characters.
pub fn new_token() -> String {
    format!("ptk_{}", secrets::random_hex::<24>())
}

/// A new token for sample data: `ptk_test_` and 48 hexadecimal characters.
pub fn new_test_token() -> String {
    format!("{TEST}{}", secrets::random_hex::<24>())
}

pub fn operation_names() -> impl Iterator<Item = &'static str> {
    let sellers = seller::OPERATIONS.iter().map(|operation| operation.name);
    sellers.chain(supplier::OPERATIONS.iter().map(|operation| operation.name))
}

/// Whether a text has the form of a partner token, for sample data or not.
pub fn is_token(text: &str) -> bool {
    let rest = text.strip_prefix(TEST).or_else(|| text.strip_prefix("ptk_"));
    rest.is_some_and(|rest| is_hex(rest, 48))
}

/// Whether a text has the form of a token for sample data.
pub fn is_test_token(text: &str) -> bool {
    text.starts_with(TEST) && is_token(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::route;
    use crate::fixture;
    use crate::http::router::Found;

    #[test]
    fn tokens_have_one_form() {
        let token = new_token();
        fixture::has_one_form(&token, is_token, ["ptk_", "spk_"]);
        let test = new_test_token();
        assert!(is_token(&test) && is_test_token(&test) && !is_test_token(&token), "{test}");
        assert!(!is_token(&test[..56]) && !is_test_token("ptk_test_"), "{test}");
    }

    #[test]
    fn every_operation_is_one_row_on_both_bases() {
        let rows = crate::routes::all();
        let router = route::router(&rows).unwrap();
        for operation in seller::OPERATIONS {
            let name = operation.name;
            let below = operation.path.strip_prefix("/api/v1/partner/");
            let below = below.unwrap_or_else(|| panic!("{name} is elsewhere"));
            let found = ["/api/v1/partner/", "/v1/partner/"].map(|base| {
                let path = format!("{base}{below}");
                match router.find(&operation.method, &path) {
                    Found::Row(row, _) => row,
                    _ => panic!("no row at {path}"),
                }
            });
            assert_eq!(found[0], found[1], "{name}");
            assert_eq!(rows[found[0]].operation(), name);
        }
    }
}
