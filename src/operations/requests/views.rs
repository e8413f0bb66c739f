//! What the pages of the log of requests print.

use askama::Template;

use crate::panel::{Layout, Table, Tone, When};

/// `GET /admin/requisicoes`: the requests, newest first.
#[derive(Template)]
#[template(path = "requests.html", config = "assets/askama.toml")]
pub struct RequestsPage {
    pub layout: Layout,
    pub table: Table,
    pub requests: Vec<RequestRow>,
    /// What is not here, in a sentence.
    pub limits: String,
}

/// A request in the list.
pub struct RequestRow {
    /// Its number.
    pub id: String,
    /// `GET /painel`.
    pub what: String,
    /// Name of the person or key; empty when nobody was known.
    pub who: String,
    /// `Sessão`: by what they were known.
    pub by: &'static str,
    /// Client address.
    pub address: String,
    /// `404`.
    pub status: u16,
    /// What the status means to us.
    pub tone: Tone,
    /// `12,4 ms`.
    pub took: String,
    pub at: When,
    /// `14:32:07`.
    pub time: String,
}

/// `GET /admin/requisicoes/{id}`: one request.
#[derive(Template)]
#[template(path = "request.html", config = "assets/askama.toml")]
pub struct RequestPage {
    pub layout: Layout,
    pub row: RequestRow,
    /// `Não encontrado`: the status in words; may be empty.
    pub meaning: &'static str,
    /// The page of who asked; empty when there is none.
    pub who_href: String,
    /// `20/11/2026 09:00:00`.
    pub exact: String,
    /// What it was answered with.
    pub request_id: String,
    /// Answers that it stands for; 1 when it stands for itself.
    pub sampled: i64,
    /// What the audit log has of it.
    pub audit: String,
}
