//! The gate of a channel.

use std::time::{Duration, Instant as Monotonic};

use super::gate::{Fault, Gate, Health};

#[test]
fn messages_are_paced() {
    let gate = Gate::new(4.0, true);
    let now = Monotonic::now();
    let waits: Vec<u128> = (0..5)
        .map(|_| gate.turn(now + Duration::from_secs(1)).unwrap().as_millis())
        .collect();
    assert_eq!(waits, [0, 250, 500, 750, 1000]);
    // What was not used is not saved up.
    assert_eq!(
        gate.turn(now + Duration::from_secs(60)),
        Some(Duration::ZERO)
    );
    let free = Gate::new(0.0, true);
    let now = Monotonic::now();
    assert!((0..100).all(|_| free.turn(now) == Some(Duration::ZERO)));
}

#[test]
fn a_channel_that_is_down_is_probed_once_a_minute() {
    let gate = Gate::new(0.0, true);
    let at = |seconds| Monotonic::now() + Duration::from_secs(seconds);
    gate.note_failed("x", Fault::Channel, Monotonic::now());
    assert_eq!(gate.health(), Health::Down { error: "x".into() });
    assert_eq!(gate.turn(at(30)), None);
    let later = at(61);
    assert!(gate.turn(later).is_some());
    assert_eq!(gate.turn(later), None, "one probe");
    gate.note_sent();
    assert_eq!(gate.health(), Health::Good);
    assert!(gate.turn(later).is_some());
}

#[test]
fn ten_failures_in_a_row_are_the_channels() {
    let gate = Gate::new(0.0, true);
    let now = Monotonic::now();
    for _ in 0..9 {
        gate.note_failed("x", Fault::Unknown, now);
    }
    gate.note_failed("não existe", Fault::Message, now);
    for _ in 0..9 {
        gate.note_failed("x", Fault::Unknown, now);
    }
    assert_eq!(gate.health(), Health::Good);
    gate.note_failed("x", Fault::Unknown, now);
    assert_eq!(gate.health(), Health::Down { error: "x".into() });
    assert_eq!(gate.untold().failed, 20);
    assert_eq!(gate.untold().failed, 0, "told once");
}

#[test]
fn a_pause_is_no_failure() {
    let gate = Gate::new(0.0, true);
    let now = Monotonic::now();
    gate.pause(now + Duration::from_secs(5));
    gate.pause(now + Duration::from_secs(2));
    assert_eq!(gate.turn(now + Duration::from_secs(4)), None);
    assert!(gate.turn(now + Duration::from_secs(5)).is_some());
    assert_eq!((gate.health(), gate.untold().failed), (Health::Good, 0));
}

#[test]
fn without_the_clock_a_call_opens_the_gate() {
    let gate = Gate::new(0.0, false);
    let now = Monotonic::now();
    assert_eq!(gate.turn(now), None);
    gate.call(true);
    assert!(gate.turn(now).is_some());
    gate.call(false);
    assert_eq!(gate.turn(now), None);
}
