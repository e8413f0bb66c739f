//! What the page of linked accounts prints.

use askama::Template;

use super::store;
use crate::base::Instant;
use crate::panel::{Badge, Layout, PageTime, Progress};

/// `GET /painel/ml`: the student's marketplace accounts.
#[derive(Template)]
#[template(path = "accounts.html", config = "assets/askama.toml")]
pub struct AccountsPage {
    pub layout: Layout,
    /// Whether the marketplace is configured, so that accounts can be linked.
    pub configured: bool,
    pub accounts: Vec<LinkedAccount>,
    pub time: PageTime,
    /// Seconds after which the page asks again for the progress of readings;
    /// `None` when nobody waits for a reading.
    pub look_after_s: Option<u32>,
}

/// An account with the state of its link.
pub struct LinkedAccount {
    pub linked: store::LinkedAccount,
    /// Whether both the authorisation and the readings work.
    pub link: Badge,
    /// What cannot be read, since when and what to do; `None` while everything can.
    pub trouble: Option<String>,
    /// Whether linking the account again may help.
    pub relink: bool,
    /// Since when the agency looks after it; `None` when it does not.
    pub agency: Option<Instant>,
    /// All changes up to this time are stored; `None` before the first reading
    /// is over.
    pub synced: Option<Instant>,
    /// `desde 12/08/2026, buscando mais`; `None` when all sales are stored.
    pub history: Option<String>,
    /// Progress of readings that the person waits for.
    pub progress: Vec<Progress>,
    /// The areas that are read, and how far each is.
    pub areas: Vec<AreaRow>,
}

impl LinkedAccount {
    /// Whether the page shows the list of areas.
    pub fn shows_areas(&self) -> bool {
        self.trouble.is_some() || self.history.is_some()
    }
}

/// A part of an account that is read separately.
pub struct AreaRow {
    /// `Pedidos`.
    pub title: &'static str,
    pub state: Badge,
    /// `1.204 de 5.000`, or why it failed; may be empty.
    pub note: String,
    /// When the area was last read to its end.
    pub read: Option<Instant>,
}
