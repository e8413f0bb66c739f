//! Sixty events in a hundred random orders, with duplicates, end in the same
//! accounts.

use serde_json::Value;

use super::House;

const EVENTS: &str = include_str!("../../../tests/samples/checkout/sessenta.jsonl");

/// What every order ends in.
const ACCOUNTS: [&str; 16] = [
    "ana@exemplo.test vip pago 2026-11-12 atrasado 2026-11-12",
    "bia@exemplo.test pro pago 2026-12-05",
    "dan@exemplo.test pro pago 2026-11-15 atrasado 2026-11-15",
    "edu@exemplo.test pro pago 2026-12-10",
    "eva@exemplo.test pro pago 2026-11-25",
    "fornecedor@exemplo.test drop",
    "gil@exemplo.test pro pago 2026-12-10 termina 2026-12-10",
    "iris@exemplo.test podio pago 2026-11-01 atrasado 2026-11-04",
    "ivo@exemplo.test pro suspenso pago 2026-12-08",
    "kia@exemplo.test podio disputa 2026-11-01",
    "leo@exemplo.test pro suspenso pago 2026-10-10",
    "lia@exemplo.test pro pago 2026-12-20",
    "max@exemplo.test pro suspenso pago 2026-12-02",
    "noa@exemplo.test pro pago 2026-12-07 disputa 2026-11-16",
    "rui@exemplo.test vip suspenso pago 2026-12-01",
    "uli@exemplo.test vip pago 2026-12-14",
];

#[test]
fn a_hundred_orders_end_in_the_same_accounts() {
    let events: Vec<Value> = EVENTS
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), 60);
    let house = House::new();
    let mut random = Random(0x005e_ed0f_60e7);
    for round in 0..100 {
        house.write(|tx, _| {
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
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last + 1));
            }
        }
        house.receive(&order);
        assert_eq!(house.accounts(), ACCOUNTS, "round {round}");
        let stored: Vec<i64> = house.ask("SELECT count(*) FROM checkout_event", |row| row.get(0));
        assert_eq!(stored, [60], "duplicates are stored once");
        let counted: Vec<(i64, i64)> = house.ask(
            "SELECT (SELECT sum(events) FROM checkout_count),
                    (SELECT count(*) FROM checkout_count c
                     WHERE events <> (SELECT count(*) FROM checkout_event e
                                      WHERE e.kind = c.kind AND e.state = c.state))",
            |row| Ok((row.get(0)?, row.get(1)?)),
        );
        assert_eq!(counted, [(60, 0)], "the totals are those of the rows");
    }
}

/// The same numbers in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 16) % end as u64).unwrap()
    }
}
