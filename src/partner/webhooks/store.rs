//! Endpoints in the database, and the secrets that sign for them.

use super::sign::SigningSecret;
use super::spread::HELD;
use super::{DeliveryState, Endpoint, EndpointEntry, EndpointState, MessageId, OVERLAP_S};
use crate::base::secrets::SealContext;
use crate::base::{Instant, Sealer, UserId};
use crate::db::{Filters, Page, ReadTx, Record as _, Result, RowWindow, WriteTx, sorted};
use crate::events::EventType;
use crate::row;

/// The endpoints of an account, oldest first.
pub fn of_user(tx: &ReadTx<'_>, user: UserId) -> Result<Vec<Endpoint>> {
    tx.records("FROM webhook_endpoint WHERE user_id = ?1 ORDER BY endpoint_id", [user])
}

/// How many endpoints an account has.
pub fn count(tx: &ReadTx<'_>, user: UserId) -> Result<usize> {
    let count = tx.count("SELECT count(*) FROM webhook_endpoint WHERE user_id = ?1", [user])?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// An endpoint of an account.
pub fn one(tx: &ReadTx<'_>, user: UserId, id: i64) -> Result<Option<Endpoint>> {
    tx.record("FROM webhook_endpoint WHERE endpoint_id = ?2 AND user_id = ?1", (user, id))
}

/// An endpoint of any account.
pub fn by_id(tx: &ReadTx<'_>, id: i64) -> Result<Option<Endpoint>> {
    tx.record("FROM webhook_endpoint WHERE endpoint_id = ?1", [id])
}

/// The columns with the sealed secrets.
const SECRETS: [&str; 2] = ["secret", "old_secret"];

fn seal(sealer: &Sealer, column: &str, endpoint: i64, secret: &SigningSecret) -> Vec<u8> {
    let place = SealContext { table: "webhook_endpoint", column, row: &endpoint.to_string() };
    sealer.seal(secret.bytes(), place)
}

fn open(sealer: &Sealer, column: &str, endpoint: i64, sealed: &[u8]) -> Option<SigningSecret> {
    let place = SealContext { table: "webhook_endpoint", column, row: &endpoint.to_string() };
    SigningSecret::from_bytes(&sealer.open(sealed, place).ok()?)
}

/// Creates an endpoint; returns its id.
pub fn insert(
    tx: &WriteTx<'_>,
    sealer: &Sealer,
    user: UserId,
    (entry, secret): (&EndpointEntry, &SigningSecret),
) -> Result<i64> {
    let id = tx.insert(
        "INSERT INTO webhook_endpoint (user_id, url, events, secret, created_at, state)
         VALUES (?1, ?2, ?3, x'', ?4, ?5)",
        (user, &entry.url, entry.eventos, tx.now(), EndpointState::On),
    )?;
    // The id is part of the seal.
    tx.run(
        "UPDATE webhook_endpoint SET secret = ?2 WHERE endpoint_id = ?1",
        (id, seal(sealer, SECRETS[0], id, secret)),
    )?;
    Ok(id)
}

/// Notes the app that made an endpoint, by its connection: without one the endpoint is
/// switched off.
pub fn set_app(tx: &WriteTx<'_>, id: i64, grant: i64) -> Result<()> {
    tx.run(
        "UPDATE webhook_endpoint SET client_no = (SELECT client_no FROM oauth_grant WHERE grant_id = ?2)
         WHERE endpoint_id = ?1",
        (id, grant),
    )
}

/// Number and time of the newest deliveries of a type, the newest first.
pub fn newest_of(
    tx: &ReadTx<'_>,
    endpoint: i64,
    kind: EventType,
    most: usize,
) -> Result<Vec<(i64, Instant)>> {
    tx.tuples(
        "SELECT number, created_at FROM webhook_delivery
         WHERE endpoint_id = ?1 AND kind = ?2 ORDER BY number DESC LIMIT ?3",
        (endpoint, kind, i64::try_from(most).unwrap_or(1)),
    )
}

/// Changes an endpoint's address and event types. A new address clears the
/// recorded failure.
pub fn update(tx: &WriteTx<'_>, id: i64, entry: &EndpointEntry) -> Result<()> {
    tx.run(
        "UPDATE webhook_endpoint SET failing_since = NULL, error = NULL, paused_until = NULL
         WHERE endpoint_id = ?1 AND url <> ?2",
        (id, &entry.url),
    )?;
    tx.change("webhook_endpoint", entry, &[], &[("endpoint_id", &id)]).map(drop)
}

/// Switches an endpoint on or off.
pub fn switch(tx: &WriteTx<'_>, id: i64, state: EndpointState) -> Result<()> {
    let off_at = (state != EndpointState::On).then(|| tx.now());
    tx.run(
        "UPDATE webhook_endpoint SET state = ?2, off_at = ?3, failing_since = NULL, error = NULL,
             paused_until = NULL
         WHERE endpoint_id = ?1",
        (id, state, off_at),
    )
}

/// Removes an endpoint of an account; false when there is none.
pub fn remove(tx: &WriteTx<'_>, user: UserId, id: i64) -> Result<bool> {
    let removed = tx.execute(
        "DELETE FROM webhook_endpoint WHERE endpoint_id = ?2 AND user_id = ?1",
        (user, id),
    )?;
    Ok(removed > 0)
}

/// Replaces an endpoint's secret; the previous one signs too for a day.
pub fn rotate(tx: &WriteTx<'_>, sealer: &Sealer, id: i64, secret: &SigningSecret) -> Result<()> {
    let sealed: Vec<u8> =
        tx.value("SELECT secret FROM webhook_endpoint WHERE endpoint_id = ?1", [id])?;
    let old = open(sealer, SECRETS[0], id, &sealed);
    let old_until = old.as_ref().map(|_| tx.now().plus(OVERLAP_S));
    tx.run(
        "UPDATE webhook_endpoint SET secret = ?2, old_secret = ?3, old_until = ?4
         WHERE endpoint_id = ?1",
        (
            id,
            seal(sealer, SECRETS[0], id, secret),
            old.map(|old| seal(sealer, SECRETS[1], id, &old)),
            old_until,
        ),
    )
}

/// The address of an endpoint, and its valid secrets, newest first.
pub struct Target {
    pub url: String,
    pub secrets: Vec<SigningSecret>,
}

row! {
    /// A target as it is stored.
    struct SealedTarget {
        url: String,
        secret: Vec<u8>,
        old_secret: Option<Vec<u8>>,
        old_until: Option<Instant>,
    }
}

/// The target of an endpoint.
pub fn target(tx: &ReadTx<'_>, sealer: &Sealer, id: i64, now: Instant) -> Result<Option<Target>> {
    let found = tx.record::<SealedTarget>("FROM webhook_endpoint WHERE endpoint_id = ?1", [id])?;
    let Some(SealedTarget { url, secret, old_secret: old, old_until }) = found else {
        return Ok(None);
    };
    let old = old.filter(|_| old_until.is_some_and(|until| now < until));
    let secrets = [(SECRETS[0], Some(secret)), (SECRETS[1], old)];
    let secrets =
        secrets.into_iter().filter_map(|(column, sealed)| open(sealer, column, id, &sealed?));
    Ok(Some(Target { url, secrets: secrets.collect() }))
}

/// Removes previous secrets that are no longer valid, at most `most`; returns
/// how many.
pub fn forget_old_secrets(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "UPDATE webhook_endpoint SET old_secret = NULL, old_until = NULL WHERE endpoint_id IN (
             SELECT endpoint_id FROM webhook_endpoint WHERE old_until <= ?1 LIMIT ?2)",
        (tx.now(), i64::try_from(most).unwrap_or(1)),
    )
}

/// Whether the secrets of all endpoints can be decrypted; `None` when there are
/// no secrets.
pub fn all_open(tx: &ReadTx<'_>, sealer: &Sealer) -> Result<Option<bool>> {
    let mut open_all = None;
    tx.each("SELECT endpoint_id, secret FROM webhook_endpoint WHERE secret <> x''", [], |row| {
        let (id, sealed): (i64, Vec<u8>) = row.try_into()?;
        let opens = open(sealer, SECRETS[0], id, &sealed).is_some();
        open_all = Some(open_all.unwrap_or(true) && opens);
        Ok(())
    })?;
    Ok(open_all)
}

/// How many endpoints have a secret.
pub fn count_sealed(tx: &ReadTx<'_>) -> Result<u64> {
    tx.count("SELECT count(*) FROM webhook_endpoint WHERE secret <> x''", [])
}

/// Removes all secrets, because they can no longer be decrypted. Their endpoints
/// are switched off until the owners create new secrets. Returns how many.
pub fn give_up_secrets(tx: &WriteTx<'_>) -> Result<usize> {
    tx.execute(
        "UPDATE webhook_endpoint SET state = ?1, off_at = coalesce(off_at, ?2), secret = x'', old_secret = NULL, old_until = NULL,
             error = 'o segredo se perdeu com a chave da instalação: gere outro e ligue de novo'",
        (EndpointState::Off, tx.now()),
    )
}

row! {
    /// A delivery as the owner of its endpoint sees it.
    #[derive(Clone, Debug)]
    pub struct Delivery {
        pub number: i64,
        pub message: MessageId => MessageId,
        pub kind: EventType,
        pub state: DeliveryState,
        pub created_at: Instant,
        pub run_at: Instant,
        pub tries: i64,
        pub tried_at: Option<Instant>,
        pub status: Option<i64>,
        pub ms: Option<i64>,
        pub error: Option<String>,
    }
}

impl Delivery {
    /// When it is tried next; `None` when it is not waiting or is held back.
    pub fn next_try(&self) -> Option<Instant> {
        let waits = self.state == DeliveryState::Waiting && self.run_at.0 != HELD;
        waits.then_some(self.run_at)
    }
}

row! {
    /// A delivery with its body and the receiver's answer.
    pub struct FullDelivery {
        pub delivery: Delivery as row,
        pub body: String,
        pub answer: Option<String>,
    }
}

/// Filters and order of a list of deliveries.
#[derive(Clone, Copy, Debug)]
pub struct DeliveryQuery {
    pub endpoint: i64,
    pub state: Option<DeliveryState>,
    pub kind: Option<EventType>,
    pub newest_first: bool,
    pub window: RowWindow,
}

impl DeliveryQuery {
    fn filters(&self) -> Filters<'_> {
        let mut filters = Filters::new("endpoint_id = :endpoint", &[(":endpoint", &self.endpoint)]);
        filters.and_if("state = :state", ":state", &self.state);
        filters.and_if("kind = :kind", ":kind", &self.kind);
        filters
    }
}

/// A page of deliveries, with the number of all that match.
pub fn deliveries(tx: &ReadTx<'_>, wanted: &DeliveryQuery) -> Result<(Vec<Delivery>, u64)> {
    let filters = wanted.filters();
    let total = filters.count(tx, "SELECT coalesce(sum(deliveries), 0) FROM webhook_count")?;
    let order = sorted("number", wanted.newest_first);
    let page = Page { table: "webhook_delivery", order: &order, window: wanted.window };
    Ok((filters.rows(tx, &page, Delivery::COLUMNS, Delivery::read)?, total))
}

/// The same, after the delivery with a number, newest first. The total is then not counted.
pub fn deliveries_after(
    tx: &ReadTx<'_>,
    wanted: &DeliveryQuery,
    after: Option<i64>,
) -> Result<(Vec<Delivery>, u64)> {
    let Some(after) = after else { return deliveries(tx, wanted) };
    let mut filters = wanted.filters();
    filters.and("number < :after", &[(":after", &after)]);
    let order = sorted("number", wanted.newest_first);
    let page = Page { table: "webhook_delivery", order: &order, window: wanted.window };
    Ok((filters.rows(tx, &page, Delivery::COLUMNS, Delivery::read)?, 0))
}

/// The same of some types, of all without any: merged from those of each, which has an index.
pub fn deliveries_of(
    tx: &ReadTx<'_>,
    wanted: &DeliveryQuery,
    (kinds, after): (&[EventType], Option<i64>),
) -> Result<(Vec<Delivery>, u64)> {
    if kinds.is_empty() {
        return deliveries_after(tx, wanted, after);
    }
    let RowWindow { limit, offset } = wanted.window;
    let (mut found, mut total) = (Vec::new(), 0);
    for kind in kinds {
        let window = RowWindow::first(limit.saturating_add(offset));
        let of_kind = DeliveryQuery { kind: Some(*kind), window, ..*wanted };
        let (rows, count) = deliveries_after(tx, &of_kind, after)?;
        found.extend(rows);
        total += count;
    }
    found.sort_unstable_by_key(|one| std::cmp::Reverse(one.number));
    Ok((found.into_iter().skip(offset as usize).take(limit as usize).collect(), total))
}

/// Numbers of all deliveries that match, in the order of the list.
pub fn numbers(tx: &ReadTx<'_>, wanted: &DeliveryQuery) -> Result<Vec<i64>> {
    let filters = wanted.filters();
    let sql = format!(
        "SELECT number FROM webhook_delivery WHERE {} ORDER BY {}",
        filters.sql(),
        sorted("number", wanted.newest_first)
    );
    tx.values(&sql, filters.values())
}

/// One delivery of an endpoint.
pub fn delivery(tx: &ReadTx<'_>, endpoint: i64, number: i64) -> Result<Option<FullDelivery>> {
    tx.record("FROM webhook_delivery WHERE endpoint_id = ?1 AND number = ?2", (endpoint, number))
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub waiting: i64,
    pub delivered: i64,
    pub given_up: i64,
}

/// How many deliveries of an endpoint are in which state.
pub fn counts(tx: &ReadTx<'_>, endpoint: i64) -> Result<Counts> {
    let mut counts = Counts::default();
    tx.each(
        "SELECT state, sum(deliveries) FROM webhook_count WHERE endpoint_id = ?1 GROUP BY state",
        [endpoint],
        |row| {
            let (state, count): (DeliveryState, i64) = row.try_into()?;
            match state {
                DeliveryState::Waiting => counts.waiting = count,
                DeliveryState::Delivered => counts.delivered = count,
                DeliveryState::GivenUp => counts.given_up = count,
            }
            Ok(())
        },
    )?;
    Ok(counts)
}

/// How many endpoints have waiting deliveries.
pub fn waiting_endpoints(tx: &ReadTx<'_>) -> Result<u64> {
    tx.count("SELECT count(*) FROM webhook_endpoint WHERE next_at IS NOT NULL AND state = 1", [])
}
