//! Tests of claims: any sequence of documents ends like the newest alone,
//! counts equal a recount, and each opening is notified once.

use proptest::prelude::*;

use super::*;
use crate::base::UserId;
use crate::marketplace::books::orders::tests::{NEVER, NOW, SELLER, World, order};

const ANA: UserId = UserId(1);

fn claim(id: i64, status: &str, age: i64) -> ClaimDocument {
    ClaimDocument {
        id,
        seller: SELLER,
        state: if status == "closed" { ClaimState::Closed } else { ClaimState::Open },
        kind: "mediations".to_owned(),
        stage: "claim".to_owned(),
        reason: "PDD1".to_owned(),
        resource: "order".to_owned(),
        resource_id: Some(2_000_001),
        opened_at: Instant(NOW - 100),
        updated_at: Instant(NOW - age),
        action: "refund".to_owned(),
        due_at: Some(Instant(NOW + 100)),
        came_back: false,
        resolution: String::new(),
    }
}

fn world() -> World {
    let world = World::new();
    world.seller(ANA);
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_course_of_documents_ends_like_the_newest_alone(
        course in proptest::collection::vec((1_i64..4, 0_i64..6), 1..30),
    ) {
        let world = world();
        // Each second has one state, as at the marketplace.
        let course: Vec<_> = course
            .into_iter()
            .map(|(id, age)| claim(id, if age % 2 == 0 { "closed" } else { "opened" }, age))
            .collect();
        world.book(ANA, course.clone(), NEVER);
        for id in 1..4 {
            let newest = course.iter().filter(|one| one.id == id).max_by_key(|one| one.updated_at);
            let stored = world.read(|tx| store::stored(tx, ANA, id));
            prop_assert_eq!(stored, newest.cloned());
        }
        let numbers = world.read(|tx| tx.value::<bool>(
            "SELECT open_claims = (SELECT count(*) FROM claim WHERE state = 1) FROM ml_account", []));
        prop_assert!(numbers);
    }
}

#[test]
fn a_claim_is_told_when_it_is_opened_and_opened_again() {
    let world = world();
    let course = vec![
        claim(1, "opened", 90),
        claim(1, "opened", 80),
        claim(1, "closed", 70),
        claim(1, "opened", 60),
        claim(1, "opened", 60),
        claim(1, "closed", 65),
        claim(2, "closed", 50),
    ];
    world.book(ANA, course, Instant(NOW - 100));
    assert_eq!(
        world.told(),
        [
            "2 Nova reclamação: Venda 2000001 na LOJA_X (1)",
            "2 Reclamação reaberta: Venda 2000001 na LOJA_X (1)",
        ]
    );
    let mut old = claim(3, "opened", 10);
    old.opened_at = Instant(NOW - 101);
    world.book(ANA, vec![old], Instant(NOW - 100));
    assert_eq!(world.told().len(), 2, "opened before the account was linked");
}

#[test]
fn a_claim_that_is_gone_waits_for_nothing() {
    let world = world();
    world.book(ANA, vec![claim(1, "opened", 90), claim(2, "opened", 90)], NEVER);
    for (owner, account) in [(ANA, SELLER), (ANA, SELLER), (UserId(2), SELLER), (ANA, MlUserId(9))]
    {
        let one = if (owner, account) == (ANA, SELLER) { 1 } else { 2 };
        let context = world.context.clone();
        world.write(move |tx| gone((tx, &context, owner), account, one));
    }
    let numbers =
        "SELECT group_concat(state || coalesce(action, '') || coalesce(due_at, '')) || ' of ' ||
                          (SELECT open_claims FROM ml_account) FROM claim";
    let numbers = world.read(|tx| tx.value::<String>(numbers, []));
    assert_eq!(numbers, format!("2,1refund{} of 1", NOW + 100));
    let back = claim(1, "opened", 90);
    assert_eq!(world.book(ANA, vec![back], NEVER), [Applied::Stored]);
}

#[test]
fn a_claim_about_a_parcel_names_the_first_order_of_it_whatever_comes_first() {
    let parcel = |id: i64, at: i64| {
        let mut order = order(id);
        (order.created_at, order.shipping_id) = (Instant(NOW - at), Some(44));
        order
    };
    let mut about = claim(1, "opened", 90);
    (about.resource, about.resource_id) = ("shipment".to_owned(), Some(44));
    let named =
        |world: &World| world.read(|tx| tx.values::<Option<i64>>("SELECT order_id FROM claim", []));
    let before = world();
    before.book(ANA, vec![about.clone()], NEVER);
    assert_eq!(named(&before), [None], "its order is not known");
    before.apply(ANA, vec![parcel(7, 10)], NEVER);
    assert_eq!(named(&before), [Some(7)]);
    before.apply(ANA, vec![parcel(8, 20), parcel(6, 5)], NEVER);
    assert_eq!(named(&before), [Some(8)]);
    let after = world();
    after.apply(ANA, vec![parcel(7, 10), parcel(8, 20), parcel(6, 5)], NEVER);
    after.apply(UserId(2), vec![parcel(5, 30)], NEVER);
    after.book(ANA, vec![about], NEVER);
    assert_eq!(named(&after), [Some(8)]);
    // An order that moves to another parcel takes its name with it.
    let mut moved = parcel(8, 20);
    (moved.shipping_id, moved.updated_at) = (Some(45), Instant(NOW + 1));
    after.apply(ANA, vec![moved], NEVER);
    assert_eq!(named(&after), [Some(7)]);
}

#[test]
fn another_owner_sees_nothing_of_it() {
    let world = world();
    world.book(ANA, vec![claim(1, "opened", 90)], NEVER);
    let other = world.read(|tx| store::stored(tx, UserId(2), 1));
    assert_eq!(other, None);
}
