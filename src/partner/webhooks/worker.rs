//! The worker: turns events into deliveries, chooses the deliveries to try now,
//! and stores the results, many in one job of the writer.
//!
//! Only the running tries are in memory. A process that dies loses nothing, but
//! may send those deliveries again.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant as Monotonic};

use super::fairness::{self, ConcurrencyLimits, Lane};
use super::objects::EventBodyBuilder;
use super::queue::{self, DueEndpoint, TryResult};
use super::sender::{Senders, Task};
use super::{spread, store};
use crate::app::App;
use crate::base::queue::WEBHOOKS;
use crate::base::{Stop, UserId};
use crate::db::{Lane as DbLane, Result, rounds};
use crate::messages::choices::ChannelSet;

/// How long the worker waits for answers at a stop.
const LAST_ANSWERS: Duration = Duration::from_millis(500);
/// Accounts whose due endpoints are read at a time.
const LOOKED_AT: usize = 64;

struct Worker<'a> {
    app: &'a App,
    bodies: EventBodyBuilder,
    channel_set: ChannelSet,
    senders: Senders,
    limits: ConcurrencyLimits,
    /// Endpoint and number of deliveries whose try runs or whose result is not
    /// stored yet.
    in_hand: HashSet<(i64, i64)>,
    /// Results that are not stored yet.
    unnoted: Vec<TryResult>,
    /// The accounts after these come next: of those whose events become
    /// deliveries, and of those that are told.
    spread_after: UserId,
    begun_after: UserId,
}

/// Works until `stop` is set.
pub fn run(app: &App, stop: &Stop) {
    let bell = app.webhooks.bell.clone();
    let extra_hosts = &app.config.webhooks.extra_hosts;
    let mut worker = Worker {
        app,
        bodies: EventBodyBuilder::of(app),
        channel_set: ChannelSet::of(&app.config),
        senders: Senders::new(extra_hosts, app.clock.clone(), bell.clone()),
        limits: ConcurrencyLimits::default(),
        in_hand: HashSet::new(),
        unnoted: Vec::new(),
        spread_after: UserId(0),
        begun_after: UserId(0),
    };
    // Tries of a worker that panicked are no longer counted as running.
    app.webhooks.in_flight.store(0, Ordering::Relaxed);
    rounds::work(&app.db, &WEBHOOKS, stop, &bell, || worker.round());
    worker.finish();
}

impl Worker<'_> {
    /// Does everything once; true when there may be more to do at once.
    fn round(&mut self) -> Result<bool> {
        let came_back = self.note()?;
        let spread = self.spread()?;
        self.begin()?;
        Ok(came_back || spread)
    }

    /// Collects and stores results.
    fn note(&mut self) -> Result<bool> {
        let done = self.senders.take_done();
        for (places, result) in done {
            self.limits.end(places, &result);
            let hooks = &self.app.webhooks;
            let counter = if result.is_delivered() { &hooks.delivered } else { &hooks.failed };
            counter.fetch_add(1, Ordering::Relaxed);
            hooks.in_flight.fetch_sub(1, Ordering::Relaxed);
            self.unnoted.push(result);
        }
        if self.unnoted.is_empty() {
            return Ok(false);
        }
        let (channel_set, results) =
            (self.channel_set, Arc::new(std::mem::take(&mut self.unnoted)));
        let job = Arc::clone(&results);
        if let Err(error) = self.app.db.write(move |tx| queue::note(tx, channel_set, &job)) {
            self.unnoted = Arc::try_unwrap(results).unwrap_or_else(|results| results.to_vec());
            return Err(error);
        }
        for one in results.iter() {
            self.in_hand.remove(&(one.endpoint, one.number));
        }
        Ok(true)
    }

    /// Makes deliveries of events, by turns of their accounts.
    fn spread(&mut self) -> Result<bool> {
        if !self.app.db.read(DbLane::Slow, spread::is_needed)? {
            return Ok(false);
        }
        let (bodies, after) = (self.bodies.clone(), self.spread_after);
        let last = self.app.db.write_piece(move |tx| spread::spread(tx, &bodies, after))?;
        self.spread_after = last.unwrap_or(UserId(0));
        Ok(true)
    }

    /// Begins tries of due deliveries, as far as allowed. Accounts take turns,
    /// and those with the fewest running tries come first, so that an account
    /// with a long queue or with many receivers that hang does not delay others.
    fn begin(&mut self) -> Result<()> {
        let (now, first) = (self.app.clock.now(), self.begun_after);
        let (mut after, mut is_second_half) = (first, false);
        while self.senders.free(Lane::Quick) + self.senders.free(Lane::Careful) > 0 {
            let (mut due, last) = self
                .app
                .db
                .read(DbLane::Slow, |tx| queue::due_endpoints(tx, now, after, LOOKED_AT))?;
            due.sort_by_key(|one| self.limits.under_way(one.user));
            for one in due {
                self.begin_some(one)?;
            }
            match last {
                Some(last) if !is_second_half || last < first => after = last,
                None if !is_second_half && first > UserId(0) => {
                    (after, is_second_half) = (UserId(0), true);
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn begin_some(&mut self, due: DueEndpoint) -> Result<()> {
        let DueEndpoint { endpoint, user, is_failing } = due;
        let now = self.app.clock.now();
        let (lane, room) = self.limits.available(endpoint, user, now);
        let has_careful = self.limits.careful_under_way(user) > 0;
        let free = match lane {
            Lane::Quick => self.senders.free(lane),
            Lane::Careful => {
                fairness::careful_room(self.senders.free(lane), is_failing, has_careful)
            }
        };
        let room = room.min(free);
        if room == 0 {
            return Ok(());
        }
        let in_hand = self.in_hand.iter().filter(|(one, _)| *one == endpoint).count();
        let sealer = &self.app.sealer;
        let (target, found) = self.app.db.read(DbLane::Slow, |tx| {
            let found = queue::due(tx, endpoint, now, in_hand + room)?;
            Ok::<_, crate::db::DbError>((store::target(tx, sealer, endpoint, now)?, found))
        })?;
        let Some(target) = target.map(Arc::new) else {
            return Ok(());
        };
        let fresh = found.into_iter().filter(|due| !self.in_hand.contains(&(endpoint, due.number)));
        for due in fresh.take(room).collect::<Vec<_>>() {
            let number = due.number;
            let Some(places) = self.limits.begin(endpoint, user, lane) else { return Ok(()) };
            let task = Task { places, due, target: Arc::clone(&target) };
            if let Err(error) = self.senders.send(task) {
                tracing::warn!(%error, "no thread for a webhook");
                return Ok(());
            }
            self.begun_after = user;
            self.in_hand.insert((endpoint, number));
            self.app.webhooks.in_flight.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Stores the results that arrive soon. Deliveries whose try still runs are
    /// sent again after the next start.
    fn finish(&mut self) {
        let began = Monotonic::now();
        while self.senders.under_way() > 0 && began.elapsed() < LAST_ANSWERS {
            if self.note().is_err() {
                return;
            }
            self.app.webhooks.bell.wait(Duration::from_millis(10));
        }
        if let Err(error) = self.note() {
            tracing::warn!(%error, "the last answers to webhooks were not noted");
        }
    }
}
