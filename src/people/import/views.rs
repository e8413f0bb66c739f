//! What the pages of imports print.

use askama::Template;

use super::Row;
use super::store::Import;
use crate::panel::view::Field;
use crate::panel::{Badge, Layout, Notice, PageTime, Paging, Progress, Tab};

/// `GET /admin/alunos/importar`: sending a list, and the lists sent recently.
#[derive(Template)]
#[template(path = "imports.html", config = "assets/askama.toml")]
pub struct ImportsPage {
    pub layout: Layout,
    /// Shown above the form when the file has a fault.
    pub alert: Option<Notice>,
    /// The file; its name is never sent back.
    pub file: Field,
    /// Lists sent recently, newest first: the state of each, and when it was sent.
    pub imports: Vec<(Import, Badge)>,
    pub time: PageTime,
}

/// `GET /admin/alunos/importar/{id}`: the planned or actual outcome of each
/// row.
#[derive(Template)]
#[template(path = "import.html", config = "assets/askama.toml")]
pub struct ImportPage {
    pub layout: Layout,
    pub import: Import,
    pub state: Badge,
    pub progress: Option<Progress>,
    /// Whether there are students to make, and nobody asked for it yet.
    pub can_begin: bool,
    pub reach: &'static str,
    /// The outcomes, with how many rows have each.
    pub tabs: Vec<Tab>,
    pub rows: Vec<Row>,
    pub paging: Paging,
    /// Address of the whole report as CSV.
    pub export: String,
}
