//! What the agency's other pages print.

use askama::Template;

use super::charts::Charts;
use super::checkup::CheckupTotals;
use super::clients::views::FindingLine;
use crate::panel::chart::Stat;
use crate::panel::{Layout, Progress, Table, When};

/// `GET /admin/agencia`.
#[derive(Template)]
#[template(path = "agency/overview.html", config = "assets/askama.toml")]
pub struct OverviewPage {
    pub layout: Layout,
    pub charts: Charts,
    /// The most urgent findings, and how many more there are.
    pub findings: Vec<FindingRow>,
    pub more: u64,
    pub standing: CheckupTotals,
    pub progress: Option<Progress>,
}

/// `GET /admin/agencia/checkup`.
#[derive(Template)]
#[template(path = "agency/checkup.html", config = "assets/askama.toml")]
pub struct CheckupPage {
    pub layout: Layout,
    pub table: Table,
    /// How many accounts have each fault.
    pub stats: Vec<Stat>,
    pub findings: Vec<FindingRow>,
    pub standing: CheckupTotals,
    /// The last checkup of the account that was checked longest ago.
    pub oldest: Option<When>,
}

/// A finding with its account.
pub struct FindingRow {
    pub line: FindingLine,
    pub client: i64,
    pub client_name: String,
    pub nickname: String,
    /// Address where the questions are answered; empty for other faults.
    pub answers: String,
}
