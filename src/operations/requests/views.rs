//! Template data of the pages of the request log.

use askama::Template;

use crate::panel::view::Field;
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
    /// What the request caused.
    pub trail: Trail,
}

/// `GET /admin/requisicoes/rastro`: all that is known of a request.
#[derive(Template)]
#[template(path = "request_follow.html", config = "assets/askama.toml")]
pub struct FollowPage {
    pub layout: Layout,
    /// The id that was asked for.
    pub asked: Field,
    pub is_asked: bool,
    pub requests: Vec<RequestRow>,
    pub trail: Trail,
}

/// What a request caused.
#[derive(Default)]
pub struct Trail {
    pub calls: Vec<CallRow>,
    pub messages: Vec<MessageRow>,
    /// Message, cause and when.
    pub errors: Vec<(String, String, When)>,
    pub acts: Vec<AuditRow>,
}

impl Trail {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
            && self.messages.is_empty()
            && self.errors.is_empty()
            && self.acts.is_empty()
    }
}

/// A call to another service.
pub struct CallRow {
    pub service: String,
    /// Method and path, or the kind of message.
    pub what: String,
    pub tone: Tone,
    /// `200`, or what came of it in words.
    pub outcome: String,
    /// May be empty.
    pub error: String,
    pub took: String,
    pub at: When,
}

/// A message that leaves the platform.
pub struct MessageRow {
    pub href: String,
    pub title: String,
    pub channel: String,
    pub state: &'static str,
    /// Why it waits or how it ended; may be empty.
    pub outcome: String,
    pub at: When,
}

/// An entry of the audit log.
pub struct AuditRow {
    pub href: String,
    pub title: String,
    pub object: String,
    pub actor: String,
    pub at: When,
}
