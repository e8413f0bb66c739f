//! What the bot answers in chats: said soon or not at all.
//!
//! Answers are no messages of the queue: they are worth something only now.
//! They wait in memory, few of them, so a flood of strangers costs nothing.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Duration;

use super::bot::{Bot, BotFault};
use crate::app::App;
use crate::base::Stop;
use crate::outbox::Channel;

/// Answers that wait: those that tell of a change, and help.
const MOST: usize = 100;
const MOST_HELP: usize = 10;
/// Time between two answers, so that most of the bot's pace is for messages.
const GAP: Duration = Duration::from_millis(100);
/// How long one may take; a stop waits for it.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Longest pause between two looks, and longest that Telegram is given.
const LOOK: Duration = Duration::from_secs(1);
const LONGEST_PAUSE_S: i64 = 3600;

/// Something to be said in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub chat: i64,
    pub text: String,
    /// Says only how the bot is used.
    is_help: bool,
}

impl Reply {
    /// One that tells of a change.
    pub fn telling(chat: i64, text: String) -> Self {
        Self { chat, text, is_help: false }
    }

    /// One that says how the bot is used.
    pub fn helping(chat: i64, text: String) -> Self {
        Self { chat, text, is_help: true }
    }
}

/// Answers that wait.
#[derive(Default)]
pub struct Replies {
    waiting: Mutex<VecDeque<Reply>>,
    bell: Stop,
}

impl Replies {
    /// Has answers said. Those for which there is no room are dropped, and
    /// help for a chat that is helped already.
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

    fn next(&self) -> Option<Reply> {
        let mut waiting = self.waiting.lock();
        waiting.pop_front()
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.waiting.lock().len()
    }
}

/// Says what is to be answered until it is told to stop.
pub fn run(app: &App, bot: &Bot, stop: &Stop) {
    let replies = &app.telegram.replies;
    let mut rings = 0;
    while !stop.wait(Duration::ZERO) {
        let Some(reply) = replies.next() else {
            (rings, _) = replies.bell.wait_ring(rings, LOOK);
            continue;
        };
        let pause = match bot.say(reply.chat, &reply.text, TIMEOUT) {
            Ok(_) => GAP,
            Err(fault) => {
                tracing::debug!(error = fault.words(), "an answer of the bot was not taken");
                pause_asked_for(&fault).map_or(GAP, |asked_s| {
                    pause_messages(app, asked_s);
                    Duration::from_secs(asked_s.unsigned_abs())
                })
            }
        };
        stop.wait(pause);
    }
}

fn pause_asked_for(fault: &BotFault) -> Option<i64> {
    let asked_s = fault.refusal()?.retry_after_s?;
    Some(asked_s.clamp(1, LONGEST_PAUSE_S))
}

/// A pause is the whole bot's.
fn pause_messages(app: &App, pause_s: i64) {
    let outlets = app.delivery.outlets.iter();
    for outlet in outlets.filter(|outlet| outlet.channel == Channel::Telegram) {
        outlet.gate.pause(app.clock.now().plus(pause_s));
    }
}
