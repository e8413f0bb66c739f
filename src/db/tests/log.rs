//! The write-ahead log stays small, and changes of others are noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;

const LIMIT: u64 = 64 << 20;

/// Writes until `bytes` have gone through the log, at most some seconds;
/// returns the largest size that the log had.
fn write_through(db: &Db, bytes: i64) -> u64 {
    const ROW: i64 = 100_000;
    let until = Instant::now() + Duration::from_mins(2);
    let mut largest = 0;
    for _ in 0..bytes / ROW / 8 {
        let pending: Vec<_> = (0..8)
            .map(|number| {
                db.submit(move |tx| {
                    tx.execute(
                        "INSERT INTO setting (name, value, updated_at) VALUES (?1, randomblob(?2), 0)
                         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                        (number, ROW),
                    )
                })
            })
            .collect();
        for job in pending {
            job.wait().unwrap();
        }
        largest = largest.max(db.wal_bytes());
        assert!(Instant::now() < until, "the disk is too slow for this test");
    }
    largest
}

#[test]
fn steady_readers_do_not_let_the_log_grow() {
    let (_place, db) = opened();
    let done = AtomicBool::new(false);
    let reads = AtomicUsize::new(0);
    let largest = std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    db.read(Lane::InPlace, |tx| {
                        tx.each("SELECT length(value) FROM setting", [], |_| Ok(()))
                    })
                    .unwrap();
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let largest = write_through(&db, 200 << 20);
        done.store(true, Ordering::Relaxed);
        largest
    });
    assert!(largest <= LIMIT, "the log grew to {largest} bytes");
    assert!(reads.load(Ordering::Relaxed) > 100);
}

#[test]
fn a_slow_reader_delays_the_truncation_and_blocks_no_writer() {
    let (_place, db) = opened();
    write(&db, |tx| put(tx, "a", b""));
    db.read(Lane::Slow, |tx| {
        assert!(has(tx, "a")?);
        let grown = write_through(&db, 80 << 20);
        assert!(grown > LIMIT, "the reader pins the log: {grown}");
        assert!(has(tx, "a")?);
        Ok::<_, DbError>(())
    })
    .unwrap();
    wait_until(|| db.wal_bytes() == 0);
}

#[test]
fn an_idle_writer_folds_the_log_in() {
    let (_place, db) = opened();
    write(&db, |tx| put(tx, "a", b""));
    assert!(db.wal_bytes() > 0);
    wait_until(|| db.wal_bytes() == 0);
    assert_eq!(count(&db), 1);
}

#[test]
fn a_snapshot_that_is_kept_does_not_pin_the_log() {
    let (_place, db) = opened();
    write(&db, |tx| put(tx, "a", b""));
    assert_eq!(count(&db), 1);
    write(&db, |tx| put(tx, "b", b""));
    wait_until(|| db.wal_bytes() == 0);
    assert_eq!(count(&db), 2);
}

#[test]
fn changes_of_others_are_noticed_and_own_ones_are_not() {
    let (place, db) = opened();
    let noticed = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&noticed);
    db.on_outside_change(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    write(&db, |tx| put(tx, "own", b""));
    wait_until(|| db.wal_bytes() == 0);
    assert_eq!(noticed.load(Ordering::Relaxed), 0);

    let beside = Db::open_beside(&place.options()).unwrap();
    write(&beside, |tx| put(tx, "others", b""));
    wait_until(|| noticed.load(Ordering::Relaxed) == 1);
    beside.close().unwrap();
    assert_eq!(count(&db), 2);
}

#[test]
fn a_read_ends_at_its_deadline() {
    let (_place, db) = opened();
    let started = Instant::now();
    let outcome = db.read(Lane::InPlace, |tx| {
        tx.value::<i64>(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
            [],
        )
    });
    assert!(matches!(outcome, Err(DbError::Deadline)), "{outcome:?}");
    assert!(started.elapsed() < Duration::from_mins(1));
    assert_eq!(count(&db), 0);
}
