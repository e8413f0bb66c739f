//! `list_notifications`: notifications sent through the API, and their status.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::notify::CHANNELS;
use crate::app::App;
use crate::base::{Instant, OffsetTime, Zone};
use crate::http::input::Check;
use crate::identity::Seller;
use crate::list_arguments;
use crate::messages::notices::{self, SentNotice};
use crate::outbox::{MessageState, Receipt};
use crate::partner::cursor::{CursorListOf, LONGEST, ListScope, Walk};
use crate::partner::list::{Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

list_arguments! {
    /// Which notifications are asked for.
    pub struct ListNotifications {
        /// `pagination.next_cursor` of the page before, beside the same filters.
        #[schemars(length(max = LONGEST))]
        cursor: String,
    }
}

wire! {
    /// A notification that was sent through the API.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "Notification")]
    pub struct WireNotice of(notice: SentNotice, zone: Zone) after {
        let is_failed = matches!(notice.state, MessageState::Dropped | MessageState::GivenUp);
        let sent_at = notice.done_at.filter(|_| notice.state == MessageState::Sent);
    } {
        /// Number of the notification.
        id: String = notice.id.to_string(),
        /// The way it takes.
        #[schemars(extend("enum" = CHANNELS))]
        channel: &'static str = notice.channel.name(),
        /// What it is about.
        event: String = notice.event,
        /// Its title.
        title: String = notice.title,
        /// Its text.
        body: String = notice.body,
        /// `queued` until it was sent or given up.
        status: NoticeStatus = match notice.state {
            MessageState::Waiting => NoticeStatus::Queued,
            MessageState::Sent => NoticeStatus::Sent,
            MessageState::Dropped | MessageState::GivenUp => NoticeStatus::Failed,
        },
        /// What the network told of it after taking it, by the official chat API: it left the network's server (`sent`), is on the person's device (`delivered`) or was read (`read`); null while nothing was told, and by other ways.
        delivery: Option<NoticeDelivery> = match notice.receipt {
            Receipt::Nothing => None,
            Receipt::SentOn => Some(NoticeDelivery::Sent),
            Receipt::Delivered => Some(NoticeDelivery::Delivered),
            Receipt::Read => Some(NoticeDelivery::Read),
        },
        /// Why it failed; null otherwise.
        error: Option<String> = notice.outcome.filter(|_| is_failed),
        /// When it was asked for, as civil time of the service.
        created_at: String = zone.partner(notice.created_at),
        /// The same instant with its offset from UTC.
        created_at_rfc3339: OffsetTime = zone.with_offset(notice.created_at),
        /// When it was sent; null until then.
        sent_at: Option<String> = sent_at.map(|at| zone.partner(at)),
        /// The same instant with its offset from UTC, or null.
        sent_at_rfc3339: Option<OffsetTime> = sent_at.map(|at| zone.with_offset(at)),
    }
}

/// What became of a notification.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NoticeStatus {
    Queued,
    Sent,
    Failed,
}

/// How far a notification came, as its network tells. Without words on single values it
/// can be null in a way that generators read.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum NoticeDelivery {
    Sent,
    Delivered,
    Read,
}

/// A page, with when the notifications last changed.
#[derive(JsonSchema)]
#[schemars(transparent)]
pub struct NoticePage {
    page: CursorListOf<WireNotice>,
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
    type Reply = NoticePage;

    const DATED: bool = true;

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let window = Window::read(&mut check, self.limit, self.offset);
        let owner = seller.account.user_id;
        let scope = ListScope::of(app, owner, "notifications", "");
        let walk: Walk<i64> = Walk::read(&mut check, scope, self.cursor, window);
        check.finish()?;
        // Read before the data, so that a change in between shows in the next call.
        let changed =
            app.caches.notices_changed.at(owner, app.versions.notices(owner), seller.called_at);
        reading(app, false, move |app, lane| {
            let read = app.db.read(lane, |tx| notices::page(tx, owner, walk.rows(), walk.after))?;
            let page = walk.page(read, |one| one.id, |one| WireNotice::of(one, app.zone()));
            Ok(NoticePage { page, changed })
        })
    }

    fn last_modified(page: &NoticePage) -> Option<Instant> {
        Some(page.changed)
    }
}
