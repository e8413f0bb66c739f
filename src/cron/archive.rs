//! Old entries of logs are packed by civil day, and kept.
//!
//! The entries are read and packed beside the writer; one job then stores the
//! batch and deletes exactly the entries that it holds, or does neither. So an
//! entry is always in one of the two places, whenever the process dies.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{Outcome, Report, Turn, rules};
use crate::app::App;
use crate::clock::{Day, Instant, Zone};
use crate::db::{DbError, Lane, ReadTx, Result, WriteTx};

/// A log whose old entries are packed.
pub struct Log {
    /// Its name in the database and in addresses.
    pub kind: &'static str,
    /// What people read.
    pub title: &'static str,
    table: &'static str,
    /// The number of an entry, which grows with time, and when it was made.
    id: &'static str,
    at: &'static str,
    /// What else an entry has.
    columns: &'static [&'static str],
    /// Full days that entries stay in the log.
    days: i64,
}

/// Every log that is packed; a further one is one more row.
#[rustfmt::skip] // A table.
pub const LOGS: &[Log] = &[
    Log { kind: "cron", title: "Histórico do cron", table: "cron_run", id: "run_id", at: "started_at",
        columns: &["ended_at", "ms", "origin", "outcome", "counts", "errors"], days: 90 },
];

/// Entries of a batch: as many as one job of the writer deletes in its time.
const PIECE: usize = 2_000;

/// The task.
pub fn pack(app: &App, turn: &Turn<'_>, report: &mut Report) -> Outcome {
    for log in LOGS {
        let before = rules::old_before(app.zone(), turn.now, log.days);
        while !turn.is_over() {
            let zone = app.zone();
            let piece = app
                .db
                .read(Lane::Slow, |tx| oldest(tx, log, before, zone))?;
            let Some(piece) = piece else { break };
            let (entries, batch) = (piece.entries, Batch::of(log, piece)?);
            app.db.write(move |tx| batch.store(tx))?;
            report.add_archived(entries, 1);
        }
    }
    Ok(())
}

/// Entries of one civil day.
pub(super) struct Piece {
    day: Day,
    first: i64,
    last: i64,
    entries: usize,
    /// One JSON object a line.
    lines: String,
}

/// The oldest entries of a log from before an instant, of one civil day.
pub(super) fn oldest(
    tx: &ReadTx<'_>,
    log: &Log,
    before: Instant,
    zone: Zone,
) -> Result<Option<Piece>> {
    let Log { table, id, at, .. } = log;
    let columns = log.columns.join(", ");
    let mut piece: Option<Piece> = None;
    let mut is_over = false;
    tx.each(
        &format!(
            "SELECT {id}, {at}, {columns} FROM {table} WHERE {id} > ?1 ORDER BY {id} LIMIT ?2"
        ),
        (i64::MIN, i64::try_from(PIECE).unwrap_or(1)),
        |row| {
            let (number, made_at) = (row.get(0)?, Instant(row.get(1)?));
            let day = zone.day(made_at);
            let other_day = piece.as_ref().is_some_and(|piece| piece.day != day);
            is_over |= made_at >= before || other_day;
            if is_over {
                return Ok(());
            }
            let mut entry = Map::new();
            let names = [log.id, log.at]
                .into_iter()
                .chain(log.columns.iter().copied());
            for (index, name) in names.enumerate() {
                entry.insert(name.to_owned(), json(row.get_ref(index)?));
            }
            let piece = piece.get_or_insert_with(|| Piece {
                day,
                first: number,
                last: number,
                entries: 0,
                lines: String::new(),
            });
            piece.last = number;
            piece.entries += 1;
            piece.lines.push_str(&Value::Object(entry).to_string());
            piece.lines.push('\n');
            Ok(())
        },
    )?;
    Ok(piece)
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

/// A piece, packed.
pub(super) struct Batch {
    log: &'static Log,
    piece: Piece,
    body: Vec<u8>,
    digest: [u8; 32],
}

impl Batch {
    pub(super) fn of(log: &'static Log, piece: Piece) -> std::io::Result<Self> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(piece.lines.as_bytes())?;
        Ok(Self {
            log,
            digest: Sha256::digest(&piece.lines).into(),
            body: packer.finish()?,
            piece,
        })
    }

    /// Stores the batch in place of its entries.
    pub(super) fn store(&self, tx: &WriteTx<'_>) -> std::result::Result<(), PackError> {
        let (log, piece) = (self.log, &self.piece);
        let removed = tx.execute(
            &format!(
                "DELETE FROM {} WHERE {id} BETWEEN ?1 AND ?2",
                log.table,
                id = log.id
            ),
            (piece.first, piece.last),
        )?;
        if removed != piece.entries {
            return Err(PackError::Changed(log.kind));
        }
        tx.execute(
            "INSERT INTO log_batch (kind, day, part, entries, first_id, last_id, bytes, digest, created_at, body)
             VALUES (?1, ?2,
                     1 + (SELECT coalesce(max(part), 0) FROM log_batch WHERE kind = ?1 AND day = ?2),
                     ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            rusqlite::params![
                log.kind,
                piece.day.0,
                i64::try_from(piece.entries).unwrap_or(i64::MAX),
                piece.first,
                piece.last,
                i64::try_from(piece.lines.len()).unwrap_or(i64::MAX),
                self.digest,
                tx.now().0,
                self.body,
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

/// A batch as lists show it.
pub struct BatchRow {
    pub id: i64,
    pub kind: String,
    pub day: Day,
    pub part: i64,
    pub entries: i64,
    pub bytes: i64,
    pub packed_bytes: i64,
    pub created_at: Instant,
}

impl BatchRow {
    /// The log's name, as people read it.
    pub fn title(&self) -> &str {
        let known = LOGS.iter().find(|log| log.kind == self.kind);
        known.map_or(&*self.kind, |log| log.title)
    }
}

const COLUMNS: &str = "batch_id, kind, day, part, entries, bytes, length(body), created_at";

fn read_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<BatchRow> {
    Ok(BatchRow {
        id: row.get(0)?,
        kind: row.get(1)?,
        day: Day(row.get(2)?),
        part: row.get(3)?,
        entries: row.get(4)?,
        bytes: row.get(5)?,
        packed_bytes: row.get(6)?,
        created_at: Instant(row.get(7)?),
    })
}

/// One page of the batches of a log, or of all logs, with their number.
pub fn page(
    tx: &ReadTx<'_>,
    kind: Option<&str>,
    newest_first: bool,
    (limit, offset): (u32, u32),
) -> Result<(Vec<BatchRow>, u64)> {
    let order = if newest_first { "DESC" } else { "ASC" };
    let mut total: i64 = 0;
    for log in LOGS
        .iter()
        .filter(|log| kind.is_none_or(|kind| kind == log.kind))
    {
        let count = "SELECT count(*) FROM log_batch WHERE kind = ?1";
        total += tx.one(count, [log.kind], |row| row.get::<_, i64>(0))?;
    }
    // Days are packed in their order.
    let (narrowed, order) = match kind {
        Some(_) => ("kind = ?1", format!("day {order}, part {order}")),
        None => ("batch_id > 0 AND ?1 IS NULL", format!("batch_id {order}")),
    };
    let rows = tx.all(
        &format!(
            "SELECT {COLUMNS} FROM log_batch WHERE {narrowed} ORDER BY {order} LIMIT ?2 OFFSET ?3"
        ),
        (kind, limit, offset),
        read_row,
    )?;
    Ok((rows, u64::try_from(total).unwrap_or(0)))
}

/// One batch with its lines, each a JSON object; `None` for the lines when the
/// batch is damaged.
pub fn batch(tx: &ReadTx<'_>, id: i64) -> Result<Option<(BatchRow, Option<String>)>> {
    tx.optional(
        &format!("SELECT {COLUMNS}, digest, body FROM log_batch WHERE batch_id = ?1"),
        [id],
        |row| {
            let (digest, body) = (row.get_ref(8)?.as_blob()?, row.get_ref(9)?.as_blob()?);
            let batch = read_row(row)?;
            let lines = unpack(body, u64::try_from(batch.bytes).unwrap_or(0))
                .filter(|lines| Sha256::digest(lines).as_slice() == digest);
            Ok((batch, lines))
        },
    )
}

/// What was packed, when it is as long as it should be.
fn unpack(body: &[u8], bytes: u64) -> Option<String> {
    let mut lines = String::new();
    let mut unpacker = GzDecoder::new(body).take(bytes.saturating_add(1));
    unpacker.read_to_string(&mut lines).ok()?;
    (lines.len() as u64 == bytes).then_some(lines)
}
