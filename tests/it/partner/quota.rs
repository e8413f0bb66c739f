//! The quota of the month: exact at the limit under load, which calls count,
//! and what a kill loses.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::site::Site;
use crate::support::wait::until;

const BASE: &str = "/api/v1/partner";
const HEALTH: &str = "/api/v1/partner/health";
const NOTIFY: &str = "/api/v1/partner/notify";

fn stored(site: &Site) -> u64 {
    let sum = "SELECT coalesce(sum(calls), 0) || '' FROM partner_usage";
    site.stored(sum)[0].parse().unwrap()
}

/// The calls of the month that the account is shown, including this one.
#[track_caller]
fn used(actor: &Actor<'_>) -> u64 {
    actor.get(&format!("{BASE}/usage")).expect(200).json()["used"].as_u64().unwrap()
}

fn site_with_quota(quota: i64) -> Site {
    Site::builder().unlimited().config("partner.plans.starter.quota", quota).start()
}

#[test]
fn a_quota_ends_exactly_at_its_limit_under_load() {
    let site = site_with_quota(150);
    let [first, second] = [(), ()].map(|()| site.seller("ana").bearer_token().to_owned());
    site.seller("ana").plan("starter");
    let replies: Vec<Reply> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..20)
            .map(|number| {
                let (site, token) = (&site, if number % 2 == 0 { &first } else { &second });
                let paths = [HEALTH, "/v1/partner/orders", "/api/v1/partner/orders?limit=0"];
                scope.spawn(move || {
                    let caller = site.bearer(token);
                    (0..15).map(|round| caller.get(paths[round % 3])).collect::<Vec<_>>()
                })
            })
            .collect();
        callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(replies.len(), 300);
    let (refused, answered): (Vec<_>, Vec<_>) =
        replies.iter().partition(|reply| reply.status == 429);
    assert_eq!((answered.len(), refused.len()), (150, 150));
    assert!(answered.iter().all(|reply| matches!(reply.status, 200 | 400)));
    assert!(refused.iter().all(|reply| reply.code() == "quota_exceeded"));
    // Each answer named another number of remaining calls.
    let mut left: Vec<u64> = answered
        .iter()
        .map(|reply| reply.header("x-ratelimit-remaining").unwrap().parse().unwrap())
        .collect();
    left.sort_unstable();
    assert_eq!(left, (0..150).collect::<Vec<_>>());
    // A stop loses nothing, not even of the last moment.
    site.stop();
    site.start_again();
    assert_eq!(stored(&site), 150);
    assert_eq!(site.bearer(&first).get(HEALTH).expect(429).code(), "quota_exceeded");
}

#[test]
fn every_call_costs_one_but_those_that_were_refused_at_the_door() {
    let site = Site::builder()
        .unlimited()
        .config("server.max_body_bytes", 1024)
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "loja@example.com")
        .start();
    let ana = site.seller("ana").plan("pro");
    let (poor, supplier) = (site.seller("rui"), site.supplier("davi").plan("pro"));
    let get = |path: &str| Request::new("GET", &format!("{BASE}{path}"));
    let tag = ana.get(&format!("{BASE}/orders")).expect(200).header("etag").unwrap().to_owned();
    let notice = json!({ "channel": "email", "event": "custom", "title": "Olá", "body": "Veja." });
    let keyed =
        |body: &Value| Request::new("POST", NOTIFY).header("Idempotency-Key", "a").json(body);
    let large = vec![b' '; 1025];
    let calls: [(&Actor<'_>, Request, u16, u64); 15] = [
        (&ana, get("/orders"), 200, 1),
        (&ana, get("/orders").header("If-None-Match", &tag), 304, 0),
        (&ana, get("/orders").header("If-None-Match", "\"other\""), 200, 1),
        (&ana, get("/orders?limit=0").header("If-None-Match", &tag), 400, 1),
        (&ana, get("/orders?limit=0"), 400, 1),
        (&ana, get("/stores/1/metrics"), 404, 1),
        (&ana, keyed(&notice), 200, 1),
        (&ana, keyed(&notice), 200, 1),
        (&ana, keyed(&json!({})), 400, 1),
        (&ana, Request::new("POST", NOTIFY).body("application/json", b"{"), 400, 1),
        (&ana, Request::new("POST", NOTIFY).body("application/json", &large), 413, 0),
        (&ana, Request::new("DELETE", HEALTH), 405, 0),
        (&site.bearer("ptk_0"), get("/orders"), 401, 0),
        (&poor, get("/orders"), 402, 0),
        (&supplier, get("/orders"), 403, 0),
    ];
    let mut before = used(&ana);
    for (actor, request, status, cost) in calls {
        let line = format!("{} {}", request.method, request.target);
        let reply = actor.send(request);
        assert_eq!(reply.status, status, "{line}: {reply}");
        let after = used(&ana);
        assert_eq!(after - before, cost + 1, "{line}: {status}");
        before = after;
    }
    site.stop();
    site.start_again();
    assert_eq!(stored(&site), before, "the others used nothing at all");
}

#[test]
fn a_good_copy_costs_a_place_in_the_minute_alone() {
    let site = Site::builder()
        .config("partner.plans.starter.quota", 6)
        .config("partner.plans.starter.per_minute", 20)
        .start();
    let ana = site.seller("ana").plan("starter");
    let orders = format!("{BASE}/orders");
    let first = ana.get(&orders).expect(200);
    let (tag, date) = ["etag", "last-modified"].map(|name| first.header(name).unwrap()).into();
    assert_eq!(first.header("x-ratelimit-remaining"), Some("5"));
    for (name, copy) in [("If-None-Match", tag), ("If-Modified-Since", date)].repeat(5) {
        let reply = ana.send(Request::new("GET", &orders).header(name, copy)).expect(304);
        // Of the quota, which has least left, each leaves what was there.
        assert_eq!(reply.header("x-ratelimit-limit"), Some("6"), "{reply}");
        assert_eq!(reply.header("x-ratelimit-remaining"), Some("5"), "{reply}");
    }
    let head = Request::new("HEAD", &orders).header("If-None-Match", tag);
    ana.send(head).expect(304);
    let usage = ana.get(&format!("{BASE}/usage")).expect(200).json();
    assert_eq!((&usage["used"], &usage["daily"][0]["calls"]), (&json!(2), &json!(2)), "{usage}");
    let calls = json!([
        { "operation": "get_usage", "calls": 1 }, { "operation": "list_orders", "calls": 1 },
    ]);
    assert_eq!(usage["endpoints"], calls);
    // 13 of the 20 of this minute are used.
    for _ in 0..7 {
        ana.send(Request::new("GET", &orders).header("If-None-Match", tag)).expect(304);
    }
    let limited = ana.send(Request::new("GET", &orders).header("If-None-Match", tag)).expect(429);
    assert_eq!(limited.code(), "rate_limited");
    // Once the quota is used up, a copy is not looked at.
    site.clock().advance_s(60);
    for _ in 0..4 {
        ana.get(&orders).expect(200);
    }
    let refused = ana.send(Request::new("GET", &orders).header("If-None-Match", tag)).expect(429);
    assert_eq!(refused.code(), "quota_exceeded");
    site.stop();
    site.start_again();
    assert_eq!(stored(&site), 6);
}

/// The guide advises to ask every 30 seconds with the tag, and says that this fits any plan.
#[test]
fn the_pace_of_the_guide_fits_every_plan() {
    const PACE_S: i64 = 30;
    let site = Site::start();
    let guide = site.anonymous().get("/desenvolvedores?lang=en").expect(200).text();
    for said in ["Asking every 30 seconds with <code>If-None-Match</code>", "fits any plan"] {
        assert!(guide.contains(said), "the guide does not say {said:?}");
    }
    for plan in ["starter", "pro", "scale"] {
        let ana = site.seller("ana").plan(plan);
        let limits = ana.get(HEALTH).expect(200).json()["plan"].clone();
        let (monthly, minute) =
            ["monthly_quota", "per_minute"].map(|it| limits[it].as_i64().unwrap()).into();
        for of in [plan, &*limits["per_minute"].to_string()] {
            assert!(
                guide.to_lowercase().contains(&format!(">{of}<")),
                "{plan}: the guide has no {of}"
            );
        }
        // Half an hour of it, with nothing new: no call is refused, and none counts.
        let orders = format!("{BASE}/orders");
        let tag = ana.get(&orders).expect(200).header("etag").unwrap().to_owned();
        let before = used(&ana);
        for _ in 0..30 * 60 / PACE_S {
            site.clock().advance_s(PACE_S);
            ana.send(Request::new("GET", &orders).header("If-None-Match", &tag)).expect(304);
        }
        assert_eq!(used(&ana) - before, 1, "{plan}: the question about the usage alone");
        assert!(60 / PACE_S < minute, "{plan}: {minute} a minute");
        // Without tags a month of it would not fit the smallest plan, so the guide names them.
        let (days, calls_a_day) = (31, 24 * 60 * 60 / PACE_S);
        assert_eq!(days * calls_a_day < monthly, plan != "starter", "{plan}: {monthly} a month");
    }
}

#[test]
fn a_kill_amid_good_copies_never_counts_one() {
    let site = site_with_quota(1_000_000);
    let ana = site.seller("ana").plan("starter");
    let orders = format!("{BASE}/orders");
    let tag = ana.get(&orders).expect(200).header("etag").unwrap().to_owned();
    let (token, asked) = (ana.bearer_token().to_owned(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let caller = site.bearer(&token);
                let copy = || Request::new("GET", &orders).header("If-None-Match", &tag);
                while caller.try_send(copy()).is_ok_and(|reply| reply.status == 304) {
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        until("the first call is written", Duration::from_secs(20), || {
            (stored(&site) == 1 && asked.load(Ordering::Relaxed) > 200).then_some(())
        });
        site.kill();
    });
    site.start_again();
    assert_eq!(stored(&site), 1);
    assert_eq!(used(&site.bearer(&token)), 2);
}

#[test]
fn a_kill_forgets_the_last_second_at_most_and_counts_nothing_twice() {
    let site = site_with_quota(1_000_000);
    let ana = site.seller("ana").plan("starter");
    let mut floor = 0;
    for round in 1..=5 {
        for _ in 0..20 * round {
            ana.get(HEALTH).expect(200);
        }
        let asked = Instant::now();
        let known = floor + 20 * round;
        until("what was counted is written", Duration::from_secs(20), || {
            (stored(&site) >= known).then_some(())
        });
        // Written once a second; a busy machine takes its time.
        assert!(asked.elapsed() < Duration::from_secs(15), "{:?}", asked.elapsed());
        assert_eq!(stored(&site), known, "round {round}");
        for _ in 0..7 {
            ana.get(HEALTH).expect(200);
        }
        site.kill();
        site.start_again();
        let after = stored(&site);
        assert!((known..=known + 7).contains(&after), "round {round}: {after} of {known} and 7");
        floor = used(&ana);
        assert_eq!(floor, after + 1, "memory begins with what is stored");
    }
}

#[test]
fn a_month_ends_at_its_last_instant_in_the_configured_zone() {
    for (zone, last, first) in [
        ("Asia/Tokyo", "2026-11-30T14:59:59Z", "2026-11-30T15:00:00Z"),
        ("America/Los_Angeles", "2026-12-01T07:59:59Z", "2026-12-01T08:00:00Z"),
    ] {
        let site = Site::builder()
            .unlimited()
            .config("server.timezone", zone)
            .config("partner.plans.starter.quota", 2)
            .start();
        let ana = site.seller("ana").plan("starter");
        ana.get(HEALTH).expect(200);
        site.clock().set(last);
        ana.get(HEALTH).expect(200);
        let refused = ana.get(HEALTH).expect(429);
        assert_eq!(refused.code(), "quota_exceeded", "{zone}");
        assert_eq!(refused.header("retry-after"), Some("1"), "{zone}: {refused}");
        site.clock().set(first);
        assert_eq!(used(&ana), 1, "{zone}");
    }
}

#[test]
fn a_refusal_names_the_limit_that_was_hit() {
    let site = Site::builder()
        .config("limits.requests", 3)
        .config("limits.partner_post", 1)
        .config("partner.plans.starter.per_minute", 2)
        .config("partner.plans.pro.quota", 1)
        .start();
    let scope = |reply: Reply| reply.expect(429).header("x-ratelimit-scope").map(str::to_owned);
    let ana = site.seller("ana").plan("starter");
    assert_eq!(ana.get(HEALTH).expect(200).header("x-ratelimit-scope"), None);
    ana.get(HEALTH).expect(200);
    assert_eq!(scope(ana.get(HEALTH)).as_deref(), Some("account"));
    let body = json!({ "channel": "email", "event": "custom", "title": "Oi", "body": "Só." });
    let bia = site.seller("bia").plan("starter");
    bia.post(NOTIFY, &body);
    assert_eq!(scope(bia.post(NOTIFY, &body)).as_deref(), Some("token"));
    let caio = site.seller("caio").plan("pro");
    caio.get(HEALTH).expect(200);
    assert_eq!(scope(caio.get(HEALTH)).as_deref(), Some("quota"));
    let stranger = site.bearer("ptk_0000");
    let refused = (0..4).map(|_| stranger.get(HEALTH)).find(|reply| reply.status == 429).unwrap();
    assert_eq!(scope(refused).as_deref(), Some("address"));
}

#[test]
fn a_hundred_calls_with_one_key_and_a_kill_do_the_work_once() {
    let site = Site::builder()
        .unlimited()
        .config("email.smtp_url", "smtp://127.0.0.1:9")
        .config("email.from", "loja@example.com")
        .start();
    let ana = site.seller("ana").plan("pro");
    let token = ana.bearer_token().to_owned();
    let body = json!({ "channel": "email", "event": "custom", "title": "Uma vez", "body": "Só." });
    let answered = AtomicUsize::new(0);
    for round in 1..=5 {
        let key = format!("rodada-{round}");
        let call = || Request::new("POST", NOTIFY).header("Idempotency-Key", &key).json(&body);
        answered.store(0, Ordering::Relaxed);
        let answers: Vec<String> = std::thread::scope(|scope| {
            let callers: Vec<_> = (0..100)
                .map(|_| {
                    scope.spawn(|| {
                        let reply = site.bearer(&token).try_send(call()).ok()?;
                        answered.fetch_add(1, Ordering::Relaxed);
                        Some(reply.expect(200).text())
                    })
                })
                .collect();
            // The kill comes at different times after the first answer.
            until("one was answered", Duration::from_secs(30), || {
                (answered.load(Ordering::Relaxed) > 10 * (round - 1)).then_some(())
            });
            site.kill();
            callers.into_iter().filter_map(|caller| caller.join().unwrap()).collect()
        });
        site.start_again();
        assert!(!answers.is_empty());
        let again = site.bearer(&token).send(call()).expect(200).text();
        assert!(answers.iter().all(|answer| *answer == again), "{again}: {answers:?}");
        let told = ana.get(&format!("{BASE}/notifications")).expect(200).json();
        assert_eq!(told["pagination"]["total"], round, "{told}");
        assert_eq!(site.stored("SELECT count(*) || '' FROM outbox"), [round.to_string()]);
    }
}
