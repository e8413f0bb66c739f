//! What the pages of the audit log print.

use askama::Template;

use super::{AuditEntry, Change};
use crate::audit::objects;
use crate::panel::{Layout, PageTime, Table};

/// `GET /admin/auditoria`: the entries, newest first.
#[derive(Template)]
#[template(path = "audit.html", config = "assets/askama.toml")]
pub struct AuditPage {
    pub layout: Layout,
    /// What the list comes to.
    pub sum: String,
    pub table: Table,
    pub entries: Vec<AuditEntry>,
    /// A hint, when there may be more entries than were examined.
    pub limited: Option<String>,
    pub time: PageTime,
}

/// `GET /admin/auditoria/{id}`: one entry with all it changed.
#[derive(Template)]
#[template(path = "audit_entry.html", config = "assets/askama.toml")]
pub struct EntryPage {
    pub layout: Layout,
    pub entry: AuditEntry,
    pub at: String,
    /// What changed, field by field.
    pub changes: Vec<Change>,
}

impl AuditEntry {
    /// The page of the actor; empty when there is none.
    fn actor_page(&self) -> String {
        match (&*self.actor_kind, self.actor_id) {
            ("pessoa", Some(id)) => format!("{}/{id}", objects::STAFF.list),
            ("chave", Some(id)) => format!("{}/{id}", objects::KEY.list),
            _ => String::new(),
        }
    }

    /// Whether something new was made or something removed.
    const fn done(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, Some(_)) => "O que foi criado",
            (Some(_), None) => "O que foi apagado",
            _ => "O que mudou",
        }
    }
}
