//! A mark: how far a task has come with work that it does once for many people.
//!
//! The mark moves in the transaction that does the work, so an interrupted task
//! continues where it stopped. Once the work is done, later runs only read
//! marks.

use super::TaskContext;
use crate::app::App;
use crate::base::{Instant, UserId};
use crate::db::{Column, DbError, Lane, ReadTx, Result, WriteTx};
use crate::messages::choices::{ChannelSet, reachable_students};
use crate::row;
use crate::services::Services;

/// People that are read at a time.
pub const PIECE: u32 = 250;

row! {
    /// A position in the list of people, which is ordered by id.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Mark {
        /// The last person that was processed.
        pub position: i64,
        /// Whether all people were processed.
        pub done: bool,
    }
}

/// The mark with a name; one at the beginning when there is none.
pub fn of(tx: &ReadTx<'_>, name: &str) -> Result<Mark> {
    let mark = tx.record("FROM cron_mark WHERE name = ?1", [name])?;
    Ok(mark.unwrap_or_default())
}

pub fn set(tx: &WriteTx<'_>, name: &str, mark: Mark, expires_at: Instant) -> Result<()> {
    tx.run(
        "INSERT INTO cron_mark (name, position, done, expires_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (name) DO UPDATE SET position = ?2, done = ?3, expires_at = ?4",
        (name, mark.position, mark.done, expires_at.0),
    )
}

/// A walk through people in pieces, once for each name of a mark.
pub struct Marked<'w> {
    pub app: &'w App,
    pub context: &'w TaskContext<'w>,
    /// The name of the mark.
    pub name: &'w str,
    /// How long the mark is kept.
    pub over: Instant,
}

/// Goes through people. `next` returns people after an id who need work, and the mark behind them.
/// A piece is done only while `holds`. `work` handles one person; `count` grows by those
/// for whom it did something.
pub fn for_each(
    Marked { app, context, name, over }: Marked<'_>,
    next: impl Fn(&ReadTx<'_>, UserId) -> Result<(Vec<UserId>, Mark)>,
    holds: impl Fn(&ReadTx<'_>) -> Result<bool> + Send + Clone + 'static,
    work: impl Fn(&WriteTx<'_>, UserId) -> Result<bool> + Send + Clone + 'static,
    count: &mut usize,
) -> Result<()> {
    let mut at = app.db.read(Lane::Slow, |tx| of(tx, name))?;
    while !at.done && !context.is_time_over() {
        let (people, end) = app.db.read(Lane::Slow, |tx| next(tx, UserId(at.position)))?;
        let (name, holds, work) = (name.to_owned(), holds.clone(), work.clone());
        let done = app.db.write_piece(move |tx| {
            if !holds(tx)? {
                return Ok::<_, DbError>(None);
            }
            let (at, worked) = work_for(tx, people, end, work)?;
            set(tx, &name, at, over)?;
            Ok(Some((at, worked)))
        })?;
        let Some((reached, worked)) = done else { break };
        *count += worked;
        at = reached;
    }
    Ok(())
}

/// The next students after an id who can be reached and fulfil a condition, and the mark
/// behind them.
pub fn students(
    tx: &ReadTx<'_>,
    after: UserId,
    channel_set: ChannelSet,
    condition: &str,
    value: Column<'_>,
) -> Result<(Vec<UserId>, Mark)> {
    let people = reachable_students(tx, channel_set, after, PIECE, condition, value)?;
    let position = people.last().unwrap_or(&after).0;
    let done = people.len() < PIECE as usize;
    Ok((people, Mark { position, done }))
}

/// Works for people in order, as many as one job of the writer may. Returns the mark
/// at the last of them, or `end` after the last of all.
fn work_for(
    tx: &WriteTx<'_>,
    people: Vec<UserId>,
    end: Mark,
    work: impl Fn(&WriteTx<'_>, UserId) -> Result<bool>,
) -> Result<(Mark, usize)> {
    let (mut at, mut worked, last) = (end, 0, people.last().copied());
    for person in people {
        worked += usize::from(work(tx, person)?);
        if tx.is_spent() && Some(person) != last {
            at = Mark { position: person.0, done: false };
            break;
        }
    }
    Ok((at, worked))
}

/// Names of the marks of a kind, each with whether it has expired.
pub fn of_kind(services: &Services, kind: &str) -> Result<Vec<(String, bool)>> {
    services.db.read(Lane::Slow, |tx| {
        tx.tuples(
            "SELECT name, expires_at <= ?3 FROM cron_mark WHERE name >= ?1 AND name < ?2",
            (format!("{kind}:"), format!("{kind};"), tx.now()),
        )
    })
}

/// Deletes the marks of a kind that have expired.
pub fn forget_expired(services: &Services, kind: &str) -> Result<()> {
    for (name, _) in of_kind(services, kind)?.into_iter().filter(|(_, is_over)| *is_over) {
        services.db.write(move |tx| forget(tx, &name))?;
    }
    Ok(())
}

pub fn forget(tx: &WriteTx<'_>, name: &str) -> Result<()> {
    tx.run("DELETE FROM cron_mark WHERE name = ?1", [name])
}
