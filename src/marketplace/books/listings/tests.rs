//! Tests of listings: any sequence of documents ends like the newest alone,
//! counts equal a recount, and each change is notified once.

use proptest::prelude::*;

use super::*;
use crate::base::{Cents, UserId};
use crate::marketplace::books::orders::tests::{NEVER, NOW, SELLER, World};

const ANA: UserId = UserId(1);

fn listing(number: i64, status: &str, age: i64) -> ListingDocument {
    ListingDocument {
        id: ItemId { site: "MLB".to_owned(), number },
        seller: SELLER,
        title: "Cabo USB-C".to_owned(),
        status: status.to_owned(),
        sub_status: String::new(),
        price: Some(Cents(5990)),
        currency: "BRL".to_owned(),
        available: 7,
        sold: 3,
        listing_type: "gold_special".to_owned(),
        logistic_type: "drop_off".to_owned(),
        category: "MLB31447".to_owned(),
        sku: "CAB-1".to_owned(),
        ean: String::new(),
        permalink: String::new(),
        thumbnail: String::new(),
        created_at: Instant(NOW - 90_000),
        updated_at: Instant(NOW - age),
        is_whole: true,
        hides_codes: false,
    }
}

fn world() -> World {
    let world = World::new();
    world.seller(ANA);
    world.write(|tx| {
        // The first reading is over.
        tx.execute(
            "INSERT INTO ml_sync (ml_user_id, area, good_until, next_at, at_once) VALUES (?1, 2, 0, 0, 0)",
            [SELLER],
        )
    });
    world
}

fn numbers(world: &World) -> (i64, i64) {
    world.read(|tx| {
        tx.one(
            "SELECT a.listings, (SELECT count(*) FROM listing l JOIN word w ON w.word_id = l.status
                                 WHERE l.owner_id = a.owner_id AND w.text IN ('active', 'paused'))
             FROM ml_account a",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_course_of_documents_ends_like_the_newest_alone(
        course in proptest::collection::vec(
            (1_i64..4, 0_usize..6), 1..30),
    ) {
        let (world, straight) = (world(), world());
        // Each second has one state, as at the marketplace.
        let statuses = ["active", "paused", "closed", "odd", "paused", "active"];
        let documents: Vec<_> = course
            .into_iter()
            .map(|(number, at)| listing(number, statuses[at], i64::try_from(at).unwrap()))
            .collect();
        let mut sorted = documents.clone();
        sorted.sort_by_key(|listing| listing.updated_at);
        world.book(ANA, documents, NEVER);
        straight.book(ANA, sorted, NEVER);
        let rows = "SELECT l.item_id, w.text, l.updated_at FROM listing l JOIN word w ON w.word_id = l.status
                    WHERE l.owner_id = ?1 ORDER BY 1";
        prop_assert_eq!(world.dump(rows, ANA), straight.dump(rows, ANA));
        let (shown, counted) = numbers(&world);
        prop_assert_eq!(shown, counted);
        let counts = world.read(|tx| tx.value::<bool>(
            "SELECT (SELECT sum(listings) FROM listing_count) = (SELECT count(*) FROM listing)", []));
        prop_assert!(counts);
    }
}

#[test]
fn a_listing_that_leaves_active_is_told_once_each_time() {
    let world = world();
    let mut empty = listing(1, "paused", 50);
    empty.sub_status = "out_of_stock".to_owned();
    let mut own = listing(1, "paused", 30);
    own.sub_status = "paused_by_seller".to_owned();
    let course = vec![
        listing(1, "active", 60),
        empty.clone(),
        empty,
        listing(1, "active", 40),
        own,
        listing(1, "active", 20),
        listing(1, "under_review", 10),
        listing(1, "active", 15),
        listing(1, "closed", 5),
    ];
    world.book(ANA, course, Instant(NOW - 100));
    assert_eq!(
        world.told(),
        [
            "4 Anúncio sem estoque: Cabo USB-C na LOJA_X (MLB1)",
            "4 Anúncio em revisão: Cabo USB-C na LOJA_X (MLB1)",
        ]
    );
    // Changes from before the account was linked, and listings seen for the
    // first time, are history.
    let course =
        vec![listing(2, "active", 300), listing(2, "paused", 200), listing(3, "paused", 5)];
    world.book(ANA, course, Instant(NOW - 100));
    assert_eq!(world.told().len(), 2);
}

#[test]
fn codes_that_only_a_single_reading_shows_are_kept() {
    let world = world();
    let sku = "SELECT sku, ean FROM listing WHERE owner_id = ?1";
    let whole = listing(1, "active", 60);
    let mut bulk = whole.clone();
    (bulk.is_whole, bulk.sku) = (false, String::new());
    bulk.ean = "7890000000017".to_owned();
    assert_eq!(
        world.book(ANA, vec![whole.clone(), bulk.clone(), bulk.clone()], NEVER),
        [Applied::Stored, Applied::Stored, Applied::Unchanged]
    );
    let kept = world.dump("SELECT 'CAB-1', '7890000000017' WHERE ?1 > 0", ANA);
    assert_eq!(world.dump(sku, ANA), kept);
    bulk.updated_at = whole.updated_at.plus(1);
    world.book(ANA, vec![bulk], NEVER);
    let changed = world.dump("SELECT '', '7890000000017' WHERE ?1 > 0", ANA);
    assert_eq!(world.dump(sku, ANA), changed);
}

#[test]
fn the_marketplaces_number_stands_until_all_were_read() {
    let world = World::new();
    world.seller(ANA);
    world.write(|tx| tx.execute("UPDATE ml_account SET listings = 2", []));
    world.book(ANA, vec![listing(1, "active", 9), listing(2, "closed", 9)], NEVER);
    assert_eq!(numbers(&world), (2, 1));
    world.book(ANA, vec![listing(3, "active", 9), listing(4, "paused", 9)], NEVER);
    assert_eq!(numbers(&world), (3, 3));
}

#[test]
fn a_listing_that_is_gone_goes() {
    let world = world();
    let one = listing(1, "active", 9);
    world.book(ANA, vec![one.clone(), listing(2, "active", 9)], NEVER);
    let context = world.context.clone();
    let applied = world.write(move |tx| {
        let of = |owner| gone((tx, &context, owner), SELLER, &one.id);
        Ok([of(UserId(2))?, of(ANA)?, of(ANA)?])
    });
    assert_eq!(applied, [Applied::Unchanged, Applied::Stored, Applied::Unchanged]);
    assert_eq!(numbers(&world), (1, 1));
}
