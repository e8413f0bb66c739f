//! What the agency's other pages print.

use askama::Template;

use super::charts::Charts;
use super::checkup::Standing;
use super::clients::views::FindingLine;
use crate::panel::chart::Stat;
use crate::panel::{Layout, Progress, Table, When};

/// `GET /admin/agencia`.
#[derive(Template)]
#[template(path = "agency/overview.html", config = "assets/askama.toml")]
pub struct OverviewPage {
    pub layout: Layout,
    pub charts: Charts,
    /// What is wrong, the most urgent first, and how much more there is.
    pub findings: Vec<FindingRow>,
    pub more: u64,
    pub standing: Standing,
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
    pub standing: Standing,
    /// The oldest of the last looks.
    pub oldest: Option<When>,
}

/// Something that is wrong, with the account that it is about.
pub struct FindingRow {
    pub line: FindingLine,
    pub client: i64,
    pub client_name: String,
    pub nickname: String,
    /// Where questions are answered; empty for other faults.
    pub answers: String,
}
