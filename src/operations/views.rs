//! Template data of the operator's home.

use askama::Template;

use crate::panel::{Badge, Layout, Notice, Tone};

/// `GET /admin`: state of the service, open items and numbers of people.
#[derive(Template)]
#[template(path = "operator_home.html", config = "assets/askama.toml")]
pub struct OperatorHome {
    pub layout: Layout,
    /// The state of the service in one sentence.
    pub verdict: Notice,
    /// Open items, the most urgent first.
    pub open: Vec<OpenItem>,
    /// Figures of the service.
    pub health: Vec<HealthRow>,
    /// Whether unsigned notifications are rejected. The real marketplace does
    /// not sign its notifications.
    pub signature_hint: bool,
    pub people: Vec<RoleCount>,
    pub people_total: String,
    pub version: &'static str,
    /// `3 dias e 4 h`.
    pub uptime: String,
}

/// Something that needs action by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenItem {
    /// How urgent it is.
    pub tone: Tone,
    /// What needs action, with its count.
    pub title: String,
    /// What it means and what to do.
    pub text: String,
    /// Page where it is resolved; empty when that is outside the panel.
    pub href: &'static str,
}

/// One figure of the service.
pub struct HealthRow {
    /// What is measured.
    pub label: &'static str,
    pub value: String,
    /// What it means or what to do; may be empty.
    pub note: String,
    /// Whether the figure is good or bad.
    pub state: Badge,
    /// Link of the label; empty for none.
    pub href: &'static str,
}

impl HealthRow {
    /// Adds a link to a page with more detail.
    pub const fn leads_to(mut self, href: &'static str) -> Self {
        self.href = href;
        self
    }
}

/// How many people have a role.
pub struct RoleCount {
    /// The role as people call it.
    pub role: &'static str,
    /// Number of people, formatted.
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
