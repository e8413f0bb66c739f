//! The sandbox's inbox page: what people would read on their phones.

use askama::Template;

use super::call::{Call, HandlerResult};
use super::logs::{ChatMessage, Log};
use super::page::page;
use crate::base::grouped;

#[derive(Template)]
#[template(path = "sandbox/inbox.html", config = "assets/askama.toml")]
struct Inbox<'w> {
    total: String,
    messages: &'w Log<ChatMessage>,
}

/// `GET /mensagens`: the newest messages by chat.
pub fn inbox(call: &mut Call<'_>) -> HandlerResult {
    let messages = &call.state.messages;
    Ok(page(&Inbox { total: grouped(messages.total()), messages }, 200))
}
