//! Data of the hub's templates.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::base::{Instant, Zone, counted, grouped};
use crate::content::plans::views::Offer;
use crate::dropshipping::relations::{Invitation, Related};
use crate::panel::chart::{BarChart, BarWords};
use crate::panel::{FormView, Layout, PageTime, When};
use crate::partner::Plan;
use crate::partner::oauth::views::AppRow;
use crate::partner::store::OwnToken;
use crate::partner::texts;
use crate::wire;

/// `GET …/parceiro`, also with errors in the form.
#[derive(Template)]
#[template(path = "hub.html", config = "assets/askama.toml")]
pub struct HubPage {
    pub layout: Layout,
    pub plan: Option<ApiPlan>,
    /// The plans with an API plan, for a seller who has none.
    pub offer: Option<Offer>,
    /// `120 por minuto, somando todos os tokens`.
    pub rate: String,
    /// Calls that remain this month, in words.
    pub left: String,
    pub chart: Option<BarChart>,
    /// Calls of the month by operation, the most used first.
    pub operations: Vec<OperationRow>,
    /// The form with `nome` of a new token.
    pub form: FormView,
    pub tokens: Vec<TokenRow>,
    /// Whether one of them opens sample data.
    pub has_test: bool,
    pub apps: Vec<AppRow>,
    /// The address at which assistants connect.
    pub connector: String,
    pub calls: Vec<FirstCall>,
    /// Path of the hub.
    pub path: &'static str,
    pub is_supplier: bool,
    pub invitations: Vec<Invitation>,
    pub time: PageTime,
    /// The people on the other side of active relations.
    pub related: Vec<RelatedRow>,
}

wire! {
    /// The person on the other side of an active relation.
    pub struct RelatedRow of(one: Related, zone: Zone, now: Instant) {
        pub id: String = one.id.to_string(),
        pub name: String = one.name,
        /// Linked listings.
        pub links: String = grouped(one.links),
        pub since: When = When::new(zone, one.since, now),
    }
}

wire! {
    /// An operation that was called this month.
    pub struct OperationRow of(called: (&'static str, u64)) {
        pub name: &'static str = called.0,
        /// What it is for.
        pub about: &'static str = texts::name_pt(called.0),
        pub calls: String = grouped(called.1),
    }
}

wire! {
    /// A token that is not revoked.
    pub struct TokenRow of(token: OwnToken, zone: Zone, now: Instant) {
        pub id: String = token.id.to_string(),
        pub name: String = token.name,
        /// Its first characters.
        pub prefix: String = token.prefix,
        pub created: When = When::new(zone, token.created_at, now),
        pub used: Option<When> = token.last_used_at.map(|at| When::new(zone, at, now)),
        /// Address that the last call came from; empty while unknown.
        pub address: String = token.last_address.unwrap_or_default(),
        /// Whether it may change the shop.
        pub may_change: bool = token.may_change,
        /// Whether the page lets its reader, who sells, change that.
        pub is_own: bool = false,
        /// Whether it opens sample data.
        pub is_test: bool = token.is_test,
    }
}

/// The calls of a plan in a minute, in words.
pub fn rate(plan: Plan) -> String {
    format!("{} por minuto, somando todos os tokens", grouped(plan.per_minute))
}

/// The words of a chart of calls.
pub const fn bar_words(title: &'static str) -> BarWords {
    BarWords {
        title,
        unit: "Chamadas",
        value: |calls| counted(calls, "chamada", "chamadas"),
        mark: |calls| grouped(calls.unsigned_abs()),
    }
}

/// A call to copy and paste.
#[derive(Clone)]
pub struct FirstCall {
    /// HTML id, used by the copy button.
    pub id: &'static str,
    pub title: &'static str,
    pub call: String,
}

/// The answer to a browser that made a token. No other page shows the token.
#[derive(Template)]
#[template(path = "token_made.html", config = "assets/askama.toml")]
pub struct TokenMade {
    pub layout: Layout,
    pub name: String,
    /// Whether it opens sample data.
    pub is_test: bool,
    pub token: String,
    pub calls: Vec<FirstCall>,
    /// Path of the hub.
    pub path: &'static str,
}
