//! Template data of the pages of the inbox.

use askama::Template;

use super::Received;
use crate::panel::{Layout, PageTime, Table};

/// `GET /admin/notificacoes`: the inbox.
#[derive(Template)]
#[template(path = "received.html", config = "assets/askama.toml")]
pub struct ReceivedPage {
    pub layout: Layout,
    /// What the list comes to.
    pub sum: String,
    pub table: Table,
    pub received: Vec<Received>,
    pub time: PageTime,
}

/// `GET /admin/notificacoes/{id}`: one notification.
#[derive(Template)]
#[template(path = "received_one.html", config = "assets/askama.toml")]
pub struct ReceivedOne {
    pub layout: Layout,
    pub one: Received,
    pub time: PageTime,
    /// The body as it came.
    pub body: String,
}
