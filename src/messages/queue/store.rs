//! The queue of messages in the database, as lists read it.

use rusqlite::Row;

use super::{FAILED_LATELY, Message};
use crate::base::{Day, Instant, Zone};
use crate::db::{Filters, ReadTx, Record as _, Result, RowWindow, WriteTx};
use crate::outbox::{self, Channel, MessageState};
use crate::panel::ListQuery;
use crate::row;

/// Most recipients that a search considers.
const MOST_FOUND: u32 = 200;

row! {
    /// A message with the parameters of its text.
    struct Full {
        message: Message as row,
        params: String = "o.params",
    }
}

/// `CROSS JOIN` makes messages the outer loop, whatever the filters are.
const TABLES: &str = "outbox o CROSS JOIN user u ON u.user_id = o.user_id";

/// One page of messages with the number of all that match.
pub fn page(tx: &ReadTx<'_>, query: &ListQuery) -> Result<(Vec<Message>, u64)> {
    select(tx, query, Message::COLUMNS, Message::read)
}

/// Numbers of the messages that match, in the order of [`page`].
pub fn ids(tx: &ReadTx<'_>, query: &ListQuery) -> Result<Vec<i64>> {
    select(tx, query, "o.message_id", |row| row.get(0)).map(|(ids, _)| ids)
}

fn select<T>(
    tx: &ReadTx<'_>,
    query: &ListQuery,
    columns: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<(Vec<T>, u64)> {
    let [chosen, channel, kind] = ["estado", "canal", "tipo"].map(|name| query.filter(name));
    let state = chosen.and_then(MessageState::from_name);
    let is_lately = chosen == Some(FAILED_LATELY);
    let since = outbox::failed_since(tx.now());
    let beginning = query.search.to_lowercase();
    let after = format!("{beginning}\u{10ffff}");
    let mut filters = Filters::new("o.message_id > 0", &[]);
    filters.and_if("o.channel = :channel", ":channel", &channel);
    filters.and_if("o.kind = :kind", ":kind", &kind);
    filters.and_if("o.state = :state", ":state", &state);
    if is_lately {
        filters.and("o.state = 3 AND o.done_at >= :since", &[(":since", &since)]);
    }
    let total = if is_lately && query.search.is_empty() {
        failed_lately(tx, query)?
    } else if query.search.is_empty() {
        let sums = filters.sql().replace("o.message_id > 0", "true").replace(" o.", " ");
        let sql = format!("SELECT coalesce(sum(messages), 0) FROM outbox_count WHERE {sums}");
        tx.count(&sql, filters.values())?
    } else {
        filters.and(
            "o.user_id IN (SELECT user_id FROM user WHERE email >= :from AND email < :to LIMIT :found)",
            &[(":from", &beginning), (":to", &after), (":found", &MOST_FOUND)],
        );
        let sql = format!("SELECT count(*) FROM outbox o WHERE {}", filters.sql());
        tx.count(&sql, filters.values())?
    };
    let order = if query.descending { "DESC" } else { "ASC" };
    let RowWindow { limit, offset } = query.window();
    filters.bind(&[(":limit", &limit), (":offset", &offset)]);
    let sql = format!(
        "SELECT {columns} FROM {TABLES} WHERE {}
         ORDER BY o.message_id {order} LIMIT :limit OFFSET :offset",
        filters.sql()
    );
    Ok((tx.all(&sql, filters.values(), read)?, total))
}

/// One message with the parameters of its text.
pub fn message(tx: &ReadTx<'_>, id: i64) -> Result<Option<(Message, String)>> {
    let found = tx.record(&format!("FROM {TABLES} WHERE o.message_id = ?1"), [id])?;
    Ok(found.map(|Full { message, params }| (message, params)))
}

/// Sends a message with a number of its own, such as a test, to another one.
pub fn set_number(tx: &WriteTx<'_>, id: i64, number: &str) -> Result<()> {
    tx.run(
        "UPDATE outbox SET params = json_set(params, '$.number', ?2) WHERE message_id = ?1",
        (id, number),
    )
}

/// Number of messages by state, of a channel and a kind.
pub fn by_state(tx: &ReadTx<'_>, query: &ListQuery) -> Result<Vec<(MessageState, u64)>> {
    let found: Vec<(MessageState, i64)> = tx.tuples(
        "SELECT state, sum(messages) FROM outbox_count
         WHERE (?1 IS NULL OR channel = ?1) AND (?2 IS NULL OR kind = ?2) GROUP BY state",
        (query.filter("canal"), query.filter("tipo")),
    )?;
    Ok(found.into_iter().map(|(state, count)| (state, u64::try_from(count).unwrap_or(0))).collect())
}

/// Number of messages that failed lately, of a channel and a kind.
pub fn failed_lately(tx: &ReadTx<'_>, query: &ListQuery) -> Result<u64> {
    let count = outbox::failed_lately(tx, query.filter("canal"), query.filter("tipo"))?;
    Ok(u64::try_from(count).unwrap_or(0))
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

/// Finished messages are counted in steps of this many seconds.
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
        (from, MessageState::Sent),
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
