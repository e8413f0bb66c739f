//! A disk that refuses writes, fails at a sync, or answers late.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::disk::{Disk, EDQUOT, EIO, ENOSPC, EROFS, Fault};
use super::{figure, has_all, notify, times};
use crate::support::site::{Site, lock};
use crate::support::wait::{pause, until};

/// It takes a second or two; the rest is for slow machines.
const NOTICED: Duration = Duration::from_secs(20);
/// The exit code after a disk error: what is stored is unknown.
const DISK_ERROR: i32 = 70;

/// Nobody knows what is stored after a failed sync, so nobody may be told.
#[test]
fn after_an_error_at_a_sync_it_ends_and_has_all_that_was_answered() {
    let disk = Disk::new();
    let site = disk.under(Site::builder().unlimited()).start();
    site.expect_in_log("disk error at a");
    let (number, answered) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let mut slowest = Duration::ZERO;
    let rounds = times(8, 200);
    for round in 0..rounds {
        let passes = i32::try_from(round * round % 211).unwrap();
        disk.does(Fault { sync_error: EIO, sync_passes: passes, ..Fault::default() });
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    loop {
                        assert!(begun.elapsed() < NOTICED, "it went on after a failed sync");
                        let number = number.fetch_add(1, Ordering::Relaxed);
                        match notify(&site, number) {
                            Some(200) => lock(&answered).push(number),
                            Some(status) => assert_eq!(status, 503),
                            None => return,
                        }
                    }
                });
            }
        });
        let refused = Instant::now();
        assert_eq!(site.ends_by_itself(NOTICED), Some(DISK_ERROR));
        slowest = slowest.max(refused.elapsed());
        disk.does(Fault::default());
        site.start_again();
    }
    let answered = lock(&answered);
    has_all(&site, &answered);
    figure(
        "F04",
        &format!(
            "{rounds} failed syncs: each ended with {DISK_ERROR}, {} answered, 0 lost",
            answered.len()
        ),
    );
    assert!(slowest < NOTICED);
}

/// A full disk, a used-up quota, one that became read-only, one that is broken.
#[test]
fn while_writes_are_refused_it_says_so_and_reads_go_on() {
    let disk = Disk::new();
    let site = disk.under(Site::builder().unlimited()).start();
    site.expect_in_log("the database takes no writes");
    let ana = site.person("ana");
    ana.get("/painel/produtos").expect(200);
    let (mut next, mut answered) = (0, Vec::new());
    let mut write = || {
        next += 1;
        let status = notify(&site, next);
        if status == Some(200) {
            answered.push(next);
        }
        status
    };
    let mut recovery = Duration::ZERO;
    let rounds = times(1, 20);
    for round in 0..rounds {
        for error in [ENOSPC, EDQUOT, EROFS, EIO] {
            assert_eq!(write(), Some(200));
            // At the first write of a commit, and amid one.
            for passes in [0, i32::try_from(round).unwrap() + 2] {
                disk.does(Fault { write_error: error, write_passes: passes, ..Fault::default() });
                // Some may still pass.
                until("a write is refused", NOTICED, || (write() == Some(503)).then_some(()));
                let probe = site.anonymous().get("/readyz").expect(503);
                assert!(probe.json()["message"].is_string(), "{probe}");
                ana.get("/painel/produtos").expect(200);
                site.anonymous().get("/healthz").ok();
                disk.does(Fault::default());
                let freed = Instant::now();
                until("writes are taken again", NOTICED, || {
                    (site.anonymous().get("/readyz").status == 200).then_some(())
                });
                recovery = recovery.max(freed.elapsed());
            }
        }
    }
    has_all(&site, &answered);
    site.kill();
    site.start_again();
    has_all(&site, &answered);
    figure(
        "F05",
        &format!(
            "{} times refused: 503, reads went on, back after at most {} ms, 0 lost",
            rounds * 8,
            recovery.as_millis()
        ),
    );
}

/// A disk that takes a second for a sync delays who writes, and nobody else.
#[test]
fn while_a_sync_hangs_others_are_served() {
    let disk = Disk::new();
    let site = disk.under(Site::builder().unlimited()).start();
    let ana = site.person("ana");
    ana.get("/painel/produtos").expect(200);
    let (over, answered) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    disk.does(Fault { sync_delay_ms: 700, ..Fault::default() });
    let mut waits = std::thread::scope(|scope| {
        for caller in 0..4 {
            let (over, answered, site) = (&over, &answered, &site);
            scope.spawn(move || {
                for number in (caller * 1_000..).take_while(|_| !over.load(Ordering::Acquire)) {
                    match notify(site, number) {
                        Some(200) => lock(answered).push(number),
                        other => assert_eq!(other, Some(503)),
                    }
                }
            });
        }
        let waits: Vec<Duration> = (0..60)
            .map(|_| {
                let began = Instant::now();
                ana.get("/painel/produtos").expect(200);
                site.anonymous().get("/healthz").ok();
                pause(Duration::from_millis(25));
                began.elapsed()
            })
            .collect();
        over.store(true, Ordering::Release);
        waits
    });
    disk.does(Fault::default());
    waits.sort_unstable();
    // With what the pause takes; a page that waited for a sync would take much more.
    let usual = waits[waits.len() * 9 / 10];
    assert!(usual < Duration::from_millis(400), "pages took {usual:?} beside a disk that hangs");
    assert!(!lock(&answered).is_empty());
    has_all(&site, &lock(&answered));
    figure(
        "F09",
        &format!("syncs of 700 ms: 90 of 100 pages within {} ms", usual.as_millis() - 25),
    );
}
