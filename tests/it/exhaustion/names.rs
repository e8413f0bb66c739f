//! Every row of the route table gets addresses and forms with many names, and
//! refuses them in about the time that it needs for few.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::{besieged_writes, narrow};
use crate::support::actors::Actor;
use crate::support::client::{Reply, Request};
use crate::support::rows::caller;
use crate::support::site::{CHECKOUT_TOKEN, Route, Site};

/// About the longest form that a row without files takes; some take less.
const LONG: usize = 15 * 1024;

/// `count` names, with `&` between.
fn few(count: usize) -> String {
    many(usize::MAX).split('&').take(count).collect::<Vec<_>>().join("&")
}

/// As many names as so many bytes hold, with `&` between.
fn many(bytes: usize) -> String {
    let mut names = "x".to_owned();
    for number in 0..4_000 {
        if names.len() + 4 > bytes {
            break;
        }
        write!(names, "&{number:x}").unwrap();
    }
    names
}

fn form(row: &Route, body: &str) -> Request {
    let request = Request::new("POST", &row.sample_path())
        .header("Accept", "application/json")
        .body("application/x-www-form-urlencoded", body.as_bytes());
    match &*row.call {
        "checkout_hook" => request.header("X-Hotmart-Hottok", CHECKOUT_TOKEN),
        _ => request,
    }
}

fn query(row: &Route, names: &str) -> Request {
    let target = format!("{}?{names}", row.sample_path());
    let request = Request::new(&row.method, &target).header("Accept", "application/json");
    match &*row.call {
        "checkout_hook" => request.header("X-Hotmart-Hottok", CHECKOUT_TOKEN),
        _ => request,
    }
}

/// The status of too many names. Two receivers want a secret in the head first.
fn refusal(row: &Route) -> u16 {
    match (&*row.call, &*row.family) {
        ("marketplace_hook" | "telegram_hook", _) => 401,
        // No chat gateway is configured here.
        ("chat_hook", _) => 404,
        (_, "partner" | "partner_file" | "agent" | "oauth") => 400,
        _ => 422,
    }
}

/// The shortest of five tries, which says most about the work itself. `also` is a
/// further status that is good.
#[track_caller]
fn refused_in(actor: &Actor<'_>, row: &Route, request: &Request, also: u16) -> Duration {
    let asked = || {
        let began = Instant::now();
        let reply: Reply = actor.send(request.clone());
        let took = began.elapsed();
        let again = match &*row.path {
            // Reminders to all sellers go once in a window, whatever else is wrong.
            path if path.ends_with("/remind-all") => 429,
            // Only test tokens may.
            path if path.contains("/sandbox/") => 403,
            _ => also,
        };
        let refused = [refusal(row), also, again].contains(&reply.status);
        assert!(refused, "{} {}: {reply}", row.method, row.path);
        took
    };
    (0..5).map(|_| asked()).min().unwrap_or_default()
}

#[test]
fn every_row_refuses_many_names_as_fast_as_a_few_too_many() {
    let site = Site::builder().unlimited().start();
    let routes = site.routes();
    assert!(routes.len() > 300, "{} rows", routes.len());
    let mut callers: HashMap<&str, Actor<'_>> = HashMap::new();
    let (mut queries, mut forms) = (0, 0);
    for row in &routes {
        let actor = &*callers.entry(&row.call).or_insert_with(|| caller(&site, row));
        let least = refused_in(actor, row, &query(row, &few(65)), 0);
        let most = refused_in(actor, row, &query(row, &many(7 * 1024)), 0);
        let bearable = Duration::from_millis(60) + 5 * least;
        assert!(most < bearable, "{} {}: {least:?}, {most:?}", row.method, row.path);
        queries += 1;
        if row.method == "POST" {
            let least = refused_in(actor, row, &form(row, &few(65)), 0);
            let most = refused_in(actor, row, &form(row, &many(LONG)), 413);
            let bearable = Duration::from_millis(60) + 5 * least;
            assert!(most < bearable, "{}: {least:?}, {most:?}", row.path);
            forms += 1;
        }
    }
    assert!(queries > 300 && forms > 100, "{queries} addresses, {forms} forms");
}

#[test]
fn strangers_who_send_forms_of_names_cost_others_nothing() {
    let site = narrow(Site::builder().unlimited());
    let (ana, bia) = (site.person("ana"), site.person("bia"));
    let body = many(LONG);
    besieged_writes(&site, &ana, &bia, || {
        std::thread::scope(|scope| {
            for path in ["/oauth/token", "/oauth/revoke", "/oauth/token", "/oauth/revoke"] {
                scope.spawn(|| {
                    let nobody = site.anonymous();
                    for _ in 0..200 {
                        let request = Request::new("POST", path);
                        let media = "application/x-www-form-urlencoded";
                        let reply = nobody.send(request.body(media, body.as_bytes())).expect(400);
                        assert_eq!(reply.json()["error"], "invalid_request");
                    }
                });
            }
        });
    });
}
