//! Compares the queue with a model of it, and measures its filters.

use std::time::{Duration, Instant as Monotonic};

use super::store::{Counts, counts, page};
use super::{Scope, Status};
use crate::base::UserId;
use crate::db::RowWindow;
use crate::db::{Db, DbError, Lane};
use crate::fixture::TestDir;

/// A question: client, state, when it was asked, number.
type Known = (i64, i64, i64, i64);

/// Pseudo-random numbers, the same in each run.
fn thrown(seed: &mut u64, below: u64) -> i64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    i64::try_from((*seed >> 33) % below).unwrap()
}

/// A queue with this many questions and clients. Clients are looked after by
/// persons 1 to 3, or nobody.
fn filled(db: &Db, clients: i64, questions: i64) -> Vec<Known> {
    let mut seed = 7;
    let all: Vec<Known> = (1..=questions)
        .map(|id| {
            let client = 1 + thrown(&mut seed, clients.unsigned_abs());
            let state =
                [1, 2, 2, 2, 2, 2, 2, 2, 2, 3][usize::try_from(thrown(&mut seed, 10)).unwrap()];
            (client, state, 1_700_000_000 + thrown(&mut seed, 1 + questions.unsigned_abs() / 3), id)
        })
        .collect();
    let stored = all.clone();
    db.write(move |tx| {
        for person in 1..=3 {
            tx.execute(
                "INSERT INTO user (user_id, email, name, role, created_at) VALUES (?1, ?1 || '@x.com', 'Bia', 'admin', 0)",
                [person],
            )?;
        }
        for client in 1..=clients {
            tx.execute(
                "INSERT INTO agency_client (client_id, name, search, keeper_id, created_at)
                 VALUES (?1, 'C', 'c', nullif(?1 % 4, 0), 0)",
                [client],
            )?;
        }
        for (client, state, at, id) in stored {
            tx.execute(
                "INSERT INTO question (owner_id, asked_at, question_id, ml_user_id, item_id, state, status, text)
                 VALUES (?1, ?3, ?4, ?1, 1, ?2, '', 'Serve?')",
                (client, state, at, id),
            )?;
            tx.execute(
                "INSERT INTO agency_question (client_id, state, place, question_id, owner_id, ml_user_id)
                 VALUES (?1, ?2, iif(?2 = 1, ?3, -?3), ?4, ?1, ?1)",
                (client, state, at, id),
            )?;
        }
        Ok::<_, DbError>(())
    })
    .unwrap();
    all
}

fn is_of(scope: Scope, client: i64) -> bool {
    let keeps = |keeper: UserId| client % 4 == keeper.0;
    match scope {
        Scope::All => true,
        Scope::Client(one) => client == one,
        Scope::Keeper(keeper) => keeps(keeper),
        Scope::ClientOf(one, keeper) => client == one && keeps(keeper),
    }
}

/// Numbers of a choice in the order of the queue.
fn expected(all: &[Known], scope: Scope, status: Status) -> Vec<i64> {
    let mut found: Vec<&Known> = all
        .iter()
        .filter(|(client, state, ..)| {
            let is_wanted = match status {
                Status::Open => *state == 1,
                Status::Answered => *state == 2,
                Status::All => true,
            };
            is_wanted && is_of(scope, *client)
        })
        .collect();
    found.sort_by_key(|(_, state, at, id)| (*state != 1, if *state == 1 { *at } else { -at }, *id));
    found.into_iter().map(|(.., id)| *id).collect()
}

const SCOPES: [Scope; 6] = [
    Scope::All,
    Scope::Client(3),
    Scope::Client(99_999),
    Scope::Keeper(UserId(2)),
    Scope::ClientOf(3, UserId(3)),
    Scope::ClientOf(3, UserId(2)),
];

fn read(db: &Db, scope: Scope, status: Status, offset: u64, limit: u64) -> (Counts, Vec<i64>) {
    let small = |number| u32::try_from(number).unwrap();
    let window = RowWindow { limit: small(limit), offset: small(offset) };
    db.read(Lane::Slow, |tx| {
        let counts = counts(tx, scope)?;
        let rows = page(tx, scope, status, counts, window)?;
        let ids = rows.into_iter().map(|row| row.card.question.row.id);
        Ok::<_, DbError>((counts, ids.collect()))
    })
    .unwrap()
}

#[test]
fn every_page_of_every_filter_is_as_a_sort_of_all_has_it() {
    let dir = TestDir::new();
    let db = dir.database();
    let all = filled(&db, 12, 400);
    for scope in SCOPES {
        for status in Status::ALL.iter().copied() {
            let expected = expected(&all, scope, status);
            for rows in [7, 100] {
                let pages = expected.len().div_ceil(rows) + 2;
                for number in 0..pages {
                    let before = (number * rows) as u64;
                    let (counts, found) = read(&db, scope, status, before, rows as u64);
                    let wanted = expected.iter().skip(number * rows).take(rows);
                    assert!(found.iter().eq(wanted), "{scope:?} {status:?} page {number}");
                    assert_eq!(counts.of(status), expected.len() as u64, "{scope:?} {status:?}");
                }
            }
        }
    }
}

/// Longest time that a page of the queue may take to read.
const MOST: Duration = Duration::from_millis(30);

/// `cargo test --release -- --ignored a_long_queue_is_fast`: 200,000 questions of 300 clients,
/// the first page, the middle and the end of every filter.
#[test]
#[ignore = "a measurement"]
fn a_long_queue_is_fast() {
    let dir = TestDir::new();
    let db = dir.database();
    filled(&db, 300, 200_000);
    let mut slow = Vec::new();
    for scope in SCOPES {
        for status in Status::ALL.iter().copied() {
            let total = read(&db, scope, status, 0, 1).0.of(status);
            for before in [0, total / 2, total.saturating_sub(20)] {
                let time = || {
                    let began = Monotonic::now();
                    read(&db, scope, status, before, 20);
                    began.elapsed()
                };
                let best = (0..5).map(|_| time()).min().unwrap();
                if best > MOST {
                    slow.push(format!("{scope:?} {status:?} from {before}: {best:?}"));
                }
            }
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
