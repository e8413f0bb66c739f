//! Announcements: what the operator tells students, by plan, inside the platform
//! and by channels of the operator's choice.
//!
//! A draft is shown as people will read it, with their number, and is then sent,
//! at once or at a time. The worker (`sending.rs`) tells each person with
//! `messages::tell`, so that what people chose about channels holds. It works in
//! small jobs that note how far they came: a stop tells nobody twice and leaves
//! nobody out. Who read the notice is kept by a trigger.

pub mod form;
pub mod pages;
pub mod sending;
pub mod store;
pub mod views;

use crate::accounts::Role;
use crate::base::Instant;
use crate::messages::choices::ChannelSet;
use crate::outbox::Channel;
use crate::panel::Badge;
use crate::row;

/// Longest text.
pub const LONGEST_BODY: usize = 2_000;
/// Letters of the text that the notice shows; its page has all of it.
const NOTICE_LETTERS: usize = 240;
/// Most announcements that are kept.
pub const MOST: u64 = 10_000;
/// Where students read one, by its number.
pub const READING: &str = "/painel/comunicados";

crate::named! {
    /// How far an announcement is. A partial index covers those that wait or are
    /// under way, so SQL says `state IN (2, 3)`.
    pub enum State: number {
        Draft = 1, "rascunho", "Rascunhos";
        Scheduled = 2, "agendado", "Agendados";
        Sending = 3, "enviando", "Enviando";
        Sent = 4, "enviado", "Enviados";
        Cancelled = 5, "cancelado", "Cancelados";
    }
}

impl State {
    pub const fn badge(self) -> Badge {
        match self {
            Self::Draft => Badge::Draft,
            Self::Scheduled => Badge::Scheduled,
            Self::Sending => Badge::Running,
            Self::Sent => Badge::Sent,
            Self::Cancelled => Badge::CalledOff,
        }
    }
}

row! {
    /// An announcement, as it is stored.
    #[derive(Clone, Debug)]
    pub struct Announcement {
        pub id: i64 = "announcement_id",
        pub title: String,
        pub body: String,
        pub roles: String,
        pub channels: String,
        pub state: State,
        /// Who wrote it.
        pub by_name: String,
        pub created_at: Instant,
        /// Not sent before; `None` for at once.
        pub send_at: Option<Instant>,
        pub begun_at: Option<Instant>,
        /// When the last person was told, or when it was cancelled.
        pub done_at: Option<Instant>,
        /// Number of the last person who was told.
        pub position: i64,
        /// People it was for when it began.
        pub audience: i64,
        pub told: i64,
        /// Messages that were queued for them.
        pub messages: i64,
        pub readers: i64,
    }
}

impl Announcement {
    /// The plans it is for; none for all.
    pub fn roles(&self) -> Vec<Role> {
        self.roles.split(',').filter_map(Role::from_name).collect()
    }

    /// The channels that carry it beside the notice.
    pub fn channels(&self) -> Vec<Channel> {
        self.channels.split(',').filter_map(Channel::from_name).collect()
    }

    fn channel_set(&self) -> ChannelSet {
        let chosen = self.channels();
        ChannelSet::that(|channel| chosen.contains(&channel))
    }

    /// `Todos os alunos`, `Pro, VIP`.
    pub fn audience_words(&self) -> String {
        let roles = self.roles();
        if roles.is_empty() {
            return "Todos os alunos".to_owned();
        }
        roles.iter().map(|role| role.words()).collect::<Vec<_>>().join(", ")
    }

    /// `Aviso na plataforma, E-mail`.
    pub fn ways_words(&self) -> String {
        let channels = self.channels().into_iter().map(Channel::words);
        std::iter::once("Aviso na plataforma").chain(channels).collect::<Vec<_>>().join(", ")
    }

    /// Where its readers find it.
    pub fn reading_page(&self) -> String {
        format!("{READING}/{}", self.id)
    }
}
