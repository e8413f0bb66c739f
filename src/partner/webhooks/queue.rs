//! The queue of deliveries: finding what is due, storing results, sending
//! again, and removing old deliveries.
//!
//! A delivery is not marked while a try runs. When the process dies meanwhile,
//! the delivery is sent again, with the same id and body. Decisions webhooks-2, webhooks-5.

use rusqlite::params;
use serde_json::json;

use super::pages::{base_of, without_query};
use super::spread::{HELD, waits};
use super::store;
use super::{
    DeliveryState, Endpoint, EndpointState, LONGEST_PAUSE_S, MessageId, attempts, next_try,
};
use crate::accounts::Role;
use crate::audit::{self, Actor, ActorKind, objects};
use crate::base::queue::ENDPOINT_PATIENCE_S;
use crate::base::retention::WEBHOOKS;
use crate::base::{Instant, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::messages::choices::ChannelSet;
use crate::messages::{self, News};
use crate::outbox::MessageKind;
use crate::row;

row! {
    /// An endpoint with deliveries that are due.
    #[derive(Clone, Copy, Debug)]
    pub struct DueEndpoint {
        pub endpoint: i64 = "endpoint_id",
        pub user: UserId = "user_id",
        /// Whether its last try failed, also before a restart.
        pub is_failing: bool = "failing_since IS NOT NULL",
    }
}

/// Endpoints with deliveries that are due, by account: those of the next `most`
/// accounts after one, of each the longest waiting first. So the rows of some
/// accounts never hide those of another. Also returns the last account, `None`
/// after the last of all. Endpoints of suspended people are left out.
pub fn due_endpoints(
    tx: &ReadTx<'_>,
    now: Instant,
    after: UserId,
    most: usize,
) -> Result<(Vec<DueEndpoint>, Option<UserId>)> {
    let (mut found, mut last) = (Vec::new(), after);
    for _ in 0..most {
        let next: Option<UserId> = tx.maybe(
            "SELECT user_id FROM webhook_endpoint
             WHERE user_id > ?1 AND next_at IS NOT NULL AND state = 1 ORDER BY user_id LIMIT 1",
            [last],
        )?;
        let Some(user) = next else { return Ok((found, None)) };
        last = user;
        let due: Vec<DueEndpoint> = tx.records(
            "FROM webhook_endpoint
             WHERE user_id = ?1 AND next_at IS NOT NULL AND state = 1 AND next_at <= ?2
             ORDER BY next_at",
            (user, now),
        )?;
        let may_be_told = "SELECT suspended_at IS NULL FROM user WHERE user_id = ?1";
        if !due.is_empty() && tx.value(may_be_told, [user])? {
            found.extend(due);
        }
    }
    Ok((found, Some(last)))
}

row! {
    /// A delivery that is due.
    pub struct Due {
        pub number: i64,
        pub message: MessageId => MessageId,
        pub body: String,
    }
}

/// The due deliveries of an endpoint, in order.
pub fn due(tx: &ReadTx<'_>, endpoint: i64, now: Instant, most: usize) -> Result<Vec<Due>> {
    tx.records(
        "FROM webhook_delivery WHERE endpoint_id = ?1 AND state = 0 AND run_at <= ?2
         ORDER BY run_at, number LIMIT ?3",
        (endpoint, now, i64::try_from(most).unwrap_or(i64::MAX)),
    )
}

#[derive(Clone, Debug)]
pub struct TryResult {
    pub endpoint: i64,
    pub number: i64,
    pub at: Instant,
    pub ms: i64,
    /// Status of the answer; `None` without an answer.
    pub status: Option<u16>,
    /// Beginning of the answer's body.
    pub answer: Option<String>,
    /// Why it failed; `None` for a success.
    pub error: Option<String>,
    /// When the receiver asks to be tried again.
    pub retry_at: Option<Instant>,
}

impl TryResult {
    /// Whether the receiver accepted the delivery.
    pub const fn is_delivered(&self) -> bool {
        self.error.is_none()
    }
}

/// Stores the results of several tries, in the order in which they ended.
pub fn note(tx: &WriteTx<'_>, channel_set: ChannelSet, results: &[TryResult]) -> Result<()> {
    for one in results {
        note_one(tx, channel_set, one)?;
    }
    let mut endpoints: Vec<i64> = results.iter().map(|one| one.endpoint).collect();
    endpoints.sort_unstable();
    endpoints.dedup();
    endpoints.into_iter().try_for_each(|endpoint| find_next(tx, endpoint))
}

fn note_one(tx: &WriteTx<'_>, channel_set: ChannelSet, result: &TryResult) -> Result<()> {
    let TryResult { endpoint, number, at, .. } = *result;
    let key: Option<(i64, i64, i64, i64)> = tx.tuple(
        "SELECT tries, early, kind / 10, object FROM webhook_delivery
         WHERE endpoint_id = ?1 AND number = ?2 AND state = 0",
        (endpoint, number),
    )?;
    // The endpoint was removed meanwhile.
    let Some((before, early, line, object)) = key else {
        return Ok(());
    };
    let tries = before + 1;
    let (state, run_at, is_early) = match next_try(at, tries, early, result.retry_at) {
        _ if result.is_delivered() => (DeliveryState::Delivered, at, false),
        Some((again, is_early)) => (DeliveryState::Waiting, again, is_early),
        None => (DeliveryState::GivenUp, at, false),
    };
    attempts::keep(tx, result)?;
    tx.run(
        "UPDATE webhook_delivery
         SET state = ?3, run_at = ?4, tries = ?5, tried_at = ?6, status = ?7, ms = ?8, answer = ?9, error = ?10,
             early = early + ?11
         WHERE endpoint_id = ?1 AND number = ?2",
        params![
            endpoint,
            number,
            state,
            run_at,
            tries,
            at,
            result.status,
            result.ms,
            result.answer,
            result.error,
            is_early
        ],
    )?;
    if state != DeliveryState::Waiting {
        release(tx, endpoint, line, object)?;
    }
    match &result.error {
        None => tx.run(
            "UPDATE webhook_endpoint SET failing_since = NULL, error = NULL, delivered_at = ?2
             WHERE endpoint_id = ?1",
            (endpoint, at),
        ),
        Some(error) => note_failed(tx, channel_set, result, error),
    }
}

/// Makes the next delivery about an object due, if it was held back. The index
/// is named here and in other statements, because SQLite would otherwise scan
/// all deliveries of the endpoint.
fn release(tx: &WriteTx<'_>, endpoint: i64, line: i64, object: i64) -> Result<()> {
    tx.run(
        "UPDATE webhook_delivery SET run_at = ?4
         WHERE endpoint_id = ?1 AND run_at = ?5 AND number = (
             SELECT min(number) FROM webhook_delivery INDEXED BY webhook_delivery_in_line
             WHERE endpoint_id = ?1 AND kind / 10 = ?2 AND object = ?3 AND state = 0)",
        (endpoint, line, object, tx.now(), HELD),
    )
}

/// Sets when a delivery of an endpoint is due next: not before a pause that its receiver
/// asked for ends.
pub fn find_next(tx: &WriteTx<'_>, endpoint: i64) -> Result<()> {
    tx.run(
        "UPDATE webhook_endpoint SET next_at = max(coalesce(paused_until, 0),
             (SELECT min(run_at) FROM webhook_delivery WHERE endpoint_id = ?1 AND state = 0))
         WHERE endpoint_id = ?1",
        [endpoint],
    )
}

/// Stores a failure, and since when the endpoint fails. Switches the endpoint
/// off after a 410, or after days with failures only.
fn note_failed(
    tx: &WriteTx<'_>,
    channel_set: ChannelSet,
    result: &TryResult,
    error: &str,
) -> Result<()> {
    // The others wait as well: a receiver that asks for a pause asks for no deliveries.
    let paused = result.retry_at.map(|at| at.min(result.at.plus(LONGEST_PAUSE_S)));
    let since: Option<(Instant, EndpointState)> = tx.tuple(
        "UPDATE webhook_endpoint SET failing_since = coalesce(failing_since, ?2), error = ?3,
             paused_until = coalesce(?4, paused_until)
         WHERE endpoint_id = ?1 RETURNING failing_since, state",
        (result.endpoint, result.at, error, paused),
    )?;
    let Some((since, EndpointState::On)) = since else {
        return Ok(());
    };
    let off = if result.status == Some(410) {
        EndpointState::Gone
    } else if result.at.since(since) >= ENDPOINT_PATIENCE_S {
        EndpointState::GivenUp
    } else {
        return Ok(());
    };
    tx.run(
        "UPDATE webhook_endpoint SET state = ?2, off_at = ?3 WHERE endpoint_id = ?1",
        (result.endpoint, off, result.at),
    )?;
    match store::by_id(tx, result.endpoint)? {
        Some(endpoint) => tell_owner(tx, channel_set, &endpoint),
        None => Ok(()),
    }
}

/// Tells the owner that an endpoint was switched off: in the panel, and by the
/// channels that the owner chose.
fn tell_owner(tx: &WriteTx<'_>, channel_set: ChannelSet, endpoint: &Endpoint) -> Result<()> {
    let why = match endpoint.state {
        EndpointState::Gone => "ele respondeu que não quer mais receber eventos (410)",
        _ => "todas as entregas dos últimos cinco dias falharam",
    };
    let url = &endpoint.entry.url;
    let actor = Actor::local(ActorKind::System, "Webhooks");
    let act = objects::WEBHOOK.act("webhook.desligar", endpoint.id, without_query(url));
    let after = json!({ "estado": endpoint.state.name(), "erro": endpoint.error });
    audit::note(tx, &actor, &act, (), &after)?;
    let role: Role = tx.value("SELECT role FROM user WHERE user_id = ?1", [endpoint.user])?;
    let page = format!("{}/{}", base_of(role), endpoint.id);
    let cause = format!("webhook:{}:{}", endpoint.id, tx.now().0);
    let news = News {
        title: "Webhook desligado",
        text: &format!("{url} foi desligado: {why}"),
        reference: Some(&page),
        params: json!({ "url": url, "detail": why, "endpoint_id": endpoint.id }),
        ..News::message(MessageKind::WebhookOff, channel_set, &cause)
    };
    messages::tell(tx, endpoint.user, news).map(drop)
}

/// Queues a delivery again with all its tries, the same id and the same body;
/// false when it is waiting already.
pub fn send_again(tx: &WriteTx<'_>, endpoint: i64, number: i64) -> Result<bool> {
    let key: Option<(i64, i64)> = tx.tuple(
        "SELECT kind / 10, object FROM webhook_delivery
         WHERE endpoint_id = ?1 AND number = ?2 AND state <> ?3",
        (endpoint, number, DeliveryState::Waiting),
    )?;
    let Some((line, object)) = key else {
        return Ok(false);
    };
    let run_at = if waits(tx, endpoint, line, object)? { HELD } else { tx.now().0 };
    tx.run(
        "UPDATE webhook_delivery SET state = ?4, run_at = ?3, tries = 0, early = 0
         WHERE endpoint_id = ?1 AND number = ?2",
        (endpoint, number, run_at, DeliveryState::Waiting),
    )?;
    Ok(true)
}

/// Deliveries of a period that are not waiting, the oldest first, after the one
/// in `after`.
pub fn in_span(
    tx: &ReadTx<'_>,
    endpoint: i64,
    from: Instant,
    to: Instant,
    after: (Instant, i64),
    most: usize,
) -> Result<Vec<(Instant, i64)>> {
    tx.tuples(
        "SELECT created_at, number FROM webhook_delivery
         WHERE endpoint_id = ?1 AND created_at >= ?2 AND created_at <= ?3
           AND (created_at, number) > (?4, ?5) AND +state <> 0
         ORDER BY created_at, number LIMIT ?6",
        (endpoint, from, to, after.0, after.1, i64::try_from(most).unwrap_or(i64::MAX)),
    )
}

/// Removes deliveries after the retention period, at most `most`; returns how many.
pub fn forget(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    let old: Vec<(i64, i64, DeliveryState, i64, i64)> = tx.tuples(
        "SELECT endpoint_id, number, state, kind / 10, object FROM webhook_delivery
         WHERE created_at < ?1 ORDER BY created_at LIMIT ?2",
        (WEBHOOKS.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )?;
    for (endpoint, number, state, line, object) in &old {
        tx.run(
            "DELETE FROM webhook_delivery WHERE endpoint_id = ?1 AND number = ?2",
            (endpoint, number),
        )?;
        if *state == DeliveryState::Waiting {
            release(tx, *endpoint, *line, *object)?;
            find_next(tx, *endpoint)?;
        }
    }
    Ok(old.len())
}

/// Removes deliveries of an endpoint, at most `most`; returns how many.
pub fn empty(tx: &WriteTx<'_>, endpoint: i64, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM webhook_delivery WHERE endpoint_id = ?1 AND number IN (
             SELECT number FROM webhook_delivery WHERE endpoint_id = ?1 LIMIT ?2)",
        (endpoint, i64::try_from(most).unwrap_or(1)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TestApp, config};

    #[test]
    fn a_word_about_an_endpoint_opens_it_in_the_panel_of_its_owner() {
        for (role, page) in
            [("pro", "/painel/parceiro/webhooks/7"), ("drop", "/fornecedor/parceiro/webhooks/7")]
        {
            let world = TestApp::new(config(&[]));
            world.write(move |tx| {
                tx.run(
                    "INSERT INTO user (user_id, email, name, role, created_at)
                     VALUES (1, 'zoe@example.com', 'Zoe', ?1, 1)",
                    [role],
                )?;
                tx.run(
                    "INSERT INTO webhook_endpoint (endpoint_id, user_id, url, events, secret, created_at, state)
                     VALUES (7, 1, 'https://zoe.example/', 1, x'00', 1, ?1)",
                    [EndpointState::Gone],
                )?;
                let endpoint = store::by_id(tx, 7)?.expect("an endpoint");
                tell_owner(tx, ChannelSet::that(|_| true), &endpoint)
            });
            let told = "SELECT n.reference, o.params FROM notification n JOIN outbox o ON o.user_id = n.owner_id";
            let told: Vec<(String, String)> = world.ask(told, |row| row.try_into());
            let [(reference, params)] = &told[..] else { panic!("{told:?}") };
            let params = serde_json::from_str(params).unwrap();
            assert_eq!((&**reference, MessageKind::WebhookOff.page(&params)), (page, page));
        }
    }
}
