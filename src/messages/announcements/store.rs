//! Announcements in the database, and who was told.

use serde_json::{Value, json};

use super::form::AnnouncementEntry;
use super::{Announcement, MOST, State};
use crate::accounts::person::Group;
use crate::base::retention::ANNOUNCEMENTS;
use crate::base::{Instant, UserId};
use crate::db::{Filters, ReadTx, Result, RowWindow, WriteTx};
use crate::panel::ListQuery;
use crate::row;

/// Condition on a table with a column `role`: the plan is among those of
/// `:roles`, which are names between commas, none for all.
const OF_PLAN: &str = "(:roles = '' OR instr(',' || :roles || ',', ',' || role || ',') > 0)";

/// What the announcements of a list come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    pub announcements: u64,
    pub told: i64,
    pub readers: i64,
}

/// One page of announcements, newest first, with the sum of all that match.
pub fn page(tx: &ReadTx<'_>, query: &ListQuery) -> Result<(Vec<Announcement>, Sum)> {
    let state = query.filter("estado").and_then(State::from_name);
    let mut filters = Filters::new("announcement_id > 0", &[]);
    filters.and_if("state = :state", ":state", &state);
    let sums = format!(
        "SELECT count(*), coalesce(sum(told), 0), coalesce(sum(readers), 0)
         FROM announcement WHERE {}",
        filters.sql()
    );
    let sum: Option<(i64, i64, i64)> = tx.tuple(&sums, filters.values())?;
    let (count, told, readers) = sum.unwrap_or_default();
    let RowWindow { limit, offset } = query.window();
    filters.bind(&[(":limit", &limit), (":offset", &offset)]);
    let order = if query.descending { "DESC" } else { "ASC" };
    let rest = format!(
        "FROM announcement WHERE {} ORDER BY announcement_id {order} LIMIT :limit OFFSET :offset",
        filters.sql()
    );
    let rows = tx.records(&rest, filters.values())?;
    Ok((rows, Sum { announcements: u64::try_from(count).unwrap_or(0), told, readers }))
}

pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Announcement>> {
    tx.record("FROM announcement WHERE announcement_id = ?1", [id])
}

/// How many students some plans have now, without those who are suspended.
pub fn audience(tx: &ReadTx<'_>, roles: &str) -> Result<i64> {
    tx.value(
        &format!(
            "SELECT coalesce(sum(people), 0) FROM person_count
             WHERE kind = :students AND standing IN (0, 1) AND {OF_PLAN}"
        ),
        rusqlite::named_params! { ":students": Group::Students, ":roles": roles },
    )
}

/// Makes a draft; `None` when there are too many announcements.
pub fn insert(tx: &WriteTx<'_>, entry: &AnnouncementEntry, by_name: &str) -> Result<Option<i64>> {
    let count = "SELECT count(*) FROM announcement WHERE announcement_id > 0";
    if tx.count(count, [])? >= MOST {
        return Ok(None);
    }
    tx.insert(
        "INSERT INTO announcement (title, body, roles, channels, state, by_name, created_at, send_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        (
            &entry.title,
            &entry.body,
            entry.role_names(),
            entry.channel_names(),
            State::Draft,
            by_name,
            tx.now(),
            entry.send_at,
        ),
    )
    .map(Some)
}

/// Changes a draft; false when it is none any more.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &AnnouncementEntry) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE announcement SET title = ?2, body = ?3, roles = ?4, channels = ?5, send_at = ?6
         WHERE announcement_id = ?1 AND state = ?7",
        (
            id,
            &entry.title,
            &entry.body,
            entry.role_names(),
            entry.channel_names(),
            entry.send_at,
            State::Draft,
        ),
    )?;
    Ok(changed == 1)
}

/// Gives a draft to the worker; false when it is none any more.
pub fn release(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    let released = tx.execute(
        "UPDATE announcement SET state = ?2, send_at = max(coalesce(send_at, 0), ?3)
         WHERE announcement_id = ?1 AND state = ?4",
        (id, State::Scheduled, tx.now(), State::Draft),
    )?;
    Ok(released == 1)
}

/// Cancels one that waits, or stops one that is being sent: nobody else is told. False when
/// there is nothing to cancel.
pub fn cancel(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    let cancelled = tx.execute(
        "UPDATE announcement SET state = ?2, done_at = ?3
         WHERE announcement_id = ?1 AND state IN (?4, ?5)",
        (id, State::Cancelled, tx.now(), State::Scheduled, State::Sending),
    )?;
    Ok(cancelled == 1)
}

/// Removes one that nobody was told; false when somebody was or may be.
pub fn delete(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    let removed = tx.execute(
        "DELETE FROM announcement WHERE announcement_id = ?1 AND state IN (?2, ?3) AND told = 0",
        (id, State::Draft, State::Cancelled),
    )?;
    Ok(removed == 1)
}

/// The announcement that is under way, or else the one whose time came first.
pub fn due(tx: &ReadTx<'_>) -> Result<Option<Announcement>> {
    tx.record(
        "FROM announcement INDEXED BY announcement_due WHERE state IN (2, 3) AND send_at <= ?1
         ORDER BY send_at, announcement_id LIMIT 1",
        [tx.now()],
    )
}

/// When the next one is due.
pub fn next_at(tx: &ReadTx<'_>) -> Result<Option<Instant>> {
    tx.maybe(
        "SELECT send_at FROM announcement INDEXED BY announcement_due
         WHERE state IN (2, 3) ORDER BY send_at LIMIT 1",
        [],
    )
}

/// Notes that it begins, with the number of people it is for.
pub fn begin(tx: &WriteTx<'_>, one: &Announcement) -> Result<()> {
    let audience = audience(tx, &one.roles)?;
    tx.run(
        "UPDATE announcement SET state = ?2, begun_at = ?3, audience = ?4
         WHERE announcement_id = ?1 AND state = ?5",
        (one.id, State::Sending, tx.now(), audience, State::Scheduled),
    )
}

/// The next people after the last who was told.
pub fn next_people(tx: &ReadTx<'_>, one: &Announcement, most: usize) -> Result<Vec<UserId>> {
    tx.values(
        &format!(
            "SELECT user_id FROM user
             WHERE user_id > :after AND +kind = :students AND suspended_at IS NULL AND {OF_PLAN}
             ORDER BY user_id LIMIT :most"
        ),
        rusqlite::named_params! {
            ":after": one.position,
            ":students": Group::Students,
            ":roles": one.roles,
            ":most": i64::try_from(most).unwrap_or(1),
        },
    )
}

/// Notes that a person was told, under which notice; false without one.
pub fn note_told(tx: &WriteTx<'_>, id: i64, person: UserId, cause: &str) -> Result<bool> {
    let told = tx.execute(
        "INSERT INTO announcement_told (announcement_id, user_id, notification_id)
         SELECT ?1, owner_id, notification_id FROM notification_key WHERE owner_id = ?2 AND cause = ?3
         ON CONFLICT DO NOTHING",
        (id, person, cause),
    )?;
    Ok(told == 1)
}

/// Notes how far the telling came.
pub fn move_on(
    tx: &WriteTx<'_>,
    id: i64,
    (position, told, messages): (UserId, i64, i64),
) -> Result<()> {
    tx.run(
        "UPDATE announcement SET position = ?2, told = told + ?3, messages = messages + ?4
         WHERE announcement_id = ?1",
        (id, position, told, messages),
    )
}

/// Notes that everybody was told.
pub fn finish(tx: &WriteTx<'_>, id: i64) -> Result<()> {
    tx.run(
        "UPDATE announcement SET state = ?2, done_at = ?3 WHERE announcement_id = ?1",
        (id, State::Sent, tx.now()),
    )
}

/// What fills the text of its message; `None` when it is gone.
pub fn words(tx: &ReadTx<'_>, params: &Value) -> Result<Option<Value>> {
    let Some(id) = params["announcement_id"].as_i64() else { return Ok(None) };
    Ok(one(tx, id)?.map(|one| {
        json!({
            "announcement_id": id, "title": one.title, "body": one.body, "page": one.reading_page(),
        })
    }))
}

row! {
    /// Somebody who was told.
    #[derive(Clone, Debug)]
    pub struct Told {
        pub user: UserId = "t.user_id",
        pub name: String = "u.name",
        pub email: String = "u.email",
        pub read_at: Option<Instant> = "t.read_at",
    }
}

const TOLD: &str = "announcement_told t CROSS JOIN user u ON u.user_id = t.user_id";

/// A page of those who read it, the last first, or of those who did not.
pub fn people(
    tx: &ReadTx<'_>,
    id: i64,
    have_read: bool,
    RowWindow { limit, offset }: RowWindow,
) -> Result<Vec<Told>> {
    let (which, order) = if have_read {
        ("IS NOT NULL", "t.read_at DESC, t.user_id DESC")
    } else {
        ("IS NULL", "t.user_id")
    };
    tx.records(
        &format!(
            "FROM {TOLD} WHERE t.announcement_id = ?1 AND t.read_at {which}
             ORDER BY {order} LIMIT ?2 OFFSET ?3"
        ),
        (id, limit, offset),
    )
}

/// How many of those who are still known to have been told did read it, and did not.
pub fn read_and_unread(tx: &ReadTx<'_>, id: i64) -> Result<(i64, i64)> {
    let counts: Option<(i64, i64)> = tx.tuple(
        "SELECT count(read_at), count(*) - count(read_at) FROM announcement_told
         WHERE announcement_id = ?1",
        [id],
    )?;
    Ok(counts.unwrap_or_default())
}

/// Everybody who was told, by number.
pub fn told_ids(tx: &ReadTx<'_>, id: i64) -> Result<Vec<i64>> {
    tx.values(
        "SELECT user_id FROM announcement_told WHERE announcement_id = ?1 ORDER BY user_id",
        [id],
    )
}

/// One of those who were told.
pub fn told(tx: &ReadTx<'_>, id: i64, person: i64) -> Result<Option<Told>> {
    tx.record(&format!("FROM {TOLD} WHERE t.announcement_id = ?1 AND t.user_id = ?2"), (id, person))
}

/// The announcement as a person was told it, with the number of the notice.
pub fn for_reader(tx: &ReadTx<'_>, id: i64, person: UserId) -> Result<Option<(Announcement, i64)>> {
    let notice: Option<i64> = tx.maybe(
        "SELECT notification_id FROM announcement_told WHERE announcement_id = ?1 AND user_id = ?2",
        (id, person),
    )?;
    let Some(notice) = notice else { return Ok(None) };
    Ok(one(tx, id)?.map(|one| (one, notice)))
}

/// Forgets who was told of old announcements, at most `most` people; returns how
/// many. The announcements stay with their counts.
pub fn forget(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM announcement_told WHERE (announcement_id, user_id) IN (
             SELECT t.announcement_id, t.user_id
             FROM announcement a CROSS JOIN announcement_told t USING (announcement_id)
             WHERE a.announcement_id > 0 AND a.done_at < ?1 LIMIT ?2)",
        (ANNOUNCEMENTS.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}
