//! Template data of the pages of the inbox.

use askama::Template;

use crate::panel::{Badge, Layout, Table, When};

/// `GET /admin/notificacoes`: the inbox.
#[derive(Template)]
#[template(path = "received.html", config = "assets/askama.toml")]
pub struct ReceivedPage {
    pub layout: Layout,
    pub table: Table,
    pub received: Vec<ReceivedRow>,
}

/// A notification in the list.
pub struct ReceivedRow {
    pub id: String,
    /// `/orders/2000001`.
    pub resource: String,
    /// `Vendas`, or the topic's own name.
    pub topic: String,
    /// Nickname of the account, else its number.
    pub account: String,
    pub state: Badge,
    /// The outcome, or the last error; may be empty.
    pub outcome: String,
    pub at: When,
    /// Whether it can be processed again, or now: it does not wait for its
    /// first try.
    pub may_be_tried: bool,
}

/// `GET /admin/notificacoes/{id}`: one notification.
#[derive(Template)]
#[template(path = "received_one.html", config = "assets/askama.toml")]
pub struct ReceivedOne {
    pub layout: Layout,
    /// The notification as in the list.
    pub row: ReceivedRow,
    /// `orders_v2`.
    pub raw_topic: String,
    /// The account's number.
    pub ml_user_id: String,
    pub attempts: String,
    /// When it is tried next; `None` when it is not.
    pub next_try: Option<When>,
    /// The body as it came.
    pub body: String,
}
