//! `list_notifications`: notifications sent through the API, and their status.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::notify::CHANNELS;
use crate::app::App;
use crate::base::Instant;
use crate::base::clock::Zone;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::list_arguments;
use crate::messages::notices::{self, SentNotice};
use crate::outbox::MessageState;
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::Operation;

pub struct ListNotifications;

list_arguments! {
    /// Which notifications are asked for.
    pub struct NotificationsQuery {}
}

/// A notification that was sent through the API.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Notification")]
pub struct WireNotice {
    /// Number of the notification.
    id: String,
    /// The way it takes.
    #[schemars(extend("enum" = CHANNELS))]
    channel: &'static str,
    /// What it is about.
    event: String,
    /// Its title.
    title: String,
    /// Its text.
    body: String,
    /// `queued` until it was sent or given up.
    status: NoticeStatus,
    /// Why it failed; null otherwise.
    error: Option<String>,
    /// When it was asked for, as civil time of the service.
    created_at: String,
    /// When it was sent; null until then.
    sent_at: Option<String>,
}

/// What became of a notification.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NoticeStatus {
    Queued,
    Sent,
    Failed,
}

/// A page, with when the notifications last changed.
#[derive(JsonSchema)]
#[schemars(transparent)]
pub struct NoticePage {
    page: ListOf<WireNotice>,
    #[schemars(skip)]
    changed: Instant,
}

impl Serialize for NoticePage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.page.serialize(serializer)
    }
}

impl Operation for ListNotifications {
    type By = Seller;
    type Args = NotificationsQuery;
    type Reply = NoticePage;

    const DATED: bool = true;

    fn begin(
        app: &App,
        seller: &Seller,
        query: NotificationsQuery,
        mut check: Check,
    ) -> Result<Todo<NoticePage>, Problem> {
        let window = Window::read(&mut check, query.limit, query.offset);
        check.finish()?;
        let owner = seller.account.user_id;
        // Read before the data, so that a change in between shows in the next call.
        let changed =
            app.kept.notices_changed.at(owner, app.versions.notices(owner), seller.called_at);
        reading(app, false, move |app, lane| {
            let read = app.db.read(lane, |tx| notices::page(tx, owner, window.pair()));
            let (notices, total) = read?;
            let notices = notices.into_iter().map(|one| WireNotice::of(one, app.zone()));
            Ok(NoticePage { page: ListOf::of(notices, total, window), changed })
        })
    }

    fn last_modified(page: &NoticePage) -> Option<Instant> {
        Some(page.changed)
    }
}

impl WireNotice {
    fn of(notice: SentNotice, zone: Zone) -> Self {
        let is_failed = matches!(notice.state, MessageState::Dropped | MessageState::GivenUp);
        let sent_at = notice.done_at.filter(|_| notice.state == MessageState::Sent);
        Self {
            id: notice.id.to_string(),
            channel: notice.channel.name(),
            event: notice.event,
            title: notice.title,
            body: notice.body,
            status: match notice.state {
                MessageState::Waiting => NoticeStatus::Queued,
                MessageState::Sent => NoticeStatus::Sent,
                MessageState::Dropped | MessageState::GivenUp => NoticeStatus::Failed,
            },
            error: notice.outcome.filter(|_| is_failed),
            created_at: zone.partner(notice.created_at),
            sent_at: sent_at.map(|at| zone.partner(at)),
        }
    }
}
