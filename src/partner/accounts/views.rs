//! Data of the templates for the Partner API's accounts.

use askama::Template;

use super::{Listed, PlanState, is_near, percent};
use crate::accounts::views::ApiPlan;
use crate::base::{Day, Instant, Zone, grouped};
use crate::config::Plans;
use crate::dropshipping::relations::{AnyRelation, RelationState};
use crate::panel::{Badge, BarChart, Choice, FormView, Layout, Table, When, address};
use crate::partner::hub::views::{OperationRow, TokenRow};
use crate::partner::oauth::views::AppRow;
use crate::partner::shown::shown;
use crate::wire;

/// `GET /admin/parceiros`: the list of accounts.
#[derive(Template)]
#[template(path = "partners.html", config = "assets/askama.toml")]
pub struct AccountsPage {
    pub layout: Layout,
    pub table: Table,
    pub accounts: Vec<AccountRow>,
}

wire! {
    pub struct AccountRow of(account: Listed, plans: &Plans, zone: Zone, now: Instant) after {
        let (plan, today) = (account.plan(), zone.day(now));
        let used = account.used(today.month_start());
    } {
        pub id: String = account.id.to_string(),
        pub name: String = account.name,
        pub email: String = account.email,
        /// Path of the photo, empty without one.
        pub photo: String = account.photo,
        /// The role's name in the panel.
        pub role: &'static str = account.role.words(),
        pub plan: Option<ApiPlan> = plan.map(|plan| shown(plans, plan, used, today)),
        /// State of the plan, also when there is none.
        pub state: Badge = PlanState::of(plan, today).badge(),
        pub calls: Use = Use::of(used, account.plan.map(|plan| plan.limits(plans).quota)),
        /// How many tokens are not revoked.
        pub tokens: String = grouped(account.tokens.unsigned_abs()),
        pub used: Option<When> = account.last_used_at.map(|at| When::new(zone, at, now)),
    }
}

wire! {
    /// The calls of a month, and their share of the quota if there is one.
    pub struct Use of(used: u64, quota: Option<u64>) {
        pub calls: String = grouped(used),
        /// The quota; empty without a plan.
        pub of: String = quota.map(grouped).unwrap_or_default(),
        /// Percent of the quota, at most 100.
        pub percent: Option<u64> = quota.map(|quota| percent(used, quota)),
        pub near: bool = quota.is_some_and(|quota| is_near(used, quota)),
    }
}

/// `GET /admin/parceiros/{id}`: one account, also with errors in the plan's form.
#[derive(Template)]
#[template(path = "partner.html", config = "assets/askama.toml")]
pub struct AccountPage {
    pub layout: Layout,
    pub id: String,
    pub name: String,
    pub email: String,
    pub photo: String,
    pub role: &'static str,
    /// Address of the person's page in the panel.
    pub person: String,
    pub plan: Option<ApiPlan>,
    pub state: Badge,
    /// `120 por minuto, somando todos os tokens`; empty without a plan.
    pub rate: String,
    /// Calls of the present month.
    pub calls: Use,
    /// The form with `plano` and `ate`.
    pub form: FormView,
    pub tokens: Vec<TokenRow>,
    pub apps: Vec<AppRow>,
    /// The months to choose from, the newest first.
    pub months: Vec<MonthLink>,
    /// The month that is shown, such as `novembro de 2026`.
    pub month: String,
    pub chart: Option<BarChart>,
    /// Calls of the month by operation, the most used first.
    pub operations: Vec<OperationRow>,
}

/// `GET /admin/parceiros/relacoes`: suppliers and sellers, also with errors in
/// the form.
#[derive(Template)]
#[template(path = "relations.html", config = "assets/askama.toml")]
pub struct RelationsPage {
    pub layout: Layout,
    pub table: Table,
    pub relations: Vec<RelationRow>,
    /// The form with `fornecedor` and `vendedor`.
    pub form: FormView,
}

wire! {
    /// A relation or an invitation.
    pub struct RelationRow of(one: AnyRelation, zone: Zone, now: Instant) {
        pub id: String = one.id.to_string(),
        pub supplier: String = one.supplier,
        /// The seller's name, or the address that was invited.
        pub seller: String = one.seller.unwrap_or_else(|| one.email.clone()),
        pub email: String = one.email,
        pub state: Badge = match one.state {
            RelationState::Active => Badge::Active,
            RelationState::Invited => Badge::Invited,
            RelationState::Refused => Badge::Refused,
            RelationState::Withdrawn => Badge::Withdrawn,
            RelationState::Ended => Badge::Closed,
        },
        /// Since when it has this state.
        pub at: When = When::new(zone, one.at, now),
        pub links: String = grouped(one.links.unsigned_abs()),
        /// Whether it can be ended.
        pub is_open: bool = matches!(one.state, RelationState::Active | RelationState::Invited),
    }
}

/// The plans to choose from.
pub static PLANS: &[Choice] = &[
    Choice { value: "starter", label: "Starter" },
    Choice { value: "pro", label: "Pro" },
    Choice { value: "scale", label: "Scale" },
];

wire! {
    pub struct MonthLink of(path: &str, month: Day, shown: Day) {
        /// `11/2026`.
        pub label: String = month.date().strftime("%m/%Y").to_string(),
        pub href: String = address(path, &[("mes", &month.iso()[..7])]),
        pub on: bool = month == shown,
    }
}
