//! What the page of notifications prints.

use askama::Template;

use super::{Notification, NotificationKind};
use crate::base::{Instant, Zone};
use crate::outbox::Channel;
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
    pub channels: Vec<ChannelStatus>,
    /// `numero`: where a test by chat goes.
    pub number: Field,
}

/// A message channel, and whether it works.
pub struct ChannelStatus {
    pub channel: Channel,
    /// The service that it sends through; `None` while it is not configured.
    pub by_what: Option<String>,
    /// Why messages cannot be sent; `None` while they can.
    pub error: Option<String>,
    pub waiting: u64,
    /// Whether a test would reach the operator who asks.
    pub reaches: bool,
}

impl ChannelStatus {
    pub const fn is_configured(&self) -> bool {
        self.by_what.is_some()
    }

    pub const fn can_test(&self) -> bool {
        self.is_configured() && self.reaches
    }

    const fn badge(&self) -> Badge {
        match (&self.by_what, &self.error) {
            (None, _) => Badge::Off,
            (Some(_), Some(_)) => Badge::Broken,
            (Some(_), None) => Badge::Healthy,
        }
    }

    /// Whether a test needs a number.
    fn asks_number(&self) -> bool {
        self.channel == Channel::Chat
    }

    /// Its drawing in `img/icons.svg`.
    const fn icon(&self) -> &'static str {
        match self.channel {
            Channel::Chat => "chat",
            Channel::Email => "mail",
            Channel::Telegram => "send",
            Channel::Push => "screen",
        }
    }

    /// The setting that switches it on.
    const fn setting(&self) -> &'static str {
        match self.channel {
            Channel::Chat => "chat.gateway",
            Channel::Email => "email.smtp_url",
            Channel::Telegram => "telegram.bot_token",
            Channel::Push => "push.subject",
        }
    }
}

/// `GET /avisos/sair`: asks for confirmation, because mail scanners follow
/// links.
#[derive(Template)]
#[template(path = "unsubscribe.html", config = "assets/askama.toml")]
pub struct LeavePage {
    /// The frame for people who are not signed in.
    pub layout: Layout,
    /// The code that the form sends back; empty when it is not valid.
    pub code: String,
    /// Whether it is done.
    pub done: bool,
}
