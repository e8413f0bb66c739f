//! The gate of a channel.

use std::time::{Duration, Instant as Monotonic};

use super::gate::{DeliveryFault, FailureVerdict, Gate, RefusalVerdict};
use crate::base::queue::EMAIL;
use crate::base::{Instant, UserId};

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
    let gate = Gate::new(&EMAIL, 4.0, true);
    let now = Monotonic::now();
    let turn = |seconds| gate.turn(NOW, now + Duration::from_secs(seconds)).unwrap();
    let waits: Vec<u128> = (0..5).map(|_| turn(1).as_millis()).collect();
    assert_eq!(waits, [0, 250, 500, 750, 1000]);
    // Unused turns are not saved up.
    assert_eq!(turn(60), Duration::ZERO);
    let free = Gate::new(&EMAIL, 0.0, true);
    let now = Monotonic::now();
    assert!((0..100).all(|_| free.turn(NOW, now) == Some(Duration::ZERO)));
}

#[test]
fn a_channel_that_is_away_is_probed_now_and_then() {
    let gate = Gate::new(&EMAIL, 0.0, true);
    let verdict = gate.note_failed("x", DeliveryFault::Silence, NOW);
    assert_eq!(verdict, FailureVerdict::default(), "once is no news");
    assert_eq!(gate.error(), Some("x".into()));
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
    assert_eq!(gate.error(), None);
    assert!(opens(&gate, 300) && opens(&gate, 300));
}

#[test]
fn a_channel_that_refuses_us_is_told_at_once() {
    let gate = Gate::new(&EMAIL, 0.0, true);
    assert!(gate.note_failed("x", DeliveryFault::Refusal, NOW).should_alert);
    assert!(!gate.note_failed("x", DeliveryFault::Refusal, NOW).should_alert);
    assert!(!opens(&gate, 4) && opens(&gate, 5));
    // A provider that rejects a single message works.
    gate.note_failed("não existe", DeliveryFault::Message, at(5));
    assert_eq!(gate.error(), None);
    assert!(gate.note_failed("x", DeliveryFault::Refusal, at(6)).should_alert, "again");
}

#[test]
fn a_clock_that_is_set_back_keeps_no_channel_shut() {
    let gate = Gate::new(&EMAIL, 0.0, true);
    gate.note_failed("x", DeliveryFault::Refusal, at(86_400));
    gate.pause(at(86_400));
    assert!(opens(&gate, 0));
}

#[test]
fn ten_failures_in_a_row_are_the_channels() {
    let gate = Gate::new(&EMAIL, 0.0, true);
    for _ in 0..9 {
        assert_eq!(gate.note_failed("x", DeliveryFault::Unknown, NOW), FailureVerdict::default());
    }
    gate.note_failed("não existe", DeliveryFault::Message, NOW);
    for _ in 0..9 {
        gate.note_failed("x", DeliveryFault::Unknown, NOW);
    }
    assert_eq!(gate.error(), None);
    let tenth = gate.note_failed("x", DeliveryFault::Unknown, NOW);
    assert!(tenth.should_alert && !tenth.was_down);
    assert_eq!(gate.error(), Some("x".into()));
    assert!(gate.note_failed("x", DeliveryFault::Unknown, NOW).was_down);
    assert_eq!(gate.take_counts().failed, 21);
    assert_eq!(gate.take_counts().failed, 0, "told once");
}

/// The rejection of a message whose recipient has the same number.
fn refused(gate: &Gate, message: i64, seconds: i64) -> RefusalVerdict {
    gate.note_refused("550", message, UserId(message), at(seconds))
}

fn waits(revived: &[i64], should_alert: bool) -> RefusalVerdict {
    RefusalVerdict::Channel { revived: revived.to_vec(), should_alert }
}

#[test]
fn who_is_rejected_while_others_are_not_gets_nothing() {
    let gate = Gate::new(&EMAIL, 0.0, true);
    for message in 1..20 {
        assert_eq!(refused(&gate, message, 0), RefusalVerdict::Recipient);
        if message % 2 == 0 {
            gate.note_sent();
        }
    }
    // Many messages to one person say nothing about others.
    let gate = Gate::new(&EMAIL, 0.0, true);
    for message in 1..20 {
        let verdict = gate.note_refused("550", message, UserId(7), NOW);
        assert_eq!(verdict, RefusalVerdict::Recipient);
    }
    assert_eq!(gate.error(), None);
}

#[test]
fn a_channel_that_rejects_everybody_is_down_until_it_takes_a_message() {
    let gate = Gate::new(&EMAIL, 0.0, true);
    for message in [1, 2] {
        assert_eq!(refused(&gate, message, 0), RefusalVerdict::Recipient);
    }
    assert_eq!(refused(&gate, 3, 0), waits(&[1, 2], true), "all three wait");
    assert_eq!(gate.error(), Some("550".into()));
    assert_eq!(refused(&gate, 4, 0), waits(&[], false), "it was under way");
    let probes: Vec<i64> = (0..150)
        .filter(|second| {
            let opens = opens(&gate, *second);
            if opens {
                assert_eq!(refused(&gate, 1, *second), waits(&[], false));
            }
            opens
        })
        .collect();
    assert_eq!(probes, [5, 15, 35, 75, 135]);
    // Neither a message that cannot be written nor silence makes it well.
    gate.note_failed("sem endereço", DeliveryFault::Message, at(150));
    gate.note_failed("x", DeliveryFault::Silence, at(150));
    assert_eq!(refused(&gate, 2, 200), waits(&[], false));
    gate.note_sent();
    assert_eq!(gate.error(), None);
    // When it rejects everybody again, nothing of what waited is lost.
    for _ in 0..2 {
        for message in [1, 2] {
            assert_eq!(refused(&gate, message, 300), RefusalVerdict::Recipient);
        }
        assert_eq!(refused(&gate, 3, 300), waits(&[1, 2], true), "everybody's again");
        gate.note_sent();
    }
    // Who is rejected each time gets nothing, and does not make the channel fail.
    for message in 1..=3 {
        assert_eq!(refused(&gate, message, 300), RefusalVerdict::Recipient);
    }
    assert_eq!(gate.error(), None);
    for message in [5, 6] {
        assert_eq!(refused(&gate, message, 300), RefusalVerdict::Recipient);
    }
    assert_eq!(refused(&gate, 7, 300), waits(&[5, 6], true), "again");
}

#[test]
fn a_provider_that_rejects_us_later_is_down_though_it_takes_messages() {
    let gate = Gate::new(&EMAIL, 0.0, true);
    gate.note_sent();
    let verdict = gate.note_refused_later("131042", NOW);
    assert!(verdict.should_alert && !verdict.was_down);
    assert!(!gate.note_refused_later("131042", NOW).should_alert, "once");
    // A probe is taken, and a message that is refused for itself; both show nothing.
    assert!(!opens(&gate, 4) && opens(&gate, 30));
    gate.note_sent();
    gate.note_failed("131026", DeliveryFault::Message, at(30));
    assert_eq!(gate.error(), Some("131042".into()));
    // One that was taken before shows nothing, one that was taken since that it works again.
    gate.note_arrived(at(-60));
    assert_eq!(gate.error(), Some("131042".into()));
    gate.note_arrived(at(30));
    assert_eq!(gate.error(), None);
    assert!(gate.note_refused_later("131042", at(40)).should_alert, "again");
    // So does taking messages, once nothing was heard for a while.
    assert!(opens(&gate, 40 + 599));
    gate.note_sent();
    assert!(gate.error().is_some());
    assert!(opens(&gate, 40 + 700));
    gate.note_sent();
    assert_eq!(gate.error(), None);
}

#[test]
fn a_pause_is_no_failure() {
    let gate = Gate::new(&EMAIL, 0.0, true);
    gate.pause(at(5));
    gate.pause(at(2));
    assert!(!opens(&gate, 4) && opens(&gate, 5));
    assert_eq!((gate.error(), gate.take_counts().failed), (None, 0));
}

#[test]
fn without_the_clock_a_call_opens_the_gate() {
    let gate = Gate::new(&EMAIL, 0.0, false);
    assert!(!opens(&gate, 0));
    gate.call(true);
    assert!(opens(&gate, 0));
    gate.call(false);
    assert!(!opens(&gate, 0));
}
