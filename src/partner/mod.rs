//! The Partner API: plans, tokens, quota and the operations.
//!
//! An operation is declared once, in [`operations`]: its row in the route
//! table, its place in the OpenAPI document and its name in the usage counts
//! all come from that declaration.

pub mod api;
pub mod orders;
pub mod pages_cache;
pub mod shown;
pub mod store;
pub mod usage;

use http::Method;

use crate::base::clock::Instant;
use crate::base::secrets;
use crate::config;
use crate::edge::guard::Seller;
use crate::edge::route::{Call, Docs, Route, Run, SchemaOf};
use crate::http::Code;

/// Base under which the operations stand in the route table.
#[cfg(test)]
const BASE: &str = "/api/v1/partner";

/// The API plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanName {
    Starter,
    Pro,
    Scale,
}

impl PlanName {
    /// The name in the database and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Starter => "starter",
            Self::Pro => "pro",
            Self::Scale => "scale",
        }
    }

    /// The plan of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Starter, Self::Pro, Self::Scale].into_iter().find(|plan| plan.name() == name)
    }

    const fn limits(self, plans: &config::Plans) -> config::PlanLimits {
        match self {
            Self::Starter => plans.starter,
            Self::Pro => plans.pro,
            Self::Scale => plans.scale,
        }
    }
}

/// An account's API plan with what it allows.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub name: PlanName,
    /// Calls a month.
    pub quota: u64,
    /// Calls a minute, over all tokens of the account.
    pub per_minute: u32,
    /// Last civil day, and the first instant after it; none without an end.
    pub until: Option<(crate::base::clock::Day, Instant)>,
}

impl Plan {
    /// Whether the plan is in force.
    pub fn is_valid(&self, now: Instant) -> bool {
        self.until.is_none_or(|(_, end)| now < end)
    }
}

/// A new partner token: `ptk_` and 48 hexadecimal characters.
pub fn new_token() -> String {
    format!("ptk_{}", secrets::random_hex::<24>())
}

/// Whether a text has the form of a partner token.
pub fn is_token(text: &str) -> bool {
    text.strip_prefix("ptk_").is_some_and(|rest| {
        rest.len() == 48
            && rest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    })
}

/// One operation of the Partner API.
struct Operation {
    name: &'static str,
    method: Method,
    path: &'static str,
    run: Run<Seller>,
    query: Option<SchemaOf>,
    reply: SchemaOf,
    about: &'static str,
}

/// The operations as rows of the route table.
pub fn operations() -> Vec<Route> {
    let row = |operation: Operation| {
        let Operation { name, method, path, run, query, reply, about } = operation;
        let docs = Docs {
            query,
            body: None,
            reply: Some(reply),
            conditional: true,
            // A filter that names what is not the caller's.
            errors: query.map_or(&[], |_| &[Code::NotFound]),
            ..Docs::default()
        };
        Route {
            operation: name,
            ..Route::new(method, path, Call::Seller(run), about).with_docs(docs)
        }
    };
    declared().into_iter().map(row).collect()
}

fn declared() -> [Operation; 2] {
    [
        Operation {
            name: "health",
            method: Method::GET,
            path: "/api/v1/partner/health",
            run: Run::Read(api::health),
            query: None,
            reply: api::health_reply,
            about: "Says who the token belongs to and what its plan allows.",
        },
        Operation {
            name: "list_orders",
            method: Method::GET,
            path: "/api/v1/partner/orders",
            run: Run::ReadOrSlow(api::orders_are_costly, api::orders),
            query: Some(api::orders_query),
            reply: api::orders_reply,
            about: "The seller's orders, newest first.",
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_one_form() {
        let token = new_token();
        assert!(is_token(&token), "{token}");
        for other in [
            "",
            "ptk_",
            &token[..51],
            &token.to_uppercase(),
            &format!("{token}0"),
            &token.replace("ptk_", "spk_"),
        ] {
            assert!(!is_token(other), "{other}");
        }
    }

    #[test]
    fn every_operation_stands_under_the_base() {
        for route in operations() {
            assert!(route.path.starts_with(BASE), "{}", route.path);
            assert!(!route.operation.is_empty());
        }
    }
}
