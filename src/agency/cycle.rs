//! Reading clients' accounts in cycles of five clients. Clients that have
//! waited longest come first.
//!
//! A request to read all clients marks each of them as wanted. Each cycle then
//! reads five wanted clients, until none is left. The periodic tasks also read
//! wanted clients, and each other client once an hour. A client without an
//! account that can be read is skipped. The result is stored with the client,
//! so a client that fails neither blocks the others nor is forgotten.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant as Monotonic};

use parking_lot::Mutex;

use super::{days, store};
use crate::app::App;
use crate::base::{Instant, MlUserId, grouped};
use crate::db::{DbError, Lane, ReadTx, WriteTx};
use crate::marketplace::sync::now::{self, MOST_READERS};
use crate::marketplace::sync::store as readings;
use crate::panel::Progress;

/// Clients per cycle: that many are read at the same time.
const CLIENTS: u32 = 5;
/// Seconds after which the periodic tasks read a client again.
const EVERY_S: i64 = 3600;
/// Longest duration of a cycle. What it does not reach is read later.
const BUDGET: Duration = Duration::from_secs(25);
/// Most cycles that may wait for the running one.
const MOST_WAITING: usize = 8;

/// Which clients a cycle is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientSelection {
    /// All of them, one cycle after the other.
    AllWanted,
    /// Those whose turn has come.
    Due,
    /// Those that have waited longest, whether or not they are due.
    Oldest,
}

/// What a cycle did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cycle {
    /// Clients whose accounts could all be read.
    pub synced: usize,
    /// Clients with an account that could not be read.
    pub errors: usize,
    /// Clients that are wanted and still have to be read.
    pub pending: u64,
}

/// SQL condition of a client that can be read.
const READABLE: &str =
    "EXISTS (SELECT 1 FROM agency_account j JOIN ml_account a ON a.ml_user_id = j.ml_user_id
    WHERE j.client_id = agency_client.client_id AND a.token_ok = 1)";

/// Reads the accounts of five clients; `None` when too many cycles wait.
pub fn run(app: &App, selection: ClientSelection) -> Result<Option<Cycle>, DbError> {
    let Some(_turn) = app.work.agency_turns.take(MOST_WAITING) else { return Ok(None) };
    if selection == ClientSelection::AllWanted {
        app.db.write(want_all)?;
    }
    let chosen = app.db.read(Lane::Slow, |tx| choose(tx, selection))?;
    let began = Monotonic::now();
    let is_over = || began.elapsed() >= BUDGET || app.marketplace.is_stopping();
    let results = Mutex::new(Cycle::default());
    let queue = Mutex::new(chosen.into_iter());
    let reader = || -> Result<(), DbError> {
        while !is_over() {
            let Some(client) = queue.lock().next() else { break };
            let is_well = read_client(app, client, &is_over)?;
            let mut sum = results.lock();
            sum.synced += usize::from(is_well);
            sum.errors += usize::from(!is_well);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..MOST_READERS).map(|_| scope.spawn(reader)).collect();
        let mine = reader();
        others
            .into_iter()
            .fold(mine, |all, other| all.and(other.join().unwrap_or(Err(DbError::JobPanicked))))
    })?;
    let pending = app.db.read(Lane::Slow, pending)?;
    Ok(Some(Cycle { pending, ..results.into_inner() }))
}

/// Marks all readable clients as wanted, unless some still are.
fn want_all(tx: &WriteTx<'_>) -> Result<(), DbError> {
    if pending(tx)? == 0 {
        tx.execute(&format!("UPDATE agency_client SET wanted = 1 WHERE {READABLE}"), [])?;
    }
    Ok(())
}

/// Clients that are wanted and can be read.
fn pending(tx: &ReadTx<'_>) -> Result<u64, DbError> {
    tx.count(&format!("SELECT count(*) FROM agency_client WHERE wanted = 1 AND {READABLE}"), [])
}

/// How far the reading of all clients is.
pub struct ReadingProgress {
    pub pending: u64,
    /// Clients that can be read.
    pub readable: u64,
}

/// How far the reading of all clients is now.
pub fn progress(tx: &ReadTx<'_>) -> Result<ReadingProgress, DbError> {
    let readable = tx.count(&format!("SELECT count(*) FROM agency_client WHERE {READABLE}"), [])?;
    Ok(ReadingProgress { pending: pending(tx)?, readable })
}

impl ReadingProgress {
    /// As pages show it; `None` when no such reading is pending.
    pub fn shown(&self) -> Option<Progress> {
        let whole = self.readable.max(self.pending);
        let note = match self.pending {
            0 => return None,
            1 => "falta 1 cliente".to_owned(),
            many => format!("faltam {} clientes", grouped(many)),
        };
        Some(Progress::new("Sincronizando os clientes", whole - self.pending, whole, note))
    }
}

fn choose(tx: &ReadTx<'_>, selection: ClientSelection) -> Result<Vec<i64>, DbError> {
    let whose = match selection {
        ClientSelection::AllWanted => "wanted = 1",
        ClientSelection::Due => "(wanted = 1 OR tried_at IS NULL OR tried_at <= ?2)",
        ClientSelection::Oldest => "1 = 1",
    };
    // Each condition uses ?2, because all get the same two values.
    let sql = format!(
        "SELECT client_id FROM agency_client WHERE {whose} AND ?2 IS NOT NULL AND {READABLE}
         ORDER BY tried_at, client_id LIMIT ?1"
    );
    tx.values(&sql, (CLIENTS, tx.now().minus(EVERY_S)))
}

/// Reads every account of a client and stores the result. Returns whether all
/// of them could be read.
fn read_client(
    app: &App,
    client: i64,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<bool, DbError> {
    let accounts = app.db.read(Lane::Slow, |tx| store::accounts_of(tx, client))?;
    let mut failed: Option<MlUserId> = None;
    let mut lost = Vec::new();
    let mut is_late = false;
    for account in accounts.iter().filter(|account| account.token_ok) {
        if is_over() {
            is_late = true;
            break;
        }
        let id = account.ml_user_id;
        let read = catch_unwind(AssertUnwindSafe(|| now::read(app, id, is_over)));
        match read.unwrap_or(Err(DbError::JobPanicked))? {
            now::ReadingOutcome::Read => {}
            now::ReadingOutcome::Failed => failed = failed.or(Some(id)),
            now::ReadingOutcome::LinkLost => lost.push(account.nickname.clone()),
        }
    }
    let zone = app.zone();
    app.db.write(move |tx| {
        let error = match lost.first() {
            Some(name) => Some(format!("{name} perdeu o vínculo com o marketplace.")),
            None if is_late => Some("Não houve tempo para ler todas as contas.".to_owned()),
            None => failed.map(|id| why(tx, id)).transpose()?,
        };
        let today = zone.day(tx.now());
        for account in store::accounts_of(tx, client)? {
            days::note(tx, &account, today)?;
        }
        let is_well = error.is_none();
        note(tx, client, error)?;
        Ok(is_well)
    })
}

/// Why an account could not be read, in words for the team.
fn why(tx: &ReadTx<'_>, account: MlUserId) -> Result<String, DbError> {
    let error = readings::first_error(tx, account)?;
    Ok(error.unwrap_or_else(|| "Nem tudo pôde ser lido no marketplace.".to_owned()))
}

/// Stores the result of reading a client.
fn note(tx: &WriteTx<'_>, client: i64, error: Option<String>) -> Result<(), DbError> {
    let now: Instant = tx.now();
    tx.run(
        "UPDATE agency_client
         SET wanted = 0, tried_at = ?2, synced_at = iif(?3 IS NULL, ?2, synced_at),
             failures = iif(?3 IS NULL, 0, failures + 1), error = ?3
         WHERE client_id = ?1",
        (client, now, error),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_down() {
        let shown = |pending, readable| ReadingProgress { pending, readable }.shown();
        assert!(shown(0, 12).is_none());
        let progress = shown(7, 12).unwrap();
        assert_eq!((progress.percent, &*progress.note), (41, "faltam 7 clientes"));
        assert_eq!(shown(1, 1).unwrap().note, "falta 1 cliente");
    }
}
