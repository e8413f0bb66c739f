//! What the operator's pages for meets print.

use askama::Template;

use super::Meet;
use crate::panel::{Badge, FormView, Layout, Pick, Table};

/// `GET /admin/meets`: the list of meets.
#[derive(Template)]
#[template(path = "meets.html", config = "assets/askama.toml")]
pub struct MeetsPage {
    pub layout: Layout,
    pub table: Table,
    pub meets: Vec<MeetRow>,
}

/// A meet in the list.
pub struct MeetRow {
    pub id: i64,
    pub title: String,
    /// Who holds it and for whom, in words; may be empty.
    pub about: String,
    /// `31/12/2026 14:05`.
    pub starts: String,
    pub minutes: i64,
    /// Future, running or over.
    pub state: Badge,
}

/// `GET /admin/meets/novo`, `GET /admin/meets/{id}`, and their answers when
/// fields are invalid.
#[derive(Template)]
#[template(path = "meet_form.html", config = "assets/askama.toml")]
pub struct MeetForm {
    pub layout: Layout,
    /// The stored meet; `None` for a new one.
    pub existing: Option<Meet>,
    pub form: FormView,
    /// What `professor_id` offers.
    pub teachers: Vec<Pick>,
    /// Which time zone `data_hora` is in, in words.
    pub zone_help: String,
}
