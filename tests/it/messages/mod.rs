//! Messages to people, by every channel.

pub mod alerts; // Messages to people: choices, texts, channels, and alerts about failures.
pub mod delivery;
pub mod mail; // Messages by e-mail: what is sent, in which form.
pub mod outage; // A chat gateway that is not reachable, silent, and back again.
pub mod push; // Messages to browsers: switched on, encrypted, rejected, switched off.
pub mod push_browser; // Messages to a real browser, through its own push service.
pub mod queue; // Messages that wait to be sent, and what the operator can do with them.
pub mod refused_mail; // A mail server that rejects one address, or everybody.
pub mod telegram; // Telegram: chats linked, messages sent, updates received.
pub mod telegram_sends; // Messages that are sent by Telegram.
