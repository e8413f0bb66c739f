//! Web push: the subscriptions of browsers, and the messages to them.
//!
//! When a person enables messages in a browser, the browser gets an address at
//! its maker's push service, and two keys. A message is encrypted for those
//! keys (`encrypt.rs`), signed with the installation's own key (`vapid.rs`) and
//! posted to that address. The address comes from a client, so only known hosts
//! are allowed (`address.rs`). Sending is in `delivery/push.rs`.

pub mod address;
pub mod encrypt;
pub mod store;
pub mod vapid;

use crate::base::Instant;

/// Most browsers of one person; one more replaces the oldest.
pub const MOST_DEVICES: u32 = 10;

/// The push subscription of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Address at its push service.
    pub endpoint: String,
    pub keys: encrypt::BrowserKeys,
}

/// A browser in which a person has switched messages on.
#[derive(Clone, Debug)]
pub struct Device {
    pub id: i64,
    pub subscription: Subscription,
    /// The browser's `User-Agent`.
    pub agent: String,
    pub created_at: Instant,
    /// When the service last accepted a message for it.
    pub sent_at: Option<Instant>,
}
