//! Received notifications in the database, as lists read them.

use rusqlite::Row;

use super::Received;
use crate::base::Instant;
use crate::db::{Filters, ReadTx, Record as _, Result, RowWindow, WriteTx};
use crate::marketplace::inbox::state::NotificationState;
use crate::marketplace::kinds::RecordKind;

/// A left join, so that notifications without a linked account are included.
const TABLES: &str = "ml_notification n LEFT JOIN ml_account a ON a.ml_user_id = n.ml_user_id";

/// Path prefixes of resources with a number that are kept and not processed.
const OTHERS: [&str; 2] = ["/payments/", "/collections/"];

/// The resources that a number can mean.
fn numbered(number: i64) -> impl Iterator<Item = String> {
    let rows = RecordKind::ALL.into_iter().map(RecordKind::row).filter(|row| !row.has_site);
    rows.flat_map(|row| row.paths).chain(&OTHERS).map(move |path| format!("{path}{number}"))
}

/// Filter, order and window of a list of notifications.
pub struct NotificationFilter<'q> {
    /// A resource, its beginning or its number, or an account; empty for all.
    pub search: &'q str,
    /// One of the topics that are counted.
    pub topic: Option<&'q str>,
    pub state: Option<NotificationState>,
    pub newest_first: bool,
    /// Rows to show, and rows before them.
    pub window: RowWindow,
}

enum Sought {
    All,
    /// Resources with this number, under any of the prefixes.
    Number(i64),
    Resource(String),
    /// Resources by prefix: from the first name to before the second.
    Beginning(String, String),
    Account(i64),
}

/// A search covers the newest twenty thousand notifications. An index by
/// resource or account would make each insert write two more random pages.
const SEARCHED: &str =
    "n.notification_id > (SELECT coalesce(max(notification_id), 0) - 20000 FROM ml_notification)";

/// Parses a search text. A number means a resource if there is one, otherwise
/// an account.
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
        return Ok(Sought::Resource(format!("/items/{}", search.to_uppercase())));
    };
    for resource in numbered(number) {
        let known: bool = tx.value(
            &format!(
                "SELECT EXISTS (SELECT 1 FROM ml_notification n WHERE {SEARCHED} AND n.resource = ?1)"
            ),
            [resource],
        )?;
        if known {
            return Ok(Sought::Number(number));
        }
    }
    Ok(Sought::Account(number))
}

impl Sought {
    /// The conditions of the search and of the other filters.
    fn filters<'w>(&'w self, wanted: &'w NotificationFilter<'_>) -> Filters<'w> {
        let within = if matches!(self, Self::All) { "true" } else { SEARCHED };
        let mut filters = Filters::new(within, &[]);
        filters.and_if("topic = :topic", ":topic", &wanted.topic);
        // As a literal in the SQL, because partial indexes need that.
        if let Some(state) = wanted.state {
            filters.and(&format!("state = {}", state.number()), &[]);
        }
        match self {
            Self::All => {}
            Self::Number(number) => {
                let names: Vec<_> = numbered(*number).map(|name| format!("'{name}'")).collect();
                filters.and(&format!("n.resource IN ({})", names.join(", ")), &[]);
            }
            Self::Resource(name) => filters.and("n.resource = :name", &[(":name", name)]),
            Self::Beginning(from, to) => filters
                .and("n.resource >= :from AND n.resource < :to", &[(":from", from), (":to", to)]),
            Self::Account(account) => {
                filters.and("n.ml_user_id = :account", &[(":account", account)]);
            }
        }
        filters
    }

    fn rows<T>(
        &self,
        tx: &ReadTx<'_>,
        wanted: &NotificationFilter<'_>,
        columns: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut filters = self.filters(wanted);
        if matches!(self, Self::All) {
            filters.and("n.notification_id > 0", &[]);
        }
        filters.bind(&[(":limit", &wanted.window.limit), (":offset", &wanted.window.offset)]);
        let order = if wanted.newest_first { "DESC" } else { "ASC" };
        let sql = format!(
            "SELECT {columns} FROM {TABLES} WHERE {}
             ORDER BY n.notification_id {order} LIMIT :limit OFFSET :offset",
            filters.sql()
        );
        tx.all(&sql, filters.values(), read)
    }
}

/// One page of notifications with the number of all that match.
pub fn page(tx: &ReadTx<'_>, wanted: &NotificationFilter<'_>) -> Result<(Vec<Received>, u64)> {
    let sought = sought(tx, wanted.search)?;
    let count = match sought {
        Sought::All => "SELECT coalesce(sum(notifications), 0) FROM ml_notification_count",
        _ => "SELECT count(*) FROM ml_notification n",
    };
    let total = sought.filters(wanted).count(tx, count)?;
    Ok((sought.rows(tx, wanted, Received::COLUMNS, Received::read)?, total))
}

/// Ids of the notifications that match, in the order of [`page`].
pub fn ids(tx: &ReadTx<'_>, wanted: &NotificationFilter<'_>) -> Result<Vec<i64>> {
    sought(tx, wanted.search)?.rows(tx, wanted, "n.notification_id", |row| row.get(0))
}

/// One notification with its body as it came.
pub fn notification(tx: &ReadTx<'_>, id: i64) -> Result<Option<(Received, Vec<u8>)>> {
    let columns = Received::COLUMNS;
    tx.optional(
        &format!("SELECT {columns}, n.body FROM {TABLES} WHERE n.notification_id = ?1"),
        [id],
        |row| Ok((Received::read(row)?, row.get("body")?)),
    )
}

/// Has a notification processed from the start; false when it is due already.
pub fn work_again(tx: &WriteTx<'_>, id: i64) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE ml_notification SET state = ?3, attempts = 0, next_try_at = ?2, outcome = NULL
         WHERE notification_id = ?1 AND (state <> ?3 OR next_try_at > ?2)",
        (id, tx.now(), NotificationState::Waiting),
    )?;
    Ok(changed == 1)
}

/// Removes processed notifications that were received before an instant, the
/// oldest first and at most `most`; returns how many. Waiting ones stay,
/// however old they are.
pub fn forget_dealt_with(tx: &WriteTx<'_>, before: Instant, most: usize) -> Result<usize> {
    let bound = first_since(tx, before)?;
    tx.execute(
        "DELETE FROM ml_notification WHERE notification_id IN (
             SELECT notification_id FROM ml_notification
             WHERE notification_id < ?1 AND +state IN (?3, ?4, ?5)
             ORDER BY notification_id LIMIT ?2)",
        (
            bound,
            i64::try_from(most).unwrap_or(1),
            NotificationState::Done,
            NotificationState::Ignored,
            NotificationState::Failed,
        ),
    )
}

/// The id of the first notification that was received at an instant or later.
/// Ids grow with time, so a binary search finds it without an index by time.
fn first_since(tx: &WriteTx<'_>, instant: Instant) -> Result<i64> {
    let (mut low, mut high): (i64, i64) = tx.one(
        "SELECT coalesce((SELECT notification_id FROM ml_notification WHERE notification_id > 0 ORDER BY notification_id LIMIT 1), 1),
                coalesce((SELECT notification_id FROM ml_notification WHERE notification_id > 0 ORDER BY notification_id DESC LIMIT 1), 0) + 1",
        [],
        |row| row.try_into(),
    )?;
    while low < high {
        let middle = low + (high - low) / 2;
        let found: Option<(i64, Instant)> = tx.tuple(
            "SELECT notification_id, received_at FROM ml_notification
             WHERE notification_id >= ?1 ORDER BY notification_id LIMIT 1",
            [middle],
        )?;
        match found {
            Some((id, received_at)) if received_at < instant => low = id + 1,
            _ => high = middle,
        }
    }
    Ok(low)
}
