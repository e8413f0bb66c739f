//! Sends the messages that are due, and reports the counts of the chat channel.

use super::{Outcome, Report, Turn};
use crate::app::App;
use crate::messages::delivery::send_due;
use crate::outbox::Channel;

/// The periodic task `mensagens`.
pub fn send(app: &App, turn: &Turn<'_>, report: &mut Report) -> Outcome {
    for (channel, counts) in send_due(app, || turn.is_over()) {
        if channel == Channel::Chat {
            report.add_messages(counts.sent, counts.failed, counts.dropped);
        }
    }
    Ok(())
}
