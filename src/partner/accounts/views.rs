//! What the pages of the Partner API's accounts print.

use askama::Template;

use crate::accounts::views::ApiPlan;
use crate::panel::chart::BarChart;
use crate::panel::{Badge, Choice, FormView, Layout, Table, When};
use crate::partner::hub::views::{OperationRow, TokenRow};
use crate::partner::oauth::views::AppRow;

/// `GET /admin/parceiros`: the list of accounts.
#[derive(Template)]
#[template(path = "partners.html", config = "assets/askama.toml")]
pub struct AccountsPage {
    pub layout: Layout,
    pub table: Table,
    pub accounts: Vec<AccountRow>,
}

/// An account in the list.
pub struct AccountRow {
    pub id: String,
    pub name: String,
    pub email: String,
    /// Path of the photo, empty without one.
    pub photo: String,
    /// The role as people call it.
    pub role: &'static str,
    pub plan: Option<ApiPlan>,
    /// How the plan stands, also when there is none.
    pub state: Badge,
    pub calls: Use,
    /// How many work.
    pub tokens: String,
    pub used: Option<When>,
}

/// Calls of a month against a quota.
pub struct Use {
    /// How many.
    pub calls: String,
    /// Of how many; empty without a plan.
    pub of: String,
    /// Whole percents of it, at most 100.
    pub percent: Option<u64>,
    /// Whether little of it is left.
    pub near: bool,
}

/// `GET /admin/parceiros/{id}`: one account, and its answer when a field of
/// the plan is at fault.
#[derive(Template)]
#[template(path = "partner.html", config = "assets/askama.toml")]
pub struct AccountPage {
    pub layout: Layout,
    pub id: String,
    pub name: String,
    pub email: String,
    pub photo: String,
    pub role: &'static str,
    /// The person's own page.
    pub person: String,
    pub plan: Option<ApiPlan>,
    pub state: Badge,
    /// `120 por minuto, somando todos os tokens`; empty without a plan.
    pub rate: String,
    /// Calls of the present month.
    pub calls: Use,
    /// `plano` and `ate`.
    pub form: FormView,
    pub tokens: Vec<TokenRow>,
    pub apps: Vec<AppRow>,
    /// The months to choose from, the newest first.
    pub months: Vec<MonthLink>,
    /// `novembro de 2026`, which is shown.
    pub month: String,
    pub chart: Option<BarChart>,
    /// Calls of the month by operation, the most used first.
    pub operations: Vec<OperationRow>,
}

/// `GET /admin/parceiros/relacoes`: suppliers and sellers, and the answer when
/// two people cannot be related.
#[derive(Template)]
#[template(path = "relations.html", config = "assets/askama.toml")]
pub struct RelationsPage {
    pub layout: Layout,
    pub table: Table,
    pub relations: Vec<RelationRow>,
    /// `fornecedor` and `vendedor`.
    pub form: FormView,
}

/// A relation or an invitation.
pub struct RelationRow {
    pub id: String,
    pub supplier: String,
    /// The name, or the address of who is invited.
    pub seller: String,
    pub email: String,
    pub state: Badge,
    /// Since when it is so.
    pub at: When,
    pub links: String,
    /// Whether it can be ended.
    pub is_open: bool,
}

/// The plans to choose from.
pub static PLANS: &[Choice] = &[
    Choice { value: "starter", label: "Starter" },
    Choice { value: "pro", label: "Pro" },
    Choice { value: "scale", label: "Scale" },
];

/// A month to look at.
pub struct MonthLink {
    /// `11/2026`.
    pub label: String,
    pub href: String,
    /// Whether it is the one that is shown.
    pub on: bool,
}
