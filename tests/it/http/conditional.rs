//! Conditional requests, a client that follows a list and misses no change,
//! HEAD, OPTIONS and pages of other origins.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::random::Random;
use crate::support::site::Site;
use crate::support::wait::until;
use crate::support::world::World;

const ORDERS: &str = "/api/v1/partner/orders?limit=200";
const PLANS: &str = "/api/v1/planos";

#[track_caller]
fn header<'r>(reply: &'r Reply, name: &str) -> &'r str {
    reply.header(name).unwrap_or_else(|| panic!("no {name}\n{reply}"))
}

fn plan(slug: &str) -> Value {
    json!({
        "titulo": format!("Plano {slug}"), "slug": slug, "preco": 49.9, "moeda": "BRL",
        "periodicidade": "mensal", "beneficios": ["Um benefício"],
        "link_checkout": "https://example.com/pagar", "ativo": true,
    })
}

#[test]
fn a_good_copy_is_not_sent_again_and_a_stale_one_is() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    administrator.post("/admin/planos", &plan("um")).expect(201);
    let ana = site.seller("ana").plan("pro");
    let nobody = site.anonymous();
    for (actor, target, dated) in
        [(&nobody, PLANS, true), (&ana, ORDERS, true), (&ana, "/api/v1/partner/health", false)]
    {
        let first = actor.get(target).expect(200);
        let tag = header(&first, "etag").to_owned();
        let asks =
            |name: &str, value: &str| actor.send(Request::new("GET", target).header(name, value));
        for good in [&*tag, "*", &format!("W/{tag}"), &format!("\"x\", {tag}")] {
            let reply = asks("If-None-Match", good).expect(304);
            assert_eq!(header(&reply, "etag"), tag);
        }
        asks("If-None-Match", "\"x\"").expect(200);
        assert_eq!(first.header("last-modified").is_some(), dated, "{first}");
        if dated {
            let modified = header(&first, "last-modified");
            asks("If-Modified-Since", modified).expect(304);
            asks("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT");
            asks("If-Modified-Since", "ontem").expect(200);
            // An entity tag takes precedence over a date.
            let both = Request::new("GET", target)
                .header("If-None-Match", "\"x\"")
                .header("If-Modified-Since", modified);
            actor.send(both).expect(200);
        }
    }
    let first = nobody.get(PLANS).expect(200);
    assert_eq!(header(&first, "cache-control"), "public, max-age=60");
    let tag = header(&first, "etag").to_owned();
    administrator.post("/admin/planos", &plan("dois")).expect(201);
    let stale = Request::new("GET", PLANS).header("If-None-Match", &tag);
    let fresh = nobody.send(stale).expect(200).json();
    assert_eq!(fresh["data"].as_array().unwrap().len(), 2);
}

/// A client that keeps a copy and requests only by date, as the guide
/// recommends to integrators.
struct Follower<'f> {
    actor: &'f Actor<'f>,
    since: Option<String>,
    copy: Value,
}

impl Follower<'_> {
    fn poll(&mut self) {
        let mut request = Request::new("GET", ORDERS);
        if let Some(since) = &self.since {
            request = request.header("If-Modified-Since", since);
        }
        let reply = self.actor.send(request);
        self.since = Some(header(&reply, "last-modified").to_owned());
        match reply.status {
            200 => self.copy = reply.json()["data"].take(),
            status => assert_eq!(status, 304, "{reply}"),
        }
    }
}

#[test]
fn a_follower_by_date_misses_no_change_within_a_second() {
    const SHOP: u64 = 900_000_001;
    let world = World::start();
    world.seller(SHOP, "LOJA DA ANA");
    world.item(SHOP, "Garrafa térmica 1 litro", 89.9);
    let site = Site::builder().unlimited().world(&world).start();
    world.link(&site.person("ana"), SHOP);
    crate::support::sync::wait_until_read(&site, &site.person("ana"));
    let ana = site.seller("ana").plan("scale");
    let extension = site.extension("ana");
    let mut random = Random::new(3);
    let mut follower = Follower { actor: &ana, since: None, copy: json!([]) };
    let mut sales = 0;
    for round in 0..40 {
        for _ in 0..=random.below(3) {
            world.sale(SHOP);
            sales += 1;
            for _ in 0..random.below(4) {
                follower.poll();
            }
        }
        // Another view of the same data shows when it is complete, so that only
        // the follower requests the list.
        until("the sales are in the books", Duration::from_secs(30), || {
            if random.below(2) == 0 {
                follower.poll();
            }
            let me = extension.get("/api/ext/me").ok();
            (me["ml"]["vendas_hoje"] == sales).then_some(())
        });
        // It may take a moment until a stored change makes the cached page
        // stale; a missed change would never appear.
        let what = format!("round {round}: the follower has {sales} sales");
        until(&what, Duration::from_mins(1), || {
            follower.poll();
            (follower.copy.as_array().unwrap().len() == sales).then_some(())
        });
        site.clock().advance_s(i64::try_from(random.below(2)).unwrap());
    }
    assert_eq!(follower.copy, ana.get(ORDERS).ok()["data"]);
}

#[test]
fn head_is_get_without_a_body() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("pro");
    let nobody = site.anonymous();
    for (actor, target) in [(&nobody, PLANS), (&nobody, "/entrar"), (&ana, ORDERS)] {
        let get = actor.get(target).expect(200);
        let head = actor.send(Request::new("HEAD", target)).expect(200);
        for name in ["content-type", "content-length", "etag", "last-modified"] {
            assert_eq!(head.header(name), get.header(name), "{target} {name}");
        }
        assert!(head.body.is_empty(), "{head}");
    }
    // A 304 has no length, for either method.
    let tag = header(&ana.get(ORDERS).expect(200), "etag").to_owned();
    let copy = Request::new("HEAD", ORDERS).header("If-None-Match", &tag);
    assert_eq!(ana.send(copy).expect(304).header("content-length"), None);
}

#[test]
fn partner_calls_refuse_parameters_they_do_not_know() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("pro");
    for target in [
        "/api/v1/partner/health?foo=1",
        "/api/v1/partner/orders?foo=1",
        "/api/v1/partner/orders?limit=",
        "/api/v1/partner/orders?status=",
        "/api/v1/partner/orders?limit=1&limit=2",
    ] {
        let reply = ana.get(target).expect(400);
        assert_eq!(reply.code(), "validation_failed", "{target}");
    }
    // Names may be written with escapes.
    ana.get("/api/v1/partner/orders?ml%5Fid=MLB1&o%66fset=20000").ok();
}

#[test]
fn a_token_tells_its_last_use() {
    let site = Site::builder().unlimited().start();
    let ana = site.seller("ana").plan("pro");
    let last = || ana.get("/api/v1/partner/health").ok()["token"]["last_used_at"].clone();
    assert_eq!(last(), Value::Null);
    site.clock().advance_s(90);
    assert_eq!(last(), "2026-11-20T09:00:00");
    assert_eq!(last(), "2026-11-20T09:01:30");
}

#[test]
fn a_program_may_leave_out_what_it_does_not_change() {
    let site = Site::builder().unlimited().start();
    let administrator = site.administrator();
    let mut off = plan("um");
    off["ativo"] = json!(false);
    let made = administrator.post("/admin/planos", &off).expect(201).json();
    let path = format!("/admin/planos/{}", made["id"].as_str().unwrap());
    administrator.post(&path, &json!({ "preco": 12.5 })).ok();
    let ask = Request::new("GET", &path).header("Accept", "application/json");
    let now = administrator.send(ask).ok();
    assert_eq!(now["preco"], 12.5);
    for field in ["titulo", "slug", "periodicidade", "beneficios", "link_checkout", "ativo"] {
        assert_eq!(now[field], off[field], "{field}");
    }
}

/// A path, its method, the origin of the request, and the origin that is allowed.
type Asked<'o> = (&'o str, &'o str, &'o str, Option<&'o str>);

fn origins(own: &str) -> [Asked<'_>; 14] {
    let extension = "chrome-extension://abcdefghijklmnop";
    let strange = "https://example.com";
    [
        (PLANS, "GET", strange, Some("*")),
        ("/api/v1/partner/orders", "GET", strange, Some("*")),
        ("/v1/partner/orders", "GET", strange, Some("*")),
        ("/api/ext/me", "GET", extension, Some(extension)),
        ("/api/ext/me", "GET", "moz-extension://1-2", Some("moz-extension://1-2")),
        ("/api/ext/me", "GET", "safari-web-extension://A1", Some("safari-web-extension://A1")),
        ("/api/ext/auth", "POST", extension, Some(extension)),
        ("/api/ext/me", "GET", own, Some(own)),
        ("/api/ext/me", "GET", strange, None),
        ("/api/ext/me", "GET", "null", None),
        ("/api/ext/me", "GET", "chrome-extension://", None),
        ("/painel", "GET", strange, None),
        ("/entrar", "POST", strange, None),
        ("/ml/notificacoes", "POST", strange, None),
    ]
}

#[test]
fn preflights_and_answers_say_who_may_read() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    let own = format!("http://{}", site.address());
    for (path, method, origin, allowed) in origins(&own) {
        let preflight = Request::new("OPTIONS", path)
            .header("Origin", origin)
            .header("Access-Control-Request-Method", method)
            .header("Access-Control-Request-Headers", "authorization");
        let reply = nobody.send(preflight).expect(204);
        let place = format!("{path} from {origin}");
        assert_eq!(reply.header("access-control-allow-origin"), allowed, "{place}");
        assert!(header(&reply, "allow").contains(method), "{place}");
        let methods = reply.header("access-control-allow-methods");
        assert_eq!(methods, allowed.map(|_| "GET, POST, OPTIONS"), "{place}");
        let headers = reply.header("access-control-allow-headers").unwrap_or_default();
        for name in ["Authorization", "Content-Type", "If-None-Match", "If-Modified-Since"] {
            assert_eq!(headers.contains(name), allowed.is_some(), "{place} {name}");
        }
        let answer = nobody.send(Request::new(method, path).header("Origin", origin));
        assert_eq!(answer.header("access-control-allow-origin"), allowed, "{place}");
        let exposed = answer.header("access-control-expose-headers").unwrap_or_default();
        for name in [
            "ETag",
            "Last-Modified",
            "Retry-After",
            "X-RateLimit-Remaining",
            "X-RateLimit-Scope",
            "Idempotency-Replayed",
            "X-Request-Id",
        ] {
            assert_eq!(exposed.contains(name), allowed.is_some(), "{place} {name}");
        }
        for reply in [&reply, &answer] {
            let never = "access-control-allow-credentials";
            assert_eq!(reply.header(never), None, "{place}");
        }
    }
    nobody.send(Request::new("OPTIONS", "/nada")).expect(404);
}
