//! The inbox: received notifications are worked here, after their answer.
//!
//! A worker takes the waiting notifications of one seller, so a seller's
//! orders are fetched one after the other and sellers do not wait for each
//! other. What is fetched and what becomes of the notification are written
//! together. What cannot be done now is tried again for days, later each
//! time; a notification that always fails delays nothing but itself.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::backoff::{pause_asked_s, pause_s};
use super::client::{Caller, Client, Failure};
use super::document::OrderDocument;
use super::hook::State;
use super::orders::{self, Applied, Books};
use super::store;
use super::tokens::{CallError, with_token};
use crate::app::App;
use crate::clock::{DAY_S, Instant};
use crate::db::{Lane, ReadTx, Result, WriteTx};
use crate::ids::{MlUserId, OrderId};
use crate::worker::Stop;

/// Notifications taken at a time.
const TAKEN: i64 = 50;
/// Workers of the inbox, each for one seller at a time.
pub const WORKERS: usize = 4;
/// Sellers that the other workers may have taken.
const MOST_TAKEN: usize = WORKERS - 1;
/// A notification fails for good after this age and so many tries.
const GIVE_UP_AFTER_S: i64 = 4 * DAY_S;
const GIVE_UP_TRIES: i64 = 12;

/// Sellers whose notifications are being worked.
#[derive(Default)]
pub struct Busy {
    sellers: Mutex<HashSet<MlUserId>>,
}

/// A seller taken by this worker; free again when dropped.
struct Taken<'b> {
    busy: &'b Busy,
    seller: MlUserId,
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.busy
            .sellers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.seller);
    }
}

impl Busy {
    /// Takes the seller who has waited longest and is not taken.
    fn take(&self, app: &App) -> Result<Option<Taken<'_>>> {
        let mut sellers = self.sellers.lock().unwrap_or_else(PoisonError::into_inner);
        let now = app.clock.now();
        let next = app
            .db
            .read(Lane::Slow, |tx| longest_waiting(tx, now, &sellers))?;
        Ok(next.map(|seller| {
            sellers.insert(seller);
            Taken { busy: self, seller }
        }))
    }
}

/// A waiting notification.
#[derive(Clone)]
struct Waiting {
    id: i64,
    topic: String,
    resource: String,
    attempts: i64,
    received_at: Instant,
}

/// What became of a resource.
enum Outcome {
    /// Fetched; to be brought into the books.
    Order(Box<OrderDocument>),
    Settled(State, &'static str),
    /// To be tried again; `elsewhere` when the next resource would fail alike.
    Again {
        error: String,
        asked_s: Option<i64>,
        elsewhere: bool,
    },
}

/// Works what is due until there is nothing left.
pub fn work(app: &App, busy: &Busy, stop: &Stop) {
    while !stop.wait(Duration::ZERO) {
        let worked = busy.take(app).and_then(|taken| match taken {
            Some(taken) => work_seller(app, taken.seller, stop).map(|()| true),
            None => Ok(false),
        });
        match worked {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::warn!(%error, "the inbox could not be worked; trying again");
                return;
            }
        }
    }
}

fn work_seller(app: &App, seller: MlUserId, stop: &Stop) -> Result<()> {
    let now = app.clock.now();
    let mut waiting = app.db.read(Lane::Slow, |tx| waiting_of(tx, now, seller))?;
    while let Some(first) = waiting.first() {
        if stop.wait(Duration::ZERO) {
            return Ok(());
        }
        let (topic, resource) = (first.topic.clone(), first.resource.clone());
        // Several notifications of one resource ask for one look at it.
        let (same, rest): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|other| other.topic == topic && other.resource == resource);
        let outcome = catch_unwind(AssertUnwindSafe(|| look(app, seller, &topic, &resource)));
        let outcome = outcome.unwrap_or_else(|_| again("the handler panicked", None, false));
        let elsewhere = matches!(
            outcome,
            Outcome::Again {
                elsewhere: true,
                ..
            }
        );
        settle(app, seller, same, outcome)?;
        if elsewhere {
            return postpone(app, rest);
        }
        waiting = rest;
    }
    Ok(())
}

fn again(error: impl Into<String>, asked_s: Option<i64>, elsewhere: bool) -> Outcome {
    Outcome::Again {
        error: error.into(),
        asked_s,
        elsewhere,
    }
}

/// Fetches what a notification is about.
fn look(app: &App, seller: MlUserId, topic: &str, resource: &str) -> Outcome {
    if topic != "orders_v2" {
        return Outcome::Settled(State::ForLater, "no handler for this topic yet");
    }
    let Some(order) = order_of(resource) else {
        return Outcome::Settled(State::Ignored, "the resource is not an order");
    };
    match with_token(app, seller, |caller| {
        fetch(&app.marketplace.client, caller, order)
    }) {
        Ok(order) if order.seller != seller => {
            Outcome::Settled(State::Ignored, "the order is another account's")
        }
        Ok(order) => Outcome::Order(Box::new(order)),
        Err(CallError::NotLinked) => {
            Outcome::Settled(State::Ignored, "the account is not linked any more")
        }
        // Linking again reads the orders of the last weeks.
        Err(CallError::LinkLost) => {
            Outcome::Settled(State::Ignored, "the account must be linked again")
        }
        Err(CallError::Failed(failure)) if failure.is_not_found() => {
            Outcome::Settled(State::Done, "the marketplace has no such order")
        }
        Err(CallError::Failed(failure)) => {
            let asked_s = match failure {
                Failure::RateLimited { retry_after_s } => retry_after_s,
                _ => None,
            };
            let elsewhere = matches!(failure, Failure::RateLimited { .. } | Failure::Unreachable);
            again(failure.to_string(), asked_s, elsewhere)
        }
        Err(CallError::Db(error)) => again(error.to_string(), None, true),
    }
}

/// The order of a resource such as `/orders/2000001`.
fn order_of(resource: &str) -> Option<OrderId> {
    let digits = resource.strip_prefix("/orders/")?;
    let number = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| digits.parse().ok())
        .flatten()?;
    (number > 0).then_some(OrderId(number))
}

/// An order with its shipment and its buyer's name, as far as they are to be had.
fn fetch(
    client: &Client,
    caller: &Caller<'_>,
    order: OrderId,
) -> std::result::Result<OrderDocument, Failure> {
    let mut order = client.order(caller, order)?;
    if order.seller != caller.ml_user_id {
        return Ok(order);
    }
    if let Some(shipping) = order.shipping_id {
        match client.shipment(caller, shipping) {
            Ok(shipment) => order.shipment = Some(shipment),
            Err(failure) => {
                tracing::debug!(order = order.id.0, %failure, "an order was read without its shipment");
            }
        }
    }
    if let Some(buyer) = order.buyer_id.filter(|_| order.buyer_nickname.is_empty()) {
        order.buyer_nickname = client.nickname(caller, buyer).unwrap_or_default();
    }
    Ok(order)
}

/// Writes what became of a resource and its notifications, together.
fn settle(app: &App, seller: MlUserId, rows: Vec<Waiting>, outcome: Outcome) -> Result<()> {
    let books = Books::of(app);
    let again = rows.clone();
    let settled = app.db.write(move |tx| match outcome {
        Outcome::Order(order) => {
            let outcome = match store::owner_of(tx, seller)? {
                None => {
                    return close(
                        tx,
                        &rows,
                        State::Ignored,
                        "the account is not linked any more",
                    );
                }
                Some((owner, linked_at)) => orders::apply(tx, &books, owner, &order, linked_at)?,
            };
            store::note_synced(tx, seller)?;
            close(
                tx,
                &rows,
                State::Done,
                match outcome {
                    Applied::Stored => "applied",
                    Applied::Unchanged => "known already",
                    Applied::Stale => "a newer state was known already",
                },
            )
        }
        Outcome::Settled(state, text) => close(tx, &rows, state, text),
        Outcome::Again { error, asked_s, .. } => retry(tx, &rows, &error, asked_s),
    });
    settled.or_else(|error| {
        tracing::warn!(%error, ml_user_id = seller.0, "a notification could not be applied; trying again");
        let text = error.to_string();
        app.db.write(move |tx| retry(tx, &again, &text, None))
    })
}

fn close(tx: &WriteTx<'_>, rows: &[Waiting], state: State, outcome: &str) -> Result<()> {
    for row in rows {
        tx.execute(
            "UPDATE ml_notification SET state = ?2, attempts = attempts + 1, outcome = ?3
             WHERE notification_id = ?1 AND state = 0",
            (row.id, state as u8, outcome),
        )?;
    }
    Ok(())
}

/// Plans the next try, or gives up after days of tries.
fn retry(tx: &WriteTx<'_>, rows: &[Waiting], error: &str, asked_s: Option<i64>) -> Result<()> {
    for row in rows {
        let attempts = row.attempts + 1;
        let too_old = tx.now().since(row.received_at) >= GIVE_UP_AFTER_S;
        let state = if too_old && attempts >= GIVE_UP_TRIES {
            State::Failed
        } else {
            State::Waiting
        };
        tx.execute(
            "UPDATE ml_notification SET state = ?2, attempts = ?3, next_try_at = ?4, outcome = ?5
             WHERE notification_id = ?1 AND state = 0",
            (
                row.id,
                state as u8,
                attempts,
                tx.now().plus(pause_asked_s(attempts, asked_s)).0,
                error,
            ),
        )?;
    }
    Ok(())
}

/// Puts off what would fail like the resource before it. That is no try.
fn postpone(app: &App, rows: Vec<Waiting>) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    app.db.write(move |tx| {
        let next = tx.now().plus(pause_s(1));
        for row in &rows {
            tx.execute(
                "UPDATE ml_notification SET next_try_at = ?2 WHERE notification_id = ?1 AND state = 0",
                (row.id, next.0),
            )?;
        }
        Ok(())
    })
}

/// The seller of the notification that has waited longest, of those not taken.
fn longest_waiting(
    tx: &ReadTx<'_>,
    now: Instant,
    taken: &HashSet<MlUserId>,
) -> Result<Option<MlUserId>> {
    let mut others = [MlUserId(-1); MOST_TAKEN];
    for (place, seller) in others.iter_mut().zip(taken) {
        *place = *seller;
    }
    let [first, second, third] = others;
    tx.optional(
        "SELECT ml_user_id FROM ml_notification
         WHERE state = 0 AND next_try_at <= ?1 AND ml_user_id NOT IN (?2, ?3, ?4)
         ORDER BY next_try_at, notification_id
         LIMIT 1",
        (now.0, first, second, third),
        |row| row.get(0),
    )
}

fn waiting_of(tx: &ReadTx<'_>, now: Instant, seller: MlUserId) -> Result<Vec<Waiting>> {
    tx.all(
        "SELECT notification_id, topic, resource, attempts, received_at
         FROM ml_notification
         WHERE state = 0 AND next_try_at <= ?1 AND ml_user_id = ?2
         ORDER BY next_try_at, notification_id
         LIMIT ?3",
        (now.0, seller, TAKEN),
        |row| {
            Ok(Waiting {
                id: row.get(0)?,
                topic: row.get(1)?,
                resource: row.get(2)?,
                attempts: row.get(3)?,
                received_at: Instant(row.get(4)?),
            })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_order_resources_are_asked_for() {
        assert_eq!(order_of("/orders/2000001"), Some(OrderId(2_000_001)));
        for other in [
            "/orders/",
            "/orders/1/x",
            "/orders/../users/me",
            "/items/MLB1",
            "/orders/+1",
            "/orders/0",
        ] {
            assert_eq!(order_of(other), None, "{other}");
        }
        assert_eq!(order_of(&format!("/orders/{}", "9".repeat(30))), None);
    }
}
