//! Tests of claims: any sequence of documents ends like the newest alone,
//! counts equal a recount, and each opening is notified once.

use proptest::prelude::*;

use super::*;
use crate::base::UserId;
use crate::marketplace::books::orders::tests::{NEVER, NOW, SELLER, World};

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
            "2 Nova reclamação: Pedido 2000001 na LOJA_X (1)",
            "2 Reclamação reaberta: Pedido 2000001 na LOJA_X (1)",
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
fn another_owner_sees_nothing_of_it() {
    let world = world();
    world.book(ANA, vec![claim(1, "opened", 90)], NEVER);
    let other = world.read(|tx| store::stored(tx, UserId(2), 1));
    assert_eq!(other, None);
}
