//! A worker thread of a channel: it claims a message, sends it and stores the
//! result, one message after the other.

use std::sync::Arc;
use std::time::Instant as Monotonic;

use super::gate::{DeliveryFault, RefusalVerdict};
use super::store::{self, Claimed};
use super::{Outlet, SendOutcome, letter, queue_of};
use crate::app::App;
use crate::base::queue::CHANNEL_RESTS_S;
use crate::base::{Day, Stop, secrets, trace};
use crate::db::{DbError, Lane, Result, WriteTx};
use crate::journal::{self, Ending};
use crate::messages::alerts::{self, Alert};
use crate::messages::choices::ChannelSet;
use crate::outbox::{Channel, channel_words};
use crate::services::Services;

/// Whether a message of a channel is due or being sent.
pub fn has_work(services: &Services, outlet: &Outlet) -> bool {
    let due = || {
        services
            .db
            .read(Lane::Slow, |tx| store::is_due(tx, outlet.channel, services.clock.now()))
            .unwrap_or(false)
    };
    outlet.gate.is_busy() || outlet.gate.lets_through(services.clock.now()) && due()
}

/// Sends one message; false when there was nothing to do.
pub fn step(app: &App, outlet: &Arc<Outlet>, stop: &Stop) -> Result<bool> {
    let (channel, now) = (outlet.channel, app.clock.now());
    if !outlet.gate.lets_through(now) {
        return Ok(false);
    }
    if !app.db.read(Lane::Slow, |tx| store::is_due(tx, channel, now))? {
        return Ok(false);
    }
    let Some(pause) = outlet.gate.turn(now, Monotonic::now()) else {
        return Ok(false);
    };
    let _turn = Turn(outlet);
    if !pause.is_zero() && stop.wait(pause) {
        return Ok(false);
    }
    let lease = i64::from_be_bytes(secrets::random());
    let found = app.db.write(move |tx| store::claim(tx, channel, lease))?;
    outlet.gate.note_dropped(found.dropped);
    let Some(claimed) = found.claimed else {
        return Ok(found.dropped > 0);
    };
    match letter::write(app, &claimed)? {
        Ok(letter) => {
            let request = Some(&*claimed.request_id).filter(|id| !id.is_empty()).map(Arc::from);
            trace::within(request, || {
                let began = Monotonic::now();
                let sent = outlet.sender.send(app, &claimed, &letter);
                let took = began.elapsed();
                journal::note_call(now, took, channel.name(), &claimed.kind, || ending(&sent));
                note(app, outlet, claimed, sent)
            })?;
        }
        Err(reason) => note(app, outlet, claimed, SendOutcome::Unreachable(reason))?,
    }
    Ok(true)
}

/// How the call to a channel's service ended, for the journal.
fn ending(sent: &SendOutcome) -> Ending {
    let error = match sent {
        SendOutcome::Accepted(_) => "",
        SendOutcome::Later(error)
        | SendOutcome::Held { error, .. }
        | SendOutcome::Away(error)
        | SendOutcome::Never(error)
        | SendOutcome::NotThere(error)
        | SendOutcome::Unwanted(error)
        | SendOutcome::Refused(error)
        | SendOutcome::Down(error) => error,
        SendOutcome::Unreachable(reason) => reason,
    };
    Ending { status: None, error: error.to_owned() }
}

/// A turn at the gate, which ends when this is dropped.
struct Turn<'o>(&'o Outlet);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.gate.done();
    }
}

fn note(app: &App, outlet: &Arc<Outlet>, claimed: Claimed, sent: SendOutcome) -> Result<()> {
    let (now, queue) = (app.clock.now(), queue_of(outlet.channel));
    let failed = |error: &str, fault| {
        tracing::warn!(
            channel = outlet.channel.name(),
            message = claimed.id,
            error,
            "a message did not leave"
        );
        let verdict = outlet.gate.note_failed(error, fault, now);
        if verdict.should_alert
            && let Err(error) = alert(app, outlet.channel, error.to_owned())
        {
            tracing::warn!(%error, "administrators were not told");
        }
        verdict.was_down
    };
    // Why the message waits, for how long, and whether that was a try.
    let (error, pause_s, is_try) = match sent {
        SendOutcome::Accepted(provider) => {
            outlet.gate.note_sent();
            return app.db.write(move |tx| store::sent(tx, &claimed, &provider));
        }
        // A probe of a channel that is down does not count as a try.
        SendOutcome::Later(error) if failed(&error, DeliveryFault::Unknown) => (error, 0, false),
        SendOutcome::Later(error) if claimed.attempts >= queue.tries => {
            let error = format!("{} tentativas falharam: {error}", queue.tries);
            return app.db.write(move |tx| store::give_up(tx, &claimed, &error));
        }
        SendOutcome::Later(error) => (error, queue.retry.pause_s(claimed.attempts), true),
        SendOutcome::Held { error, after_s, all } => {
            let pause_s = after_s.clamp(1, CHANNEL_RESTS_S);
            if all {
                tracing::warn!(channel = outlet.channel.name(), error, "a channel pauses");
                outlet.gate.pause(now.plus(pause_s));
            }
            (error, pause_s, false)
        }
        SendOutcome::Never(error) => {
            failed(&error, DeliveryFault::Message);
            return app.db.write(move |tx| store::give_up(tx, &claimed, &error));
        }
        SendOutcome::NotThere(error) => {
            failed(&error, DeliveryFault::Message);
            return app.db.write(move |tx| store::give_up_not_there(tx, &claimed, &error));
        }
        SendOutcome::Unwanted(error) => {
            failed(&error, DeliveryFault::Message);
            let channel = outlet.channel;
            return app.db.write(move |tx| store::give_up_unwanted(tx, &claimed, channel, &error));
        }
        SendOutcome::Refused(error) => return note_refused(app, outlet, claimed, error),
        SendOutcome::Away(error) => {
            failed(&error, DeliveryFault::Silence);
            (error, 0, false)
        }
        SendOutcome::Down(error) => {
            failed(&error, DeliveryFault::Refusal);
            (error, 0, false)
        }
        SendOutcome::Unreachable(reason) => {
            outlet.gate.note_dropped(1);
            return app.db.write(move |tx| store::drop_message(tx, claimed.id, reason));
        }
    };
    app.db.write(move |tx| store::put_back(tx, &claimed, &error, pause_s, is_try))
}

/// Stores that a recipient was rejected: the message fails, or it waits together
/// with those that were rejected before it.
fn note_refused(app: &App, outlet: &Arc<Outlet>, claimed: Claimed, error: String) -> Result<()> {
    let (channel, now) = (outlet.channel, app.clock.now());
    tracing::warn!(
        channel = channel.name(),
        message = claimed.id,
        error,
        "a recipient was rejected"
    );
    let reason = store::refused_reason(&error);
    let (outlet, told) = (Arc::clone(outlet), reason.clone());
    // Decided by the writer, so that messages fail before they are revived.
    let should_alert = app.db.write(move |tx| {
        match outlet.gate.note_refused(&reason, claimed.id, claimed.user, now) {
            RefusalVerdict::Recipient => {
                store::give_up(tx, &claimed, &error)?;
                Ok::<_, DbError>(false)
            }
            RefusalVerdict::Channel { revived, should_alert } => {
                store::wait_refused(tx, &claimed, &revived, &reason)?;
                Ok(should_alert)
            }
        }
    })?;
    if should_alert { alert(app, channel, told) } else { Ok(()) }
}

fn alert(services: &Services, channel: Channel, error: String) -> Result<()> {
    let (channel_set, day) = (ChannelSet::of(&services.config), services.day(services.clock.now()));
    services.db.write(move |tx| alert_down(tx, channel_set, day, channel, &error))
}

/// Tells administrators, once a civil day, that a channel is down.
pub fn alert_down(
    tx: &WriteTx<'_>,
    channel_set: ChannelSet,
    day: Day,
    channel: Channel,
    error: &str,
) -> Result<()> {
    let words = channel_words(channel.name());
    let alert = Alert {
        title: &format!("Canal fora do ar: {words}"),
        detail: &format!("As mensagens esperam e saem quando ele voltar. O motivo: {error}"),
        page: "/admin/mensagens/canais",
        cause: &format!("canal:{}:{}", channel.name(), day.0),
        without: Some(channel),
    };
    alerts::tell(tx, channel_set, &alert)
}
