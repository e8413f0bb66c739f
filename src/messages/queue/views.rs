//! What the pages of the queue print.

use askama::Template;

use crate::panel::chart::BarChart;
use crate::panel::{Badge, Layout, Notice, Tab, Table, When};

/// `GET /admin/mensagens`: the queue.
#[derive(Template)]
#[template(path = "queue.html", config = "assets/askama.toml")]
pub struct QueuePage {
    pub layout: Layout,
    /// The tabs of the message pages.
    pub tabs: Vec<Tab>,
    /// Channels that are not configured and have messages waiting.
    pub blocked: Option<Notice>,
    /// Sent messages by day and channel; `None` without any, or when the list
    /// is filtered.
    pub chart: Option<BarChart>,
    pub table: Table,
    pub messages: Vec<MessageRow>,
}

/// A message in the list.
pub struct MessageRow {
    pub id: String,
    /// `Boas-vindas`.
    pub kind: String,
    /// Name of the recipient.
    pub name: String,
    /// E-mail address of the recipient.
    pub email: String,
    /// `E-mail`.
    pub channel: String,
    /// Waiting, sent, dropped or given up.
    pub state: Badge,
    /// Why it waits or how it ended; may be empty.
    pub reason: String,
    /// When it was queued.
    pub created: When,
    /// Whether it can still be cancelled.
    pub waits: bool,
    /// Whether it was given up.
    pub failed: bool,
}

/// `GET /admin/mensagens/{id}`: one message.
#[derive(Template)]
#[template(path = "queued_message.html", config = "assets/askama.toml")]
pub struct MessagePage {
    pub layout: Layout,
    pub row: MessageRow,
    /// Address of the recipient's page.
    pub person: String,
    /// `20/11/2026 14:05`: not sent before this; empty when it may be sent.
    pub not_before: String,
    /// `20/11/2026 14:05`: not sent after this; empty without an end.
    pub until: String,
    /// Tries so far.
    pub attempts: i64,
    /// The provider's id for it, or its answer; may be empty.
    pub provider: String,
    /// When it was sent, dropped or given up.
    pub done: Option<When>,
    /// The parameters of its text, as JSON; empty without any.
    pub params: String,
}
