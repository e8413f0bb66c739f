//! What the operator's home prints.

use askama::Template;

use crate::panel::{Badge, Layout, Notice, Tone};

/// `GET /admin`: is it healthy, and who is here?
#[derive(Template)]
#[template(path = "operator_home.html", config = "assets/askama.toml")]
pub struct OperatorHome {
    pub layout: Layout,
    /// The answer to "is it healthy" in one sentence.
    pub verdict: Notice,
    /// What waits for somebody, the most urgent first.
    pub open: Vec<OpenItem>,
    /// Figures of the service.
    pub health: Vec<HealthRow>,
    /// Whether unsigned notifications are refused, which the real marketplace's are.
    pub signature_hint: bool,
    pub people: Vec<RoleCount>,
    pub people_total: String,
    /// Version of the program.
    pub version: &'static str,
    /// `3 dias e 4 h`.
    pub uptime: String,
}

/// Something that waits for somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenItem {
    /// How urgent it is.
    pub tone: Tone,
    /// What it is, with its count.
    pub title: String,
    /// What it means and what to do.
    pub text: String,
    /// Where it is done; empty when outside of the panel.
    pub href: &'static str,
}

/// One figure of the service.
pub struct HealthRow {
    /// What is measured.
    pub label: &'static str,
    /// The figure.
    pub value: String,
    /// What it means or what to do; may be empty.
    pub note: String,
    /// How it is.
    pub state: Badge,
    /// Where the label leads; empty when nowhere.
    pub href: &'static str,
}

impl HealthRow {
    /// The same figure with the page that tells more.
    pub const fn leads_to(mut self, href: &'static str) -> Self {
        self.href = href;
        self
    }
}

/// How many people have a role.
pub struct RoleCount {
    /// The role as people call it.
    pub role: &'static str,
    /// How many, ready to print.
    pub count: String,
    /// Share of all people, 0 to 100.
    pub percent: u64,
}

impl RoleCount {
    /// The count of a role among `total` people.
    pub fn new(role: &'static str, count: u64, total: u64) -> Self {
        Self {
            role,
            count: crate::base::text::grouped(count),
            percent: count.saturating_mul(100).checked_div(total).unwrap_or(0),
        }
    }
}
