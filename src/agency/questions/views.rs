//! What the page of the queue prints.

use askama::Template;

use super::{QueueQuery, Status};
use crate::marketplace::books::questions::cards::{Card, QueueContext};
use crate::panel::{Layout, Paging};

/// `GET /admin/agencia/central-perguntas`, and what a form of it gets when its
/// answer was not sent.
#[derive(Template)]
#[template(path = "agency_questions.html", config = "assets/askama.toml")]
pub struct QueuePage {
    pub layout: Layout,
    /// The statuses to choose from, each with its number of questions and its
    /// address.
    pub statuses: [(Status, String, String); Status::ALL.len()],
    /// Numbers and names of all clients, by name.
    pub clients: Vec<(i64, String)>,
    pub asked: QueueQuery,
    pub paging: Paging,
    pub queue: QueueContext,
    pub cards: Vec<Card>,
}

impl QueuePage {
    /// Whether the page shows less than everything of its status.
    fn is_narrowed(&self) -> bool {
        self.asked.client.is_some() || self.asked.mine
    }

    /// Whether a client is the one that is chosen.
    fn is_chosen(&self, client: &i64) -> bool {
        self.asked.client == Some(*client)
    }

    /// Whether a status is the one that is shown.
    fn is_shown(&self, status: &Status) -> bool {
        self.asked.status == *status
    }

    /// Whether what is shown waits for an answer.
    fn waits(&self) -> bool {
        self.is_shown(&Status::Open)
    }
}
