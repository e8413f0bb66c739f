//! Readings that are interrupted again and again.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A periodic run whose time is over after `looks` checks of `is_over`.
fn run_shortly(world: &World, looks: usize) {
    let asked = AtomicUsize::new(0);
    let is_over = || asked.fetch_add(1, Ordering::Relaxed) >= looks;
    sync::sweep(&world.app, &is_over).unwrap();
}

fn is_read(world: &World) -> bool {
    let left =
        "SELECT 1 FROM ml_sync WHERE area = 2 AND (ended_at IS NULL OR started_at <= 1795176000)";
    world.rows(left).is_empty()
}

#[test]
fn a_scan_that_is_longer_than_its_turn_comes_to_an_end() {
    let world = World::linked();
    for count in 0..350 {
        let item = json!({ "ml_user_id": SHOP.0, "title": format!("Cabo {count}"), "price": 9.9 });
        world.control("items", &item);
    }
    world.advance(7 * 3600);
    let runs = (0..200).find(|_| {
        run_shortly(&world, 14);
        world.advance(60);
        is_read(&world)
    });
    assert!(runs.is_some_and(|runs| runs > 2), "{runs:?}");
    assert_eq!(world.rows("SELECT count(*) FROM listing"), ["351"]);
    assert_eq!(world.rows("SELECT done, expected FROM ml_sync WHERE area = 2"), ["351 351"]);
    assert_eq!(world.rows("SELECT count(*) FROM ml_seen"), ["0"]);
}
