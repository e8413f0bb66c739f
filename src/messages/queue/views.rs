//! What the pages of the queue print.

use askama::Template;

use super::Message;
use super::pages::repair::Kind;
use super::words::{self, FailureHint};
use crate::messages::texts::Template as Text;
use crate::outbox::{MessageState, Receipt};
use crate::panel::view::Field;
use crate::panel::{BarChart, Layout, Notice, Tab, Table, When};

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
    /// What the list comes to.
    pub sum: String,
    pub table: Table,
    pub messages: Vec<MessageRow>,
}

/// A message as pages show it.
pub struct MessageRow {
    pub message: Message,
    /// Why it waits or how it ended; may be empty.
    pub reason: String,
    /// When it was queued.
    pub created: When,
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
    /// When it was sent, dropped or given up.
    pub done: Option<When>,
    /// How far it came; `None` where nobody tells.
    pub delivery: Option<Delivery>,
    /// What it says, without links; `None` once that is forgotten.
    pub text: Option<Text>,
    /// Whether it failed and can be sent again.
    pub can_go_again: bool,
    /// The address of such a message, for a channel whose address can be corrected.
    pub repair: Option<(Kind, Field)>,
}

/// How far a message came that the official chat API took.
pub struct Delivery {
    pub receipt: Receipt,
    /// When that was.
    pub at: Option<When>,
    /// Whether we hear of it at all.
    pub is_heard: bool,
}

impl Delivery {
    fn words(&self) -> &'static str {
        match self.receipt {
            Receipt::Nothing => "Aceita pelo WhatsApp, ainda sem confirmação.",
            Receipt::SentOn => "Enviada pelo WhatsApp, ainda não entregue.",
            Receipt::Delivered => "Entregue no aparelho.",
            Receipt::Read => "Lida pela pessoa.",
        }
    }

    /// What is missing to know more; may be empty.
    fn remedy(&self) -> &'static str {
        if self.receipt == Receipt::Nothing && !self.is_heard {
            "Para saber da entrega, configure o webhook: chat.app_secret e chat.verify_token."
        } else {
            ""
        }
    }
}

impl MessageRow {
    /// What happened and what to do about it, where there are words for it.
    fn hint(&self) -> Option<FailureHint> {
        let message = &self.message;
        matches!(message.state, MessageState::GivenUp | MessageState::Waiting)
            .then(|| words::hint(message))?
    }

    /// Why it waits or how it ended, in a line; may be empty.
    fn why(&self) -> String {
        if self.message.receipt >= Receipt::Delivered {
            return self.message.receipt.words().to_owned();
        }
        self.hint().map_or_else(|| self.reason.clone(), |one| one.what.to_owned())
    }
}
