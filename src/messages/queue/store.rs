//! The queue of messages in the database, as lists read it.

use rusqlite::{Row, ToSql};

use super::Message;
use crate::base::clock::{Day, Instant, Zone};
use crate::db::{ReadTx, Result};
use crate::outbox::{Channel, state};

/// Recipients that a search looks at.
const MOST_FOUND: u32 = 200;

const COLUMNS: &str = "o.message_id, o.channel, o.kind, o.user_id, u.name, u.email, o.state,
    o.created_at, o.run_at, o.expires_at, o.done_at, o.outcome, u.role, o.attempts, o.provider";
/// The messages lead, whatever is asked of them.
const TABLES: &str = "outbox o CROSS JOIN user u ON u.user_id = o.user_id";

fn read(row: &Row<'_>) -> rusqlite::Result<Message> {
    let instant =
        |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Instant));
    Ok(Message {
        id: row.get(0)?,
        channel: row.get(1)?,
        kind: row.get(2)?,
        user: row.get(3)?,
        name: row.get(4)?,
        email: row.get(5)?,
        state: row.get(6)?,
        created_at: row.get(7)?,
        run_at: row.get(8)?,
        expires_at: instant(9)?,
        done_at: instant(10)?,
        outcome: row.get(11)?,
        role: row.get(12)?,
        attempts: row.get(13)?,
        provider: row.get(14)?,
    })
}

/// What a list of messages shows.
pub struct Wanted<'q> {
    /// How the recipient's e-mail address begins; empty for everybody.
    pub email: &'q str,
    pub channel: Option<&'q str>,
    pub kind: Option<&'q str>,
    pub state: Option<i64>,
    pub newest_first: bool,
    pub limit: u32,
    pub offset: u32,
}

/// One page of messages with the number of all that match.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<(Vec<Message>, u64)> {
    select(tx, wanted, COLUMNS, read)
}

/// Numbers of the messages that match, in the order of [`page`].
pub fn ids(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<Vec<i64>> {
    select(tx, wanted, "o.message_id", |row| row.get(0)).map(|(ids, _)| ids)
}

fn select<T>(
    tx: &ReadTx<'_>,
    wanted: &Wanted<'_>,
    columns: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<(Vec<T>, u64)> {
    let beginning = wanted.email.to_lowercase();
    let after = format!("{beginning}\u{10ffff}");
    let mut values: Vec<(&str, &dyn ToSql)> = Vec::new();
    let mut filters = String::new();
    if let Some(channel) = &wanted.channel {
        filters.push_str(" AND o.channel = :channel");
        values.push((":channel", channel));
    }
    if let Some(kind) = &wanted.kind {
        filters.push_str(" AND o.kind = :kind");
        values.push((":kind", kind));
    }
    if let Some(state) = &wanted.state {
        filters.push_str(" AND o.state = :state");
        values.push((":state", state));
    }
    let total: i64 = if wanted.email.is_empty() {
        let sums = filters.replace(" o.", " ");
        tx.value(
            &format!("SELECT coalesce(sum(messages), 0) FROM outbox_count WHERE true{sums}"),
            &values[..],
        )?
    } else {
        filters.push_str(
            " AND o.user_id IN (SELECT user_id FROM user WHERE email >= :from AND email < :to LIMIT :found)",
        );
        values.push((":from", &beginning));
        values.push((":to", &after));
        values.push((":found", &MOST_FOUND));
        let count = format!("SELECT count(*) FROM outbox o WHERE o.message_id > 0{filters}");
        tx.value(&count, &values[..])?
    };
    let order = if wanted.newest_first { "DESC" } else { "ASC" };
    values.push((":limit", &wanted.limit));
    values.push((":offset", &wanted.offset));
    let messages = tx.all(
        &format!(
            "SELECT {columns} FROM {TABLES} WHERE o.message_id > 0{filters}
             ORDER BY o.message_id {order} LIMIT :limit OFFSET :offset"
        ),
        &values[..],
        read,
    )?;
    Ok((messages, u64::try_from(total).unwrap_or(0)))
}

/// One message with what fills its text.
pub fn message(tx: &ReadTx<'_>, id: i64) -> Result<Option<(Message, String)>> {
    tx.optional(
        &format!("SELECT {COLUMNS}, o.params FROM {TABLES} WHERE o.message_id = ?1"),
        [id],
        |row| Ok((read(row)?, row.get(15)?)),
    )
}

/// Messages that wait, by channel.
pub fn waiting(tx: &ReadTx<'_>) -> Result<Vec<(String, u64)>> {
    tx.all(
        "SELECT channel, sum(messages) FROM outbox_count
         WHERE state = 0 GROUP BY channel HAVING sum(messages) > 0",
        [],
        |row| {
            let count: i64 = row.get(1)?;
            Ok((row.get(0)?, u64::try_from(count).unwrap_or(0)))
        },
    )
}

/// Seconds of a step in which messages that are done with are counted.
const QUARTER_S: i64 = 900;

/// Messages that were sent on each civil day from `first` on, by channel.
pub fn sent_by_day(
    tx: &ReadTx<'_>,
    zone: Zone,
    first: Day,
    days: usize,
) -> Result<Vec<(Channel, Vec<i64>)>> {
    let from = zone.start_of(first).0.div_euclid(QUARTER_S);
    let mut counts = Channel::ALL.map(|channel| (channel, vec![0_i64; days]));
    tx.each(
        "SELECT quarter, channel, messages FROM outbox_done_count WHERE quarter >= ?1 AND state = ?2",
        (from, state::SENT),
        |row| {
            let (quarter, channel): (i64, String) = (row.get(0)?, row.get(1)?);
            let day = zone.day(Instant(quarter * QUARTER_S)).0 - first.0;
            let known = counts.iter_mut().find(|(one, _)| one.name() == channel);
            if let Some((_, counts)) = known
                && let Some(count) = usize::try_from(day).ok().and_then(|day| counts.get_mut(day))
            {
                *count += row.get::<_, i64>(2)?;
            }
            Ok(())
        },
    )?;
    Ok(counts.into())
}
