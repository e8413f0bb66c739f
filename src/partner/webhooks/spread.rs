//! Turns events into deliveries: one for each subscribed endpoint, with the
//! body that all tries send.

use rusqlite::Error;

use super::objects::{Event, EventBodyBuilder};
use super::{MOST_WAITING, MessageId, event_log};
use crate::base::{Instant, UserId};
use crate::db::{DbError, ReadTx, Result, WriteTx};
use crate::events::EventType;
use crate::partner::store as partners;

/// Events of an account in its turn.
const TURN: u32 = 5;
/// The due time of a delivery that is held back behind an earlier one about the
/// same object.
pub const HELD: i64 = i64::MAX;

/// Number, type, object, movement, time and written data of an event.
type WaitingEvent = (i64, EventType, i64, Option<i64>, Instant, Option<String>);

/// Whether there are events.
pub fn is_needed(tx: &ReadTx<'_>) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM webhook_event)", [])
}

/// Turns events into deliveries, as many as one job of the writer may: the
/// oldest of each account, by turns of the accounts after one. Returns the last
/// account, `None` after the last of all.
pub fn spread(
    tx: &WriteTx<'_>,
    bodies: &EventBodyBuilder,
    after: UserId,
) -> Result<Option<UserId>> {
    let mut last = after;
    loop {
        let next: Option<UserId> = tx.maybe(
            "SELECT user_id FROM webhook_event WHERE user_id > ?1 ORDER BY user_id LIMIT 1",
            [last],
        )?;
        let Some(user) = next else { return Ok(None) };
        last = user;
        let events: Vec<WaitingEvent> = tx.tuples(
            "SELECT event_id, kind, object, movement, at, data FROM webhook_event
             WHERE user_id = ?1 ORDER BY event_id LIMIT ?2",
            (user, TURN),
        )?;
        for (id, kind, object, movement, at, data) in events {
            // In the job that makes its deliveries: so each event is told once, also after a kill.
            tx.run("DELETE FROM webhook_event WHERE event_id = ?1", [id])?;
            tell(tx, bodies, &Event { user, kind, object, movement, at, data })?;
            if tx.is_spent() {
                return Ok(Some(last));
            }
        }
    }
}

/// Keeps an event and queues it for the endpoints that want it, if its account has a plan.
fn tell(tx: &WriteTx<'_>, bodies: &EventBodyBuilder, event: &Event) -> Result<()> {
    if !partners::has_plan(tx, event.user, bodies.zone())? {
        return Ok(());
    }
    let body = |message| bodies.body(tx, message, event);
    match event_log::append(tx, &bodies.sealer, event, body) {
        Ok(Some(logged)) => queue_for_endpoints(tx, event, &logged),
        Ok(None) => Ok(()),
        // An object that cannot be read must not block the other events.
        Err(DbError::Sqlite(error)) if is_of_a_value(&error) => {
            let (kind, object) = (event.kind.name(), event.object);
            tracing::error!(%error, kind, object, "a webhook tells nothing: its object cannot be read");
            Ok(())
        }
        Err(error) => Err(error),
    }
}

fn queue_for_endpoints(
    tx: &WriteTx<'_>,
    event: &Event,
    (message, body): &(MessageId, String),
) -> Result<()> {
    let endpoints: Vec<i64> = tx.values(
        "SELECT endpoint_id FROM webhook_endpoint
         WHERE user_id = ?1 AND state = 1 AND events & ?2 <> 0 AND created_at <= ?3",
        (event.user, event.kind.bit(), event.at),
    )?;
    if endpoints.is_empty() {
        return Ok(());
    }
    let mut room = MOST_WAITING.saturating_sub(waiting_of(tx, event.user)?);
    let new = NewDelivery { message: *message, event, body };
    for endpoint in endpoints {
        if room == 0 {
            tx.run(
                "UPDATE webhook_endpoint SET lost = lost + 1 WHERE endpoint_id = ?1",
                [endpoint],
            )?;
        } else {
            queue(tx, endpoint, &new)?;
            room -= 1;
        }
    }
    Ok(())
}

/// Whether the error is a stored value that does not fit its column.
const fn is_of_a_value(error: &Error) -> bool {
    matches!(
        error,
        Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
    )
}

/// Waiting deliveries of an account, over all its endpoints.
fn waiting_of(tx: &ReadTx<'_>, user: UserId) -> Result<u64> {
    tx.count(
        "SELECT coalesce(sum(c.deliveries), 0)
         FROM webhook_endpoint e JOIN webhook_count c ON c.endpoint_id = e.endpoint_id
         WHERE e.user_id = ?1 AND c.state = 0",
        [user],
    )
}

/// A delivery to be queued.
pub struct NewDelivery<'n> {
    pub message: MessageId,
    pub event: &'n Event,
    pub body: &'n str,
}

/// Queues a delivery for an endpoint and returns its number. It is held back behind an earlier
/// delivery about the same object.
pub fn queue(tx: &WriteTx<'_>, endpoint: i64, new: &NewDelivery<'_>) -> Result<i64> {
    let Event { kind, object, at, .. } = *new.event;
    let is_held = waits(tx, endpoint, (kind.number() / 10).into(), object)?;
    tx.run(
        "UPDATE webhook_endpoint
         SET last_number = last_number + 1,
             next_at = iif(?3, next_at, min(coalesce(next_at, ?4), max(?2, coalesce(paused_until, 0))))
         WHERE endpoint_id = ?1",
        (endpoint, tx.now(), is_held, HELD),
    )?;
    let number: i64 =
        tx.value("SELECT last_number FROM webhook_endpoint WHERE endpoint_id = ?1", [endpoint])?;
    let run_at = if is_held { HELD } else { tx.now().0 };
    tx.run(
        "INSERT INTO webhook_delivery (endpoint_id, number, message, kind, object, body, state, created_at, run_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8)",
        (endpoint, number, new.message.0, kind, object, new.body, at, run_at),
    )?;
    Ok(number)
}

/// Whether a delivery about an object waits for an endpoint; its line is the tens of its
/// event's number.
pub fn waits(tx: &ReadTx<'_>, endpoint: i64, line: i64, object: i64) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM webhook_delivery INDEXED BY webhook_delivery_in_line
             WHERE endpoint_id = ?1 AND kind / 10 = ?2 AND object = ?3 AND state = 0)",
        (endpoint, line, object),
    )
}
