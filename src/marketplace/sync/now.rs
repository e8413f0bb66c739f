//! An account read now, all of it, for somebody who waits for the end.

use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::store::{self, Pace};
use super::{Stepped, step};
use crate::app::App;
use crate::base::MlUserId;
use crate::db::{DbError, Lane};

/// Threads that may do so at a time.
pub const MOST_READERS: usize = 5;
/// How long another reading of the account is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a reading went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is here, or a first reading is on its way.
    Read,
    /// Something could not be read; the account's areas say what and why.
    Failed,
    /// Nobody may read it: it is not linked any more, or not as it was.
    LinkLost,
}

/// Reads every area of an account, unless there is no time. No other thread
/// reads it meanwhile.
pub fn read(
    app: &App,
    account: MlUserId,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<Outcome, DbError> {
    let Some(_taken) = app.marketplace.busy.take_within(account, PATIENCE) else {
        // Whoever reads it goes on.
        return Ok(Outcome::Read);
    };
    let found = app.db.write(move |tx| {
        let found = store::account(tx, account)?;
        if found.is_none() || !store::is_callable(tx, account)? {
            return Ok(None);
        }
        store::want(tx, account)?;
        Ok::<_, DbError>(found)
    })?;
    let Some(target) = found else { return Ok(Outcome::LinkLost) };
    let (mut failed, news) = (false, AtomicUsize::new(0));
    while !is_over() {
        match step(app, target, Pace::AtOnce, is_over, &news)? {
            Stepped::Read => {}
            Stepped::Failed => failed = true,
            Stepped::NothingDue | Stepped::Interrupted => break,
        }
    }
    app.db.write(move |tx| store::unwant(tx, account))?;
    let is_linked = app.db.read(Lane::Slow, |tx| {
        let is_same = store::account(tx, account)? == Some(target);
        Ok::<_, DbError>(is_same && store::is_callable(tx, account)?)
    })?;
    if !is_linked {
        return Ok(Outcome::LinkLost);
    }
    Ok(if failed { Outcome::Failed } else { Outcome::Read })
}
