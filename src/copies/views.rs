//! Template data of the page of the copies.

use askama::Template;

use crate::db::BackupCopy;
use crate::panel::view::size;
use crate::panel::{Badge, Layout, Notice, PageTime, Progress, When};

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
    pub copies: Vec<BackupCopy>,
    pub time: PageTime,
    pub drill: Option<DrillPart>,
}

fn size_of(copy: &BackupCopy) -> String {
    size(copy.bytes)
}

/// How a copy is, and what is wrong with it; that may be empty.
fn judged(copy: &BackupCopy) -> (Badge, &'static str) {
    if copy.known_fault().is_some() {
        (Badge::Broken, "Não é mais o que era quando foi feita.")
    } else if copy.is_from_future() {
        (
            Badge::Attention,
            "Do futuro: o relógio estava errado quando ela foi feita, ou está agora. Ela não conta como a mais nova nem é removida sozinha.",
        )
    } else if copy.manifest().is_none() {
        (Badge::Attention, "Sem manifesto: não se sabe se está inteira.")
    } else {
        (Badge::Healthy, "")
    }
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
