//! Web push: what a browser gives to be reached, and what reaches it.
//!
//! A browser that switches messages on names an address at its maker's push
//! service and two keys. A message is encrypted to those keys (`encrypt.rs`),
//! signed with the installation's own key (`vapid.rs`) and posted there. The
//! address comes from a person, so where it may lead is narrow (`address.rs`).
//! Sending is in `delivery/push.rs`.

pub mod address;
pub mod encrypt;
pub mod store;
pub mod vapid;

use crate::base::Instant;

/// Browsers of one person; one more takes the place of the oldest.
pub const MOST_DEVICES: u32 = 10;

/// What a browser gives to be reached.
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
    /// What the browser calls itself.
    pub agent: String,
    pub created_at: Instant,
    /// When the service last took a message for it.
    pub sent_at: Option<Instant>,
}
