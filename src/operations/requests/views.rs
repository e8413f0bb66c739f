//! Template data of the pages of the request log.

use askama::Template;

use crate::panel::{Layout, Table, Tone, When};

/// `GET /admin/requisicoes`: the requests, newest first.
#[derive(Template)]
#[template(path = "requests.html", config = "assets/askama.toml")]
pub struct RequestsPage {
    pub layout: Layout,
    pub table: Table,
    pub requests: Vec<RequestRow>,
    /// What the list does not contain, in a sentence.
    pub limits: String,
}

/// A request in the list.
pub struct RequestRow {
    pub id: String,
    /// `GET /painel`.
    pub what: String,
    /// Name of the person or key; empty for an unknown caller.
    pub who: String,
    /// `Sessão`: how the caller was identified.
    pub by: &'static str,
    /// Client address.
    pub address: String,
    /// `404`.
    pub status: u16,
    /// Whether the status is good or bad.
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
    /// The page of the caller; empty when there is none.
    pub who_href: String,
    /// `20/11/2026 09:00:00`.
    pub exact: String,
    /// Request id of the response.
    pub request_id: String,
    /// How many responses the entry represents; 1 when it is not part of a sample.
    pub sampled: i64,
    /// Address of the audit log, filtered by the request id.
    pub audit: String,
}
