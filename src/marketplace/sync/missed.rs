//! Notifications that the marketplace could not deliver: it keeps them for two
//! days. They are fetched late and go through the same inbox. Decision sync-22.

use super::store;
use crate::app::App;
use crate::base::MlUserId;
use crate::db::{DbError, Lane};
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::client::MISSED_PAGE;
use crate::marketplace::inbox::store::store_missed;
use crate::marketplace::kinds::topics;

/// Most pages of a topic that are read in a run.
const MOST_PAGES: usize = 100;
/// Most accounts that are tried: only the application's owner may ask.
const MOST_ACCOUNTS: u32 = 5;

/// The result of asking for missed notifications.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedOutcome {
    /// The number of new notifications.
    Received(usize),
    /// No account is linked.
    NobodyLinked,
    /// No linked account may ask.
    Refused,
    /// They cannot be read now.
    Unavailable,
}

/// Receives missed notifications.
pub fn receive(app: &App, is_over: &dyn Fn() -> bool) -> Result<MissedOutcome, DbError> {
    let accounts = app.db.read(Lane::Slow, |tx| store::callable(tx, MOST_ACCOUNTS))?;
    if accounts.is_empty() {
        return Ok(MissedOutcome::NobodyLinked);
    }
    for account in accounts {
        match receive_as(app, account, is_over) {
            Ok(received) => return Ok(MissedOutcome::Received(received)),
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

fn receive_as(
    app: &App,
    account: MlUserId,
    is_over: &dyn Fn() -> bool,
) -> Result<usize, CallError> {
    let client = &app.marketplace.client;
    let mut received = 0;
    for (topic, _) in topics() {
        for page in 0..MOST_PAGES {
            if is_over() {
                return Ok(received);
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
    }
    Ok(received)
}
