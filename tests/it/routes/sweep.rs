//! Every row of the route table, called by every kind of caller.
//!
//! The expected answer is computed from the row, so a new route is covered on
//! the day it is added; whether the row itself is right was reviewed in `table.snap`.

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::client::{Connection, Reply, Request};
use crate::support::dropshipping::relate;
use crate::support::site::{PROPAGATION, Route, Site};
use crate::support::wait::until;

/// An actor, and which kind of caller it is.
struct Caller<'s> {
    actor: Actor<'s>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Nobody,
    Rubbish,
    /// A session after its logout, a token that was replaced or revoked.
    Ended,
    Extension,
    Student,
    DropSession,
    /// A student with access to the agency.
    Staff,
    Admin,
    Seller,
    Supplier,
    WithoutPlan,
    /// API keys, each with one scope.
    Writer,
    Receiver,
    Keeper,
}

/// The answer that a row must give to a caller.
#[derive(Debug, PartialEq)]
enum Owed {
    /// Some answer of the handler: anything but a refusal or a failure.
    Served,
    Status(u16),
    /// A redirect to the login page, or 401 for a form that is not a page.
    Login,
}

/// Callers, lanes and addresses as they were reviewed. After a change that is meant:
/// `INSTA_UPDATE=always cargo nextest run as_reviewed`.
#[test]
fn the_table_is_as_reviewed() {
    let site = Site::start();
    let rows = site.routes().into_iter().map(|row| {
        let Route { method, path, call, runs, changes_state, .. } = row;
        let note = if changes_state { " (changes something)" } else { "" };
        format!("{call:18} {runs:8} {method:4} {path}{note}\n")
    });
    insta::with_settings!({
        snapshot_path => ".",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!("table", rows.collect::<String>());
    });
}

#[test]
fn no_route_serves_a_caller_it_was_not_declared_for() {
    let site = Site::builder().unlimited().start();
    let callers = every_kind_of_caller(&site);
    let mut routes = site.routes();
    assert!(!routes.is_empty(), "the route table is empty");
    // Rows that end the caller's own credential come last.
    routes.sort_by_key(ends_credential);
    let mut wrong = Vec::new();
    for route in &routes {
        for caller in &callers {
            let reply = caller.actor.send(sample_request(route));
            let owed = owed(route, caller.kind);
            if !pays(&reply, &owed) {
                wrong.push(format!(
                    "{} {} ({}) as {:?}: {} instead of {owed:?}",
                    route.method, route.path, route.call, caller.kind, reply.status
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_known_path_answers_only_its_own_methods() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    let routes = site.routes();
    for route in &routes {
        let declared: Vec<&str> = routes
            .iter()
            .filter(|other| other.path == route.path)
            .map(|other| other.method.as_str())
            .collect();
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"] {
            if declared.contains(&method) {
                continue;
            }
            let reply = nobody.send(Request::new(method, &route.sample_path())).expect(405);
            let allow = reply.header("allow").unwrap_or_default();
            for known in &declared {
                assert!(allow.contains(known), "Allow lacks {known}\n{reply}");
            }
        }
    }
}

#[test]
fn head_works_where_get_only_reads() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    for route in site.routes().iter().filter(|row| row.method == "GET") {
        let path = route.sample_path();
        let head = nobody.send(Request::new("HEAD", &path));
        if route.changes_state {
            head.expect(405);
        } else {
            let get = nobody.get(&path);
            assert_eq!(head.status, get.status, "HEAD differs from GET\n{head}");
        }
    }
}

/// Longer than any row allows.
const OVERSIZED: usize = 64 * 1024 * 1024;

#[test]
fn a_body_over_the_limit_is_refused_before_it_is_sent() {
    let site = Site::builder().unlimited().start();
    for route in site.routes().iter().filter(|row| row.method == "POST") {
        let path = route.sample_path();
        let mut connection = Connection::open(site.address()).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {OVERSIZED}\r\n\r\n",
            site.address()
        );
        connection.write(head.as_bytes());
        let reply =
            connection.read_reply(&format!("POST {path}")).unwrap().expect("an answer").expect(413);
        assert_eq!(reply.header("connection"), Some("close"), "{reply}");
    }
}

#[test]
fn malformed_json_is_named_as_such() {
    let site = Site::builder().unlimited().start();
    let callers = every_kind_of_caller(&site);
    let is_open = |row: &&Route| !row.path.contains("/sandbox/");
    for route in site.routes().iter().filter(|row| reads_json(row)).filter(is_open) {
        let expected = match route.family.as_str() {
            "partner" => (400, "invalid_body"),
            "extension" | "integration" => (422, "validation_failed"),
            _ => continue,
        };
        let request =
            Request::new("POST", &route.sample_path()).body("application/json", b"{\"a\": ");
        let caller = callers
            .iter()
            .find(|caller| owed(route, caller.kind) == Owed::Served)
            .unwrap_or_else(|| panic!("nobody may call {}", route.path));
        let reply = caller.actor.send(request);
        assert_eq!((reply.status, reply.code().as_str()), expected, "{reply}");
    }
}

#[test]
fn unknown_paths_are_not_found_for_anybody() {
    let site = Site::builder().unlimited().start();
    let nobody = site.anonymous();
    for path in [
        "/nada",
        "/api",
        "/api/v1",
        "/api/v1/nada",
        "/api/v2/planos",
        "/api/ext/nada",
        "/api/v1/partner/nada",
        "/v1/partner/nada",
        "/admin/nada/nada/nada",
        "/api/v1/planos/",
        "/API/v1/planos",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            nobody.send(Request::new(method, path)).expect(404);
        }
    }
}

#[test]
fn a_request_id_of_the_caller_comes_back() {
    let site = Site::start();
    let nobody = site.anonymous();
    let with_id = |id: &str| {
        let request = Request::new("GET", "/healthz").header("X-Request-Id", id);
        let reply = nobody.send(request);
        reply.header("x-request-id").unwrap().to_owned()
    };
    let longest = "a".repeat(128);
    for id in ["abc-123", "~", longest.as_str()] {
        assert_eq!(with_id(id), id);
    }
    for id in ["", "maçã", "a".repeat(129).as_str()] {
        assert_ne!(with_id(id), id);
    }
    assert_ne!(with_id(""), with_id(""), "each request has its own");
}

fn every_kind_of_caller(site: &Site) -> Vec<Caller<'_>> {
    let left = site.person("eva");
    left.send(Request::new("POST", "/sair")).expect(303);
    let replaced = site.extension("bia");
    let revoked = site.seller("gil").plan("starter");
    let gil = revoked.person().email.clone();
    let arguments = ["user", "password", "--email", &gil];
    let arguments = [&arguments[..], &["--revoke-partner-tokens"]].concat();
    site.command(&arguments).ok();
    until("the token is revoked", PROPAGATION, || {
        let status = revoked.get("/api/v1/partner/health").status;
        (status == 401).then_some(())
    });
    let supplier = site.supplier("rui").plan("starter");
    relate(site, &supplier, &site.person("caio"));
    let callers = [
        (Kind::Nobody, site.anonymous()),
        (Kind::Rubbish, site.bearer(&"f".repeat(64))),
        (Kind::Ended, left),
        (Kind::Ended, replaced),
        (Kind::Ended, revoked),
        (Kind::Extension, site.extension("bia")),
        (Kind::Student, site.person("caio")),
        (Kind::DropSession, site.person_as("duda", "drop")),
        (Kind::Staff, crate::support::agency::staff(site, "lia")),
        (Kind::Admin, site.administrator()),
        (Kind::Seller, site.seller("ana").plan("starter")),
        (Kind::Supplier, supplier),
        (Kind::WithoutPlan, site.seller("hugo")),
        (Kind::Writer, site.key(&["write"])),
        (Kind::Receiver, site.key(&["webhook_receive"])),
        (Kind::Keeper, site.key(&["admin"])),
    ];
    callers.into_iter().map(|(kind, actor)| Caller { actor, kind }).collect()
}

/// The answer that the row's declaration requires for this kind of caller.
fn owed(route: &Route, kind: Kind) -> Owed {
    use Kind::{
        Admin, DropSession, Extension, Keeper, Receiver, Seller, Staff, Student, Supplier,
        WithoutPlan, Writer,
    };
    let (call, detail) = route.call.split_once(':').unwrap_or((&route.call, ""));
    match (call, kind) {
        ("visitor", DropSession | Admin) if route.path == crate::support::rows::RETURN => {
            Owed::Status(403)
        }
        // Only for test tokens: `partner/test_shops.rs`.
        ("seller", Seller) | ("supplier", Supplier) if route.path.contains("/sandbox/") => {
            Owed::Status(403)
        }
        ("public" | "visitor", _)
        | ("seller", Seller)
        | ("supplier", Supplier)
        | ("agent", Seller | Supplier)
        | ("extension", Extension)
        | ("key", Keeper) => Owed::Served,
        ("key", Writer) => served_if(detail == "write"),
        ("key", Receiver) => served_if(detail == "webhook_receive"),
        ("seller", Supplier) | ("supplier", Seller) => Owed::Status(403),
        ("seller" | "supplier" | "agent", WithoutPlan) => Owed::Status(402),
        ("session", Staff | Admin) if detail == "agency" => {
            let is_for_admins = crate::support::agency::is_for_administrators(&route.path);
            served_if(kind == Admin || !is_for_admins)
        }
        ("session", Student | DropSession | Staff | Admin) => {
            let role = match kind {
                Student | Staff => "student",
                DropSession => "supplier",
                _ => "admin",
            };
            let agency = detail == "agency" && role == "admin";
            served_if(detail == role || detail == "anyone" || agency)
        }
        ("session", _) if matches!(&*route.family, "page" | "file") => Owed::Login,
        // No chat gateway is configured here, so its receiver is not there.
        ("chat_hook", _) => Owed::Status(404),
        (
            "session" | "seller" | "supplier" | "agent" | "extension" | "marketplace_hook"
            | "checkout_hook" | "telegram_hook" | "cron" | "key",
            _,
        ) => Owed::Status(401),
        (unknown, _) => panic!("{}: who is {unknown:?}?", route.path),
    }
}

fn served_if(may: bool) -> Owed {
    if may { Owed::Served } else { Owed::Status(403) }
}

fn pays(reply: &Reply, owed: &Owed) -> bool {
    match owed {
        // A public login answers 401 `invalid_credentials` or OAuth's own
        // codes: it rejects the sent values, not the caller.
        Owed::Served => {
            !matches!(reply.status, 402 | 403 | 405 | 413 | 429 | 500 | 501 | 503)
                && reply.code() != "unauthorized"
        }
        Owed::Status(status) => reply.status == *status,
        Owed::Login => {
            let location = reply.header("location").unwrap_or_default();
            match reply.status {
                303 => location.starts_with("/entrar"),
                401 => reply.asked.starts_with("POST "),
                _ => false,
            }
        }
    }
}

/// A request for the row with an empty body, sent as its callers do.
fn sample_request(route: &Route) -> Request {
    let request = Request::new(&route.method, &route.sample_path());
    match (route.family.as_str(), route.method.as_str()) {
        ("page", "GET") => request.header("Accept", "text/html"),
        (_, "GET") => request,
        _ => request.json(&json!({})),
    }
}

fn ends_credential(route: &Route) -> bool {
    ["/sair", "/logout"].iter().any(|end| route.path.ends_with(end))
}

/// Whether a row reads a JSON body. Rows that end in a verb act only on the
/// path or the caller.
fn reads_json(route: &Route) -> bool {
    let acts_alone = ["/logout", "/sair", "/lidos"];
    route.method == "POST"
        && !route.path.contains('{')
        && !route.call.ends_with("_hook")
        && !acts_alone.iter().any(|end| route.path.ends_with(end))
}
