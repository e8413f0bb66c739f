//! A marketplace that answers every call with 429 for a while.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{figure, times};
use crate::support::sync::{PATIENCE, mirrored, orders, shop, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::LOJA;

/// Seconds that each refusal asks for.
const RETRY_AFTER: i64 = 20;
/// What a notification may take: the marketplace gives half a second.
const IN_TIME: Duration = Duration::from_millis(500);

#[test]
fn a_storm_of_429_is_waited_out_and_nothing_is_lost() {
    let world = shop();
    let site = mirrored(&world);
    let ana = site.person("ana");
    let had = orders(&site);
    world.fault(&json!({
        "path_prefix": "/", "times": 0, "kind": "rate_limited", "retry_after": RETRY_AFTER,
    }));
    let before = world.requests().len();
    let sales = i64::try_from(times(30, 300)).unwrap();
    let mut waits: Vec<Duration> = Vec::new();
    for _ in 0..sales {
        world.sale(LOJA);
        let began = Instant::now();
        ana.get("/painel").expect(200);
        waits.push(began.elapsed());
        site.clock().advance_s(2);
    }
    let delivered = world.deliveries();
    assert!(delivered.iter().all(|one| one["status"] == 200), "{delivered:?}");
    let calls = world.requests().len() - before;
    // Each refusal names a pause, and the sales took some of those; a call for each
    // notification and a few tries would be many more.
    let pauses = usize::try_from(sales * 2 / RETRY_AFTER + 2).unwrap();
    assert!(calls <= pauses * 6, "{calls} calls in {pauses} pauses");
    assert_eq!(orders(&site), had, "nothing can have come");
    waits.sort_unstable();
    let slow = waits[waits.len() * 9 / 10];
    assert!(slow < IN_TIME, "pages took {slow:?}");
    world.clear_faults();
    wait_until_worked(&world, &site);
    until("every sale is there", PATIENCE, || {
        site.clock().advance_s(30);
        (orders(&site) == had + sales).then_some(())
    });
    world.no_violations();
    figure("F23", &format!("{sales} sales in the storm: {calls} calls, all read afterwards"));
}
