//! What the page of notifications prints.

use askama::Template;

use super::{Kind, Notification};
use crate::clock::{Instant, Zone};
use crate::http::view::{Layout, Paging, When};

/// A notification in a list.
#[derive(Debug)]
pub struct NewsRow {
    /// Its drawing in `img/icons.svg`, by kind.
    pub icon: &'static str,
    /// What happened.
    pub title: String,
    /// More about it; may be empty.
    pub message: String,
    /// When it happened.
    pub when: When,
    /// Whether it was not read yet.
    pub unread: bool,
}

impl NewsRow {
    /// A notification as pages list it.
    pub fn of(notification: &Notification, zone: Zone, now: Instant) -> Self {
        Self {
            icon: icon(notification.kind),
            title: notification.title.clone(),
            message: notification.message.clone(),
            when: When::new(zone, notification.created_at, now),
            unread: !notification.read,
        }
    }
}

/// The drawing of a kind of notification.
fn icon(kind: Kind) -> &'static str {
    match kind {
        Kind::Venda => "cart",
        Kind::Reclamacao => "claim",
        Kind::Pergunta => "question",
        Kind::Anuncio => "megaphone",
        Kind::Meet => "clock",
        Kind::Programa => "star",
        Kind::Parceiro => "people",
        Kind::Sistema => "bell",
    }
}

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
