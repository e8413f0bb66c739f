//! Notifications in the database. The unread count is kept with each write.

use super::{News, Notification, NotificationKind};
use crate::base::UserId;
use crate::db::{DbError, ReadTx, Result, WriteTx};

/// Stores a notification, unless its cause was used before. True when it is
/// new.
pub(super) fn notify(
    tx: &WriteTx<'_>,
    owner: UserId,
    kind: NotificationKind,
    new: &News<'_>,
) -> Result<bool> {
    tx.run(
        "INSERT INTO notification_count (owner_id, unread, told, last_id) VALUES (?1, 0, 0, 1)
         ON CONFLICT (owner_id) DO UPDATE SET last_id = last_id + 1",
        [owner],
    )?;
    let id: i64 =
        tx.value("SELECT last_id FROM notification_count WHERE owner_id = ?1", [owner])?;
    let first = tx.execute(
        "INSERT INTO notification_key (owner_id, cause, notification_id) VALUES (?1, ?2, ?3)
         ON CONFLICT DO NOTHING",
        (owner, new.cause, id),
    )?;
    if first == 0 {
        return Ok(false);
    }
    tx.execute(
        "INSERT INTO notification
             (owner_id, created_at, notification_id, kind, title, message, ml_user_id, reference)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        (owner, tx.now(), id, kind, new.title, new.text, new.account, new.reference),
    )?;
    tx.execute(
        "UPDATE notification_count SET unread = unread + 1, told = told + 1 WHERE owner_id = ?1",
        [owner],
    )?;
    Ok(true)
}

/// How many notifications a person has not read.
pub fn unread_count(tx: &ReadTx<'_>, owner: UserId) -> Result<i64> {
    Ok(tx.maybe("SELECT unread FROM notification_count WHERE owner_id = ?1", [owner])?.unwrap_or(0))
}

/// How many notifications a person ever got.
pub fn count(tx: &ReadTx<'_>, owner: UserId) -> Result<u64> {
    // A sum, because a person who never got one has no row.
    tx.count("SELECT coalesce(sum(told), 0) FROM notification_count WHERE owner_id = ?1", [owner])
}

/// The newest unread notifications; `unread` is the number of all unread ones.
pub fn newest_unread(
    tx: &ReadTx<'_>,
    owner: UserId,
    unread: i64,
    limit: u32,
) -> Result<Vec<Notification>> {
    // Most people read all or none, so the newest rows are nearly always the
    // unread ones. They are adjacent in the table; by the index, each needs its
    // own lookup.
    if unread >= i64::from(limit) {
        let newest = page(tx, owner, limit, 0)?;
        if newest.iter().all(|one| !one.read) {
            return Ok(newest);
        }
    }
    tx.records(
        "FROM notification
             WHERE owner_id = ?1 AND read_at IS NULL
             ORDER BY created_at DESC, notification_id DESC
             LIMIT ?2",
        (owner, limit),
    )
}

/// One page of all notifications, newest first.
pub fn page(tx: &ReadTx<'_>, owner: UserId, limit: u32, offset: u32) -> Result<Vec<Notification>> {
    tx.records(
        "FROM notification
             WHERE owner_id = ?1
             ORDER BY created_at DESC, notification_id DESC
             LIMIT ?2 OFFSET ?3",
        (owner, limit, offset),
    )
}

/// Newest notification of a person, and how many are unread.
pub fn newest(tx: &ReadTx<'_>, owner: UserId) -> Result<(i64, usize)> {
    let found: Option<(i64, i64)> =
        tx.tuple("SELECT last_id, unread FROM notification_count WHERE owner_id = ?1", [owner])?;
    let (last, unread) = found.unwrap_or_default();
    Ok((last, usize::try_from(unread).unwrap_or(0)))
}

/// Marks notifications up to `last` as read; returns how many, and whether none
/// is left.
pub fn mark_unread(tx: &WriteTx<'_>, owner: UserId, last: i64) -> Result<(usize, bool)> {
    let mut marked = 0;
    let is_over = tx.work_off(|most| {
        let some = tx.execute(
            "UPDATE notification SET read_at = ?3
             WHERE owner_id = ?1 AND (created_at, notification_id) IN (
                 SELECT created_at, notification_id FROM notification INDEXED BY notification_unread
                 WHERE owner_id = ?1 AND read_at IS NULL AND notification_id <= ?2 LIMIT ?4)",
            (owner, last, tx.now(), i64::try_from(most).unwrap_or(1)),
        )?;
        marked += some;
        Ok::<_, DbError>(some)
    })?;
    count_read(tx, owner, marked)?;
    Ok((marked, is_over))
}

fn count_read(tx: &WriteTx<'_>, owner: UserId, marked: usize) -> Result<()> {
    tx.run(
        "UPDATE notification_count SET unread = unread - ?2 WHERE owner_id = ?1",
        (owner, i64::try_from(marked).unwrap_or(0)),
    )
}

/// Marks some notifications as read; returns how many were unread. Ids of other
/// people's notifications are ignored.
pub fn mark_read(tx: &WriteTx<'_>, owner: UserId, ids: &[i64]) -> Result<usize> {
    let mut marked = 0;
    for id in ids {
        marked += tx.execute(
            "UPDATE notification SET read_at = ?3
             WHERE owner_id = ?1 AND notification_id = ?2 AND read_at IS NULL",
            (owner, id, tx.now()),
        )?;
    }
    count_read(tx, owner, marked)?;
    Ok(marked)
}

/// Removes notifications of a person, at most `most` rows of each table;
/// returns how many rows. Zero means that nothing is left.
pub fn forget(tx: &WriteTx<'_>, owner: UserId, most: usize) -> Result<usize> {
    let most = i64::try_from(most).unwrap_or(1);
    let told = tx.execute(
        "DELETE FROM notification
         WHERE owner_id = ?1 AND (created_at, notification_id) IN (
             SELECT created_at, notification_id FROM notification WHERE owner_id = ?1 LIMIT ?2)",
        (owner, most),
    )?;
    let causes = tx.execute(
        "DELETE FROM notification_key
         WHERE owner_id = ?1 AND cause IN (
             SELECT cause FROM notification_key WHERE owner_id = ?1 LIMIT ?2)",
        (owner, most),
    )?;
    Ok(told + causes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TestApp, config};
    use crate::messages::tell;

    #[test]
    fn the_newest_unread_are_found_whatever_was_read() {
        const ANA: UserId = UserId(1);
        for read in
            [vec![], vec![20], vec![1, 2], vec![1, 6, 19], (6..=20).collect(), (1..=20).collect()]
        {
            let world = TestApp::new(config(&[]));
            let marked = read.clone();
            world.write(move |tx| {
                tx.run(
                    "INSERT INTO user (user_id, email, name, role, created_at)
                     VALUES (?1, 'ana@example.com', 'Ana', 'vip', ?2)",
                    (ANA, tx.now()),
                )?;
                for number in 1..=20 {
                    let cause = format!("venda:{number}");
                    tell(tx, ANA, News::notice(NotificationKind::Venda, &cause))?;
                }
                let ids: Vec<i64> =
                    tx.values("SELECT notification_id FROM notification ORDER BY 1", [])?;
                let marked: Vec<_> = marked.iter().map(|number| ids[*number - 1]).collect();
                mark_read(tx, ANA, &marked)
            });
            let (found, all) = world.read(|tx| {
                let unread = unread_count(tx, ANA)?;
                Ok((newest_unread(tx, ANA, unread, 15)?, page(tx, ANA, 20, 0)?))
            });
            let unread: Vec<_> = all.into_iter().filter(|one| !one.read).take(15).collect();
            let ids = |list: &[Notification]| list.iter().map(|one| one.id).collect::<Vec<_>>();
            assert_eq!(ids(&found), ids(&unread), "{read:?}");
        }
    }
}
