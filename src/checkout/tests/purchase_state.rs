//! Properties of purchase states: they do not depend on the order, and later events
//! do not contradict earlier ones.

use proptest::prelude::*;

use crate::accounts::Role;
use crate::base::{DAY_S, Instant};
use crate::checkout::EventKind;
use crate::checkout::purchase_state::{Access, Fact, PurchaseState, purchase_state};

const NOW: Instant = Instant(100 * DAY_S);

/// An event on a day. `paid` is the day until which it pays.
fn fact(kind: EventKind, day: i64, transaction: &str) -> Fact {
    Fact {
        kind,
        at_ms: day * DAY_S * 1000,
        transaction: (!transaction.is_empty()).then(|| transaction.to_owned()),
        subscriber: Some("S1".to_owned()),
        product: Some("77".to_owned()),
        role: Some(Role::Pro),
        paid_until: kind.is_payment().then_some(Instant((day + 30) * DAY_S)),
        recurrence: None,
    }
}

fn of(facts: &[Fact]) -> PurchaseState {
    purchase_state(facts, NOW, None)
}

/// A state in short: `aberto pago 120 atrasado 95`.
fn short(facts: &[Fact]) -> String {
    let state = of(facts);
    let mut words = vec![match &state.access {
        Access::Unsaid => "nada".to_owned(),
        Access::Open => "aberto".to_owned(),
        Access::Closed(kind, transaction) => {
            let transaction = transaction.as_deref().unwrap_or("-");
            format!("fechado {} {transaction}", kind.name())
        }
    }];
    for (word, at) in [
        ("pago", state.paid_until),
        ("atrasado", state.late_since),
        ("termina", state.ends_at),
        ("disputa", state.disputed_at),
    ] {
        words.extend(at.map(|at| format!("{word} {}", at.0 / DAY_S)));
    }
    words.join(" ")
}

#[track_caller]
fn check(facts: &[&Fact], expected: &str) {
    let facts: Vec<Fact> = facts.iter().copied().cloned().collect();
    assert_eq!(short(&facts), expected);
}

#[test]
fn the_newest_event_of_a_transaction_speaks() {
    use EventKind::{Approved, Canceled, Chargeback, Complete, Refunded};
    let (day, refund) = (fact(Approved, 90, "A"), fact(Refunded, 95, "A"));
    check(&[&day], "aberto pago 120");
    check(&[&day, &refund], "fechado reembolsada A");
    check(&[&day, &fact(Chargeback, 95, "A")], "fechado chargeback A");
    check(&[&day, &fact(Canceled, 95, "A")], "fechado cancelada A");
    check(&[&day, &fact(Refunded, 85, "A")], "aberto pago 120");
    check(&[&day, &fact(Canceled, 85, "A")], "aberto pago 120");
    // An approval that is sent again under another id counts once.
    check(&[&day, &refund, &fact(Approved, 97, "A")], "fechado reembolsada A");
    // A settled sale replaces an approval that was lost, and only then.
    check(&[&fact(Complete, 98, "A")], "aberto pago 128");
    check(&[&day, &fact(Complete, 98, "A")], "aberto pago 120");
    check(&[&day, &refund, &fact(Complete, 98, "A")], "fechado reembolsada A");
}

#[test]
fn only_the_payment_of_the_present_period_matters() {
    let (old, new) = (fact(EventKind::Approved, 60, "A"), fact(EventKind::Approved, 90, "B"));
    let back = |transaction| fact(EventKind::Refunded, 95, transaction);
    assert_eq!(short(&[old.clone(), new.clone(), back("A")]), "aberto pago 120");
    assert_eq!(short(&[old.clone(), new.clone(), back("B")]), "fechado reembolsada B pago 90");
    // A refund of an unknown purchase does not affect a known payment.
    assert_eq!(short(&[new.clone(), back("X")]), "aberto pago 120");
    // Another subscription is judged separately.
    let other = Fact { subscriber: Some("S2".to_owned()), ..fact(EventKind::Approved, 80, "C") };
    assert_eq!(short(&[new.clone(), back("B"), other.clone()]), "aberto pago 110");
    // A refunded payment does not extend a purchase that came after it.
    let annual =
        Fact { paid_until: Some(Instant(400 * DAY_S)), ..fact(EventKind::Approved, 50, "Y") };
    let returned = fact(EventKind::Refunded, 55, "Y");
    assert_eq!(short(&[annual, returned, new]), "aberto pago 120");
}

#[test]
fn a_renewal_that_fails_is_late_until_something_is_paid() {
    let paid = fact(EventKind::Approved, 60, "A");
    let late = |kind, number| Fact { recurrence: number, ..fact(kind, 90, "B") };
    for (event, expected) in [
        (late(EventKind::Delayed, Some(2)), "aberto pago 90 atrasado 90"),
        (late(EventKind::Delayed, None), "aberto pago 90 atrasado 90"),
        (late(EventKind::Expired, Some(2)), "aberto pago 90 atrasado 90"),
        (late(EventKind::Expired, Some(1)), "aberto pago 90"),
        (late(EventKind::Canceled, Some(2)), "aberto pago 90 atrasado 90"),
        (late(EventKind::Canceled, Some(1)), "aberto pago 90"),
        // An attempt to pay a different subscription.
        (
            Fact { subscriber: Some("S9".to_owned()), ..late(EventKind::Delayed, Some(2)) },
            "aberto pago 90",
        ),
    ] {
        assert_eq!(short(&[paid.clone(), event.clone()]), expected, "{event:?}");
        let next = fact(EventKind::Approved, 91, "C");
        assert_eq!(short(&[paid.clone(), event, next]), "aberto pago 121");
    }
    let before = fact(EventKind::Delayed, 59, "A");
    assert_eq!(short(&[paid, before]), "aberto pago 90");
}

#[test]
fn a_cancelled_subscription_ends_with_what_was_paid() {
    let paid = fact(EventKind::Approved, 90, "A");
    let cancelled = fact(EventKind::Cancellation, 95, "");
    assert_eq!(short(&[paid.clone(), cancelled.clone()]), "aberto pago 120 termina 120");
    let unknown = Fact { paid_until: None, ..paid.clone() };
    assert_eq!(short(&[unknown, cancelled.clone()]), "fechado assinatura-cancelada -");
    let over = fact(EventKind::Approved, 50, "A");
    assert_eq!(short(&[over, cancelled.clone()]), "fechado assinatura-cancelada - pago 80");
    let again = fact(EventKind::Approved, 96, "B");
    assert_eq!(short(&[paid.clone(), cancelled, again]), "aberto pago 126");
    let undone = fact(EventKind::Canceled, 95, "");
    assert_eq!(short(&[paid, undone]), "fechado cancelada - pago 120");
}

#[test]
fn students_whose_payments_never_came_here() {
    for (event, expected) in [
        (fact(EventKind::Refunded, 95, "X"), "fechado reembolsada X"),
        (fact(EventKind::Canceled, 95, ""), "fechado cancelada -"),
        (fact(EventKind::Canceled, 95, "X"), "nada"),
        (fact(EventKind::Delayed, 95, "X"), "nada atrasado 95"),
        (fact(EventKind::Expired, 95, "X"), "nada"),
        (fact(EventKind::Cancellation, 95, ""), "fechado assinatura-cancelada -"),
        (fact(EventKind::Protest, 95, "X"), "nada disputa 95"),
    ] {
        assert_eq!(short(std::slice::from_ref(&event)), expected);
        let paid = fact(EventKind::Approved, 96, "B");
        let dispute = if event.kind == EventKind::Protest { " disputa 95" } else { "" };
        assert_eq!(short(&[event, paid]), format!("aberto pago 126{dispute}"));
    }
    let cancelled = [fact(EventKind::Cancellation, 95, "")];
    let kept = purchase_state(&cancelled, NOW, Some(Instant(110 * DAY_S)));
    assert_eq!(kept.ends_at, Some(Instant(110 * DAY_S)));
    assert_eq!(kept.access, Access::Unsaid);
}

#[test]
fn a_dispute_ends_when_the_money_goes_back() {
    let (paid, protest) = (fact(EventKind::Approved, 90, "A"), fact(EventKind::Protest, 92, "A"));
    assert_eq!(short(&[paid.clone(), protest.clone()]), "aberto pago 120 disputa 92");
    let settled = fact(EventKind::Complete, 98, "A");
    assert_eq!(short(&[paid.clone(), protest.clone(), settled]), "aberto pago 120 disputa 92");
    let back = fact(EventKind::Refunded, 95, "A");
    assert_eq!(short(&[paid, protest, back]), "fechado reembolsada A");
}

#[test]
fn the_newest_plan_holds() {
    let paid = fact(EventKind::Approved, 60, "A");
    let switched = Fact { role: Some(Role::Vip), ..fact(EventKind::SwitchPlan, 70, "") };
    let role = |facts: &[Fact]| of(facts).role.map(|(_, role)| role);
    assert_eq!(role(&[paid.clone(), switched.clone()]), Some(Role::Vip));
    let renewed = Fact { role: Some(Role::Podio), ..fact(EventKind::Approved, 90, "B") };
    assert_eq!(role(&[paid.clone(), switched.clone(), renewed.clone()]), Some(Role::Podio));
    assert_eq!(role(&[switched]), Some(Role::Vip), "also without a payment");
    // The plan of a refunded purchase ends with it, while another purchase stays.
    let other = Fact { subscriber: Some("S2".to_owned()), ..renewed };
    let back = Fact { subscriber: Some("S2".to_owned()), ..fact(EventKind::Refunded, 95, "B") };
    assert_eq!(role(&[paid, other, back]), Some(Role::Pro));
}

/// Random facts of few transactions and subscriptions, so that many share one.
fn facts() -> impl Strategy<Value = Vec<Fact>> {
    let kinds: Vec<EventKind> = EventKind::ALL.iter().copied().filter(|kind| kind.acts()).collect();
    let one = (
        proptest::sample::select(kinds),
        80_i64..100,
        proptest::option::of("[AB]"),
        proptest::option::of("[ST]"),
        proptest::option::of("[12]"),
        proptest::option::of(1_i64..3),
        proptest::option::of(85_i64..120),
        proptest::sample::select(vec![None, Some(Role::Pro), Some(Role::Vip)]),
    );
    let fact =
        one.prop_map(|(kind, day, transaction, subscriber, product, number, until, role)| Fact {
            kind,
            at_ms: day * DAY_S * 1000,
            transaction,
            subscriber,
            product,
            role,
            paid_until: until.filter(|_| kind.is_payment()).map(|day| Instant(day * DAY_S)),
            recurrence: number,
        });
    proptest::collection::vec(fact, 0..10)
}

proptest! {
    #[test]
    fn the_order_and_repetitions_do_not_matter(
        (facts, shuffled) in facts().prop_flat_map(|facts| {
            let twice = [facts.clone(), facts.clone()].concat();
            (Just(facts), Just(twice).prop_shuffle())
        })
    ) {
        prop_assert_eq!(of(&facts), of(&shuffled));
    }

    #[test]
    fn who_is_kept_out_owes_nothing_and_who_is_late_is_in(facts in facts()) {
        let state = of(&facts);
        if state.is_closed() {
            prop_assert_eq!((state.late_since, state.ends_at, &state.payment), (None, None, &None));
        }
        prop_assert!(state.ends_at.is_none_or(|end| NOW < end));
        prop_assert!(state.late_since.is_none() || state.ends_at.is_none());
        prop_assert_eq!(state.is_open(), state.payment.is_some());
    }

    #[test]
    fn an_older_event_of_a_refunded_transaction_opens_nothing(day in 50_i64..95, facts in facts()) {
        let refund = fact(EventKind::Refunded, 96, "Z");
        let paid = fact(EventKind::Approved, 90, "Z");
        let known = [facts, vec![refund, paid]].concat();
        let late = [known.clone(), vec![fact(EventKind::Approved, day, "Z")]].concat();
        prop_assert!(of(&known).is_open() || !of(&late).is_open());
    }
}
