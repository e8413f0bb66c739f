//! Tests of the shops' database alone; `tests/it/partner/test_shops.rs` has the rest.

use std::collections::BTreeMap;

use super::sample;
use super::store::{self, Cast, ShopKey};
use super::{MOST_SHOPS, UNUSED_S};
use crate::base::UserId;
use crate::db::{ReadTx, Result};
use crate::fixture::{TestApp, config};
use crate::marketplace::books::orders::BookContext;

/// Tables that hold words and numbers for all shops.
const SHARED: [&str; 4] = ["sold_item", "word", "stock_movement_last", "setting"];

/// How many rows each table has, and the sums of those that count for all.
fn rows(tx: &ReadTx<'_>) -> Result<BTreeMap<String, i64>> {
    let tables: Vec<String> = tx.values(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND sql NOT LIKE '%VIRTUAL TABLE%'",
        [],
    )?;
    let tables = tables.into_iter().filter(|name| !SHARED.contains(&&**name));
    tables
        .map(|name| {
            let count = tx.value(&format!("SELECT count(*) FROM {name}"), [])?;
            Ok((name, count))
        })
        .collect()
}

fn made(site: &TestApp, owner: i64) -> (ShopKey, Cast) {
    let context = BookContext::of(&site.app);
    site.write(move |tx| {
        tx.run(
            "INSERT INTO user (user_id, email, name, role, created_at)
             VALUES (?1, ?1 || '@example.com', 'Ana', 'pro', 7)",
            [owner],
        )?;
        let key = store::key(tx, UserId(owner))?.unwrap();
        let cast = sample::make(tx, &context, &key)?;
        tx.run("DELETE FROM user WHERE user_id = ?1", [owner])?;
        Ok((key, cast))
    })
}

#[test]
fn what_is_removed_leaves_nothing_and_what_is_refilled_is_as_before() {
    let site = TestApp::new(config(&[("SERVER__TIMEZONE", "America/Sao_Paulo")]));
    // Counters of kinds of people stay with 0.
    let (_, first) = made(&site, 70_001);
    site.write(move |tx| store::remove(tx, first));
    let nothing = site.read(rows);
    let (key, cast) = made(&site, 70_002);
    let full = site.read(rows);
    assert_eq!((full["sale_order"], full["product"], full["claim"]), (30, 9, 1));
    let found = site.read(|tx| store::find(tx, &key)).unwrap();
    assert_eq!((found.seller, found.supplier), (cast.seller, cast.supplier));
    site.write(move |tx| store::remove(tx, cast));
    assert_eq!(site.read(rows), nothing);
    let context = BookContext::of(&site.app);
    site.write(move |tx| sample::refill(tx, &context, &key, cast));
    assert_eq!(site.read(rows), full);
}

#[test]
fn there_are_not_more_shops_than_fit() {
    let site = TestApp::new(config(&[]));
    let (key, _) = made(&site, 70_001);
    let others = i64::try_from(MOST_SHOPS).unwrap() * 2 - 2;
    site.write(move |tx| {
        tx.run(
            "INSERT INTO user (user_id, email, name, role, created_at)
             SELECT 80000 + value, value || '@example.com', 'Ana', 'pro', 7 FROM json_each(?1)",
            [format!("[{}]", (0..others).map(|one| one.to_string()).collect::<Vec<_>>().join(","))],
        )?;
        tx.run(
            "INSERT INTO partner_account (user_id, plan, updated_at)
             SELECT user_id, 'pro', 7 FROM user WHERE user_id >= 80000",
            [],
        )
    });
    assert!(!site.write(store::makes_room), "all were used of late");
    site.dir.now_is(crate::fixture::NOW.plus(UNUSED_S + 60));
    assert!(site.write(store::makes_room));
    assert!(site.read(|tx| store::find(tx, &key)).is_none(), "it made room");
}
