//! Notifications that the marketplace could not deliver: it keeps them for two
//! days. They are fetched late and go through the same inbox. Decision sync-22.

use parking_lot::Mutex;

use super::store;
use crate::app::App;
use crate::base::MlUserId;
use crate::db::{DbError, Lane};
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::client::{Failure, MISSED_PAGE};
use crate::marketplace::inbox::store::store_missed;
use crate::marketplace::kinds::topics;

/// Most pages of a topic that are read in a run.
const MOST_PAGES: usize = 100;
/// Most accounts that are tried, with a call each: only the application's owner may ask.
const MOST_ACCOUNTS: u32 = 200;

/// The result of asking for missed notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedOutcome {
    /// The number of new notifications.
    Received(usize),
    /// No account is linked.
    NobodyLinked,
    /// No linked account may ask: that of the application's owner is not linked.
    Refused,
    /// They cannot be read now.
    Unavailable,
}

/// What came of the last request for missed notifications, and the account that was
/// allowed to ask; nothing before the first.
#[derive(Default)]
pub struct LastMissed {
    outcome: Mutex<Option<MissedOutcome>>,
    allowed: Mutex<Option<MlUserId>>,
}

impl LastMissed {
    pub fn get(&self) -> Option<MissedOutcome> {
        *self.outcome.lock()
    }
}

/// Receives missed notifications, and keeps what came of it for the pages that tell.
pub fn receive(app: &App, is_over: &dyn Fn() -> bool) -> Result<MissedOutcome, DbError> {
    let outcome = ask(app, is_over)?;
    *app.marketplace.last_missed.outcome.lock() = Some(outcome);
    Ok(outcome)
}

fn ask(app: &App, is_over: &dyn Fn() -> bool) -> Result<MissedOutcome, DbError> {
    let mut accounts = app.db.read(Lane::Slow, |tx| store::callable(tx, MOST_ACCOUNTS))?;
    if accounts.is_empty() {
        return Ok(MissedOutcome::NobodyLinked);
    }
    let allowed = &app.marketplace.last_missed.allowed;
    let known = *allowed.lock();
    accounts.sort_by_key(|account| Some(*account) != known);
    for account in accounts {
        if is_over() {
            return Ok(MissedOutcome::Unavailable);
        }
        match receive_as(app, account, is_over) {
            Ok(received) => {
                *allowed.lock() = Some(account);
                return Ok(MissedOutcome::Received(received));
            }
            Err(CallError::Failed(failure)) if failure.is_refusal() => {
                tracing::debug!(ml_user_id = account.0, %failure, "missed notifications are not for this account");
            }
            Err(CallError::NotLinked | CallError::LinkLost) => {}
            Err(CallError::Failed(failure)) => {
                tracing::info!(%failure, "missed notifications could not be read");
                return Ok(MissedOutcome::Unavailable);
            }
            Err(CallError::Db(error)) => return Err(error),
        }
    }
    Ok(MissedOutcome::Refused)
}

/// Receives those of each topic. One that is refused is passed over; the error is that
/// of an account that may not ask for any.
fn receive_as(
    app: &App,
    account: MlUserId,
    is_over: &dyn Fn() -> bool,
) -> Result<usize, CallError> {
    let (mut received, mut is_heard, mut refusal) = (0, false, None);
    for (topic, _) in topics() {
        match receive_topic(app, account, topic, is_over) {
            Ok(new) => (received, is_heard) = (received + new, true),
            // This is about the account, not about the topic.
            Err(CallError::Failed(failure)) if !is_heard && is_of_account(&failure) => {
                return Err(failure.into());
            }
            Err(CallError::Failed(failure)) if failure.is_refusal() => {
                tracing::info!(topic, %failure, "missed notifications of a topic are refused");
                refusal = Some(failure);
            }
            Err(error) => return Err(error),
        }
        if is_over() {
            break;
        }
    }
    match refusal.filter(|_| !is_heard) {
        Some(refusal) => Err(refusal.into()),
        None => Ok(received),
    }
}

/// Whether a refusal says that the account may not ask.
const fn is_of_account(failure: &Failure) -> bool {
    matches!(failure, Failure::Expired | Failure::Refused { status: 401 | 403, .. })
}

fn receive_topic(
    app: &App,
    account: MlUserId,
    topic: &str,
    is_over: &dyn Fn() -> bool,
) -> Result<usize, CallError> {
    let client = &app.marketplace.client;
    let mut received = 0;
    for page in 0..MOST_PAGES {
        if is_over() {
            break;
        }
        let offset = page * MISSED_PAGE;
        let messages =
            with_token(app, account, |caller| client.missed_feeds(caller, topic, offset))?;
        if messages.is_empty() {
            break;
        }
        let bell = app.marketplace.bell.clone();
        received += app.db.write(move |tx| {
            let mut new = 0;
            for message in &messages {
                new += usize::from(store_missed(tx, message)?);
            }
            if new > 0 {
                tx.after_commit(move || bell.ring());
            }
            Ok::<_, DbError>(new)
        })?;
    }
    Ok(received)
}
