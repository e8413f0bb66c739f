//! Counters that are kept in memory and written to the database later.
//!
//! Rate windows, quota, last-use times and daily counts change with every
//! request. One thread collects what changed, once a second and at the stop,
//! and the writer stores it in small jobs. No request waits for this, and a
//! crash loses at most the last second.
//!
//! The same thread fills the search indexes. A crash loses nothing there: the
//! tables record which rows are not indexed yet.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::accounts::{links, store as accounts, viewing};
use crate::app::App;
use crate::audit::log::store as trail;
use crate::base::{Day, TokenHash, UserId, retention};
use crate::checkout::store as purchases;
use crate::db::{Db, DbError, Lane, WriteTx};
use crate::developers::status;
use crate::dropshipping::relations;
use crate::http::limit::StoredWindow;
use crate::identity::last_uses::LastUse;
use crate::identity::token::TokenKind;
use crate::journal;
use crate::marketplace::inbox::received::store as received;
use crate::marketplace::tools::fees::store as fees;
use crate::marketplace::tools::labels;
use crate::messages::{announcements, notices};
use crate::operations::requests::{self, RequestEntry};
use crate::outbox;
use crate::partner::oauth::store as oauth;
use crate::partner::{idempotency, webhooks};
use crate::people::store as people;
use crate::privacy::erase::Eraser;
use crate::services::Services;

/// How often expired rows are removed from the tables.
pub const TIDY_EVERY_S: i64 = 3600;
/// Most entries written by one job of the writer.
const PIECE: usize = 100;

/// Everything that changed since the last batch.
struct Batch {
    day: Day,
    windows: Vec<StoredWindow>,
    last_uses: Vec<((TokenKind, TokenHash), LastUse)>,
    calls: Vec<(UserId, Day, &'static str, u64)>,
    counter: &'static str,
    counted: u64,
    requests: Vec<RequestEntry>,
}

impl Batch {
    fn collect(app: &App) -> Self {
        let now = app.clock.now();
        Self {
            day: app.day(now),
            windows: app.callers.limiter.take_dirty(now),
            last_uses: app.callers.last_uses.take().into_iter().collect(),
            calls: app.callers.usage.take(),
            counter: app.callers.refused_signatures.name,
            counted: app.callers.refused_signatures.unwritten.swap(0, Ordering::Relaxed),
            requests: app.health.requests.take(),
        }
    }

    fn is_empty(&self) -> bool {
        self.windows.is_empty()
            && self.last_uses.is_empty()
            && self.calls.is_empty()
            && self.counted == 0
            && self.requests.is_empty()
    }

    /// The batch as batches that are one job each.
    fn pieces(mut self) -> Vec<Self> {
        let mut pieces = Vec::new();
        loop {
            let piece = Self {
                day: self.day,
                windows: drain(&mut self.windows),
                last_uses: drain(&mut self.last_uses),
                calls: drain(&mut self.calls),
                counter: self.counter,
                counted: std::mem::take(&mut self.counted),
                requests: drain(&mut self.requests),
            };
            if piece.is_empty() {
                return pieces;
            }
            pieces.push(piece);
        }
    }

    /// Writes the whole batch; returns how many requests the request log dropped.
    fn store(&self, tx: &WriteTx<'_>) -> Result<usize, DbError> {
        for window in &self.windows {
            tx.execute(
                "INSERT INTO rate_window (subject, started_at, length_s, count)
                 VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (subject) DO UPDATE
                 SET started_at = ?2, length_s = ?3, count = ?4",
                (&window.subject, window.started_at, window.length_s, window.count),
            )?;
        }
        for ((kind, token), last) in &self.last_uses {
            store_use(tx, *kind, token, last)?;
        }
        for (user, day, operation, calls) in &self.calls {
            tx.execute(
                "INSERT INTO partner_usage (user_id, day, operation, calls) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (user_id, day, operation) DO UPDATE SET calls = calls + ?4",
                (user, day.0, operation, i64::try_from(*calls).unwrap_or(i64::MAX)),
            )?;
        }
        if self.counted > 0 {
            tx.execute(
                "INSERT INTO daily_count (name, day, count) VALUES (?1, ?2, ?3)
                 ON CONFLICT (name, day) DO UPDATE SET count = count + ?3",
                (self.counter, self.day.0, i64::try_from(self.counted).unwrap_or(i64::MAX)),
            )?;
        }
        requests::store::add(tx, &self.requests)
    }

    /// Puts the values that could not be written back in memory, so that the
    /// next batch has them.
    fn put_back(&self, app: &App) {
        app.callers.limiter.mark_dirty(&self.windows);
        app.callers.usage.put_back(&self.calls);
        let unwritten = &app.callers.refused_signatures.unwritten;
        unwritten.fetch_add(self.counted, Ordering::Relaxed);
        app.health.requests.put_back(&self.requests);
        for ((kind, token), last) in &self.last_uses {
            app.callers.last_uses.note(*kind, *token, last.clone());
        }
    }
}

fn drain<T>(entries: &mut Vec<T>) -> Vec<T> {
    entries.drain(..entries.len().min(PIECE / 4)).collect()
}

fn store_use(
    tx: &WriteTx<'_>,
    kind: TokenKind,
    token: &TokenHash,
    last: &LastUse,
) -> Result<(), DbError> {
    let sql = match kind {
        TokenKind::Extension => {
            "UPDATE extension_token SET last_used_at = ?2 WHERE token_hash = ?1"
        }
        TokenKind::Session => "UPDATE session SET last_seen_at = ?2 WHERE session_hash = ?1",
        TokenKind::Partner => {
            "UPDATE partner_token SET last_used_at = ?2, last_address = ?3 WHERE token_hash = ?1"
        }
        TokenKind::Granted => {
            "UPDATE oauth_grant SET last_used_at = ?2, last_address = ?3
             WHERE grant_id = (SELECT grant_id FROM oauth_token WHERE token_hash = ?1)"
        }
        TokenKind::Key => {
            "UPDATE api_key SET last_used_at = ?2, last_address = ?3, last_route = ?4 WHERE key_hash = ?1"
        }
    };
    match last {
        LastUse::Person { owner, at, address } => {
            match kind {
                TokenKind::Partner | TokenKind::Granted => {
                    tx.execute(sql, (token, at, address.to_string()))?
                }
                _ => tx.execute(sql, (token, at))?,
            };
            // Programs poll whether or not anybody is there.
            if kind == TokenKind::Session {
                tx.execute(
                    "UPDATE user SET last_access_at = ?2 WHERE user_id = ?1",
                    (owner, at.0),
                )?;
            }
        }
        LastUse::Key { at, address, route } => {
            tx.execute(sql, (token, at.0, address.to_string(), route))?;
        }
    }
    Ok(())
}

/// Writes what changed since the last call.
pub fn flush(app: &App) -> Result<(), DbError> {
    let pieces: Vec<_> = Batch::collect(app).pieces().into_iter().map(Arc::new).collect();
    for (written, piece) in pieces.iter().enumerate() {
        let job = Arc::clone(piece);
        match app.db.write_piece(move |tx| job.store(tx)) {
            Ok(dropped) => app.health.requests.count_dropped(dropped),
            Err(error) => {
                pieces[written..].iter().rev().for_each(|piece| piece.put_back(app));
                return Err(error);
            }
        }
    }
    if pieces.is_empty() {
        return Ok(());
    }
    // The requests that were too many for one job.
    app.health.requests.flush(&app.db)
}

/// Adds new rows to the search indexes. A search reads the rows that are not
/// indexed yet by itself, so it misses nothing in the meantime.
fn index(services: &Services) -> Result<(), DbError> {
    let (people_wait, entries_wait) = services.db.read(Lane::Brief, |tx| {
        Ok::<_, DbError>((people::is_behind(tx)?, trail::is_behind(tx)?))
    })?;
    if people_wait {
        services.db.write_pieces(|tx| tx.work_off(|most| people::index(tx, most)))?;
    }
    if entries_wait {
        services.db.write_pieces(|tx| tx.work_off(|most| trail::index(tx, most)))?;
    }
    Ok(())
}

/// Loads the rate windows of the last run, and the addresses that people
/// signed in from.
pub fn load(app: &App) -> Result<(), DbError> {
    app.db.write(accounts::forgive_marked)?;
    app.callers.limiter.load(stored_windows(&app.db)?);
    app.callers.known_addresses.load(&app.db, app.clock.now())
}

/// Removes what is over.
pub fn delete_expired(services: &Services) -> Result<(), DbError> {
    in_pieces(services, |tx, most| {
        accounts::forget_ended(tx, retention::SESSIONS.before(tx.now()), most)
    })?;
    in_pieces(services, links::forget_ended)?;
    in_pieces(services, outbox::forget_bodies)?;
    in_pieces(services, outbox::forget_counts)?;
    in_pieces(services, idempotency::forget)?;
    in_pieces(services, oauth::forget)?;
    in_pieces(services, notices::forget)?;
    in_pieces(services, announcements::store::forget)?;
    in_pieces(services, |tx, most| {
        relations::forget(tx, retention::RELATIONS.before(tx.now()), most)
    })?;
    in_pieces(services, |tx, most| {
        purchases::forget_bodies(tx, retention::PURCHASE_BODIES.before(tx.now()), most)
    })?;
    in_pieces(services, |tx, most| {
        received::forget_dealt_with(tx, retention::NOTIFICATIONS.before(tx.now()), most)
    })?;
    in_pieces(services, webhooks::forget)?;
    in_pieces(services, webhooks::forget_events)?;
    in_pieces(services, webhooks::forget_old_secrets)?;
    in_pieces(services, fees::forget_old)?;
    in_pieces(services, labels::batches::forget)?;
    in_pieces(services, journal::store::forget_calls)?;
    in_pieces(services, journal::store::forget_errors)?;
    let today = services.day(services.clock.now());
    services.db.write(move |tx| status::days::forget(tx, today))?;
    in_pieces(services, |tx, most| {
        // A row of length 0 marks failed logins as forgiven; `forgive_marked` removes it.
        tx.execute(
            "DELETE FROM rate_window WHERE subject IN (
                 SELECT subject FROM rate_window
                 WHERE length_s > 0 AND started_at + length_s < ?1
                 LIMIT ?2)",
            (tx.now().0, i64::try_from(most).unwrap_or(1)),
        )
    })
}

/// Repeats a step that handles at most the given number of rows and returns how
/// many it handled, until nothing is left.
fn in_pieces(
    services: &Services,
    step: fn(&WriteTx<'_>, usize) -> Result<usize, DbError>,
) -> Result<(), DbError> {
    services.db.write_pieces(move |tx| tx.work_off(|most| step(tx, most)))
}

fn stored_windows(db: &Db) -> Result<Vec<StoredWindow>, DbError> {
    db.read(Lane::Slow, |tx| {
        tx.records("FROM rate_window WHERE started_at + length_s > ?1", [tx.now().0])
    })
}

/// Applies what a command changed while the server runs: `user password` clears
/// the failed logins of a person who was locked out.
fn apply_outside_change(app: &App) -> Result<(), DbError> {
    if !app.health.outside_change.swap(false, Ordering::AcqRel) {
        return Ok(());
    }
    let forgiven = app
        .db
        .write(accounts::forgive_marked)
        .inspect_err(|_: &DbError| app.health.outside_change.store(true, Ordering::Release))?;
    for user in forgiven {
        for class in accounts::LOGIN_CLASSES {
            app.callers.limiter.forget_person(class, user.0);
        }
    }
    Ok(())
}

/// Flushes once a second until `stop` is set, then one last time.
pub fn run(app: &App, stop: &crate::base::worker::Stop) {
    let mut tidied_at = app.clock.now();
    loop {
        let stopping = stop.wait(Duration::from_secs(1));
        // Flushed first: later it would write the forgiven counters again.
        let began = std::time::Instant::now();
        let written = flush(app).and_then(|()| apply_outside_change(app));
        app.health.rounds.counters.note(app.clock.now(), began.elapsed(), written.is_ok());
        warn(written, "counters were not written; trying again");
        warn(journal::flush(app), "the journal was not written; trying again");
        let watched = status::watch(app, stopping);
        warn(watched, "how the service is was not noted; trying again");
        warn(index(app), "searches were not indexed and take longer; trying again");
        let closed = viewing::close_over(app);
        warn(closed, "views that are over were not closed; trying again");
        if stopping {
            return;
        }
        let now = app.clock.now();
        if now.since(tidied_at) >= TIDY_EVERY_S {
            tidied_at = now;
            let began = std::time::Instant::now();
            let tidied = delete_expired(app);
            app.health.rounds.tidying.note(now, began.elapsed(), tidied.is_ok());
            warn(tidied, "what is over was not removed; trying again in an hour");
            if let Err(error) = Eraser::of(app).resume()
                && !error.is_told()
            {
                tracing::error!(%error, "an erasure is not finished; trying again in an hour");
            }
        }
    }
}

/// Notes a failure, unless the writer has logged it already, as it does a full disk.
fn warn(outcome: Result<(), DbError>, words: &str) {
    if let Err(error) = outcome
        && !error.is_told()
    {
        tracing::warn!(%error, "{words}");
    }
}
