//! The sandbox's inbox page: what people would read on their phones.

use askama::Template;

use super::call::{Answer, Call};
use super::logs::Message;
use super::page::{page, time};
use crate::base::text::grouped;

/// Messages on the page.
const ROWS: usize = 100;

#[derive(Template)]
#[template(path = "sandbox/inbox.html", config = "assets/askama.toml")]
struct Inbox {
    total: String,
    messages: Vec<Row>,
}

struct Row {
    at: String,
    to: String,
    template: String,
    lines: Vec<Vec<Word>>,
}

struct Word {
    text: String,
    is_link: bool,
}

impl Row {
    fn of(message: &Message) -> Self {
        let word = |text: &str| Word {
            is_link: text.starts_with("http://") || text.starts_with("https://"),
            text: text.to_owned(),
        };
        let line = |line: &str| line.split_whitespace().map(word).collect();
        Self {
            at: time(&message.at),
            to: if message.gateway == "telegram" {
                format!("o Telegram {}", message.to)
            } else {
                message.to.clone()
            },
            template: message.template.clone().unwrap_or_default(),
            lines: message.text.lines().map(line).collect(),
        }
    }
}

/// `GET /mensagens`: the newest messages by chat.
pub fn inbox(call: &mut Call<'_>) -> Answer {
    let messages = &call.world.messages;
    let inbox = Inbox {
        total: grouped(messages.total()),
        messages: messages.iter().rev().take(ROWS).map(Row::of).collect(),
    };
    Ok(page(&inbox, 200))
}
