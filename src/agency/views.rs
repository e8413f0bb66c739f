//! What the agency's other pages print.

use askama::Template;

use super::charts::Charts;
use super::checkup::{AccountFinding, CheckupTotals, Finding};
use super::clients::ClientAccount;
use super::store::TopListing;
use crate::marketplace::tools::labels::views::LabelDesk;
use crate::panel::chart::Stat;
use crate::panel::{Layout, PageTime, Progress, Table};

/// `GET /admin/agencia`.
#[derive(Template)]
#[template(path = "agency/overview.html", config = "assets/askama.toml")]
pub struct OverviewPage {
    pub layout: Layout,
    pub time: PageTime,
    pub charts: Charts,
    /// The most urgent findings, and how many more there are.
    pub findings: Vec<AccountFinding>,
    pub more: u64,
    pub standing: CheckupTotals,
    pub progress: Option<Progress>,
}

/// `GET /admin/agencia/checkup`.
#[derive(Template)]
#[template(path = "agency/checkup.html", config = "assets/askama.toml")]
pub struct CheckupPage {
    pub layout: Layout,
    pub time: PageTime,
    pub table: Table,
    /// How many accounts have each fault.
    pub stats: Vec<Stat>,
    pub findings: Vec<AccountFinding>,
    pub standing: CheckupTotals,
}

/// `GET /admin/agencia/clientes/{id}/relatorio`.
#[derive(Template)]
#[template(path = "agency/report.html", config = "assets/askama.toml")]
pub struct ReportPage {
    pub layout: Layout,
    pub time: PageTime,
    /// The client's page.
    pub back: String,
    pub name: String,
    /// `25/10/2026 a 23/11/2026`.
    pub period: String,
    /// When the report was made.
    pub made: String,
    pub charts: Charts,
    pub accounts: Vec<(ClientAccount, Vec<Finding>)>,
    pub top: Vec<TopListing>,
}

/// `GET /admin/agencia/etiquetas`.
#[derive(Template)]
#[template(path = "agency/labels.html", config = "assets/askama.toml")]
pub struct AgencyLabelsPage {
    pub layout: Layout,
    pub desk: LabelDesk,
}
