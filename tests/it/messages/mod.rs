//! Messages to people, by every channel.

mod alerts; // Messages to people: choices, texts, channels, and alerts about failures.
mod announcements; // What the operator tells students, by plan.
mod delivery;
mod mail; // Messages by e-mail: what is sent, in which form.
mod outage; // A chat gateway that is not reachable, silent, and back again.
mod push; // Messages to browsers: switched on, encrypted, rejected, switched off.
mod push_browser; // Messages to a real browser, through its own push service.
mod queue; // Messages that wait to be sent, and what the operator can do with them.
mod receipts; // What becomes of chat messages after they were taken.
mod refused_mail; // A mail server that rejects one address, or everybody.
mod telegram; // Telegram: chats linked, messages sent, updates received.
mod telegram_sends; // Messages that are sent by Telegram.
