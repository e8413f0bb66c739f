//! The gate of a channel.

use std::time::{Duration, Instant as Monotonic};

use super::gate::{DeliveryFault, FailureVerdict, Gate, Health};
use crate::base::Instant;

const NOW: Instant = Instant(1_795_183_200);

fn at(seconds: i64) -> Instant {
    NOW.plus(seconds)
}

/// Whether a message may leave so many seconds later.
fn opens(gate: &Gate, seconds: i64) -> bool {
    gate.turn(at(seconds), Monotonic::now()).is_some()
}

#[test]
fn messages_are_paced() {
    let gate = Gate::new(4.0, true);
    let now = Monotonic::now();
    let turn = |seconds| gate.turn(NOW, now + Duration::from_secs(seconds)).unwrap();
    let waits: Vec<u128> = (0..5).map(|_| turn(1).as_millis()).collect();
    assert_eq!(waits, [0, 250, 500, 750, 1000]);
    // Unused turns are not saved up.
    assert_eq!(turn(60), Duration::ZERO);
    let free = Gate::new(0.0, true);
    let now = Monotonic::now();
    assert!((0..100).all(|_| free.turn(NOW, now) == Some(Duration::ZERO)));
}

#[test]
fn a_channel_that_is_away_is_probed_now_and_then() {
    let gate = Gate::new(0.0, true);
    let verdict = gate.note_failed("x", DeliveryFault::Silence, NOW);
    assert_eq!(verdict, FailureVerdict::default(), "once is no news");
    assert_eq!(gate.health(), Health::Down { error: "x".into() });
    let mut told = Vec::new();
    let mut probed = Vec::new();
    for second in 0..300 {
        if opens(&gate, second) {
            assert!(!opens(&gate, second), "one probe");
            probed.push(second);
            let verdict = gate.note_failed("x", DeliveryFault::Silence, at(second));
            assert!(verdict.was_down);
            told.extend(verdict.should_alert.then_some(second));
        }
    }
    assert_eq!(probed, [5, 15, 35, 75, 135, 195, 255]);
    assert_eq!(told, [15], "after two probes, once");
    gate.note_sent();
    assert_eq!(gate.health(), Health::Good);
    assert!(opens(&gate, 300) && opens(&gate, 300));
}

#[test]
fn a_channel_that_refuses_us_is_told_at_once() {
    let gate = Gate::new(0.0, true);
    assert!(gate.note_failed("x", DeliveryFault::Refusal, NOW).should_alert);
    assert!(!gate.note_failed("x", DeliveryFault::Refusal, NOW).should_alert);
    assert!(!opens(&gate, 4) && opens(&gate, 5));
    // A provider that rejects a single message works.
    gate.note_failed("não existe", DeliveryFault::Message, at(5));
    assert_eq!(gate.health(), Health::Good);
    assert!(gate.note_failed("x", DeliveryFault::Refusal, at(6)).should_alert, "again");
}

#[test]
fn a_clock_that_is_set_back_keeps_no_channel_shut() {
    let gate = Gate::new(0.0, true);
    gate.note_failed("x", DeliveryFault::Refusal, at(86_400));
    gate.pause(at(86_400));
    assert!(opens(&gate, 0));
}

#[test]
fn ten_failures_in_a_row_are_the_channels() {
    let gate = Gate::new(0.0, true);
    for _ in 0..9 {
        assert_eq!(gate.note_failed("x", DeliveryFault::Unknown, NOW), FailureVerdict::default());
    }
    gate.note_failed("não existe", DeliveryFault::Message, NOW);
    for _ in 0..9 {
        gate.note_failed("x", DeliveryFault::Unknown, NOW);
    }
    assert_eq!(gate.health(), Health::Good);
    let tenth = gate.note_failed("x", DeliveryFault::Unknown, NOW);
    assert!(tenth.should_alert && !tenth.was_down);
    assert_eq!(gate.health(), Health::Down { error: "x".into() });
    assert!(gate.note_failed("x", DeliveryFault::Unknown, NOW).was_down);
    assert_eq!(gate.take_counts().failed, 21);
    assert_eq!(gate.take_counts().failed, 0, "told once");
}

#[test]
fn a_pause_is_no_failure() {
    let gate = Gate::new(0.0, true);
    gate.pause(at(5));
    gate.pause(at(2));
    assert!(!opens(&gate, 4) && opens(&gate, 5));
    assert_eq!((gate.health(), gate.take_counts().failed), (Health::Good, 0));
}

#[test]
fn without_the_clock_a_call_opens_the_gate() {
    let gate = Gate::new(0.0, false);
    assert!(!opens(&gate, 0));
    gate.call(true);
    assert!(opens(&gate, 0));
    gate.call(false);
    assert!(!opens(&gate, 0));
}
