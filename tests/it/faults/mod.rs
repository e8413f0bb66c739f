//! The fault plan as runnable proof: what the service promises, tried by breaking
//! what it stands on.
//!
//! Every test has two tiers. The short one runs with all other tests. With
//! `PROOF_LONG` set, as by `tests/run --long`, the same tests run for much longer,
//! and with `PROOF_WRITE` each writes its last figures into `docs/proof.md`, which
//! also names the tests elsewhere that prove the rest of the plan.

mod clock; // Jumps of the clock.
mod disk; // A disk that the test commands.
mod disk_errors; // A disk that refuses, fails and hangs.
mod figures; // The last figures, in `docs/proof.md`.
mod frozen; // A process that stands still.
mod power_cut; // What is on the disk after a power cut, replayed.
mod secrets; // What is sealed or kept as a digest stands nowhere in clear.
mod slow_clients; // A thousand connections that send next to nothing.
mod soak; // A mixed load for some seconds, or for half an hour.
mod state; // What a server has at some moment.
mod storm; // A marketplace that refuses every call as one too many.
mod year; // Days one after the other, or a year of them.

pub use figures::figure;

use crate::support::actors::signed_notification;
use crate::support::site::Site;

/// As many times as the tier wants: the short one, or the long one.
pub fn times(short: u64, long: u64) -> u64 {
    if setting("PROOF_LONG").is_some() { long } else { short }
}

#[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
pub fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Sends the marketplace's notification of that number; what came of it, if it was
/// answered.
fn notify(site: &Site, number: u64) -> Option<u16> {
    let ts = site.clock().now().as_second();
    let id = format!("00000000-0000-4000-8000-{number:012}");
    let request = signed_notification(&resource(number), "orders_v2", 77, &id, ts);
    site.anonymous().try_send(request).ok().map(|reply| reply.status)
}

/// What such a notification is about, which is stored with it.
fn resource(number: u64) -> String {
    format!("/orders/{}", 2_000_000_000_000 + number)
}

/// Requires that everything that was answered is stored, once.
#[track_caller]
fn has_all(site: &Site, answered: &[u64]) {
    let stored = site.stored("SELECT resource FROM ml_notification ORDER BY 1");
    let lost: Vec<_> = answered
        .iter()
        .filter(|number| stored.binary_search(&resource(**number)).is_err())
        .collect();
    assert!(lost.is_empty(), "answered and lost: {lost:?}");
    let twice = stored.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "stored twice");
}
