//! Carries over to a message what the official API tells of it.

use std::sync::Arc;

use super::Outcome;
use super::status::{Status, Told};
use super::store::{self, Sent};
use crate::app::App;
use crate::base::queue::{CHANNEL_RESTS_S, CHAT};
use crate::base::{Day, phone};
use crate::db::{Result, WriteTx};
use crate::messages::choices::{self, ChannelSet};
use crate::messages::delivery::{Outlet, SendOutcome, worker};
use crate::outbox::{Channel, MessageState, Receipt, unreachable};

/// What a job of the writer needs of the service to apply what was told.
pub struct Network {
    pub outlet: Arc<Outlet>,
    channel_set: ChannelSet,
    today: Day,
}

impl Network {
    /// The chat channel; `None` while it is not configured.
    pub fn of(app: &App) -> Option<Self> {
        let mut outlets = app.messages.delivery.outlets.iter();
        let outlet = Arc::clone(outlets.find(|one| one.channel == Channel::Chat)?);
        let today = app.day(app.clock.now());
        Some(Self { outlet, channel_set: ChannelSet::of(&app.config), today })
    }
}

/// Applies one status.
pub fn apply(tx: &WriteTx<'_>, network: &Network, status: &Status) -> Result<Outcome> {
    let Some(sent) = store::find(tx, status)? else { return Ok(Outcome::Unknown) };
    match &status.told {
        Told::Arrived(receipt) => arrived(tx, network, status, &sent, *receipt),
        Told::Failed(outcome) if is_of_last_try(status, &sent) => {
            failed(tx, network, status, &sent, outcome)?;
            Ok(Outcome::Changed)
        }
        Told::Failed(_) => Ok(Outcome::Known),
    }
}

/// A message came further. One that arrived counts as sent, also when it was given up or
/// waits for another try: then the answer to a try was lost, or the failure came of
/// another device of the person.
fn arrived(
    tx: &WriteTx<'_>,
    network: &Network,
    status: &Status,
    sent: &Sent,
    receipt: Receipt,
) -> Result<Outcome> {
    let is_there = receipt >= Receipt::Delivered;
    let counts = match sent.state {
        MessageState::Sent => true,
        MessageState::Waiting => is_there || sent.is_under_way,
        MessageState::GivenUp => is_there,
        // Whoever dropped it knew why.
        MessageState::Dropped => false,
    };
    if !counts || receipt <= sent.receipt {
        return Ok(Outcome::Known);
    }
    let at = status.at.map_or(tx.now(), |at| at.min(tx.now()));
    store::arrived(tx, sent.id, receipt, at)?;
    if is_there && sent.state != MessageState::Sent {
        store::was_sent(tx, sent.id, &status.id)?;
    }
    if is_there && went_to_present_number(status, sent) {
        unreachable::forget(tx, sent.user)?;
    }
    network.outlet.gate.note_arrived(sent.taken_at.unwrap_or(tx.now()));
    Ok(Outcome::Changed)
}

/// Whether a failure is that of the last try, and nothing is known that contradicts it.
/// What is told of an earlier try may come again at any time.
fn is_of_last_try(status: &Status, sent: &Sent) -> bool {
    let is_known = sent.provider.as_deref() == Some(&*status.id);
    match sent.state {
        MessageState::Sent => is_known && sent.receipt < Receipt::Delivered,
        // It was told before the answer was stored.
        MessageState::Waiting => sent.is_under_way && !is_known,
        MessageState::Dropped | MessageState::GivenUp => false,
    }
}

/// Whether a message went to the number that the person has now.
fn went_to_present_number(status: &Status, sent: &Sent) -> bool {
    let is_same = |number: &String| status.to.is_empty() || phone::is_same(number, &status.to);
    !sent.has_own_number && sent.number.as_ref().is_some_and(is_same)
}

/// A message failed: what follows is what would have followed from the answer, but that
/// it was taken since.
fn failed(
    tx: &WriteTx<'_>,
    network: &Network,
    status: &Status,
    sent: &Sent,
    outcome: &SendOutcome,
) -> Result<()> {
    let (gate, now) = (&network.outlet.gate, tx.now());
    tracing::warn!(message = sent.id, ?outcome, "a message failed after it was taken");
    match outcome {
        SendOutcome::Held { error, after_s, all } => {
            let pause_s = (*after_s).clamp(1, CHANNEL_RESTS_S);
            if *all {
                gate.pause(now.plus(pause_s));
            }
            store::put_back(tx, (sent.id, &status.id), error, pause_s, false)
        }
        SendOutcome::Down(error) => {
            store::put_back(tx, (sent.id, &status.id), error, 0, false)?;
            if gate.note_refused_later(error, now).should_alert {
                let Network { channel_set, today, .. } = network;
                worker::alert_down(tx, *channel_set, *today, Channel::Chat, error)?;
            }
            Ok(())
        }
        SendOutcome::Later(error) | SendOutcome::Away(error) if sent.attempts < CHAT.tries => {
            gate.note_failed_later();
            let pause_s = CHAT.retry.pause_s(sent.attempts);
            store::put_back(tx, (sent.id, &status.id), error, pause_s, true)
        }
        SendOutcome::Later(error) | SendOutcome::Away(error) => {
            gate.note_failed_later();
            let error = format!("{} tentativas falharam: {error}", CHAT.tries);
            store::give_up(tx, (sent.id, &status.id), &error)
        }
        SendOutcome::NotThere(error) => {
            gate.note_failed_later();
            if let Some(number) = &sent.number
                && went_to_present_number(status, sent)
            {
                unreachable::note(tx, sent.user, number, error)?;
            }
            store::give_up(tx, (sent.id, &status.id), error)
        }
        SendOutcome::Unwanted(error) => {
            gate.note_failed_later();
            if !sent.has_own_number {
                choices::set(tx, sent.user, Channel::Chat.name(), false)?;
            }
            store::give_up(tx, (sent.id, &status.id), error)
        }
        SendOutcome::Never(error) | SendOutcome::Refused(error) => {
            gate.note_failed_later();
            store::give_up(tx, (sent.id, &status.id), error)
        }
        SendOutcome::Accepted(_) | SendOutcome::Unreachable(_) => Ok(()),
    }
}
