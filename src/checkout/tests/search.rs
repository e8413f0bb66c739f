//! Searches by e-mail address, also after the accounts change.

use serde_json::{Value, json};

use super::*;
use crate::base::UserId;
use crate::checkout::store::{self, PurchaseQuery};

const LIA: &str = "lia@exemplo.test";
const NEW: &str = "nova@exemplo.test";

fn event(kind: EventKind, transaction: &str, email: &str) -> Value {
    json!({
        "id": format!("{}-{transaction}-{email}", kind.name()), "event": kind.platform_name(),
        "data": {
            "product": { "id": 77001 }, "buyer": { "email": email, "name": "Lia Prado" },
            "purchase": { "transaction": transaction },
        },
    })
}

/// Every address finds the events that carry it, and no others.
#[track_caller]
pub(super) fn expect_each_address_to_find_its_events(test: &TestApp) {
    let addresses: Vec<String> = test
        .ask("SELECT DISTINCT email FROM checkout_event UNION SELECT email FROM user", |row| {
            row.get(0)
        });
    for address in addresses.iter().filter(|address| !address.is_empty()) {
        let sql = format!(
            "SELECT event_id FROM checkout_event WHERE instr(email, '{address}') = 1
             ORDER BY event_id DESC"
        );
        let expected: Vec<i64> = test.ask(&sql, |row| row.get(0));
        let wanted = PurchaseQuery { search: address.clone(), ..PurchaseQuery::default() };
        let found = test.0.read(|tx| store::ids(tx, &wanted, 100));
        assert_eq!(found, expected, "{address}");
    }
}

fn indexed(test: &TestApp) -> i64 {
    let sql = "SELECT count(*) FROM checkout_event WHERE email <> '' AND state <> 3 AND apart = 1";
    test.ask(sql, |row| row.get(0))[0]
}

#[test]
fn events_are_found_by_the_address_that_they_carry() {
    let test = TestApp::new();
    test.receive(&[
        event(EventKind::Approved, "A", LIA),
        event(EventKind::Protest, "A", LIA),
        event(EventKind::Printed, "B", LIA),
    ]);
    expect_each_address_to_find_its_events(&test);
    assert_eq!(indexed(&test), 0, "the account's own address finds them");
    test.receive(&[
        event(EventKind::Complete, "A", "outra@exemplo.test"),
        event(EventKind::Refunded, "C", "ninguem@exemplo.test"),
    ]);
    expect_each_address_to_find_its_events(&test);
    assert_eq!(indexed(&test), 2);
    test.write(|tx, _| tx.execute("UPDATE user SET email = ?1 WHERE email = ?2", [NEW, LIA]));
    expect_each_address_to_find_its_events(&test);
    test.receive(&[event(EventKind::Approved, "D", NEW), event(EventKind::Approved, "E", LIA)]);
    expect_each_address_to_find_its_events(&test);
    test.write(|tx, _| {
        let lia: UserId = tx.value("SELECT user_id FROM user WHERE email = ?1", [NEW])?;
        crate::people::store::replace_by_shell(tx, lia)
    });
    expect_each_address_to_find_its_events(&test);
    assert_eq!(indexed(&test), 5, "all but the kept one and the one of the other account");
}
