//! What the pages of imports print.

use askama::Template;

use crate::panel::view::Field;
use crate::panel::{Badge, Layout, Notice, Paging, Progress, Tab, When};

/// `GET /admin/alunos/importar`: sending a list, and the lists sent recently.
#[derive(Template)]
#[template(path = "imports.html", config = "assets/askama.toml")]
pub struct ImportsPage {
    pub layout: Layout,
    /// Shown above the form when the file has a fault.
    pub alert: Option<Notice>,
    /// The file; its name is never sent back.
    pub file: Field,
    /// Most rows of a file.
    pub most_rows: String,
    /// Lists sent recently, newest first.
    pub imports: Vec<ImportRow>,
}

/// A list that was sent.
pub struct ImportRow {
    pub id: String,
    /// The name that the browser sent.
    pub file_name: String,
    pub by_name: String,
    /// The outcome, in words.
    pub told: String,
    /// The state of the import.
    pub state: Badge,
    pub sent: When,
}

/// `GET /admin/alunos/importar/{id}`: the planned or actual outcome of each
/// row.
#[derive(Template)]
#[template(path = "import.html", config = "assets/askama.toml")]
pub struct ImportPage {
    pub layout: Layout,
    pub import: ImportRow,
    /// Progress, while the import runs.
    pub progress: Option<Progress>,
    /// `Importar 12 alunos`; empty when there is nothing to import.
    pub button: String,
    /// How the new students are informed.
    pub reach: &'static str,
    /// What happens to rows with faults; empty without any.
    pub faulty: String,
    /// The outcomes, with how many rows have each.
    pub tabs: Vec<Tab>,
    pub rows: Vec<ReportRow>,
    /// The links to other pages of the report.
    pub paging: Paging,
    /// Address of the whole report as CSV.
    pub export: String,
}

/// A row of the list.
pub struct ReportRow {
    /// Its number in the file.
    pub line: usize,
    /// As in the file.
    pub name: String,
    /// As in the file.
    pub email: String,
    /// The title of the plan, or the text of the file.
    pub plan: String,
    /// The planned or actual outcome.
    pub state: Badge,
    /// Why the row cannot be made; may be empty.
    pub reason: String,
}
