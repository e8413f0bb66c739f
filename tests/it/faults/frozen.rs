//! A process that stands still for a while, as on a machine that is moved or has no
//! memory left: the server, and the marketplace.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::{figure, has_all, notify, times};
use crate::support::client::{Connection, Request};
use crate::support::site::Site;
use crate::support::sync::{mirrored, orders, shop, wait_until_worked};
use crate::support::wait::until;
use crate::support::world::LOJA;

const SLOW_MACHINE: Duration = Duration::from_secs(30);

/// A process that stands still until this is dropped.
struct Frozen(Pid);

impl Frozen {
    #[track_caller]
    fn new(pid: u32) -> Self {
        let frozen = Self(Pid::from_raw(pid.cast_signed()).unwrap());
        kill_process(frozen.0, Signal::STOP).unwrap();
        until("it stands still", SLOW_MACHINE, || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let state = stat.rsplit(") ").next().unwrap().chars().next();
            (state == Some('T')).then_some(())
        });
        frozen
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        kill_process(self.0, Signal::CONT).ok();
    }
}

#[test]
fn a_server_that_stood_still_answers_who_waited_and_loses_nothing() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let mut answered = Vec::new();
    let rounds = times(3, 50);
    for round in 0..rounds {
        for number in round * 100..round * 100 + 10 {
            assert_eq!(notify(&site, number), Some(200));
            answered.push(number);
        }
        let during = [round * 100 + 50, round * 100 + 51, round * 100 + 52];
        let frozen = Frozen::new(site.pid());
        let statuses = std::thread::scope(|scope| {
            let site = &site;
            let waiting = during.map(|number| scope.spawn(move || (number, notify(site, number))));
            // The connection is taken by the system, and nothing comes.
            let mut silent = Connection::open(site.address()).unwrap();
            silent.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assert!(!silent.is_closed_within(Duration::from_millis(300)));
            // Meanwhile time passes, as on a machine that was asleep.
            site.clock().advance_s(60);
            drop(frozen);
            let late = silent.read_reply("GET /healthz").unwrap().expect("an answer");
            assert_eq!(late.status, 200);
            waiting.map(|one| one.join().unwrap())
        });
        for (number, status) in statuses {
            assert_eq!(status, Some(200), "a notification that waited");
            answered.push(number);
        }
        ana.get("/painel").expect(200);
        site.anonymous().get("/readyz").expect(200);
    }
    has_all(&site, &answered);
    figure(
        "Frozen",
        &format!("{rounds} times frozen: all {} answered writes there", answered.len()),
    );
}

#[test]
fn a_marketplace_that_stands_still_delays_nobody_else() {
    let world = shop();
    let site = mirrored(&world);
    let ana = site.person("ana");
    let before = orders(&site);
    world.configure(&json!({ "hold": true }));
    let sales: Vec<String> = (0..5).map(|_| world.sale(LOJA)["id"].to_string()).collect();
    let frozen = Frozen::new(world.pid());
    let now = site.clock().now().as_second();
    let mut slowest = Duration::ZERO;
    let mut timed = |ask: &dyn Fn() -> u16| {
        let began = Instant::now();
        assert_eq!(ask(), 200);
        slowest = slowest.max(began.elapsed());
    };
    for (sale, number) in sales.iter().zip(0..) {
        let id = format!("00000000-0000-4000-8000-{number:012}");
        timed(&|| {
            let resource = format!("/orders/{sale}");
            let told =
                crate::support::actors::signed_notification(&resource, "orders_v2", LOJA, &id, now);
            site.anonymous().send(told).status
        });
        for page in ["/painel", "/painel/ml", "/painel/produtos"] {
            timed(&|| ana.send(Request::new("GET", page)).status);
        }
    }
    // Whoever waited for the marketplace would have waited for its whole time limit.
    assert!(slowest < Duration::from_secs(3), "an answer took {slowest:?}");
    drop(frozen);
    world.configure(&json!({ "hold": false }));
    wait_until_worked(&world, &site);
    until("the sales are there", SLOW_MACHINE, || {
        site.clock().advance_s(30);
        (orders(&site) == before + 5).then_some(())
    });
    world.no_violations();
}
