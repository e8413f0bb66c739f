//! Reads all of an account now, for a caller that waits for the end.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::store::{self, Pace};
use super::{Stepped, step};
use crate::app::App;
use crate::base::MlUserId;
use crate::db::{DbError, Lane};

/// Most threads that do so at a time.
pub const MOST_READERS: usize = 5;
/// How long to wait for another reading of the account.
const PATIENCE: Duration = Duration::from_secs(10);

/// The result of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingOutcome {
    /// Everything is read, or a reading goes on elsewhere.
    Read,
    /// Something could not be read; the account's areas say what and why.
    Failed,
    /// The account cannot be read: it is not linked any more, or not as it was.
    LinkLost,
}

/// Reads every area of an account, as far as there is time. No other thread
/// reads the account meanwhile.
pub fn read(
    app: &App,
    account: MlUserId,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<ReadingOutcome, DbError> {
    let Some(_taken) = app.marketplace.busy.take_within(account, PATIENCE) else {
        // Another thread is reading the account and goes on.
        return Ok(ReadingOutcome::Read);
    };
    let found = app.db.write(move |tx| {
        let found = store::account(tx, account)?;
        if found.is_none() || !store::is_callable(tx, account)? {
            return Ok(None);
        }
        store::schedule_now(tx, account)?;
        Ok::<_, DbError>(found)
    })?;
    let Some(target) = found else { return Ok(ReadingOutcome::LinkLost) };
    let (mut failed, news) = (false, AtomicUsize::new(0));
    while !is_over() {
        match step(app, target, Pace::AtOnce, is_over, &news)? {
            Stepped::Read => {}
            Stepped::Failed => failed = true,
            Stepped::NothingDue | Stepped::Interrupted => break,
        }
    }
    app.db.write(move |tx| store::unschedule(tx, account))?;
    let is_linked = app.db.read(Lane::Slow, |tx| {
        let is_same = store::account(tx, account)? == Some(target);
        Ok::<_, DbError>(is_same && store::is_callable(tx, account)?)
    })?;
    if !is_linked {
        return Ok(ReadingOutcome::LinkLost);
    }
    Ok(if failed { ReadingOutcome::Failed } else { ReadingOutcome::Read })
}
