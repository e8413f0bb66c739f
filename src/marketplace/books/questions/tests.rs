//! Tests of questions: an answered one stays answered, counts equal a recount,
//! and each question that waits for an answer is notified once.

use proptest::prelude::*;

use super::*;
use crate::marketplace::books::orders::tests::{NEVER, NOW, SELLER, World};

const ANA: UserId = UserId(1);
const STATUSES: [&str; 8] = [
    "UNANSWERED",
    "ANSWERED",
    "CLOSED_UNANSWERED",
    "UNDER_REVIEW",
    "BANNED",
    "DELETED",
    "DISABLED",
    "NEW_ONE",
];

fn question(id: i64, status: &str, changed: Option<i64>) -> QuestionDocument {
    let row = QuestionRow {
        id,
        ml_user_id: SELLER,
        item_id: 1,
        state: QuestionState::of(status),
        status: status.to_owned(),
        text: "Serve?".to_owned(),
        asked_at: Instant(NOW - 100),
        answer: (status == "ANSWERED").then(|| "Serve sim".to_owned()),
        answered_at: (status == "ANSWERED").then_some(Instant(NOW - 50)),
        asker_id: Some(555),
        updated_at: changed.map(|age| Instant(NOW - age)),
    };
    QuestionDocument { row, site: "MLB".to_owned() }
}

fn world() -> World {
    let world = World::new();
    world.seller(ANA);
    world
}

fn state(world: &World) -> String {
    world.read(|tx| {
        tx.value(
            "SELECT q.state || ' ' || q.status || ' ' || coalesce(q.answer, '-') || ' ' || a.open_questions
             FROM question q JOIN ml_account a ON a.ml_user_id = q.ml_user_id",
            []
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn single_readings_end_like_the_latest(ages in proptest::collection::vec((1_i64..3, 0_usize..8), 1..30)) {
        let world = world();
        // Each second has one status, as at the marketplace.
        let course: Vec<_> = ages
            .iter()
            .map(|(id, at)| question(*id, STATUSES[*at], Some(i64::try_from(*at).unwrap())))
            .collect();
        world.book(ANA, course.clone(), NEVER);
        for id in 1..3 {
            let latest = course.iter().filter(|one| one.row.id == id).max_by_key(|one| one.row.updated_at);
            let stored = world.read(|tx| store::stored(tx, ANA, id));
            prop_assert_eq!(stored.map(|stored| stored.status), latest.map(|one| one.row.status.clone()));
        }
        let numbers = world.read(|tx| tx.value::<bool>(
            "SELECT open_questions = (SELECT count(*) FROM question WHERE state = 1) FROM ml_account", []));
        prop_assert!(numbers);
    }

    #[test]
    fn rows_of_searches_never_lead_back(course in proptest::collection::vec(0_usize..8, 1..20)) {
        let world = world();
        let mut furthest = 0;
        for at in course {
            world.book(ANA, vec![question(1, STATUSES[at], None)], NEVER);
            furthest = furthest.max(rank(STATUSES[at]));
            let stored = world.read(|tx| store::stored(tx, ANA, 1)).unwrap();
            prop_assert_eq!(rank(&stored.status), furthest);
        }
    }
}

#[test]
fn an_answered_question_stays_answered() {
    let world = world();
    world.book(ANA, vec![question(1, "UNANSWERED", Some(90))], NEVER);
    assert_eq!(state(&world), "1 UNANSWERED - 1");
    world.book(ANA, vec![question(1, "ANSWERED", Some(50))], NEVER);
    assert_eq!(state(&world), "2 ANSWERED Serve sim 0");
    // A row of a page that was read earlier, and a single reading that came
    // late.
    let older = vec![question(1, "UNANSWERED", None), question(1, "UNANSWERED", Some(90))];
    assert_eq!(world.book(ANA, older, NEVER), [Applied::Stale; 2]);
    let mut bare = question(1, "ANSWERED", None);
    (bare.row.answer, bare.row.answered_at) = (None, None);
    assert_eq!(world.book(ANA, vec![bare], NEVER), [Applied::Unchanged]);
    assert_eq!(state(&world), "2 ANSWERED Serve sim 0");
}

#[test]
fn what_waits_for_an_answer_is_told_once() {
    let world = world();
    let course = vec![
        question(1, "UNDER_REVIEW", Some(95)),
        question(1, "UNANSWERED", Some(90)),
        question(1, "UNANSWERED", None),
        question(2, "ANSWERED", Some(50)),
    ];
    world.book(ANA, course, Instant(NOW - 100));
    assert_eq!(world.told(), ["3 Nova pergunta: “Serve?” — MLB1 na LOJA_X (1)"]);
    let mut old = question(3, "UNANSWERED", Some(10));
    old.row.asked_at = Instant(NOW - 101);
    world.book(ANA, vec![old], Instant(NOW - 100));
    assert_eq!(world.told().len(), 1, "asked before the account was linked");
}

#[test]
fn a_message_leaves_with_the_notification_and_holds_a_short_text() {
    let world = world();
    let mut long = question(1, "UNANSWERED", Some(90));
    long.row.text = "ã".repeat(2_000);
    world.book(ANA, vec![long.clone(), long], Instant(NOW - 100));
    let queued = world.read(|tx| {
        let sql = "SELECT kind || ' ' || dedup_key || ' ' || (expires_at - created_at) || ' ' || params FROM outbox";
        tx.values::<String>(sql, [])
    });
    let params = json!({
        "listing": "MLB1", "page": "/painel/perguntas/1", "question": format!("{}…", "ã".repeat(300)),
        "question_id": 1, "store": "LOJA_X",
    });
    assert_eq!(queued, [format!("pergunta pergunta:1:1:email 86400 {params}")]);
}

#[test]
fn nobody_is_written_to_who_is_not_let_in() {
    for change in ["suspended_at = 1", "role = 'drop'"] {
        let world = world();
        let change = format!("UPDATE user SET {change}");
        world.write(move |tx| tx.execute(&change, []));
        let asked = vec![question(1, "UNANSWERED", Some(90))];
        world.book(ANA, asked, Instant(NOW - 100));
        assert_eq!(world.told().len(), 1);
        let queued = "SELECT count(*) FROM outbox";
        let queued: i64 = world.read(|tx| tx.value(queued, []));
        assert_eq!(queued, 0);
    }
}

#[test]
fn a_question_that_is_gone_does_not_wait() {
    let world = world();
    world.book(ANA, vec![question(1, "UNANSWERED", Some(90))], NEVER);
    let context = world.context.clone();
    let applied = world.write(move |tx| {
        let of = |account| gone((tx, &context, ANA), account, 1);
        Ok([of(MlUserId(8))?, of(SELLER)?, of(SELLER)?])
    });
    assert_eq!(applied, [Applied::Unchanged, Applied::Stored, Applied::Unchanged]);
    assert_eq!(state(&world), "3 DELETED - 0");
}

#[test]
fn a_question_that_was_asked_at_another_second_stands_once() {
    let world = world();
    let mut moved = question(1, "UNANSWERED", Some(80));
    moved.row.asked_at = Instant(NOW - 99);
    world.book(ANA, vec![question(1, "UNANSWERED", Some(90)), moved], NEVER);
    assert_eq!(state(&world), "1 UNANSWERED - 1");
}
