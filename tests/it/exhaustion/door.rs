//! The login: a flood of wrong logins, and of right ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Ended, besieged, narrow};
use crate::support::actors::Actor;
use crate::support::client::{Connection, Reply, Request};
use crate::support::site::{Builder, Person, Site};
use crate::support::wait::pause;

/// Connections of the attack.
const CONNECTIONS: usize = 140;
/// Pause between two tries of a connection: over a thousand tries a second in
/// all. A machine that also runs the attackers can serve this in a build for
/// tests.
const PAUSE: Duration = Duration::from_millis(100);
/// Right logins during the attack.
const LOGINS: usize = 54;
/// How long one of them may take, on a slow machine.
const BEARABLE_LOGIN: Duration = Duration::from_secs(5);

fn behind_a_proxy() -> Builder {
    Site::builder()
        .config("server.trusted_proxies", vec!["127.0.0.1"])
        .config("limits.requests", 1_000_000)
}

fn log_in(who: &Actor<'_>, email: &str, password: &str, from: &str) -> Reply {
    let form = [("email", email), ("senha", password)];
    let request = Request::new("POST", "/entrar").form(&form);
    who.send(request.header("X-Forwarded-For", from))
}

/// Sends wrong logins over 140 connections from `addresses` addresses, until
/// `work` is done.
fn flooded(site: &Site, addresses: usize, work: impl FnOnce()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..CONNECTIONS {
            let over = &over;
            scope.spawn(move || {
                let nobody = site.anonymous();
                let address = format!("203.0.113.{}", number % addresses);
                let email = format!("ninguem{number}@example.com");
                while !over.load(Ordering::Acquire) {
                    let reply = log_in(&nobody, &email, "errada errada", &address);
                    assert!(matches!(reply.status, 401 | 429 | 503), "{reply}");
                    pause(PAUSE);
                }
            });
        }
        let _end = Ended(&over);
        work();
    });
}

/// Right logins, one after the other; the slowest must be fast enough.
fn log_in_often(site: &Site, people: &[Person], from: &str) {
    let nobody = site.anonymous();
    let mut slowest = Duration::ZERO;
    for person in people.iter().cycle().take(LOGINS) {
        let began = Instant::now();
        log_in(&nobody, &person.email, &person.password, from).expect(303);
        slowest = slowest.max(began.elapsed());
    }
    assert!(slowest < BEARABLE_LOGIN, "a login took {slowest:?}");
}

#[test]
fn wrong_logins_from_two_addresses_shut_nobody_out() {
    let site = narrow(behind_a_proxy());
    let rui = site.person("rui");
    let people = ["ana", "bia"].map(|name| site.make_person(name, "vip"));
    besieged(&site, &rui, "/painel", || {
        flooded(&site, 2, || log_in_often(&site, &people, "198.51.100.7"));
    });
}

#[test]
fn nor_do_they_while_their_counters_are_open() {
    let site = narrow(behind_a_proxy().unlimited());
    let rui = site.person("rui");
    let people = ["ana", "bia"].map(|name| site.make_person(name, "vip"));
    besieged(&site, &rui, "/painel", || {
        flooded(&site, 2, || log_in_often(&site, &people, "198.51.100.7"));
    });
}

#[test]
fn where_somebody_signed_in_of_late_a_flood_from_everywhere_is_not_noticed() {
    let site = narrow(behind_a_proxy().unlimited());
    let rui = site.person("rui");
    let ana = site.make_person("ana", "vip");
    log_in(&site.anonymous(), &ana.email, &ana.password, "2001:db8::1").expect(303);
    // The known addresses survive a restart.
    site.stop();
    site.start_again();
    besieged(&site, &rui, "/painel", || {
        flooded(&site, CONNECTIONS, || {
            log_in_often(&site, std::slice::from_ref(&ana), "2001:db8::2");
        });
    });
}

/// The head of a login whose body is not sent.
fn head_from(address: &str) -> String {
    format!(
        "POST /entrar HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {address}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n"
    )
}

#[test]
fn a_closed_address_is_answered_before_its_body() {
    let site = behind_a_proxy().start();
    let ana = site.make_person("ana", "vip");
    let nobody = site.anonymous();
    let (cafe, home) = ("203.0.113.1", "203.0.113.2");
    log_in(&nobody, &ana.email, &ana.password, home).expect(303);
    for address in [cafe, home] {
        for number in 0..10 {
            let email = format!("ninguem{number}{address}@example.com");
            log_in(&nobody, &email, "errada errada", address).expect(401);
        }
    }
    let mut raw = Connection::open(site.address()).unwrap();
    raw.write(head_from(cafe).as_bytes());
    let closed = raw.read_reply("POST /entrar").unwrap().unwrap().expect(429);
    assert_eq!(closed.header("retry-after"), Some("900"));
    // From an address with known people the body is read first, because it
    // names the person.
    let mut raw = Connection::open(site.address()).unwrap();
    raw.write(head_from(home).as_bytes());
    assert!(!raw.is_closed_within(Duration::from_millis(500)));
    log_in(&nobody, &ana.email, &ana.password, home).expect(303);
    log_in(&nobody, &ana.email, &ana.password, cafe).expect(429);
    let auth = serde_json::json!({ "email": ana.email, "senha": ana.password });
    let request = Request::new("POST", "/api/ext/auth").json(&auth);
    let refused = nobody.send(request.header("X-Forwarded-For", cafe)).expect(429);
    assert_eq!(refused.code(), "rate_limited");
    let page = Request::new("POST", "/entrar").header("Accept", "text/html");
    let page = nobody.send(page.header("X-Forwarded-For", cafe)).expect(429).text();
    assert!(page.contains("name=\"senha\""), "the form stays: {page}");
}

#[test]
fn a_person_has_fifty_sessions_and_the_oldest_end() {
    let site = Site::builder().unlimited().start();
    let ana = site.make_person("ana", "vip");
    let bia = site.person("bia");
    let form = [("email", &*ana.email), ("senha", &*ana.password)];
    let cookies: Vec<String> = (0..53)
        .map(|_| {
            let reply = site.anonymous().send(Request::new("POST", "/entrar").form(&form));
            reply.expect(303).session_cookie().unwrap().to_owned()
        })
        .collect();
    let is_open = |cookie: &String| {
        let request = Request::new("GET", "/painel").header("Cookie", cookie);
        site.anonymous().send(request).status == 200
    };
    let open: Vec<bool> = cookies.iter().map(is_open).collect();
    assert!(open[..3].iter().all(|open| !open), "the oldest ended");
    assert!(open[3..].iter().all(|open| *open), "fifty go on");
    bia.get("/painel").expect(200);
    // A logout makes room for another session.
    let leave = Request::new("POST", "/sair").header("Cookie", &cookies[52]);
    site.anonymous().send(leave).expect(303);
    site.anonymous().send(Request::new("POST", "/entrar").form(&form)).expect(303);
    assert!(is_open(&cookies[3]));
}

#[test]
fn right_passwords_are_counted_too() {
    let site = Site::builder().config("limits.login_failures", 1).start();
    let (ana, rui) = (site.make_person("ana", "vip"), site.make_person("rui", "vip"));
    let nobody = site.anonymous();
    for _ in 0..30 {
        log_in(&nobody, &ana.email, &ana.password, "").expect(303);
    }
    let refused = log_in(&nobody, &ana.email, &ana.password, "").expect(429);
    assert_eq!(refused.header("retry-after"), Some("900"));
    log_in(&nobody, &rui.email, &rui.password, "").expect(303);
    site.clock().advance_s(900);
    log_in(&nobody, &ana.email, &ana.password, "").expect(303);
}
