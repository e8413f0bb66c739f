//! Template data of the page of the copies.

use askama::Template;

use crate::panel::{Badge, Layout, Notice, Progress, When};

/// `GET /admin/copias`: the copies, and what may be done about them.
#[derive(Template)]
#[template(path = "copies.html", config = "assets/askama.toml")]
pub struct CopiesPage {
    pub layout: Layout,
    /// What needs somebody.
    pub attention: Vec<Notice>,
    /// What is being done now.
    pub progress: Option<Progress>,
    /// Where they lie; empty: none are made.
    pub folder: String,
    /// `A cada 24 h, as 7 mais novas ficam`.
    pub rule: String,
    /// When the next one is due, in words.
    pub next: String,
    /// When the newest was last found to be what it was.
    pub checked: Option<When>,
    /// What they take together.
    pub bytes: String,
    pub copies: Vec<CopyRow>,
    pub drill: Option<DrillPart>,
}

/// A copy.
pub struct CopyRow {
    pub name: String,
    pub size: String,
    pub made: Option<When>,
    pub checked: Option<When>,
    /// Version of its schema; may be empty.
    pub schema: String,
    pub state: Badge,
    /// What is wrong with it; may be empty.
    pub fault: String,
}

/// The last restore that was tried.
pub struct DrillPart {
    pub file: String,
    pub at: When,
    pub notice: Notice,
    /// Tables with other rows now: name, rows in the copy, rows now.
    pub changed: Vec<(String, String, String)>,
    /// `e mais 3 tabelas`; may be empty.
    pub more: String,
}
