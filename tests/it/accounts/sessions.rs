//! Sessions in the browser, extension tokens and the set-up link: how they
//! begin, what they reject, when they end.

use std::time::Duration;

use serde_json::json;

use crate::support::client::{Reply, Request};
use crate::support::site::Site;
use crate::support::wait::until;

const HOUR_S: i64 = 3600;
const DAY_S: i64 = 24 * HOUR_S;

/// Requires that a page redirects to the login and remembers the page.
#[track_caller]
fn is_sent_to_login(reply: &Reply) {
    assert_eq!(reply.status, 303, "{reply}");
    assert_eq!(reply.header("location"), Some("/entrar?volta=%2Fpainel"));
}

#[test]
fn a_session_ends_after_twelve_idle_hours() {
    let site = Site::start();
    let ana = site.person("ana");
    for _ in 0..3 {
        site.clock().advance_s(12 * HOUR_S - 1);
        ana.get("/painel").expect(200);
    }
    // The last use survives a clean stop.
    site.stop();
    site.start_again();
    site.clock().advance_s(12 * HOUR_S - 1);
    ana.get("/painel").expect(200);
    site.clock().advance_s(12 * HOUR_S);
    is_sent_to_login(&ana.get("/painel"));
    let json = Request::new("GET", "/painel").header("Accept", "application/json");
    assert_eq!(ana.send(json).expect(401).code(), "unauthorized");
}

#[test]
fn a_session_ends_after_thirty_days_whatever_happens() {
    let site = Site::start();
    let ana = site.person("ana");
    for _ in 0..72 {
        site.clock().advance_s(10 * HOUR_S - 1);
        ana.get("/painel").expect(200);
    }
    site.clock().advance_s(71);
    ana.get("/painel").expect(200);
    site.clock().advance_s(1);
    is_sent_to_login(&ana.get("/painel"));
}

#[test]
fn leaving_ends_the_session_and_every_login_begins_a_new_one() {
    let site = Site::start();
    let (first, second) = (site.person("ana"), site.person("ana"));
    first.get("/painel").expect(200);
    let left = first.send(Request::new("POST", "/sair")).expect(303);
    assert_eq!(left.header("location"), Some("/entrar"));
    let cookie = left.header("set-cookie").unwrap();
    assert!(cookie.contains("Max-Age=0"), "{cookie}");
    let forgotten = Some("\"cache\", \"storage\"");
    assert_eq!(left.header("clear-site-data"), forgotten);
    is_sent_to_login(&first.get("/painel"));
    second.get("/painel").expect(200);
    // The same when the session ended elsewhere, or when there was none.
    for actor in [&first, &site.anonymous()] {
        let left = actor.send(Request::new("POST", "/sair")).expect(303);
        assert_eq!(left.header("location"), Some("/entrar"));
        assert_eq!(left.header("clear-site-data"), forgotten);
    }
    assert_eq!(second.get("/painel").expect(200).header("clear-site-data"), None);
}

#[test]
fn the_cookie_is_out_of_reach() {
    let site = Site::builder().config("server.base_url", "https://painel.example.com").start();
    let ana = site.make_person("ana", "vip");
    let form = [("email", &*ana.email), ("senha", &*ana.password)];
    let request = Request::new("POST", "/entrar").form(&form);
    let reply = site.anonymous().send(request).expect(303);
    let cookie = reply.header("set-cookie").unwrap();
    for attribute in ["; HttpOnly", "; SameSite=Lax", "; Path=/", "; Secure"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
    assert!(reply.header("strict-transport-security").is_some());
}

#[test]
fn state_changes_only_from_our_own_pages() {
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let nobody = site.anonymous();
    let own = format!("http://{}", site.address());
    let person = ana.person();
    let login = [("email", &*person.email), ("senha", &*person.password)];
    for (fetch_site, origin, passes) in [
        (None, None, true),
        (Some("same-origin"), None, true),
        (Some("none"), None, true),
        (None, Some(&*own), true),
        (Some("same-origin"), Some(&*own), true),
        (Some("cross-site"), None, false),
        (Some("same-site"), None, false),
        (Some(""), None, false),
        (Some("rubbish"), None, false),
        (None, Some("null"), false),
        (None, Some("https://example.com"), false),
        (None, Some(""), false),
        (Some("same-origin"), Some("null"), false),
        (Some("none"), Some("https://example.com"), false),
        (Some("cross-site"), Some(&*own), false),
    ] {
        let marked = |mut request: Request| {
            for (name, value) in [("Sec-Fetch-Site", fetch_site), ("Origin", origin)] {
                if let Some(value) = value {
                    request = request.header(name, value);
                }
            }
            request
        };
        let expected = if passes { 303 } else { 403 };
        for (actor, request) in [
            (&ana, Request::new("POST", "/painel/avisos/lidos").form(&[])),
            // It starts linking, so it is treated like a POST.
            (&ana, Request::new("GET", "/painel/ml/conectar")),
            (&nobody, Request::new("POST", "/entrar").form(&login)),
            (&nobody, Request::new("POST", "/sair").form(&[])),
        ] {
            let reply = actor.send(marked(request));
            assert_eq!(reply.status, expected, "{fetch_site:?} {origin:?}\n{reply}");
        }
        // Reading is allowed from every origin; otherwise no link to us would work.
        ana.send(marked(Request::new("GET", "/painel"))).expect(200);
        nobody.send(marked(Request::new("GET", "/entrar"))).expect(200);
        nobody.send(marked(Request::new("GET", "/"))).expect(303);
    }
}

#[test]
fn two_session_cookies_are_refused() {
    let site = Site::start();
    let ana = site.person("ana");
    let planted = Request::new("GET", "/painel").header("Cookie", "sessao=plantada");
    assert_eq!(ana.send(planted).expect(400).status, 400);
    let other = Request::new("GET", "/painel").header("Cookie", "outro=1");
    ana.send(other).expect(200);
}

#[test]
fn a_login_leads_home_or_back_but_never_away() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    for (role, home) in [("vip", "/painel"), ("drop", "/fornecedor"), ("admin", "/admin")] {
        let person = site.make_person(role, role);
        for (back, leads_to) in [
            ("", home),
            ("/painel/ml?aviso=vinculada", "/painel/ml?aviso=vinculada"),
            ("//example.com", home),
            ("/\\example.com", home),
            ("https://example.com/", home),
            ("javascript:alert(1)", home),
        ] {
            let form = [("email", &*person.email), ("senha", &*person.password), ("volta", back)];
            let reply = nobody.send(Request::new("POST", "/entrar").form(&form));
            let reply = reply.expect(303);
            assert_eq!(reply.header("location"), Some(leads_to), "{role} {back}");
        }
        let upper = format!("  {}  ", person.email.to_uppercase());
        let login = json!({ "email": upper, "senha": person.password });
        nobody.post("/entrar", &login).expect(303);
    }
    for other in ["/admin", "/fornecedor"] {
        site.person("ana").get(other).expect(403);
    }
}

#[test]
fn an_extension_has_one_token_for_thirty_days() {
    let site = Site::builder().unlimited().start();
    let old = site.extension("ana");
    old.get("/api/ext/me").expect(200);
    let new = site.extension("ana");
    old.get("/api/ext/me").expect(401);
    site.clock().advance_s(30 * DAY_S - 1);
    new.get("/api/ext/me").expect(200);
    site.clock().advance_s(1);
    assert_eq!(new.get("/api/ext/me").expect(401).code(), "unauthorized");
    let ok = json!({ "ok": true });
    let logout = || Request::new("POST", "/api/ext/logout");
    for actor in [&new, &old, &site.anonymous(), &site.bearer("x")] {
        assert_eq!(actor.send(logout()).ok(), ok, "{actor}");
    }
    let basic = logout().header("Authorization", "Basic YTpi");
    assert_eq!(site.anonymous().send(basic).ok(), ok);
    let third = site.extension("ana");
    third.get("/api/ext/me").expect(200);
    assert_eq!(third.send(logout()).ok(), ok);
    third.get("/api/ext/me").expect(401);
    assert_eq!(third.send(logout()).ok(), ok);
}

#[test]
fn unknown_people_and_wrong_passwords_look_alike() {
    let site = Site::builder().unlimited().start();
    let ana = site.make_person("ana", "vip");
    let nobody = site.anonymous();
    let answer = |email: &str| {
        let login = json!({ "email": email, "senha": "errada errada" });
        let reply = nobody.post("/api/ext/auth", &login).expect(401);
        reply.body
    };
    assert_eq!(answer(&ana.email), answer("ninguem@example.com"));
}

#[test]
fn a_set_up_link_makes_one_administrator_within_half_an_hour() {
    let site = Site::start();
    let nobody = site.anonymous();
    let link = || {
        let printed = site.command(&["setup-link"]).ok();
        let start = printed.find("/configurar").expect("a link");
        printed[start..].trim().to_owned()
    };
    let code_of = |target: &str| target.rsplit('=').next().unwrap().to_owned();
    let fill = |target: &str, email: &str| {
        let code = code_of(target);
        let form = [
            ("codigo", &*code),
            ("nome", "Bia Lima"),
            ("email", email),
            ("senha", "uma senha longa 1"),
        ];
        nobody.send(Request::new("POST", "/configurar").form(&form))
    };
    let first = link();
    nobody.get(&first).expect(200);
    let second = link();
    nobody.get(&first).expect(404);
    site.clock().advance_s(30 * 60);
    nobody.get(&second).expect(404);
    fill(&second, "tarde@example.com").expect(404);
    let third = link();
    let short = [("codigo", &*code_of(&third)), ("senha", "curta")];
    nobody.send(Request::new("POST", "/configurar").form(&short)).expect(422);
    site.clock().advance_s(30 * 60 - 1);
    let made = fill(&third, "bia@example.com").expect(303);
    assert_eq!(made.header("location"), Some("/admin"));
    assert!(made.session_cookie().is_some());
    fill(&third, "outra@example.com").expect(404);
    nobody.get(&third).expect(404);
    let refused = site.command(&["setup-link"]).exits(1);
    assert!(refused.stderr.contains("administrator"), "{}", refused.stderr);
}

#[test]
fn the_first_start_prints_a_link_and_later_ones_too_until_it_is_used() {
    let site = Site::start();
    let links = || site.log().matches("/configurar?codigo=").count();
    until("the link is printed", Duration::from_secs(30), || (links() == 1).then_some(()));
    site.administrator();
    site.stop();
    site.start_again();
    site.stop();
    assert_eq!(links(), 1);
}
