//! The history of a linked account: its orders of the last sixty days.
//!
//! Read backwards in windows, the newest first, so that the days people look
//! at are there soonest. How far it got is stored with the account, so a
//! restart goes on where the last run was. What is older than the link is
//! booked without telling anybody.

use std::collections::HashMap;
use std::time::Duration;

use super::backoff::pause_asked_s;
use super::client::{Failure, ORDERS_PAGE, OrderSearch, OrdersPage};
use super::document::OrderDocument;
use super::orders::{self, Books};
use super::store;
use super::tokens::{CallError, with_token};
use crate::app::App;
use crate::clock::{DAY_S, Instant};
use crate::db::{DbError, Lane, ReadTx, Result};
use crate::ids::MlUserId;
use crate::worker::Stop;

/// How far back orders are read.
const SPAN_S: i64 = 60 * DAY_S;
/// A window to begin with; the marketplace searches by whole hours.
const WINDOW_S: i64 = 15 * DAY_S;
const HOUR_S: i64 = 3600;
/// Windows with more orders are split: paging far is not reliable.
const MOST_ORDERS: i64 = 900;
/// No search is paged beyond this.
const MOST_OFFSET: usize = 10_000;
/// A search leaves out what was cancelled unless asked for it.
const PASSES: [Option<&str>; 2] = [None, Some("cancelled,pending_cancel,invalid")];

/// An account with history still to be read.
#[derive(Clone, Copy, Debug)]
struct Account {
    ml_user_id: MlUserId,
    /// Orders from here on are in the books.
    read_from: Instant,
    linked_at: Instant,
}

/// Accounts that failed, with how often and until when they wait.
#[derive(Default)]
pub struct Pauses {
    waiting: HashMap<MlUserId, (i64, Instant)>,
}

impl Pauses {
    fn is_over(&self, account: &Account, now: Instant) -> bool {
        self.waiting
            .get(&account.ml_user_id)
            .is_none_or(|(_, until)| *until <= now)
    }

    fn fail(&mut self, account: &Account, now: Instant, asked_s: Option<i64>) {
        let (attempts, until) = self.waiting.entry(account.ml_user_id).or_insert((0, now));
        *attempts += 1;
        *until = now.plus(pause_asked_s(*attempts, asked_s));
    }
}

/// Reads one window of each account in turn until all are read or wait.
pub fn work(app: &App, pauses: &mut Pauses, stop: &Stop) {
    loop {
        let now = app.clock.now();
        let mut due = match app.db.read(Lane::Slow, unread) {
            Ok(accounts) => accounts,
            Err(error) => {
                tracing::warn!(%error, "the accounts with unread history could not be listed; trying again");
                return;
            }
        };
        pauses
            .waiting
            .retain(|id, _| due.iter().any(|account| account.ml_user_id == *id));
        due.retain(|account| pauses.is_over(account, now));
        if due.is_empty() {
            return;
        }
        for account in due {
            if stop.wait(Duration::ZERO) {
                return;
            }
            match read_window(app, account, stop) {
                Ok(()) => {
                    pauses.waiting.remove(&account.ml_user_id);
                }
                Err(error) => {
                    let asked_s = match error {
                        CallError::Failed(Failure::RateLimited { retry_after_s }) => retry_after_s,
                        _ => None,
                    };
                    tracing::info!(ml_user_id = account.ml_user_id.0, %error, "an account's history has to wait");
                    pauses.fail(&account, now, asked_s);
                }
            }
        }
    }
}

fn unread(tx: &ReadTx<'_>) -> Result<Vec<Account>> {
    tx.all(
        "SELECT ml_user_id, history_from, linked_at
         FROM ml_account
         WHERE history_from IS NOT NULL AND token_ok = 1
         ORDER BY ml_user_id",
        [],
        |row| {
            Ok(Account {
                ml_user_id: row.get(0)?,
                read_from: Instant(row.get(1)?),
                linked_at: Instant(row.get(2)?),
            })
        },
    )
}

/// Reads the newest unread window of an account and notes that it is read.
fn read_window(app: &App, account: Account, stop: &Stop) -> std::result::Result<(), CallError> {
    let oldest = account.linked_at.minus(SPAN_S);
    let mut from = account.read_from.minus(WINDOW_S).max(oldest);
    for states in PASSES {
        let mut page = search(app, account, from, states, 0)?;
        while page.total > MOST_ORDERS && account.read_from.since(from) > HOUR_S {
            from = account
                .read_from
                .minus((account.read_from.since(from) / 2).max(HOUR_S));
            page = search(app, account, from, states, 0)?;
        }
        let mut offset = 0;
        // The marketplace's totals have been wrong: the end is an empty page.
        while !page.orders.is_empty() {
            book(app, account, page)?;
            offset += ORDERS_PAGE;
            if offset > MOST_OFFSET - ORDERS_PAGE {
                tracing::warn!(
                    ml_user_id = account.ml_user_id.0,
                    "an hour holds more orders than can be paged"
                );
                break;
            }
            if stop.wait(Duration::ZERO) {
                return Ok(());
            }
            page = search(app, account, from, states, offset)?;
        }
    }
    let read_from = (from > oldest).then_some(from.0);
    app.db.write(move |tx| {
        tx.execute(
            "UPDATE ml_account SET history_from = ?3, synced_at = ?4 WHERE ml_user_id = ?1 AND linked_at = ?2",
            (account.ml_user_id, account.linked_at.0, read_from, tx.now().0),
        )
    })?;
    Ok(())
}

fn search(
    app: &App,
    account: Account,
    from: Instant,
    states: Option<&'static str>,
    offset: usize,
) -> std::result::Result<OrdersPage, CallError> {
    let search = OrderSearch {
        created: whole_hours(from, account.read_from),
        states,
    };
    with_token(app, account.ml_user_id, |caller| {
        app.marketplace.client.orders(caller, &search, offset)
    })
}

/// The span that covers another in whole hours: the marketplace drops minutes.
fn whole_hours(from: Instant, to: Instant) -> (Instant, Instant) {
    let floor = |at: i64| at - at.rem_euclid(HOUR_S);
    (Instant(floor(from.0)), Instant(floor(to.0 + HOUR_S - 1)))
}

/// Brings a page of orders into the books of whoever has linked the account.
fn book(app: &App, account: Account, page: OrdersPage) -> std::result::Result<(), DbError> {
    let orders: Vec<OrderDocument> = page
        .orders
        .into_iter()
        .filter_map(|order| readable(account, order))
        .collect();
    let books = Books::of(app);
    app.db.write(move |tx| {
        let Some((owner, linked_at)) = store::owner_of(tx, account.ml_user_id)? else {
            return Ok(());
        };
        for order in &orders {
            orders::apply(tx, &books, owner, order, linked_at)?;
        }
        Ok(())
    })
}

/// One odd record must not fail its page.
fn readable(
    account: Account,
    order: std::result::Result<OrderDocument, super::document::Unreadable>,
) -> Option<OrderDocument> {
    match order {
        Ok(order) => (order.seller == account.ml_user_id).then_some(order),
        Err(error) => {
            tracing::warn!(ml_user_id = account.ml_user_id.0, %error, "an order of the history was passed over");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_covered_by_whole_hours() {
        for (from, to, hours) in [
            (0, 3600, (0, 3600)),
            (1, 3601, (0, 7200)),
            (3599, 3600, (0, 3600)),
        ] {
            assert_eq!(
                whole_hours(Instant(from), Instant(to)),
                (Instant(hours.0), Instant(hours.1))
            );
        }
    }

    #[test]
    fn an_account_that_failed_waits_longer_each_time() {
        let account = Account {
            ml_user_id: MlUserId(7),
            read_from: Instant(0),
            linked_at: Instant(0),
        };
        let mut pauses = Pauses::default();
        assert!(pauses.is_over(&account, Instant(0)));
        pauses.fail(&account, Instant(0), None);
        assert!(!pauses.is_over(&account, Instant(4)) && pauses.is_over(&account, Instant(7)));
        pauses.fail(&account, Instant(7), Some(120));
        assert!(!pauses.is_over(&account, Instant(126)));
    }
}
