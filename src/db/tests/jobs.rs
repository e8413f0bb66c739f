//! Jobs, their commits and their answers.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc;

use super::*;

#[test]
fn an_answered_write_is_seen_by_readers_and_by_other_connections() {
    let (place, db) = opened();
    write(&db, |tx| put(tx, "a", b"1"));
    assert_eq!(count(&db), 1);
    let beside = Db::open_beside(&place.options()).unwrap();
    assert_eq!(count(&beside), 1);
}

#[test]
fn nobody_sees_what_is_not_committed() {
    let (_place, db) = opened();
    let (reached, at_the_job) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let pending = db.submit(move |tx| {
        put(tx, "a", b"1")?;
        reached.send(has(tx, "a")?).unwrap();
        wait.recv().unwrap();
        Ok::<_, DbError>(())
    });
    assert!(at_the_job.recv().unwrap(), "the job sees its own change");
    assert_eq!(count(&db), 0);
    go_on.send(()).unwrap();
    pending.wait().unwrap();
    assert_eq!(count(&db), 1);
}

/// Holds the writer so that the jobs submitted meanwhile share one commit.
fn held(db: &Db) -> mpsc::Sender<()> {
    let (go_on, wait) = mpsc::channel::<()>();
    let (reached, at_the_job) = mpsc::channel();
    drop(db.submit(move |_| {
        reached.send(()).unwrap();
        let _ = wait.recv();
        Ok::<_, DbError>(())
    }));
    at_the_job.recv().unwrap();
    go_on
}

/// Goes through the writer and changes nothing.
fn empty_job(db: &Db) -> Result<()> {
    db.write(|_| Ok(()))
}

#[derive(Debug)]
enum Refusal {
    Rule,
    Db(DbError),
}

impl From<DbError> for Refusal {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

#[test]
fn a_job_that_fails_undoes_only_its_own_changes() {
    let (_place, db) = opened();
    let hold = held(&db);
    let first = db.submit(|tx| put(tx, "first", b""));
    let second = db.submit(|tx| {
        put(tx, "second", b"")?;
        tx.after_commit(|| panic!("a failed job must have no hooks"));
        Err::<(), _>(Refusal::Rule)
    });
    let third = db.submit(|tx| put(tx, "third", b""));
    hold.send(()).unwrap();
    first.wait().unwrap();
    assert!(matches!(second.wait(), Err(Refusal::Rule)));
    third.wait().unwrap();
    let present = db.read(Lane::InPlace, |tx| {
        Ok::<_, DbError>((has(tx, "first")?, has(tx, "second")?, has(tx, "third")?))
    });
    assert_eq!(present.unwrap(), (true, false, true));
}

#[test]
fn a_job_that_panics_fails_alone() {
    let (_place, db) = opened();
    let hold = held(&db);
    let before = db.submit(|tx| put(tx, "before", b""));
    let panicking = db.submit(|tx| {
        put(tx, "panicking", b"")?;
        assert!(!has(tx, "panicking")?, "on purpose");
        Ok::<_, Refusal>(())
    });
    let after = db.submit(|tx| put(tx, "after", b""));
    hold.send(()).unwrap();
    before.wait().unwrap();
    assert!(matches!(panicking.wait(), Err(Refusal::Db(DbError::JobPanicked))));
    after.wait().unwrap();
    write(&db, |tx| put(tx, "later", b""));
    assert_eq!(count(&db), 3);
}

#[test]
fn hooks_run_after_the_commit_and_before_the_answer() {
    let (_place, db) = opened();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (notes, reader) = (Arc::clone(&seen), db.clone());
    write(&db, move |tx| {
        put(tx, "a", b"")?;
        let late = Arc::clone(&notes);
        tx.after_commit(move || {
            late.lock().push(format!("hook sees {}", count(&reader)));
        });
        notes.lock().push("job".to_owned());
        Ok(())
    });
    seen.lock().push("answer".to_owned());
    assert_eq!(*seen.lock(), ["job", "hook sees 1", "answer"]);
}

#[test]
fn many_threads_many_jobs_all_stored() {
    let (_place, db) = opened();
    std::thread::scope(|scope| {
        for thread in 0..50 {
            let db = &db;
            scope.spawn(move || {
                for job in 0..20 {
                    write(db, move |tx| put(tx, &format!("{thread}-{job}"), b"x"));
                }
            });
        }
    });
    assert_eq!(count(&db), 1_000);
    assert_eq!(db.queue_depth(), 0);
}

#[test]
fn a_full_queue_refuses_at_once_and_recovers() {
    let (_place, db) = opened();
    let hold = held(&db);
    let queued: Vec<_> =
        (0..1_024).map(|number| db.submit(move |tx| put(tx, &number.to_string(), b""))).collect();
    assert_eq!(db.queue_depth(), 1_024);
    assert!(matches!(empty_job(&db), Err(DbError::Busy)));
    assert_eq!(db.condition(), Condition::NotWritable);
    hold.send(()).unwrap();
    for pending in queued {
        pending.wait().unwrap();
    }
    assert_eq!(db.condition(), Condition::Writable);
    assert_eq!(count(&db), 1_024);
}

#[test]
fn a_job_runs_although_its_caller_has_left() {
    let (_place, db) = opened();
    drop(db.submit(|tx| put(tx, "a", b"")));
    empty_job(&db).unwrap();
    assert_eq!(count(&db), 1);
}

#[test]
fn an_async_caller_is_answered() {
    let (_place, db) = opened();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let id = runtime
        .block_on(db.submit(|tx| tx.insert("INSERT INTO word (text) VALUES (?1)", ["refunded"])));
    assert_eq!(id.unwrap(), 21);
}

#[test]
fn closing_runs_what_is_queued_and_refuses_what_comes_later() {
    let (place, db) = opened();
    let late = db.clone();
    let hold = held(&db);
    let queued: Vec<_> =
        (0..700).map(|number| db.submit(move |tx| put(tx, &number.to_string(), b""))).collect();
    let closing = std::thread::spawn(move || db.close());
    // Once it is closed, a job is no longer queued.
    wait_until(|| {
        let depth = late.queue_depth();
        drop(late.submit(|tx| has(tx, "0")));
        late.queue_depth() == depth
    });
    hold.send(()).unwrap();
    closing.join().unwrap().unwrap();
    for pending in queued {
        pending.wait().unwrap();
    }
    let read = late.read(Lane::InPlace, |tx| has(tx, "0"));
    assert!(matches!(read, Err(DbError::Stopped)));
    assert!(matches!(empty_job(&late), Err(DbError::Stopped)));
    assert_eq!(late.condition(), Condition::NotWritable);
    drop(late);
    assert_eq!(count(&place.open()), 700);
}

#[test]
fn a_deferred_constraint_fails_the_commit_and_the_writer_lives_on() {
    let (_place, db) = opened();
    let orphan = db.write(|tx| {
        tx.execute("PRAGMA defer_foreign_keys = ON", [])?;
        tx.execute(
            "INSERT INTO user_permission (user_id, permission, granted) VALUES (99, 'x', 1)",
            [],
        )?;
        Ok::<_, DbError>(())
    });
    assert!(matches!(orphan, Err(DbError::Sqlite(_))), "{orphan:?}");
    assert_eq!(db.condition(), Condition::Writable);
    write(&db, |tx| put(tx, "a", b""));
    assert_eq!(count(&db), 1);
}

/// More than the pages that migrations leave free.
fn large_value() -> Vec<u8> {
    vec![1; 2_000_000]
}

#[test]
fn a_full_disk_fails_the_batch_and_the_writer_recovers() {
    let (_place, db) = opened();
    // Later ones find the statement prepared and take next to no time.
    write(&db, |tx| put(tx, "first", b""));
    let pages: i64 = write(&db, |tx| tx.value("PRAGMA page_count", []));
    let limit = |pages: i64| {
        write(&db, move |tx| {
            let sql = format!("PRAGMA max_page_count = {pages}");
            tx.value::<i64>(&sql, [])
        })
    };
    limit(pages + 2);
    let hold = held(&db);
    let before = db.submit(|tx| put(tx, "before", b""));
    let large = db.submit(|tx| put(tx, "large", &large_value()));
    let after = db.submit(|tx| put(tx, "after", b""));
    hold.send(()).unwrap();
    let outcomes = [before, large, after].map(Pending::wait);
    let is_full = |outcome: &Result<()>| matches!(outcome, Err(DbError::Full));
    assert!(is_full(&outcomes[1]), "{outcomes:?}");
    // A busy machine may share out the three over two commits; what is answered stands.
    let stored = outcomes.iter().filter(|outcome| !is_full(outcome)).count();
    assert_eq!(count(&db), 1 + i64::try_from(stored).unwrap(), "{outcomes:?}");
    assert!(stored < 2, "one of them shared the commit of the large one: {outcomes:?}");
    assert_eq!(db.condition(), Condition::Full);
    // A job that writes nothing does not change the condition.
    empty_job(&db).unwrap();
    assert_eq!(db.condition(), Condition::Full);
    // Neither does a small write; only a trial write of the writer does.
    write(&db, |tx| put(tx, "small", b""));
    wait_until(|| db.condition() == Condition::Writable);
    let swallowed = db.write(|tx| {
        let refused = put(tx, "large", &large_value());
        Ok::<_, DbError>(matches!(refused, Err(DbError::Full)))
    });
    assert!(matches!(swallowed, Ok(true) | Err(DbError::Full)), "{swallowed:?}");
    assert_eq!(db.condition(), Condition::Full);
    // The writer notices by itself when there is space again.
    wait_until(|| db.condition() == Condition::Writable);
    limit(1 << 30);
    write(&db, |tx| put(tx, "large", &large_value()));
    assert_eq!(count(&db), 3 + i64::try_from(stored).unwrap());
}

#[test]
fn readers_cannot_write() {
    let (_place, db) = opened();
    let outcome =
        db.read(Lane::Slow, |tx| tx.each("DELETE FROM word RETURNING word_id", [], |_| Ok(())));
    assert!(matches!(outcome, Err(DbError::ReadOnly)), "{outcome:?}");
}

#[test]
fn a_snapshot_does_not_move_while_it_is_read() {
    let (_place, db) = opened();
    let counts = db
        .read(Lane::InPlace, |tx| {
            let count = |tx: &ReadTx<'_>| tx.value::<i64>(COUNT, []);
            let before = count(tx)?;
            write(&db, |tx| put(tx, "a", b""));
            Ok::<_, DbError>((before, count(tx)?))
        })
        .unwrap();
    assert_eq!(counts, (0, 0));
    assert_eq!(count(&db), 1);
}

#[test]
fn no_read_misses_what_was_answered_or_read_before_it() {
    const WRITES: i64 = 400;
    let (_place, db) = opened();
    let (answered, seen) = (AtomicI64::new(0), AtomicI64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while answered.load(Ordering::SeqCst) < WRITES {
                    let known = answered.load(Ordering::SeqCst).max(seen.load(Ordering::SeqCst));
                    let found = count(&db);
                    assert!(found >= known, "{found} rows, of which {known} were known");
                    seen.fetch_max(found, Ordering::SeqCst);
                }
            });
        }
        for number in 1..=WRITES {
            write(&db, move |tx| put(tx, &number.to_string(), b""));
            answered.store(number, Ordering::SeqCst);
        }
    });
    assert_eq!(count(&db), WRITES);
}

#[test]
fn a_panic_in_a_read_gives_the_connection_back() {
    let (_place, db) = opened();
    for _ in 0..8 {
        let reader = db.clone();
        let read = std::thread::spawn(move || {
            reader.read(Lane::Slow, |tx| {
                assert!(has(tx, "nothing")?, "on purpose");
                Ok::<_, DbError>(())
            })
        });
        assert!(read.join().is_err());
    }
    db.read(Lane::Slow, |tx| has(tx, "a")).unwrap();
    write(&db, |tx| put(tx, "a", b""));
}

#[test]
fn reads_in_place_outlive_panics_and_may_lie_within_each_other() {
    let (_place, db) = opened();
    let panicking = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        db.read(Lane::InPlace, |tx| {
            assert!(has(tx, "nothing")?, "on purpose");
            Ok::<_, DbError>(())
        })
    }));
    assert!(panicking.is_err());
    write(&db, |tx| put(tx, "a", b""));
    let seen = db.read(Lane::InPlace, |tx| {
        let outer = has(tx, "a")?;
        Ok::<_, DbError>((outer, db.read(Lane::InPlace, |tx| has(tx, "a"))?))
    });
    assert_eq!(seen.unwrap(), (true, true));
}

#[test]
fn a_pool_with_nothing_free_is_busy() {
    let (_place, db) = opened();
    let outcome = db.read(Lane::Slow, |_| {
        db.read(Lane::Slow, |_| db.read(Lane::Slow, |_| Ok::<_, DbError>(())))
    });
    assert!(matches!(outcome, Err(DbError::Busy)), "{outcome:?}");
}

#[test]
fn waiting_inside_a_job_is_caught() {
    let (_place, db) = opened();
    let inner = db.clone();
    let outcome = db.write(move |_| empty_job(&inner));
    assert!(matches!(outcome, Err(DbError::JobPanicked)), "{outcome:?}");
}

#[test]
fn pieces_of_long_work_take_turns_with_those_who_wait() {
    let (_place, db) = opened();
    let hold = held(&db);
    let order = Arc::new(Mutex::new(Vec::new()));
    let noting = |name: &'static str| {
        let order = Arc::clone(&order);
        move |tx: &WriteTx<'_>| {
            let order = Arc::clone(&order);
            tx.after_commit(move || order.lock().push(name));
            Ok::<_, DbError>(())
        }
    };
    let pieces = ["first piece", "second piece"].map(|name| db.submit_piece(noting(name)));
    let prompt = ["one", "two"].map(|name| db.submit(noting(name)));
    hold.send(()).unwrap();
    for pending in pieces.into_iter().chain(prompt) {
        pending.wait().unwrap();
    }
    assert_eq!(*order.lock(), ["first piece", "one", "two", "second piece"]);
}

#[test]
fn long_work_ends_its_job_after_some_hundred_rows() {
    const ROWS: usize = 2_000;
    let (_place, db) = opened();
    let rows: Arc<AtomicI64> = Arc::default();
    let made = Arc::clone(&rows);
    db.write_pieces(move |tx| {
        tx.work_off(|most| {
            let from = usize::try_from(made.load(Ordering::SeqCst)).unwrap();
            let until = (from + most).min(ROWS);
            for number in from..until {
                put(tx, &number.to_string(), b"")?;
            }
            made.store(i64::try_from(until).unwrap(), Ordering::SeqCst);
            Ok::<_, DbError>(until - from)
        })
    })
    .unwrap();
    assert_eq!(count(&db), i64::try_from(ROWS).unwrap());
    assert!(db.largest_job() < 400, "{}", db.largest_job());
}
