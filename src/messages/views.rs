//! What the page of notifications prints.

use askama::Template;

use super::{Notification, NotificationKind};
use crate::base::{Instant, Zone};
use crate::panel::view::Field;
use crate::panel::{Badge, Layout, Paging, Tab, When};
use crate::wire;

wire! {
    /// A notification in a list.
    pub struct NewsRow of(notification: &Notification, zone: Zone, now: Instant) {
        /// Its number.
        pub id: i64 = notification.id,
        /// What it is about; empty when that has no page.
        pub href: String = notification.kind.page(
            notification.reference.as_deref().unwrap_or_default(),
            notification.ml_user_id.is_some(),
        ),
        /// Its drawing in `img/icons.svg`, by kind.
        pub icon: &'static str = icon(notification.kind),
        /// What happened.
        pub title: String = notification.title.clone(),
        /// More about it; may be empty.
        pub message: String = notification.message.clone(),
        /// When it happened.
        pub when: When = When::new(zone, notification.created_at, now),
        /// Whether it was not read yet.
        pub unread: bool = !notification.read,
    }
}

/// The drawing of a kind of notification.
fn icon(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::Venda => "cart",
        NotificationKind::Reclamacao => "claim",
        NotificationKind::Pergunta => "question",
        NotificationKind::Anuncio => "megaphone",
        NotificationKind::Meet => "clock",
        NotificationKind::Programa => "star",
        NotificationKind::Parceiro => "people",
        NotificationKind::Sistema => "bell",
    }
}

/// `GET /painel/avisos`, `GET /admin/avisos`: a person's notifications.
#[derive(Template)]
#[template(path = "notifications.html", config = "assets/askama.toml")]
pub struct NotificationsPage {
    pub layout: Layout,
    /// The list's address.
    pub path: &'static str,
    pub purpose: &'static str,
    /// Whether it is an administrator's.
    pub of_staff: bool,
    /// How many are unread.
    pub unread: i64,
    /// Number of this page.
    pub page: u32,
    /// The notifications of this page.
    pub news: Vec<NewsRow>,
    /// Position of this page in the list.
    pub paging: Paging,
}

/// `GET /admin/mensagens/canais`: the message channels.
#[derive(Template)]
#[template(path = "message_channels.html", config = "assets/askama.toml")]
pub struct ChannelsPage {
    pub layout: Layout,
    /// The parts of messages.
    pub tabs: Vec<Tab>,
    pub channels: Vec<ChannelCard>,
    /// `numero`: where a test by chat goes.
    pub number: Field,
}

/// A message channel.
pub struct ChannelCard {
    /// Its name in addresses.
    pub name: &'static str,
    /// Its drawing in `img/icons.svg`.
    pub icon: &'static str,
    /// `E-mail`.
    pub title: &'static str,
    /// Off, working or down.
    pub state: Badge,
    /// The service that it sends through; empty while it is not configured.
    pub about: String,
    /// The setting that switches it on.
    pub setting: &'static str,
    /// Why messages cannot be sent; empty while it works.
    pub error: String,
    /// `3 mensagens esperam`; empty when none does.
    pub waiting: String,
    /// Whether a test needs a number.
    pub asks_number: bool,
    /// Whether a test would reach the operator.
    pub can_test: bool,
    /// What is missing for a test; empty when nothing is.
    pub lacks: &'static str,
}
