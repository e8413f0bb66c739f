//! Events together with what staff and time change in the same account.

use serde_json::{Value, json};

use super::*;
use crate::accounts::students;
use crate::base::DAY_S;
use crate::checkout::sweep::sweep;

const LIA: &str = "lia@exemplo.test";

/// An event of Lia's subscription, days from now.
fn event(kind: EventKind, transaction: &str, day: i64) -> Value {
    let ms = |day: i64| NOW.plus(day * DAY_S).0 * 1000;
    json!({
        "id": format!("{}-{transaction}-{day}", kind.name()), "creation_date": ms(day), "event": kind.platform_name(),
        "data": {
            "product": { "id": 77001 }, "buyer": { "email": LIA, "name": "Lia Prado" },
            "purchase": {
                "transaction": transaction, "recurrence_number": 2, "date_next_charge": ms(day + 30),
            },
            "subscription": { "subscriber": { "code": "S1" } },
        },
    })
}

fn suspend_by_hand(test: &TestApp) {
    test.write(|tx, _| {
        let lia = crate::accounts::terms::by_email(tx, LIA)?.unwrap();
        students::suspend(tx, lia.user_id, "por decisão da equipe")
    });
}

#[track_caller]
fn lia(test: &TestApp, expected: &str) {
    let account = test.account(LIA);
    assert_eq!(account, Some(format!("{LIA} {expected}")), "{:?}", test.last());
}

#[test]
fn only_a_new_payment_lets_in_whom_staff_suspended() {
    let test = TestApp::new();
    test.receive(&[event(EventKind::Approved, "A", 0)]);
    suspend_by_hand(&test);
    let mut again = event(EventKind::Approved, "A", 3);
    again["id"] = json!("outro");
    for harmless in [
        event(EventKind::Complete, "A", 8),
        again,
        event(EventKind::Approved, "older", -30),
        event(EventKind::Refunded, "older", 2),
        event(EventKind::Protest, "A", 2),
        event(EventKind::Delayed, "B", 4),
    ] {
        test.receive(&[harmless]);
        assert!(test.account(LIA).unwrap().contains("suspenso"), "{:?}", test.last());
    }
    test.receive(&[event(EventKind::Approved, "C", 5)]);
    lia(&test, "pro pago 2026-12-25 disputa 2026-11-22");
    let (state, words) = test.last();
    assert_eq!(state, EventState::Applied);
    assert!(words.starts_with("Reativou o acesso."), "{words}");
}

#[test]
fn what_staff_changed_stays_until_an_event_says_otherwise() {
    let test = TestApp::new();
    test.receive(&[event(EventKind::Approved, "A", 0)]);
    test.write(|tx, _| tx.execute("UPDATE user SET role = 'podio'", []));
    test.receive(&[event(EventKind::Complete, "A", 8), event(EventKind::Delayed, "B", 30)]);
    lia(&test, "podio pago 2026-12-20 atrasado 2026-12-20");
    test.write(|tx, _| tx.execute("UPDATE user SET late_since = NULL", []));
    test.receive(&[event(EventKind::Expired, "B", 31)]);
    lia(&test, "podio pago 2026-12-20");
    test.receive(&[event(EventKind::Approved, "B", 32)]);
    lia(&test, "pro pago 2027-01-21");
}

#[test]
fn the_sweep_waits_for_the_last_second() {
    let test = TestApp::new();
    test.receive(&[event(EventKind::Approved, "A", -30), event(EventKind::Delayed, "B", 0)]);
    lia(&test, "pro pago 2026-11-20 atrasado 2026-11-20");
    let swept = |now: &str| {
        test.now_is(now);
        test.write(|tx, _| sweep(tx, 7))
    };
    assert_eq!(swept("2026-11-27T11:59:59Z"), 0);
    assert_eq!(swept("2026-11-27T12:00:00Z"), 1);
    assert_eq!(swept("2026-11-27T12:00:00Z"), 0, "once");
    lia(&test, "pro suspenso pago 2026-11-20 atrasado 2026-11-20");
    let noted: Vec<String> = test.ask(
        "SELECT actor_kind || ' ' || action FROM audit ORDER BY audit_id DESC LIMIT 1",
        |row| row.get(0),
    );
    assert_eq!(noted, ["sistema aluno.suspender"]);
    test.receive(&[event(EventKind::Approved, "B", 8)]);
    lia(&test, "pro pago 2026-12-28");
    test.receive(&[event(EventKind::Cancellation, "", 9)]);
    lia(&test, "pro pago 2026-12-28 termina 2026-12-28");
    assert_eq!(swept("2026-12-28T11:59:59Z"), 0);
    assert_eq!(swept("2026-12-28T12:00:00Z"), 1);
    // The end of the paid period changes nothing by itself.
    test.receive(&[event(EventKind::Approved, "C", 40)]);
    assert_eq!(swept("2030-01-01T00:00:00Z"), 0);
    lia(&test, "pro pago 2027-01-29");
}

#[test]
fn without_a_number_nobody_is_reminded_until_a_purchase_brings_one() {
    let test = TestApp::new();
    let reminders = || -> i64 {
        test.ask("SELECT count(*) FROM outbox WHERE kind = 'pagamento_atrasado'", |row| row.get(0))
            [0]
    };
    test.receive(&[event(EventKind::Approved, "A", -60), event(EventKind::Delayed, "B", -30)]);
    assert_eq!(reminders(), 0);
    let mut paid = event(EventKind::Approved, "B", -29);
    paid["data"]["buyer"]["checkout_phone"] = json!("11987650000");
    test.receive(&[paid, event(EventKind::Delayed, "C", 0), event(EventKind::Delayed, "D", 1)]);
    assert_eq!(reminders(), 1);
}

#[test]
fn an_event_processed_again_changes_an_account_once() {
    let test = TestApp::new();
    test.receive(&[event(EventKind::Approved, "A", 0)]);
    suspend_by_hand(&test);
    let again = |id: i64, role: Option<Role>| {
        let (stored, body) = test.0.read(|tx| store::one(tx, id)).unwrap();
        let payload: Value = serde_json::from_str(&body.unwrap()).unwrap();
        let incoming = Incoming { role, ..test.incoming(&payload) };
        test.write(move |tx, services| apply::again(tx, services, &incoming, &stored)).state
    };
    assert_eq!(again(1, Some(Role::Pro)), EventState::NoEffect);
    lia(&test, "pro suspenso pago 2026-12-20");
    assert_eq!(test.last().0, EventState::Applied, "its story stays");
    // Another plan is configured for the product now.
    assert_eq!(again(1, Some(Role::Vip)), EventState::Applied);
    lia(&test, "vip suspenso pago 2026-12-20");
}

#[test]
fn who_comes_by_another_door_is_found_by_what_waited() {
    let test = TestApp::new();
    test.receive(&[event(EventKind::Refunded, "A", 0)]);
    assert_eq!(test.last().0, EventState::NoStudent);
    test.write(|tx, _| {
        tx.execute(
            "INSERT INTO user (email, name, role, created_at) VALUES (?1, 'Lia', 'pro', 0)",
            [LIA],
        )
    });
    test.receive(&[event(EventKind::Protest, "A", -1)]);
    lia(&test, "pro suspenso");
}

#[test]
fn a_part_paid_back_closes_nothing_and_is_told() {
    let test = TestApp::new();
    test.write(|tx, _| {
        tx.execute(
            "INSERT INTO user (email, name, role, created_at) VALUES ('chefe@x.test', 'Chefe', 'admin', 0)",
            [],
        )
    });
    test.receive(&[event(EventKind::Approved, "A", 0)]);
    let acts = || -> Vec<String> {
        test.ask("SELECT action FROM audit ORDER BY audit_id", |row| row.get(0))
    };
    let told = || -> Vec<String> {
        test.ask(
            "SELECT u.name || ': ' || n.title FROM notification n JOIN user u ON u.user_id = n.owner_id",
            |row| row.get(0),
        )
    };
    for (number, kind) in
        [EventKind::Refunded, EventKind::Chargeback, EventKind::Canceled].into_iter().enumerate()
    {
        let mut part = event(kind, "A", 3);
        part["data"]["purchase"]["status"] = json!(" Partially_Refunded ");
        test.receive(&[part.clone(), part]);
        lia(&test, "pro pago 2026-12-20");
        let (state, words) = test.last();
        assert_eq!(state, EventState::Applied);
        assert!(words.contains("O acesso continua"), "{words}");
        assert_eq!(acts()[number + 1..], ["aluno.reembolso_parcial"]);
        // The same part of the same purchase is told once, whatever the event is called.
        assert_eq!(told(), ["Chefe: Reembolso parcial"]);
    }
    // The whole refund that follows is one.
    test.receive(&[event(EventKind::Refunded, "A", 5)]);
    lia(&test, "pro suspenso");
}
