//! Data of the templates for the Partner API's accounts.

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
    /// The role's name in the panel.
    pub role: &'static str,
    pub plan: Option<ApiPlan>,
    /// State of the plan, also when there is none.
    pub state: Badge,
    pub calls: Use,
    /// How many tokens are not revoked.
    pub tokens: String,
    pub used: Option<When>,
}

pub struct Use {
    /// Number of calls.
    pub calls: String,
    /// The quota; empty without a plan.
    pub of: String,
    /// Percent of the quota, at most 100.
    pub percent: Option<u64>,
    /// Whether the account is near its quota.
    pub near: bool,
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

/// A relation or an invitation.
pub struct RelationRow {
    pub id: String,
    pub supplier: String,
    /// The seller's name, or the address that was invited.
    pub seller: String,
    pub email: String,
    pub state: Badge,
    /// Since when it has this state.
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
    /// Whether this month is shown.
    pub on: bool,
}
