//! The bot's replies in chats: sent soon or not at all.
//!
//! Replies are not messages of the queue, because they are useful only now.
//! They wait in memory, and only a few of them, so a flood from strangers costs
//! little.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Duration;

use super::bot::Bot;
use crate::app::App;
use crate::base::Stop;
use crate::base::queue::CHANNEL_RESTS_S;
use crate::outbox::Channel;

/// Most waiting replies when one about a change is added, and when help is
/// added.
const MOST: usize = 100;
const MOST_HELP: usize = 10;
/// Time between two replies, so that most of the bot's rate limit is left for
/// messages.
const GAP: Duration = Duration::from_millis(100);
/// How long one reply may take; a stop waits for it.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longest pause between two checks for replies.
const LOOK: Duration = Duration::from_secs(1);

/// A reply to be sent to a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub chat: i64,
    pub text: String,
    /// Whether it only says how the bot is used.
    is_help: bool,
}

impl Reply {
    /// A reply about a change.
    pub fn telling(chat: i64, text: String) -> Self {
        Self { chat, text, is_help: false }
    }

    /// A reply that says how the bot is used.
    pub fn helping(chat: i64, text: String) -> Self {
        Self { chat, text, is_help: true }
    }
}

/// The waiting replies.
#[derive(Default)]
pub struct Replies {
    waiting: Mutex<VecDeque<Reply>>,
    bell: Stop,
}

impl Replies {
    /// Queues replies. Replies above the limits are dropped, and so is help for
    /// a chat that already has a waiting reply.
    pub fn add(&self, replies: Vec<Reply>) {
        let mut waiting = self.waiting.lock();
        for reply in replies {
            let has_one = waiting.iter().any(|one| one.chat == reply.chat);
            let most = if reply.is_help { MOST_HELP } else { MOST };
            if waiting.len() < most && !(reply.is_help && has_one) {
                waiting.push_back(reply);
            }
        }
        drop(waiting);
        self.bell.ring();
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.waiting.lock().len()
    }
}

/// Sends the waiting replies until the service stops.
pub fn run(app: &App, bot: &Bot, stop: &Stop) {
    let replies = &app.messages.telegram.replies;
    let mut rings = 0;
    while !stop.wait(Duration::ZERO) {
        let next = replies.waiting.lock().pop_front();
        let Some(reply) = next else {
            (rings, _) = replies.bell.wait_ring(rings, LOOK);
            continue;
        };
        let pause = match bot.say(reply.chat, &reply.text, TIMEOUT) {
            Ok(_) => GAP,
            Err(fault) => {
                tracing::debug!(error = fault.words(), "an answer of the bot was not taken");
                let asked_s = fault.refusal().and_then(|refusal| refusal.retry_after_s);
                asked_s.map_or(GAP, |asked_s| {
                    let pause_s = asked_s.clamp(1, CHANNEL_RESTS_S);
                    pause_messages(app, pause_s);
                    Duration::from_secs(pause_s.unsigned_abs())
                })
            }
        };
        stop.wait(pause);
    }
}

/// Pauses the queued messages, too, because the pause is for the whole bot.
fn pause_messages(app: &App, pause_s: i64) {
    let outlets = app.messages.delivery.outlets.iter();
    for outlet in outlets.filter(|outlet| outlet.channel == Channel::Telegram) {
        outlet.gate.pause(app.clock.now().plus(pause_s));
    }
}
