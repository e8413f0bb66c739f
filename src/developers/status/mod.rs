//! Status of the service: its parts, the current state of each part, and its state
//! on each of the last 90 days.

pub mod days;
pub mod state;

use crate::app::App;
use crate::base::{Instant, retention};
use crate::db::{Lane, ReadTx, Result};
use crate::operations::{soundness, store};
use state::{Component, State};

/// Days that are shown, today included.
pub const DAYS: i64 = retention::STATES.days;
/// After at least this long without a run, the periodic tasks count as stopped.
const TICK_AGE_S: i64 = 3600;

/// The current state of each part; parts that are not configured are left out.
pub fn now(app: &App, tx: &ReadTx<'_>, now: Instant) -> Result<Vec<(Component, State)>> {
    let parts = [
        // The caller gets an answer, so the API works.
        (Component::Api, Some(State::Operational)),
        (Component::Database, Some(database(app))),
        (Component::Tasks, tasks(app, tx, now)?),
        (Component::Marketplace, marketplace(app)),
        (Component::Messages, messages(app)),
    ];
    Ok(parts.into_iter().filter_map(|(part, state)| Some((part, state?))).collect())
}

/// The same rule as for `/readyz`.
fn database(app: &App) -> State {
    if soundness::outage(app).is_some() { State::Down } else { State::Operational }
}

fn tasks(app: &App, tx: &ReadTx<'_>, now: Instant) -> Result<Option<State>> {
    let last = store::last_tick(tx)?;
    if !app.config.cron.enabled && last == Instant(0) {
        return Ok(None);
    }
    let interval = i64::try_from(app.config.cron.interval_s).unwrap_or(i64::MAX);
    // After a start the first run is still to come: count from the start.
    let since = now.since(last.max(app.started_at));
    if since > interval.saturating_mul(3).max(TICK_AGE_S) {
        return Ok(Some(State::Down));
    }
    let fails = !store::failing_tasks(tx)?.is_empty();
    Ok(Some(if fails { State::Degraded } else { State::Operational }))
}

fn marketplace(app: &App) -> Option<State> {
    if app.config.marketplace.client_id.is_empty() {
        return None;
    }
    Some(if app.marketplace.client.is_away() { State::Down } else { State::Operational })
}

/// Degraded while some channels are down, down when all are.
fn messages(app: &App) -> Option<State> {
    let outlets = &app.messages.delivery.outlets;
    let down = outlets.iter().filter(|one| one.gate.error().is_some()).count();
    match down {
        _ if outlets.is_empty() => None,
        0 => Some(State::Operational),
        down if down < outlets.len() => Some(State::Degraded),
        _ => Some(State::Down),
    }
}

/// Checks every part once a minute and records its state. Called once a second.
pub fn watch(app: &App, is_last: bool) -> Result<()> {
    let at = app.clock.now();
    if let Some(passed) = app.health.states.passed(at, is_last) {
        let parts = app.db.read(Lane::Slow, |tx| now(app, tx, at))?;
        app.health.states.note(app.day(at), &parts, passed);
    }
    app.health.states.flush(&app.db)
}
