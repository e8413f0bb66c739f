//! The request log in the database.

use super::{FULL, RequestEntry};
use crate::accounts::Role;
use crate::base::{Instant, UserId};
use crate::db::{Column, Filters, ReadTx, Result, RowWindow, WriteTx};
use crate::row;

/// Ids that are reserved for each second. An entry's id is its second times this,
/// plus its number within the second.
const PER_SECOND: i64 = 1_000_000;

/// The lowest id that an entry of an instant can have.
pub const fn first_of(at: Instant) -> i64 {
    at.0.saturating_mul(PER_SECOND)
}

/// Adds entries; returns how many were not stored because the log is full.
pub fn add(tx: &WriteTx<'_>, entries: &[RequestEntry]) -> Result<usize> {
    if entries.is_empty() || count(tx)? >= FULL {
        return Ok(entries.len());
    }
    for entry in entries {
        let first = first_of(entry.at);
        tx.execute(
            "INSERT INTO request_log
                 (entry_id, at, request_id, method, path, status, us, caller, caller_id, address, sampled)
             VALUES (
                 1 + coalesce((SELECT max(entry_id) FROM request_log WHERE entry_id >= ?1 AND entry_id < ?2), ?1 - 1),
                 ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            rusqlite::params![
                first,
                first.saturating_add(PER_SECOND),
                entry.at.0,
                entry.request_id,
                entry.method,
                entry.path,
                entry.status,
                entry.us,
                entry.caller.kind,
                entry.caller.id,
                entry.address.map(|address| address.to_string()).unwrap_or_default(),
                entry.sampled,
            ],
        )?;
    }
    Ok(0)
}

/// Number of entries in the log.
pub fn count(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value("SELECT coalesce(sum(entries), 0) FROM request_log_count", [])
}

/// The filter of a list of entries.
#[derive(Clone, Debug, Default)]
pub struct RequestLogFilter {
    /// The beginning of a path if it begins with a slash, otherwise a request
    /// id; empty for all.
    pub search: String,
    /// First digit of the status.
    pub class: Option<u16>,
    /// Kind of caller, as stored.
    pub caller: Option<&'static str>,
    /// Only entries from this time on.
    pub since: Option<Instant>,
    /// Only slow ones, the slowest first.
    pub only_slow: bool,
    /// The slow ones before all others, the slowest first.
    pub slow_first: bool,
    /// Whose own looks at the operator's pages are left out.
    pub without_pages_of: Option<UserId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speed {
    Any,
    /// The slow ones, the slowest first.
    Slow,
    NotSlow,
}

impl Speed {
    /// The same words as in the index of slow requests.
    const fn condition(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Slow => " AND us >= 100000",
            Self::NotSlow => " AND us < 100000",
        }
    }

    const fn order(self) -> &'static str {
        match self {
            Self::Slow => "us DESC, entry_id DESC",
            Self::Any | Self::NotSlow => "entry_id DESC",
        }
    }
}

row! {
    /// An entry with the name of the caller.
    #[derive(Clone, Debug)]
    pub struct Logged {
        pub id: i64 = "r.entry_id",
        pub at: Instant = "r.at",
        pub request_id: String = "r.request_id",
        pub method: String = "r.method",
        pub path: String = "r.path",
        pub status: u16 = "r.status",
        pub us: i64 = "r.us",
        pub caller: String = "r.caller",
        pub caller_id: Option<i64> = "r.caller_id",
        /// Current name of the person or key; empty without one.
        pub name: String = "coalesce(u.name, k.name, '')",
        /// The person's role; `None` for other callers and for removed people.
        pub role: Option<Role> = "iif(u.removed_at IS NULL, u.role, NULL)",
        pub address: String = "r.address",
        pub sampled: i64 = "r.sampled",
    }
}

/// A person and a key can have the same number, so the kind of caller decides
/// which table is joined.
const LOGGED: &str = "FROM request_log r
     LEFT JOIN user u ON r.caller <> 'chave' AND u.user_id = r.caller_id
     LEFT JOIN api_key k ON r.caller = 'chave' AND k.key_id = r.caller_id";

pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Logged>> {
    tx.record(&format!("{LOGGED} WHERE r.entry_id = ?1"), [id])
}

/// One page, newest first, with the total number of matches.
///
/// The filters by class and by caller use indexes in the order of time. A search
/// scans the log, whose size is limited: 0.2 s for a million entries. Indexes on
/// path and request id would spread each write over many pages of the file, ten
/// times the work for the writer.
pub fn page(
    tx: &ReadTx<'_>,
    filter: &RequestLogFilter,
    window: RowWindow,
) -> Result<(Vec<Logged>, u64)> {
    let (ids, total) = ids(tx, filter, window)?;
    let logged = ids.into_iter().filter_map(|id| one(tx, id).transpose());
    Ok((logged.collect::<Result<_>>()?, total))
}

/// The same, but only the ids.
pub fn ids(
    tx: &ReadTx<'_>,
    filter: &RequestLogFilter,
    window: RowWindow,
) -> Result<(Vec<i64>, u64)> {
    if !filter.only_slow && !filter.slow_first {
        return part(tx, filter, Speed::Any, window);
    }
    let (mut slow, count) = part(tx, filter, Speed::Slow, window)?;
    if filter.only_slow {
        return Ok((slow, count));
    }
    // Behind the slow ones come the others.
    let before = u32::try_from(count).unwrap_or(u32::MAX);
    let rest = RowWindow {
        limit: window.limit.saturating_sub(u32::try_from(slow.len()).unwrap_or(u32::MAX)),
        offset: window.offset.saturating_sub(before),
    };
    let (others, more) = part(tx, filter, Speed::NotSlow, rest)?;
    slow.extend(others);
    Ok((slow, count + more))
}

/// One part of the log in its order, and how many match in it.
fn part(
    tx: &ReadTx<'_>,
    filter: &RequestLogFilter,
    speed: Speed,
    RowWindow { limit, offset }: RowWindow,
) -> Result<(Vec<i64>, u64)> {
    let since = filter.since.map_or(0, first_of);
    let after = format!("{}\u{10ffff}", filter.search);
    let index = match (speed, filter.class, filter.caller) {
        (Speed::Slow, ..) => "INDEXED BY request_log_slow",
        (_, Some(_), _) => "INDEXED BY request_log_by_class",
        (_, None, Some(_)) => "INDEXED BY request_log_by_caller",
        (_, None, None) => "",
    };
    let mut filters =
        Filters::new(&format!("entry_id >= :since{}", speed.condition()), &[(":since", &since)]);
    if filter.search.starts_with('/') {
        let bounds: [Column<'_>; 2] = [(":q", &filter.search), (":after", &after)];
        filters.and("path >= :q AND path < :after", &bounds);
    } else if !filter.search.is_empty() {
        filters.and("request_id = :q", &[(":q", &filter.search)]);
    }
    filters.and_if("status / 100 = :class", ":class", &filter.class);
    filters.and_if("caller = :caller", ":caller", &filter.caller);
    let own = own_pages(tx, filter, speed)?;
    let is_total = filter.search.is_empty() && filter.since.is_none();
    let total = match speed {
        Speed::Any if is_total => everything(tx, filter)?,
        // What is slow is counted by its index, and the rest is what remains.
        Speed::NotSlow if is_total => everything(tx, filter)?
            .saturating_sub(part(tx, filter, Speed::Slow, RowWindow::first(0))?.1),
        _ => filters.count(tx, &format!("SELECT count(*) FROM request_log {index}"))?,
    };
    let total = total.saturating_sub(own);
    let own_pages = format!("NOT ({OPERATORS_PAGE} AND caller_id IS :own)");
    if let Some(own) = &filter.without_pages_of {
        filters.and(&own_pages, &[(":own", own)]);
    }
    let sql = format!(
        "SELECT entry_id FROM request_log {index} WHERE {}
         ORDER BY {} LIMIT :limit OFFSET :offset",
        filters.sql(),
        speed.order()
    );
    filters.bind(&[(":limit", &limit), (":offset", &offset)]);
    Ok((tx.values(&sql, filters.values())?, total))
}

/// A look at a page of the operator's panel, in the words of its index.
const OPERATORS_PAGE: &str =
    "caller = 'sessao' AND method = 'GET' AND path >= '/admin' AND path < '/admin0'";

/// How many entries of a part are looks that the filter leaves out.
fn own_pages(tx: &ReadTx<'_>, filter: &RequestLogFilter, speed: Speed) -> Result<u64> {
    let Some(own) = &filter.without_pages_of else { return Ok(0) };
    let since = filter.since.map_or(0, first_of);
    let mut filters = Filters::new(
        &format!(
            "{OPERATORS_PAGE} AND caller_id = :own AND entry_id >= :since{}",
            speed.condition()
        ),
        &[(":own", own), (":since", &since)],
    );
    filters.and_if("status / 100 = :class", ":class", &filter.class);
    filters.and_if("caller = :caller", ":caller", &filter.caller);
    filters.count(tx, "SELECT count(*) FROM request_log INDEXED BY request_log_of_operators")
}

/// How many entries match class and caller, from the totals.
fn everything(tx: &ReadTx<'_>, filter: &RequestLogFilter) -> Result<u64> {
    tx.count(
        "SELECT coalesce(sum(entries), 0) FROM request_log_count
         WHERE (?1 IS NULL OR class = ?1) AND (?2 IS NULL OR caller = ?2)",
        (filter.class, filter.caller),
    )
}
