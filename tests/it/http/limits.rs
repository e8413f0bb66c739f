//! Windows, plan rates, quota and the login throttle, each with its headers.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::{PROPAGATION, Site};
use crate::support::wait::until;

const HEALTH: &str = "/api/v1/partner/health";
const ME: &str = "/api/ext/me";
const PLANS: &str = "/api/v1/planos";

/// A number in a header.
#[track_caller]
fn number(reply: &Reply, name: &str) -> i64 {
    let value = reply.header(name);
    let value = value.unwrap_or_else(|| panic!("no {name}\n{reply}"));
    value.parse().unwrap()
}

/// Requires a limit, the rest of it, and its end in `ends_in_s` seconds.
#[track_caller]
fn shows(site: &Site, reply: &Reply, limit: i64, remaining: i64, ends_in_s: i64) {
    let shown =
        ["limit", "remaining", "reset"].map(|name| number(reply, &format!("x-ratelimit-{name}")));
    let now = site.clock().now().as_second();
    assert_eq!(shown, [limit, remaining, now + ends_in_s], "{reply}");
}

/// Requires a refusal for the rate that says when it ends.
#[track_caller]
fn refused(site: &Site, reply: &Reply, code: &str, ends_in_s: i64) {
    assert_eq!((reply.status, &*reply.code()), (429, code), "{reply}");
    assert_eq!(number(reply, "retry-after"), ends_in_s, "{reply}");
    let limit = number(reply, "x-ratelimit-limit");
    shows(site, reply, limit, 0, ends_in_s);
}

#[test]
fn a_token_has_sixty_calls_a_window_of_its_own() {
    let site = Site::start();
    let (ana, rui) = (site.extension("ana"), site.extension("rui"));
    for left in (0..60).rev() {
        shows(&site, &ana.get(ME).expect(200), 60, left, 60);
    }
    refused(&site, &ana.get(ME), "rate_limited", 60);
    shows(&site, &rui.get(ME).expect(200), 60, 59, 60);
    site.clock().advance_s(59);
    refused(&site, &ana.get(ME), "rate_limited", 1);
    site.clock().advance_s(1);
    shows(&site, &ana.get(ME).expect(200), 60, 59, 60);
}

#[test]
fn an_address_is_counted_for_open_calls_and_wrong_tokens() {
    let site = Site::start();
    let ana = site.extension("ana");
    site.clock().advance_s(60);
    let nobody = site.anonymous();
    let wrong = site.bearer(&"a".repeat(64));
    for left in (0..30).rev() {
        let refused = wrong.get(ME).expect(401);
        shows(&site, &refused, 60, 30 + left, 60);
    }
    for left in (0..30).rev() {
        shows(&site, &nobody.get(PLANS).expect(200), 60, left, 60);
    }
    refused(&site, &nobody.get(PLANS), "rate_limited", 60);
    refused(&site, &wrong.get(ME), "rate_limited", 60);
    ana.get(ME).expect(200);
}

#[test]
fn windows_survive_a_restart() {
    let site = Site::start();
    let ana = site.extension("ana");
    for _ in 0..25 {
        ana.get(ME).expect(200);
    }
    site.stop();
    site.clock().advance_s(20);
    site.start_again();
    shows(&site, &ana.get(ME).expect(200), 60, 34, 40);
    site.kill();
    site.start_again();
    // A crash may lose the counts of the last second, and never counts too much.
    assert!(number(&ana.get(ME), "x-ratelimit-remaining") >= 33);
}

#[test]
fn a_plan_has_one_rate_over_all_tokens_of_its_account() {
    let site = Site::builder().config("partner.plans.starter.per_minute", 5).start();
    let first = site.seller("ana").plan("starter");
    let second = site.seller("ana");
    let other = site.seller("rui").plan("starter");
    for (token, left) in [&first, &second, &first, &second, &first].into_iter().zip((0..5).rev()) {
        shows(&site, &token.get(HEALTH).expect(200), 5, left, 60);
    }
    for token in [&first, &second] {
        refused(&site, &token.get(HEALTH), "rate_limited", 60);
        refused(&site, &token.get("/v1/partner/orders"), "rate_limited", 60);
    }
    other.get(HEALTH).expect(200);
    site.clock().advance_s(60);
    let reply = first.get(HEALTH).expect(200);
    let tag = reply.header("etag").unwrap().to_owned();
    let again = Request::new("GET", HEALTH).header("If-None-Match", &tag);
    shows(&site, &first.send(again), 5, 3, 60);
}

#[test]
fn refused_partner_calls_count_against_the_address() {
    let site = Site::builder().config("limits.requests", 5).start();
    let supplier = site.supplier("rui").plan("pro");
    let ana = site.seller("ana").plan("pro");
    let wrong = site.bearer("ptk_0000");
    for left in [4, 3] {
        shows(&site, &wrong.get(HEALTH).expect(401), 5, left, 60);
    }
    for left in [2, 1] {
        shows(&site, &supplier.get(HEALTH).expect(403), 5, left, 60);
    }
    wrong.get(HEALTH).expect(401);
    refused(&site, &wrong.get(HEALTH), "rate_limited", 60);
    refused(&site, &supplier.get(HEALTH), "rate_limited", 60);
    ana.get(HEALTH).expect(200);
}

#[test]
fn a_used_up_quota_ends_with_the_month_of_the_zone() {
    let site = Site::builder().config("partner.plans.starter.quota", 3).start();
    let ana = site.seller("ana").plan("starter");
    let now = site.clock().now().as_second();
    // December begins at three o'clock UTC in São Paulo.
    let december = 1_796_094_000;
    for refused in [site.bearer("ptk_0").get(HEALTH), ana.post(HEALTH, &json!({}))] {
        assert!(matches!(refused.status, 401 | 405), "{refused}");
    }
    for left in [2, 1] {
        shows(&site, &ana.get(HEALTH).expect(200), 3, left, december - now);
    }
    site.stop();
    site.start_again();
    // A bad request is a call like any other.
    ana.get("/api/v1/partner/orders?limit=0").expect(400);
    for _ in 0..2 {
        refused(&site, &ana.get(HEALTH), "quota_exceeded", december - now);
    }
    site.clock().set("2026-12-01T02:59:59Z");
    refused(&site, &ana.get(HEALTH), "quota_exceeded", 1);
    site.clock().set("2026-12-01T03:00:00Z");
    assert_eq!(number(&ana.get(HEALTH).expect(200), "x-ratelimit-remaining"), 2);
}

#[test]
fn a_plan_is_good_through_its_last_day() {
    let site = Site::start();
    let ana = site.seller("ana");
    assert_eq!(ana.get(HEALTH).expect(402).code(), "plan_required");
    let plan = |arguments: &[&str]| {
        let email = &ana.person().email;
        let fixed = ["partner", "plan", "--email", email];
        site.command(&[&fixed[..], arguments].concat()).ok();
    };
    let answers = |status: u16| {
        until("the server notices", PROPAGATION, || {
            (ana.get(HEALTH).status == status).then_some(())
        });
    };
    plan(&["--plan", "starter", "--until", "2026-11-20"]);
    answers(200);
    site.clock().set("2026-11-21T02:59:59Z");
    assert_eq!(ana.get(HEALTH).ok()["plan"]["valid_until"], "2026-11-20");
    site.clock().set("2026-11-21T03:00:00Z");
    ana.get(HEALTH).expect(402);
    plan(&["--plan", "scale"]);
    answers(200);
    assert_eq!(ana.get(HEALTH).ok()["plan"]["monthly_quota"], 1_000_000);
    plan(&["--plan", "none"]);
    answers(402);
}

/// A site behind a proxy on this machine and one more in front of it.
fn behind_proxies() -> Site {
    Site::builder().config("server.trusted_proxies", vec!["127.0.0.1", "10.0.0.0/8"]).start()
}

/// A login that comes from `address`, as the proxy says.
#[track_caller]
fn log_in(nobody: &Actor<'_>, email: &str, password: &str, address: &str) -> Reply {
    let login = json!({ "email": email, "senha": password });
    let request = Request::new("POST", "/api/ext/auth").json(&login);
    nobody.send(request.header("X-Forwarded-For", address))
}

#[test]
fn the_client_is_the_right_most_address_that_no_proxy_of_ours_has() {
    let site = behind_proxies();
    let nobody = site.anonymous();
    for (forwarded, left) in [
        ("203.0.113.1", 59),
        ("203.0.113.1, 10.1.2.3", 58),
        ("198.51.100.7, 203.0.113.1", 57),
        ("rubbish, 203.0.113.1", 56),
        ("203.0.113.1, 203.0.113.2", 59),
        ("2001:db8::1", 59),
        ("2001:db8::2", 58),
        ("2001:db8:0:1::1", 59),
    ] {
        let request = Request::new("GET", PLANS).header("X-Forwarded-For", forwarded);
        let reply = nobody.send(request).expect(200);
        assert_eq!(number(&reply, "x-ratelimit-remaining"), left, "{forwarded}");
    }
    let direct = Site::start();
    let nobody = direct.anonymous();
    for (forwarded, left) in [("203.0.113.1", 59), ("203.0.113.2", 58)] {
        let request = Request::new("GET", PLANS).header("X-Forwarded-For", forwarded);
        let reply = nobody.send(request).expect(200);
        assert_eq!(number(&reply, "x-ratelimit-remaining"), left, "not trusted");
    }
}

#[test]
fn a_stray_byte_does_not_hide_what_a_proxy_added() {
    let site = behind_proxies();
    let mut raw = crate::support::client::Connection::open(site.address()).unwrap();
    for left in ["59", "58"] {
        raw.write(
            [
                b"GET /api/v1/planos HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: \xff, "
                    .as_slice(),
                b"198.51.100.77\r\n\r\n",
            ]
            .concat()
            .as_slice(),
        );
        let reply = raw.read_reply("GET").unwrap().unwrap();
        assert_eq!(reply.header("x-ratelimit-remaining"), Some(left), "{reply}");
    }
    let plain = Request::new("GET", PLANS).header("X-Forwarded-For", "198.51.100.77");
    let reply = site.anonymous().send(plain);
    assert_eq!(number(&reply, "x-ratelimit-remaining"), 57);
}

#[test]
fn whoever_wants_to_leave_may() {
    let site = Site::builder().config("limits.requests", 3).start();
    let ana = site.extension("ana");
    let nobody = site.anonymous();
    until_refused(&nobody);
    ana.post("/api/ext/logout", &json!({})).ok();
    ana.get("/api/ext/me").expect(429);
    site.clock().advance_s(61);
    ana.get("/api/ext/me").expect(401);
}

/// Uses up the window of the caller's address.
fn until_refused(nobody: &Actor<'_>) {
    let refused = (0..10).any(|_| nobody.get(PLANS).status == 429);
    assert!(refused, "the address is never refused");
}

#[test]
fn ten_failures_close_an_account_to_strangers() {
    let site = behind_proxies();
    let nobody = site.anonymous();
    let ana = site.make_person("ana", "vip");
    let session = site.person("ana");
    let home = "203.0.113.1";
    log_in(&nobody, &ana.email, &ana.password, home).expect(200);
    for stranger in 1..=10 {
        let address = format!("198.51.100.{stranger}");
        let reply = log_in(&nobody, &ana.email, "errada errada", &address).expect(401);
        assert_eq!(reply.code(), "invalid_credentials");
    }
    let elsewhere = "192.0.2.9";
    for password in ["errada errada", &ana.password] {
        let closed = log_in(&nobody, &ana.email, password, elsewhere).expect(429);
        assert_eq!(closed.code(), "rate_limited");
        assert_eq!(number(&closed, "retry-after"), 900);
    }
    // Her known address has a counter of its own, and her session still works.
    log_in(&nobody, &ana.email, &ana.password, home).expect(200);
    session.get("/painel").expect(200);
    site.clock().advance_s(899);
    log_in(&nobody, &ana.email, &ana.password, elsewhere).expect(429);
    site.clock().advance_s(1);
    log_in(&nobody, &ana.email, &ana.password, elsewhere).expect(200);
}

#[test]
fn ten_failures_close_an_address_to_everybody_new() {
    let site = behind_proxies();
    let nobody = site.anonymous();
    let (ana, rui) = (site.make_person("ana", "vip"), site.make_person("rui", "vip"));
    let cafe = "203.0.113.1";
    log_in(&nobody, &ana.email, &ana.password, cafe).expect(200);
    for guess in 1..=10 {
        let email = format!("ninguem{guess}@example.com");
        log_in(&nobody, &email, "errada errada", cafe).expect(401);
    }
    log_in(&nobody, &rui.email, &rui.password, cafe).expect(429);
    log_in(&nobody, &rui.email, &rui.password, "203.0.113.2").expect(200);
    log_in(&nobody, &ana.email, &ana.password, cafe).expect(200);
    // The known address is blocked by its own ten failures.
    for _ in 0..10 {
        log_in(&nobody, &ana.email, "errada errada", cafe).expect(401);
    }
    log_in(&nobody, &ana.email, &ana.password, cafe).expect(429);
}

#[test]
fn panel_and_extension_count_failures_together() {
    let site = behind_proxies();
    let nobody = site.anonymous();
    let ana = site.make_person("ana", "vip");
    for turn in 0..10 {
        let address = format!("198.51.100.{turn}");
        if turn % 2 == 0 {
            log_in(&nobody, &ana.email, "errada errada", &address).expect(401);
            continue;
        }
        let form = [("email", &*ana.email), ("senha", "errada errada")];
        let request = Request::new("POST", "/entrar").form(&form);
        nobody.send(request.header("X-Forwarded-For", &address)).expect(401);
    }
    let form = [("email", &*ana.email), ("senha", &*ana.password)];
    let request = Request::new("POST", "/entrar").form(&form);
    let closed = nobody.send(request.header("X-Forwarded-For", "192.0.2.1"));
    assert!(number(&closed.expect(429), "retry-after") > 0);
}

/// Addresses in so many networks of 64 bits, which a /56 or several of one /48 have.
fn scattered(networks: impl Iterator<Item = u16>) -> impl Iterator<Item = String> {
    networks.map(|network| format!("2001:db8:7:{network:x}::{network:x}"))
}

#[test]
fn a_client_with_many_networks_is_one_client() {
    let site = Site::builder()
        .config("server.trusted_proxies", vec!["127.0.0.1"])
        .config("limits.requests", 20)
        .config("limits.login_failures", 2)
        .start();
    let nobody = site.anonymous();
    let from =
        |address: &str| nobody.send(Request::new("GET", PLANS).header("X-Forwarded-For", address));
    let served = |addresses: &mut dyn Iterator<Item = String>| {
        addresses.filter(|address| from(address).status == 200).count()
    };
    // Four times the limit for the /56, sixteen times for the /48.
    assert_eq!(served(&mut scattered(0..256)), 80);
    refused(&site, &from("2001:db8:7:ff::1"), "rate_limited", 60);
    assert_eq!(served(&mut scattered((1..256).flat_map(|home| [home << 8, (home << 8) + 1]))), 240);
    refused(&site, &from("2001:db8:7:ff01::1"), "rate_limited", 60);
    shows(&site, &from("2001:db8:8::1").expect(200), 20, 19, 60);
    shows(&site, &from("192.0.2.1").expect(200), 20, 19, 60);
    shows(&site, &from("192.0.2.2").expect(200), 20, 19, 60);

    // The same for wrong passwords, and for programs that register.
    let wrong = |(number, address): (usize, String)| {
        let login = [("email", &*format!("x{number}@example.com")), ("senha", "errada errada")];
        let login = Request::new("POST", "/entrar").form(&login);
        nobody.send(login.header("X-Forwarded-For", &address)).status
    };
    let answers: Vec<u16> = scattered(0..12).enumerate().map(wrong).collect();
    assert_eq!(answers, [[401; 8].as_slice(), &[429; 4]].concat());
    site.clock().advance_s(60);
    let register = |address: String| {
        let program = json!({ "redirect_uris": ["https://programa.example/volta"] });
        let request = Request::new("POST", "/oauth/register").json(&program);
        nobody.send(request.header("X-Forwarded-For", &address)).status
    };
    let mut answers = Vec::new();
    for network in 0..20 {
        // As many as the window of a minute admits.
        site.clock().advance_s(60);
        answers.extend(scattered([network; 5].into_iter()).map(register));
    }
    let made = answers.iter().filter(|status| **status == 201).count();
    assert_eq!((made, &answers[made..]), (80, &[429; 20][..]));
}

#[test]
fn a_new_password_opens_a_closed_account() {
    let site = Site::builder()
        .config("server.trusted_proxies", vec!["127.0.0.1"])
        .config("limits.requests", 1_000_000)
        .start();
    let nobody = site.anonymous();
    let ana = site.make_person("ana", "vip");
    for stranger in 1..=10 {
        let address = format!("198.51.100.{stranger}");
        log_in(&nobody, &ana.email, "errada errada", &address).expect(401);
    }
    let elsewhere = "192.0.2.9";
    log_in(&nobody, &ana.email, &ana.password, elsewhere).expect(429);
    let arguments = ["user", "password", "--email", &ana.email];
    let arguments = [&arguments[..], &["--password-stdin"]].concat();
    site.command(&arguments).stdin("uma senha nova 99").ok();
    until("the account is open again", PROPAGATION, || {
        let reply = log_in(&nobody, &ana.email, "uma senha nova 99", elsewhere);
        (reply.status == 200).then_some(())
    });
}
