//! Received notifications in the database, as lists read them.

use std::fmt::Write as _;

use rusqlite::{Row, ToSql};

use super::Received;
use crate::base::clock::Instant;
use crate::db::{ReadTx, Result, WriteTx};

const COLUMNS: &str =
    "n.notification_id, n.received_at, n.topic, n.resource, n.ml_user_id, a.nickname,
    n.state, n.attempts, n.next_try_at, n.outcome";
/// The notifications lead, whatever is asked of them.
const TABLES: &str = "ml_notification n LEFT JOIN ml_account a ON a.ml_user_id = n.ml_user_id";

/// Where resources of a number are.
const NUMBERED: [&str; 7] = [
    "/orders/",
    "/questions/",
    "/shipments/",
    "/payments/",
    "/collections/",
    "/claims/",
    "/post-purchase/v1/claims/",
];

fn read(row: &Row<'_>) -> rusqlite::Result<Received> {
    Ok(Received {
        id: row.get(0)?,
        at: row.get(1)?,
        topic: row.get(2)?,
        resource: row.get(3)?,
        account: row.get(4)?,
        nickname: row.get(5)?,
        state: row.get(6)?,
        attempts: row.get(7)?,
        next_try_at: row.get(8)?,
        outcome: row.get(9)?,
    })
}

/// What a list of notifications shows.
pub struct Wanted<'q> {
    /// A resource, its beginning or its number, or an account; empty for all.
    pub search: &'q str,
    /// One of [`super::TOPICS`].
    pub topic: Option<&'q str>,
    pub state: Option<i64>,
    pub newest_first: bool,
    pub limit: u32,
    pub offset: u32,
}

/// What a search looks for.
enum Sought {
    All,
    /// Resources by their whole name.
    Resources(Vec<String>),
    /// Resources by their beginning: from a name to before another.
    Beginning(String, String),
    Account(i64),
}

/// A search looks at the newest twenty thousand: an index by resource or
/// account would cost each notification that comes in two more random pages.
const SEARCHED: &str =
    "n.notification_id > (SELECT coalesce(max(notification_id), 0) - 20000 FROM ml_notification)";

/// Reads a search: a number is that of a resource when there is one, else that
/// of an account.
fn sought(tx: &ReadTx<'_>, search: &str) -> Result<Sought> {
    if search.is_empty() {
        return Ok(Sought::All);
    }
    if search.contains('/') {
        let beginning = format!("/{}", search.trim_start_matches('/'));
        let after = format!("{beginning}\u{10ffff}");
        return Ok(Sought::Beginning(beginning, after));
    }
    let Ok(number) = search.parse::<i64>() else {
        return Ok(Sought::Resources(vec![format!("/items/{}", search.to_uppercase())]));
    };
    let resources = NUMBERED.map(|place| format!("{place}{number}"));
    for resource in &resources {
        let known: bool = tx.value(
            &format!(
                "SELECT EXISTS (SELECT 1 FROM ml_notification n WHERE {SEARCHED} AND n.resource = ?1)"
            ),
            [resource]
        )?;
        if known {
            return Ok(Sought::Resources(resources.to_vec()));
        }
    }
    Ok(Sought::Account(number))
}

/// One page of notifications with the number of all that match.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<(Vec<Received>, u64)> {
    select(tx, wanted, COLUMNS, read)
}

/// Numbers of the notifications that match, in the order of [`page`].
pub fn ids(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<Vec<i64>> {
    select(tx, wanted, "n.notification_id", |row| row.get(0)).map(|(ids, _)| ids)
}

fn select<T>(
    tx: &ReadTx<'_>,
    wanted: &Wanted<'_>,
    columns: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<(Vec<T>, u64)> {
    let sought = sought(tx, wanted.search)?;
    let mut values: Vec<&dyn ToSql> = Vec::new();
    let mut filters = String::new();
    if let Some(topic) = &wanted.topic {
        filters.push_str(" AND n.topic = ?");
        values.push(topic);
    }
    // As a number in the text, because partial indexes go by it.
    if let Some(state) = wanted.state {
        let _ = write!(filters, " AND n.state = {state}");
    }
    match &sought {
        Sought::All => {}
        Sought::Resources(names) => {
            let places = vec!["?"; names.len()].join(", ");
            let _ = write!(filters, " AND n.resource IN ({places})");
            values.extend(names.iter().map(|name| name as &dyn ToSql));
        }
        Sought::Beginning(from, to) => {
            filters.push_str(" AND n.resource >= ? AND n.resource < ?");
            values.push(from);
            values.push(to);
        }
        Sought::Account(account) => {
            filters.push_str(" AND n.ml_user_id = ?");
            values.push(account);
        }
    }
    let within = match sought {
        Sought::All => "n.notification_id > 0",
        _ => SEARCHED,
    };
    let total = match sought {
        Sought::All => {
            let filters = filters.replace(" n.", " ");
            format!(
                "SELECT coalesce(sum(notifications), 0) FROM ml_notification_count WHERE true{filters}"
            )
        }
        _ => format!("SELECT count(*) FROM ml_notification n WHERE {within}{filters}"),
    };
    let total: i64 = tx.value(&total, &values[..])?;
    let order = if wanted.newest_first { "DESC" } else { "ASC" };
    values.push(&wanted.limit);
    values.push(&wanted.offset);
    let received = tx.all(
        &format!(
            "SELECT {columns} FROM {TABLES} WHERE {within}{filters}
             ORDER BY n.notification_id {order} LIMIT ? OFFSET ?"
        ),
        &values[..],
        read,
    )?;
    Ok((received, u64::try_from(total).unwrap_or(0)))
}

/// One notification with its body as it came.
pub fn notification(tx: &ReadTx<'_>, id: i64) -> Result<Option<(Received, Vec<u8>)>> {
    tx.optional(
        &format!("SELECT {COLUMNS}, n.body FROM {TABLES} WHERE n.notification_id = ?1"),
        [id],
        |row| Ok((read(row)?, row.get(10)?)),
    )
}

/// Has a notification worked from the start; false when it waits already.
pub fn work_again(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE ml_notification SET state = 0, attempts = 0, next_try_at = ?2, outcome = NULL
         WHERE notification_id = ?1 AND (state <> 0 OR next_try_at > ?2)",
        (id, tx.now().0),
    )?;
    Ok(changed == 1)
}

/// Removes notifications that were dealt with and came before an instant, the
/// oldest first and at most `most`; gives back how many. What still waits
/// stays, however old.
pub fn forget_dealt_with(tx: &WriteTx<'_>, before: Instant, most: usize) -> Result<usize> {
    let bound = first_since(tx, before)?;
    tx.execute(
        "DELETE FROM ml_notification WHERE notification_id IN (
             SELECT notification_id FROM ml_notification
             WHERE notification_id < ?1 AND +state IN (1, 2, 3)
             ORDER BY notification_id LIMIT ?2)",
        (bound, i64::try_from(most).unwrap_or(1)),
    )
}

/// The number of the first notification that came at an instant or later.
/// Numbers grow with time, so halving finds it without an index of its own.
fn first_since(tx: &WriteTx<'_>, instant: Instant) -> Result<i64> {
    let (mut low, mut high): (i64, i64) = tx.one(
        "SELECT coalesce((SELECT notification_id FROM ml_notification WHERE notification_id > 0 ORDER BY notification_id LIMIT 1), 1),
                coalesce((SELECT notification_id FROM ml_notification WHERE notification_id > 0 ORDER BY notification_id DESC LIMIT 1), 0) + 1",
        [],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, i64)> = tx.optional(
            "SELECT notification_id, received_at FROM ml_notification
             WHERE notification_id >= ?1 ORDER BY notification_id LIMIT 1",
            [middle],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        match found {
            Some((id, received_at)) if received_at < instant.0 => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}
