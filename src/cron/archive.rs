//! Batches: old entries of logs, packed by civil day.
//!
//! One job stores a batch and deletes exactly its entries, or does neither. So an entry
//! is always in one of the two places, even if the process dies. Decision cron-8.

use rusqlite::types::ValueRef;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::base::packed::{self, Packed, unpack};
use crate::base::retention::{Keep, MESSAGES, REQUESTS, RUNS};
use crate::base::{Day, Instant, Zone};
use crate::db::{DbError, ReadTx, Record as _, Result, RowWindow, WriteTx};
use crate::operations::requests;
use crate::row;

/// A log whose old entries are packed.
pub struct Log {
    /// Its name in the database and in addresses.
    pub kind: &'static str,
    /// The name shown in the panel.
    pub title: &'static str,
    table: &'static str,
    /// Columns with the id of an entry, and with the time it was made or
    /// finished.
    id: &'static str,
    at: &'static str,
    /// Column that orders entries by time. It has an index. Entries where it is
    /// NULL stay in the log.
    by: &'static str,
    /// The other columns of an entry. None holds a name, e-mail or text of a
    /// person, because a person's data cannot be removed from a batch later.
    columns: &'static str,
    /// Full days that entries stay in the log.
    pub(super) keep: Keep,
    /// Entries above this limit are packed early.
    pub(super) most: Option<LogLimit>,
}

/// Most entries that a log holds, and what counts them.
pub(super) struct LogLimit {
    entries: i64,
    count: fn(&ReadTx<'_>) -> Result<i64>,
}

/// Every log that is packed. To pack another log, add a row.
#[rustfmt::skip] // A table.
pub const LOGS: &[Log] = &[
    Log { kind: "cron", title: "Histórico do cron", table: "cron_run", id: "run_id", at: "started_at", by: "run_id",
        columns: "ended_at, ms, origin, outcome, counts", keep: RUNS, most: None },
    Log { kind: "requisicoes", title: "Requisições", table: "request_log", id: "entry_id", at: "at", by: "entry_id",
        columns: "request_id, method, path, status, us, caller, caller_id, address, sampled", keep: REQUESTS,
        most: Some(LogLimit { entries: requests::MOST_ENTRIES, count: requests::store::count }) },
    Log { kind: "mensagens", title: "Mensagens", table: "outbox", id: "message_id", at: "done_at", by: "done_at",
        columns: MESSAGE, keep: MESSAGES, most: None },
];

/// Columns of a finished message. The reason of a failure or cancellation may
/// name people, in words of a provider or of staff, so it is removed.
const MESSAGE: &str = "channel, kind, user_id, state, created_at, attempts,
    CASE WHEN state = 3 OR outcome LIKE '%@%' OR outcome GLOB '*[0-9][0-9][0-9][0-9][0-9][0-9]*' THEN NULL
         WHEN outcome LIKE 'cancelada por %' THEN 'cancelada'
         ELSE outcome END AS outcome";

/// Most entries of a batch: what one job of the writer can delete in its time.
const PIECE: usize = 250;

/// Whether a log holds more entries than it may.
pub(super) fn is_full(tx: &ReadTx<'_>, log: &Log) -> Result<bool> {
    match &log.most {
        Some(most) => Ok((most.count)(tx)? > most.entries),
        None => Ok(false),
    }
}

/// Entries of one civil day.
pub(super) struct Piece {
    day: Day,
    pub(super) entries: Vec<(i64, i64)>,
    /// One JSON object a line.
    lines: String,
}

/// The oldest entries of a log before an instant, all of one civil day.
pub(super) fn oldest(
    tx: &ReadTx<'_>,
    log: &Log,
    before: Instant,
    zone: Zone,
) -> Result<Option<Piece>> {
    let Log { table, id, at, by, columns, .. } = log;
    // Usually there is nothing to pack, and the first entry alone shows it.
    let first = format!("SELECT {at} FROM {table} WHERE {by} > ?1 ORDER BY {by}, {id} LIMIT 1");
    let first: Option<Instant> = tx.maybe(&first, [i64::MIN])?;
    let Some(first) = first.filter(|first| *first < before) else {
        return Ok(None);
    };
    let mut piece = Piece { day: zone.day(first), entries: Vec::new(), lines: String::new() };
    let mut is_over = false;
    tx.each(
        &format!(
            "SELECT {id}, {at}, {columns} FROM {table} WHERE {by} > ?1 ORDER BY {by}, {id} LIMIT ?2"
        ),
        (i64::MIN, i64::try_from(PIECE).unwrap_or(1)),
        |row| {
            let (number, made_at) = (row.get(0)?, row.get(1)?);
            is_over |= made_at >= before || zone.day(made_at) != piece.day;
            if is_over {
                return Ok(());
            }
            let columns = row.as_ref();
            let mut entry = Map::new();
            for index in 0..columns.column_count() {
                let name = columns.column_name(index)?.to_owned();
                entry.insert(name, json(row.get_ref(index)?));
            }
            piece.entries.push((number, made_at.0));
            piece.lines.push_str(&Value::Object(entry).to_string());
            piece.lines.push('\n');
            Ok(())
        },
    )?;
    Ok((!piece.entries.is_empty()).then_some(piece))
}

fn json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => {
            let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
            digits.collect::<String>().into()
        }
    }
}

/// A compressed piece.
pub(super) struct Batch {
    log: &'static Log,
    piece: Piece,
    packed: Packed,
}

impl Batch {
    pub(super) fn of(log: &'static Log, piece: Piece) -> std::io::Result<Self> {
        Ok(Self { log, packed: packed::pack(&piece.lines)?, piece })
    }

    /// Stores the batch in place of its entries.
    pub(super) fn store(&self, tx: &WriteTx<'_>) -> std::result::Result<(), PackError> {
        let (log, piece) = (self.log, &self.piece);
        let numbers = || piece.entries.iter().map(|(number, _)| *number);
        // Each entry is matched by id, so that entries with ids in between
        // stay. The time must match too: an entry that changed meanwhile fails
        // the batch.
        let remove = format!("DELETE FROM {} WHERE {} = ?1 AND {} = ?2", log.table, log.id, log.at);
        for entry in &piece.entries {
            if tx.execute(&remove, *entry)? != 1 {
                return Err(PackError::Changed(log.kind));
            }
        }
        tx.execute(
            "INSERT INTO log_batch (kind, day, part, entries, first_id, last_id, bytes, digest, created_at, body)
             VALUES (?1, ?2,
                     1 + (SELECT coalesce(max(part), 0) FROM log_batch WHERE kind = ?1 AND day = ?2),
                     ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            rusqlite::params![
                log.kind,
                piece.day.0,
                i64::try_from(piece.entries.len()).unwrap_or(i64::MAX),
                numbers().min(),
                numbers().max(),
                self.packed.bytes,
                self.packed.digest,
                tx.now().0,
                self.packed.body,
            ],
        )?;
        Ok(())
    }
}

/// Why a piece was not packed.
#[derive(Debug, thiserror::Error)]
pub(super) enum PackError {
    #[error("entries of the log {0} changed while they were packed; they are packed next time")]
    Changed(&'static str),
    #[error(transparent)]
    Db(#[from] DbError),
}

row! {
    /// A batch as lists show it.
    pub struct BatchRow {
        pub id: i64 = "batch_id",
        pub kind: String,
        pub day: Day,
        pub part: i64,
        pub entries: i64,
        pub bytes: i64,
        pub packed_bytes: i64 = "length(body)",
        pub created_at: Instant,
    }
}

impl BatchRow {
    /// The log's name, as shown in the panel.
    pub fn title(&self) -> &str {
        let known = LOGS.iter().find(|log| log.kind == self.kind);
        known.map_or(&*self.kind, |log| log.title)
    }
}

/// One page of the batches of a log or of all logs, and how many there are.
pub fn page(
    tx: &ReadTx<'_>,
    kind: Option<&str>,
    newest_first: bool,
    RowWindow { limit, offset }: RowWindow,
) -> Result<(Vec<BatchRow>, u64)> {
    let order = if newest_first { "DESC" } else { "ASC" };
    let mut total = 0;
    for log in LOGS.iter().filter(|log| kind.is_none_or(|kind| kind == log.kind)) {
        let count = "SELECT count(*) FROM log_batch WHERE kind = ?1";
        total += tx.count(count, [log.kind])?;
    }
    let (narrowed, order) = match kind {
        Some(_) => ("kind = ?1", format!("day {order}, part {order}")),
        None => ("day >= 0 AND ?1 IS NULL", format!("day {order}, kind {order}, part {order}")),
    };
    let rows = tx.records(
        &format!("FROM log_batch WHERE {narrowed} ORDER BY {order} LIMIT ?2 OFFSET ?3"),
        (kind, limit, offset),
    )?;
    Ok((rows, total))
}

/// One batch with its lines, each a JSON object; `None` for the lines when the
/// batch is damaged.
pub fn batch(tx: &ReadTx<'_>, id: i64) -> Result<Option<(BatchRow, Option<String>)>> {
    let sql =
        format!("SELECT {}, digest, body FROM log_batch WHERE batch_id = ?1", BatchRow::COLUMNS);
    tx.optional(&sql, [id], |row| {
        let mut at = 0;
        let batch = BatchRow::read_at(row, &mut at)?;
        let (digest, body) = (row.get_ref(at)?.as_blob()?, row.get_ref(at + 1)?.as_blob()?);
        let lines = unpack(body, u64::try_from(batch.bytes).unwrap_or(0))
            .filter(|lines| Sha256::digest(lines).as_slice() == digest);
        Ok((batch, lines))
    })
}

/// A batch with the lines of its entries.
pub(super) struct Body {
    pub(super) id: i64,
    pub(super) day: Day,
    /// `None` when it is damaged.
    pub(super) lines: Option<String>,
    digest: Vec<u8>,
}

/// The first batch of a log with an id above `after`.
pub(super) fn next(tx: &ReadTx<'_>, kind: &str, after: i64) -> Result<Option<Body>> {
    tx.optional(
        "SELECT batch_id, day, digest, bytes, body FROM log_batch
         WHERE batch_id > ?1 AND kind = ?2 ORDER BY batch_id LIMIT 1",
        (after, kind),
        |row| {
            let bytes: i64 = row.get(3)?;
            let lines = unpack(row.get_ref(4)?.as_blob()?, u64::try_from(bytes).unwrap_or(0));
            Ok(Body { id: row.get(0)?, day: row.get(1)?, digest: row.get(2)?, lines })
        },
    )
}

/// Stores other lines of a batch; false when it changed since it was read.
pub(super) fn replace(tx: &WriteTx<'_>, read: &Body, packed: &Packed) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE log_batch SET body = ?3, digest = ?4, bytes = ?5 WHERE batch_id = ?1 AND digest = ?2",
        (read.id, &read.digest, &packed.body, &packed.digest, packed.bytes),
    )?;
    Ok(changed > 0)
}
