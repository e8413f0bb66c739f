//! Sends the messages that are due, and reports the counts of the chat channel.

use super::{Report, TaskContext, TaskResult};
use crate::app::App;
use crate::messages::delivery::send_due;
use crate::outbox::Channel;

/// The periodic task `mensagens`.
pub fn send(app: &App, context: &TaskContext<'_>, report: &mut Report) -> TaskResult {
    for (channel, counts) in send_due(app, || context.is_time_over()) {
        if channel == Channel::Chat {
            report.add_messages(counts.sent, counts.failed, counts.dropped);
        }
    }
    Ok(())
}
