//! Notifications that partner programs send to the owner of their token, and
//! their results. They are sent as messages of the outbox. A trigger copies the
//! state of the message, so the history outlives the message.

use serde_json::{Value, json};

use crate::base::{Instant, UserId, retention};
use crate::db::{ReadTx, Result, RowWindow, WriteTx};
use crate::outbox::{self, Channel, MessageKind, MessageState, NewMessage, Receipt};
use crate::row;

/// Longest title and text.
pub const LONGEST_TITLE: usize = 120;
pub const LONGEST_BODY: usize = 2_000;
/// Most notifications that are kept of an owner. The oldest are removed, even
/// one that was not sent yet; its message is then dropped.
const MOST_KEPT: i64 = 10_000;
/// The only event so far.
pub const CUSTOM: &str = "custom";

/// A notification that is to be sent.
pub struct Notice {
    pub channel: Channel,
    pub title: String,
    pub body: String,
}

row! {
    /// A notification with its result.
    #[derive(Clone, Debug)]
    pub struct SentNotice {
        /// Counted from 1 for each owner.
        pub id: i64 = "notification_id",
        pub channel: Channel,
        pub event: String,
        pub title: String,
        pub body: String,
        pub created_at: Instant,
        pub state: MessageState,
        /// When it was sent, dropped or given up.
        pub done_at: Option<Instant>,
        /// Why it waits or how it ended.
        pub outcome: Option<String>,
        /// What the provider told of it after taking it.
        pub receipt: Receipt,
    }
}

/// Queues a notification; returns its number.
pub fn send(tx: &WriteTx<'_>, owner: UserId, notice: &Notice) -> Result<i64> {
    let id: i64 = tx.value(
        "SELECT coalesce(max(notification_id), 0) + 1 FROM partner_notification WHERE owner_id = ?1",
        [owner],
    )?;
    let next: i64 = tx.value("SELECT coalesce(max(message_id), 0) + 1 FROM outbox", [])?;
    let Notice { channel, title, body } = notice;
    let message = NewMessage {
        user: owner,
        kind: MessageKind::PartnerNotice,
        // Each message is new, so each key is. Keys increase, so that their
        // index grows at its end.
        cause: &format!("{next:019}"),
        // Title and text are stored once, in the notification's own row.
        params: json!({ "notification_id": id }),
        run_at: None,
        expires_at: None,
    };
    let queued = outbox::queue(tx, &message, *channel)?;
    let message_id = queued.expect("numbers of notifications are not given again");
    tx.run(
        "INSERT INTO partner_notification
             (owner_id, notification_id, message_id, channel, event, title, body, created_at, state)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (owner, id, message_id, channel, CUSTOM, title, body, tx.now(), MessageState::Waiting),
    )?;
    // A DELETE that finds nothing costs time, too, and most owners never have
    // so many.
    if id > MOST_KEPT {
        tx.run(
            "DELETE FROM partner_notification WHERE owner_id = ?1 AND notification_id <= ?2",
            (owner, id - MOST_KEPT),
        )?;
    }
    Ok(id)
}

/// The values for the text of a notification; `None` when it was removed.
pub fn words(tx: &ReadTx<'_>, owner: UserId, id: i64) -> Result<Option<Value>> {
    let words: Option<(String, String)> = tx.optional(
        "SELECT title, body FROM partner_notification WHERE owner_id = ?1 AND notification_id = ?2",
        (owner, id),
        |row| row.try_into(),
    )?;
    Ok(words.map(|(title, body)| json!({ "notification_id": id, "title": title, "body": body })))
}

/// One page of an owner's notifications, newest first, with the total; with `after`, those
/// older than that one. The
/// total follows from the first and the last number, because there are no gaps
/// and the oldest are removed first.
pub fn page(
    tx: &ReadTx<'_>,
    owner: UserId,
    RowWindow { limit, offset }: RowWindow,
    after: Option<i64>,
) -> Result<(Vec<SentNotice>, u64)> {
    let end = |which: &str| {
        let sql = format!(
            "SELECT coalesce({which}(notification_id), 0) FROM partner_notification WHERE owner_id = ?1"
        );
        tx.value::<i64>(&sql, [owner])
    };
    let (oldest, newest) = (end("min")?, end("max")?);
    let total = if newest == 0 { 0 } else { newest - oldest + 1 };
    let notices = tx.records(
        "FROM partner_notification WHERE owner_id = ?1 AND notification_id <= ?2
         ORDER BY notification_id DESC LIMIT ?3",
        (owner, after.map_or(newest, |after| after - 1) - i64::from(offset), limit),
    )?;
    Ok((notices, u64::try_from(total).unwrap_or(0)))
}

/// Removes notifications that were queued long ago, at most `most`; returns how
/// many. The newest of an owner stays, so that no number is reused.
pub fn forget(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM partner_notification WHERE (owner_id, notification_id) IN (
             SELECT owner_id, notification_id FROM partner_notification n
             WHERE created_at < ?1
                 AND EXISTS (SELECT 1 FROM partner_notification newer
                             WHERE newer.owner_id = n.owner_id AND newer.notification_id > n.notification_id)
             ORDER BY created_at LIMIT ?2)",
        (retention::NOTICES.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Lane;
    use crate::fixture::TestDir;

    const ANA: UserId = UserId(1);

    fn send_one(tx: &WriteTx<'_>) -> Result<i64> {
        let notice =
            Notice { channel: Channel::Email, title: "Um".to_owned(), body: "Dois".to_owned() };
        send(tx, ANA, &notice)
    }

    #[test]
    fn the_oldest_make_room() {
        let dir = TestDir::new();
        let db = dir.database();
        db.write(|tx| {
            tx.run(
                "INSERT INTO user (user_id, email, name, role, created_at)
                 VALUES (1, 'ana@example.com', 'Ana', 'pro', 1)",
                [],
            )?;
            assert_eq!((send_one(tx)?, send_one(tx)?), (1, 2));
            tx.run(
                "UPDATE partner_notification SET notification_id = ?1 WHERE notification_id = 2",
                [MOST_KEPT],
            )
        })
        .unwrap();
        let newest = db.write(send_one).unwrap();
        assert_eq!(newest, MOST_KEPT + 1);
        let read = |id| db.read(Lane::InPlace, |tx| words(tx, ANA, id)).unwrap();
        assert!(read(1).is_none(), "it made room");
        assert_eq!(read(newest).unwrap()["body"], "Dois");
        let page = db.read(Lane::InPlace, |tx| page(tx, ANA, RowWindow::first(10), None)).unwrap();
        assert_eq!((page.0.len(), page.1), (2, 2));
    }
}
