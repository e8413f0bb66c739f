//! Jumps of the clock: forward, back, to the ends of months, of leap years and of
//! 32-bit time.

use jiff::SignedDuration;
use serde_json::json;

use super::{figure, times};
use crate::support::cron;
use crate::support::random::Random;
use crate::support::site::Site;

const HOUR_S: i64 = 3_600;
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
    let (key, crm) = (site.key(&["admin"]), site.key(&["write"]));
    let person = site.make_person("ana", "vip");
    let mut random = Random::new(2_038);
    let mut answered = Vec::new();
    let has_all = |answered: &[String]| {
        let stored = site.stored("SELECT email FROM user ORDER BY email");
        let lost: Vec<_> = answered.iter().filter(|email| !stored.contains(email)).collect();
        assert!(lost.is_empty(), "answered and lost: {lost:?}");
    };
    let jumps = times(24, 600);
    for jump in 0..jumps {
        let moment =
            MOMENTS.get(usize::try_from(jump).unwrap()).unwrap_or_else(|| random.pick(&MOMENTS));
        site.clock().set(moment);
        let email = format!("aluna{jump}@example.com");
        crm.post("/api/v1/alunos/criar", &json!({ "nome": "Aluna", "email": email })).expect(201);
        answered.push(email);
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
    has_all(&answered);
    site.kill();
    site.start_again();
    has_all(&answered);
    figure("F24", &format!("{jumps} jumps between 1999 and 2099: all served and stored"));
}

/// A session ends thirty days after its login, whatever the clock did in between.
#[test]
fn no_jump_makes_a_session_live_longer() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let end = site.clock().now() + SignedDuration::from_hours(30 * 24);
    let is_open = || ana.get("/painel").status == 200;
    while site.clock().now() < end {
        assert!(is_open(), "at {}", site.clock().now());
        // Never unused for long, and every use is followed by a jump back.
        site.clock().advance_s(6 * HOUR_S);
        if site.clock().now() < end {
            assert!(is_open(), "at {}", site.clock().now());
        }
        site.clock().advance_s(-HOUR_S);
    }
    site.clock().advance_s(1);
    assert!(!is_open(), "at {}", site.clock().now());
    site.clock().advance_s(400 * 24 * HOUR_S);
    assert!(!is_open());
}
