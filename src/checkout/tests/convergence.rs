//! Sixty events in a hundred random orders, with duplicates, end in the same
//! accounts.

use serde_json::{Value, json};

use super::TestApp;

const EVENTS: &str = include_str!("../../../tests/samples/checkout/sessenta.jsonl");

/// The accounts at the end, for every order.
const ACCOUNTS: [&str; 16] = [
    "ana@exemplo.test vip pago 2026-11-12 atrasado 2026-11-12",
    "bia@exemplo.test pro pago 2026-12-05",
    "dan@exemplo.test pro pago 2026-11-15 atrasado 2026-11-15",
    "edu@exemplo.test pro pago 2026-12-10",
    "eva@exemplo.test pro pago 2026-11-25",
    "fornecedor@exemplo.test drop",
    "gil@exemplo.test pro pago 2026-12-10 termina 2026-12-10",
    "iris@exemplo.test podio pago 2026-11-01 atrasado 2026-11-04",
    "ivo@exemplo.test pro suspenso",
    "kia@exemplo.test podio disputa 2026-11-01",
    "leo@exemplo.test pro suspenso pago 2026-10-10",
    "lia@exemplo.test pro pago 2026-12-20",
    "max@exemplo.test pro suspenso",
    "noa@exemplo.test pro pago 2026-12-07 disputa 2026-11-16",
    "rui@exemplo.test vip suspenso",
    "uli@exemplo.test vip pago 2026-12-14",
];

#[test]
fn a_hundred_orders_end_in_the_same_accounts() {
    let events: Vec<Value> =
        EVENTS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.len(), 60);
    let test = TestApp::new();
    let mut random = Random(0x005e_ed0f_60e7);
    for round in 0..100 {
        test.write(|tx, _| {
            for table in ["checkout_event", "checkout_count", "user"] {
                tx.execute(&format!("DELETE FROM {table}"), [])?;
            }
            tx.execute(
                "INSERT INTO user (email, name, role, created_at)
                 VALUES ('fornecedor@exemplo.test', 'Rui', 'drop', 0)",
                [],
            )
        });
        let mut order: Vec<Value> = events.clone();
        for _ in 0..30 {
            order.push(events[random.below(events.len())].clone());
        }
        // The first round is the order in which they happened.
        if round > 0 {
            random.shuffle(&mut order);
        }
        test.receive(&order);
        assert_eq!(test.accounts(), ACCOUNTS, "round {round}");
        let stored: Vec<i64> = test.ask("SELECT count(*) FROM checkout_event", |row| row.get(0));
        assert_eq!(stored, [60], "duplicates are stored once");
        expect_true_totals(&test);
        super::search::expect_each_address_to_find_its_events(&test);
    }
}

#[test]
fn made_up_events_end_alike_in_every_order() {
    // An event without a plan counts for the student whose purchase it belongs
    // to, in whatever order the events arrive.
    let plans = [("oferta-vip", "vip"), ("501", "pro")];
    let mut config = super::config_with(&plans);
    config.checkout.default_plan = String::new();
    let test = TestApp::with(config);
    let mut random = Random(0x00c0_ffee_1234);
    for scenario in 0..120 {
        let length = 2 + random.below(9);
        let events: Vec<Value> = (0..length).map(|number| made_up(&mut random, number)).collect();
        let mut ends = Vec::new();
        for _ in 0..8 {
            test.write(|tx, _| {
                for table in ["checkout_event", "checkout_count", "user"] {
                    tx.execute(&format!("DELETE FROM {table}"), [])?;
                }
                Ok(())
            });
            let mut order = events.clone();
            random.shuffle(&mut order);
            test.receive(&order);
            expect_true_totals(&test);
            ends.push((test.accounts(), order));
        }
        for (accounts, order) in &ends {
            let (first, first_order) = &ends[0];
            assert_eq!(accounts, first, "scenario {scenario}: {order:#?}\nand {first_order:#?}");
        }
    }
}

/// Checks that the totals of the list match its rows.
#[track_caller]
fn expect_true_totals(test: &TestApp) {
    let wrong: Vec<i64> = test.ask(
        "SELECT (SELECT coalesce(sum(events), 0) FROM checkout_count) - (SELECT count(*) FROM checkout_event)
         UNION ALL
         SELECT count(*) FROM checkout_count c
         WHERE events <> (SELECT count(*) FROM checkout_event e
                          WHERE e.kind = c.kind AND e.state = c.state)",
        |row| row.get(0),
    );
    assert_eq!(wrong, [0, 0]);
}

/// An event of one of three purchases of one buyer, two of them of
/// subscriptions.
fn made_up(random: &mut Random, number: usize) -> Value {
    let purchase = random.below(3);
    let kind = [
        "PURCHASE_APPROVED",
        "PURCHASE_APPROVED",
        "PURCHASE_APPROVED",
        "PURCHASE_COMPLETE",
        "PURCHASE_REFUNDED",
        "PURCHASE_CANCELED",
        "PURCHASE_DELAYED",
        "PURCHASE_PROTEST",
        "SWITCH_PLAN",
        "SUBSCRIPTION_CANCELLATION",
    ][random.below(10)];
    let at =
        1_790_000_000_000_i64 + i64::try_from(random.below(40) * 1000 + number).unwrap() * 86_400;
    let next = 1_795_176_000_000_i64 + i64::try_from(random.below(60)).unwrap() * 86_400_000;
    let offer = ["oferta-vip", "outra"][random.below(2)];
    let plan = [501, 9][random.below(2)];
    let code = ["S-A", "S-B", ""][purchase];
    let buyer = json!({ "email": "lia@exemplo.test", "name": "Lia Prado" });
    let data = match kind {
        "SWITCH_PLAN" => json!({
            "subscription": { "subscriber_code": code, "product": { "id": 99 }, "user": { "email": "lia@exemplo.test" } },
            "plans": [{ "id": plan, "current": true }],
        }),
        "SUBSCRIPTION_CANCELLATION" => json!({
            "subscriber": { "code": code, "email": "lia@exemplo.test" },
            "subscription": { "id": 1, "plan": { "id": plan } }, "product": { "id": 99 },
        }),
        _ => json!({
            "buyer": buyer, "product": { "id": 99 },
            "purchase": {
                "transaction": format!("HP{purchase}"), "offer": { "code": offer },
                "date_next_charge": next, "recurrence_number": 1 + random.below(2),
            },
            "subscription": { "plan": { "id": plan }, "subscriber": { "code": code } },
        }),
    };
    json!({ "id": format!("e-{number}"), "creation_date": at, "event": kind, "data": data })
}

/// The same numbers in every run (xorshift).
struct Random(u64);

impl Random {
    fn shuffle<T>(&mut self, order: &mut [T]) {
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last + 1));
        }
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 16) % end as u64).unwrap()
    }
}
