//! The inbox: processes received notifications after they were answered.
//!
//! A worker takes the waiting notifications of one seller. So a seller's orders
//! are fetched one after the other, and sellers do not wait for each other. The
//! fetched record and the state of the notification are written together. A
//! failure is retried with growing pauses, for days during an outage. A
//! notification that always fails delays only itself.

pub mod api;
mod fetch;
pub mod notification;
mod outcome;
pub mod received;
pub mod signature;
pub mod state;
pub mod store;
pub mod subject;
mod waiting;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use self::fetch::{Found, fetch_subject};
use self::outcome::InboxOutcome;
use self::waiting::{WAITS, Waiting, close, longest_waiting, waiting_of};
use crate::app::App;
use crate::base::queue::{INBOX, INBOX_WAITS_OUT_S, KeyedSemaphore};
use crate::base::{MlUserId, Stop};
use crate::db::{DbError, Lane, Result, WriteTx};
use crate::marketplace::account::store::note_synced;
use crate::marketplace::books::orders::BookContext;
use crate::marketplace::kinds::OutcomeCode;
use crate::marketplace::sync::store::account;
use crate::services::Services;
use state::NotificationState;

/// The result of fetching a resource.
enum FetchOutcome {
    /// Fetched; still to be brought into the books.
    Found(Found),
    Settled(NotificationState, OutcomeCode),
    /// To be retried.
    Again {
        error: String,
        asked_s: Option<i64>,
        scope: FailureScope,
        /// Whether the marketplace refused, so that waiting does not help.
        is_refused: bool,
    },
}

/// Which other notifications of the seller would fail in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureScope {
    Itself,
    Topic,
    Seller,
}

/// Processes due notifications of one seller; false when there are none.
pub fn work_one(app: &App, sellers: &KeyedSemaphore<MlUserId>, stop: &Stop) -> Result<bool> {
    let next = sellers.take_next(|taken| {
        let now = app.clock.now();
        let seller = app.db.read(Lane::Slow, |tx| longest_waiting(tx, now, taken))?;
        Ok::<_, DbError>(seller.map(|seller| (seller, ())))
    })?;
    let Some((taken, ())) = next else { return Ok(false) };
    work_seller(app, taken.key, stop)?;
    Ok(true)
}

fn work_seller(app: &App, seller: MlUserId, stop: &Stop) -> Result<()> {
    let now = app.clock.now();
    let mut waiting = app.db.read(Lane::Slow, |tx| waiting_of(tx, now, seller))?;
    while let Some(first) = waiting.first() {
        if stop.wait(Duration::ZERO) {
            return Ok(());
        }
        let first = first.clone();
        let (topic, resource) = (&first.topic, &first.resource);
        // Several notifications of one resource need only one fetch.
        let (same, rest): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|other| other.topic == *topic && other.resource == *resource);
        let outcome = catch_unwind(AssertUnwindSafe(|| fetch_subject(app, seller, &first)));
        let outcome =
            outcome.unwrap_or_else(|_| again(InboxOutcome::Panicked.name(), FailureScope::Itself));
        let scope = match &outcome {
            FetchOutcome::Again { scope, .. } => *scope,
            _ => FailureScope::Itself,
        };
        settle(app, seller, same, outcome)?;
        let (alike, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|row| match scope {
            FailureScope::Itself => false,
            FailureScope::Topic => row.topic == *topic,
            FailureScope::Seller => true,
        });
        postpone(app, alike)?;
        waiting = others;
    }
    Ok(())
}

fn again(error: impl Into<String>, scope: FailureScope) -> FetchOutcome {
    FetchOutcome::Again { error: error.into(), asked_s: None, scope, is_refused: false }
}

/// Writes the result of a resource and the states of its notifications
/// together.
fn settle(app: &App, seller: MlUserId, rows: Vec<Waiting>, outcome: FetchOutcome) -> Result<()> {
    let context = BookContext::of(app);
    let again = rows.clone();
    let settled = app.db.write(move |tx| match outcome {
        FetchOutcome::Found(found) => {
            let Some(account) = account(tx, seller)? else {
                let outcome = InboxOutcome::Unlinked.code();
                return close(tx, &rows, NotificationState::Ignored, outcome);
            };
            let outcome = found(tx, &context, &account)?;
            note_synced(tx, seller)?;
            close(tx, &rows, NotificationState::Done, outcome)
        }
        FetchOutcome::Settled(state, outcome) => close(tx, &rows, state, outcome),
        FetchOutcome::Again { error, asked_s, is_refused, .. } => {
            retry(tx, &rows, &error, asked_s, is_refused)
        }
    });
    settled.or_else(|error| {
        tracing::warn!(%error, ml_user_id = seller.0, "a notification could not be applied; trying again");
        let text = error.to_string();
        app.db.write(move |tx| retry(tx, &again, &text, None, false))
    })
}

/// Plans the next try, or gives up; earlier when the marketplace refused.
fn retry(
    tx: &WriteTx<'_>,
    rows: &[Waiting],
    error: &str,
    asked_s: Option<i64>,
    is_refused: bool,
) -> Result<()> {
    let is_link_lost = InboxOutcome::from_name(error) == Some(InboxOutcome::LinkLost);
    for row in rows {
        let attempts = row.attempts + 1;
        let waited_out = is_refused || tx.now().since(row.received_at) >= INBOX_WAITS_OUT_S;
        let state = match waited_out && attempts >= INBOX.tries {
            true if is_link_lost => NotificationState::Ignored,
            true => NotificationState::Failed,
            false => NotificationState::Waiting,
        };
        let next = tx.now().plus(INBOX.retry.pause_asked_s(attempts, asked_s));
        waiting::retry(tx, row, state, next, error)?;
    }
    Ok(())
}

/// Postpones notifications that would fail in the same way. This is not a try.
fn postpone(services: &Services, rows: Vec<Waiting>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    services.db.write(move |tx| {
        let next = tx.now().plus(INBOX.retry.pause_s(1));
        rows.iter().try_for_each(|row| waiting::postpone(tx, row, next))
    })
}
