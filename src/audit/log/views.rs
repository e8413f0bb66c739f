//! What the pages of the audit log print.

use askama::Template;

use super::Change;
use crate::panel::list::Table;
use crate::panel::view::{Layout, When};

/// `GET /admin/auditoria`: the entries, newest first.
#[derive(Template)]
#[template(path = "audit.html", config = "assets/askama.toml")]
pub struct AuditPage {
    pub layout: Layout,
    pub table: Table,
    pub entries: Vec<EntryRow>,
    /// A hint, when there may be more entries than were examined; else empty.
    pub limited: String,
}

/// An entry in the list.
pub struct EntryRow {
    /// Its id.
    pub id: String,
    /// `Suspender aluno`.
    pub title: String,
    /// Name of the object at the time of the act.
    pub object: String,
    /// Name of the actor at the time of the act.
    pub actor: String,
    pub actor_kind: &'static str,
    /// Client address; empty for commands.
    pub address: String,
    pub at: When,
}

/// `GET /admin/auditoria/{id}`: one entry with all it changed.
#[derive(Template)]
#[template(path = "audit_entry.html", config = "assets/askama.toml")]
pub struct EntryPage {
    pub layout: Layout,
    pub entry: EntryRow,
    /// Such as `aluno.suspender`.
    pub action: String,
    /// Id of the object.
    pub object_id: String,
    /// The page of the object; empty when there is none.
    pub object_href: String,
    /// The page of the actor; empty when there is none.
    pub actor_href: String,
    /// Empty for commands.
    pub request_id: String,
    /// What changed, field by field.
    pub changes: Vec<Change>,
    /// Whether something new was made or something removed.
    pub kind: ChangeKind,
}

/// What an entry did to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Made,
    Changed,
    Removed,
}
