//! What the page of linked accounts prints.

use askama::Template;

use crate::panel::{Badge, Layout, Progress, When};

/// `GET /painel/ml`: the student's marketplace accounts.
#[derive(Template)]
#[template(path = "accounts.html", config = "assets/askama.toml")]
pub struct AccountsPage {
    pub layout: Layout,
    /// Whether the marketplace is configured, so that accounts can be linked.
    pub configured: bool,
    pub accounts: Vec<LinkedAccount>,
    /// Seconds after which the page asks again how far readings are; `None` when
    /// nobody waits for one.
    pub look_after_s: Option<u32>,
}

/// An account with the state of its link.
pub struct LinkedAccount {
    /// The marketplace's seller id.
    pub ml_user_id: String,
    pub nickname: String,
    /// Whether the authorisation works, and readings too.
    pub link: Badge,
    pub reputation: Badge,
    /// Why the authorisation does not work; `None` while it does.
    pub error: Option<String>,
    /// What cannot be read, since when and what to do; `None` while everything can.
    pub trouble: Option<String>,
    /// Whether to link it again may help.
    pub relink: bool,
    pub linked: When,
    /// Since when the agency looks after it; `None` when it does not.
    pub agency: Option<When>,
    /// Up to when everything is here; `None` before the first reading is over.
    pub synced: Option<When>,
    /// `desde 12/08/2026, buscando mais`; `None` when all sales are here.
    pub history: Option<String>,
    /// Readings for which somebody waits.
    pub progress: Vec<Progress>,
    /// What is read of it, and how far.
    pub areas: Vec<AreaRow>,
}

impl LinkedAccount {
    /// Whether there is something to see in the list of what is read.
    pub fn shows_areas(&self) -> bool {
        self.trouble.is_some() || self.history.is_some()
    }
}

/// A part of an account that is read by itself.
pub struct AreaRow {
    /// `Pedidos`.
    pub title: &'static str,
    pub state: Badge,
    /// `1.204 de 5.000`, or why it failed; may be empty.
    pub note: String,
    /// When everything was here last.
    pub read: Option<When>,
}
