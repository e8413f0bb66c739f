//! What the pages of imports print.

use askama::Template;

use crate::panel::view::Field;
use crate::panel::{Badge, Layout, Notice, Paging, Progress, Tab, When};

/// `GET /admin/alunos/importar`: sending a list, and the lists sent lately.
#[derive(Template)]
#[template(path = "imports.html", config = "assets/askama.toml")]
pub struct ImportsPage {
    pub layout: Layout,
    /// Above the form when the file is at fault.
    pub alert: Option<Notice>,
    /// The file; its name is never sent back.
    pub file: Field,
    /// Most rows of a file.
    pub most_rows: String,
    /// Lists sent lately, newest first.
    pub imports: Vec<ImportRow>,
}

/// A list that was sent.
pub struct ImportRow {
    pub id: String,
    /// As the browser called it.
    pub file_name: String,
    pub by_name: String,
    /// What became of it, in words.
    pub told: String,
    /// Where it stands.
    pub state: Badge,
    pub sent: When,
}

/// `GET /admin/alunos/importar/{id}`: what is to become, or became, of each row.
#[derive(Template)]
#[template(path = "import.html", config = "assets/askama.toml")]
pub struct ImportPage {
    pub layout: Layout,
    pub import: ImportRow,
    /// How far it is, while it runs.
    pub progress: Option<Progress>,
    /// `Importar 12 alunos`; empty when there is nothing to import.
    pub button: String,
    /// How those who are made hear of it.
    pub reach: &'static str,
    /// What becomes of rows with faults; empty without any.
    pub faulty: String,
    /// The outcomes, with how many rows have each.
    pub tabs: Vec<Tab>,
    pub rows: Vec<ReportRow>,
    /// Where the page stands.
    pub paging: Paging,
    /// Address of the whole report as CSV.
    pub export: String,
}

/// A row of the list.
pub struct ReportRow {
    /// Its number in the file.
    pub line: usize,
    /// As it stands in the file.
    pub name: String,
    /// As it stands in the file.
    pub email: String,
    /// As people call it, or as it stands in the file.
    pub plan: String,
    /// What is to become of it, or became.
    pub state: Badge,
    /// Why it cannot be made; may be empty.
    pub reason: String,
}
