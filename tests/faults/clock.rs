//! Jumps of the clock: forward, back, to the ends of months, of leap years and of
//! 32-bit time.

use serde_json::json;

use super::{figure, has_all, notify, times};
use crate::cron;
use crate::random::Random;
use crate::site::{START, Site};

/// Moments at which programs have failed.
const MOMENTS: [&str; 12] = [
    "2026-11-20T13:00:00Z",
    "2026-11-20T11:00:00Z",
    "2026-11-21T12:00:00Z",
    "2027-01-31T23:59:59Z",
    "2027-03-01T02:59:59Z",
    "2028-02-29T12:00:00Z",
    "2028-12-31T23:59:59Z",
    "2038-01-19T03:14:07Z",
    "2038-01-19T03:14:08Z",
    "2099-12-31T23:59:59Z",
    "1999-12-31T23:59:59Z",
    "2026-11-20T12:00:01Z",
];

#[test]
fn whatever_the_clock_says_it_serves_and_stores() {
    let site = Site::builder().unlimited().start();
    // A key's secret and a person's password do not age.
    let key = site.key(&["admin"]);
    let person = site.make_person("ana", "vip");
    let mut random = Random::new(2_038);
    let mut answered = Vec::new();
    let jumps = times(24, 600);
    for jump in 0..jumps {
        let moment =
            MOMENTS.get(usize::try_from(jump).unwrap()).unwrap_or_else(|| random.pick(&MOMENTS));
        site.clock().set(moment);
        assert_eq!(notify(&site, jump), Some(200), "{moment}");
        answered.push(jump);
        site.anonymous().get("/healthz").ok();
        site.anonymous().get("/readyz").expect(200);
        key.get("/metrics").expect(200);
        let login = json!({ "email": person.email, "senha": person.password });
        let token = site.anonymous().post("/api/ext/auth", &login).ok()["token"].clone();
        site.bearer(token.as_str().unwrap()).get("/api/ext/me").expect(200);
        if jump % 6 == 0 {
            cron::run(&site);
        }
    }
    has_all(&site, &answered);
    site.kill();
    site.start_again();
    has_all(&site, &answered);
    figure("F24", &format!("{jumps} jumps between 1999 and 2099: all served and stored"));
}

#[test]
fn no_jump_makes_a_session_live_longer() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let is_open = |expected: bool| {
        let status = ana.get("/painel").status;
        assert_eq!(status == 200, expected, "{status} at {}", site.clock().now());
    };
    is_open(true);
    // Used while the clock was a day behind, and half a year ahead of that.
    site.clock().set("2026-11-19T12:00:00Z");
    is_open(true);
    site.clock().set(START);
    is_open(true);
    // Unused for longer than a session lives, counted from its last use.
    site.clock().advance_s(40 * 86_400);
    is_open(false);
    // It stays ended when the clock goes back.
    site.clock().set(START);
    is_open(false);
}
