//! What the page of notifications prints.

use askama::Template;

use crate::http::view::{Layout, Paging};
use crate::marketplace::views::NewsRow;

/// `GET /painel/avisos`: a student's notifications.
#[derive(Debug, Template)]
#[template(path = "notifications.html", config = "assets/askama.toml")]
pub struct NotificationsPage {
    /// The frame of the signed-in student.
    pub layout: Layout,
    /// How many are unread.
    pub unread: i64,
    /// The notifications of this page.
    pub news: Vec<NewsRow>,
    /// Where this page stands in the list.
    pub paging: Paging,
}
