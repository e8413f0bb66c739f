//! The way of a call: the sandbox's own pages and controls, or the
//! marketplace with its faults, its bearer check, its log and its strictness.
//!
//! Strict mode is always on: what the real marketplace would refuse or has
//! retired is answered as it would be, and noted as a violation, so a test can
//! ask at the end that there were none.

use super::faults;
use super::http::{Manner, Reply, Request};
use super::state::{Sandbox, Seen, World};
use super::{chat, control, oauth, orders, pages, push, resources, telegram};
use crate::clock::Instant;

/// Query parameters whose values never reach the log.
const SECRETS: [&str; 6] = [
    "access_token",
    "token",
    "client_secret",
    "refresh_token",
    "code",
    "code_verifier",
];

/// Who calls a resource of the marketplace, and when.
#[derive(Clone, Copy)]
pub struct Call {
    /// The seller whose token it is.
    pub seller: i64,
    /// The instant of the call.
    pub now: Instant,
}

/// Answers one request.
pub fn answer(sandbox: &Sandbox, request: &Request) -> Reply {
    let path = request.path.as_str();
    if matches!(path, "/" | "/mensagens" | "/estilo.css") || path.starts_with("/acoes/") {
        return pages::answer(sandbox, request);
    }
    if path.starts_with("/_sandbox/") {
        return control::answer(sandbox, request);
    }
    if path == "/telegram" || path.starts_with("/telegram/") || path.starts_with("/t.me/") {
        return telegram::pages::answer(sandbox, request);
    }
    if let Some(path) = telegram::api::path(request) {
        return telegram::api::answer(sandbox, request, path);
    }
    marketplace(sandbox, request)
}

/// Whether a browser sent this from another site's page. The sandbox has no
/// log-in, so that is all that keeps a strange page from pressing its buttons.
pub fn from_elsewhere(request: &Request) -> bool {
    request.method != "GET"
        && request
            .header("sec-fetch-site")
            .is_some_and(|site| !matches!(site, "same-origin" | "none"))
}

fn marketplace(sandbox: &Sandbox, request: &Request) -> Reply {
    let now = sandbox.clock.now();
    let mut world = sandbox.world();
    let caller = oauth::bearer(&world, request, now);
    if request.query("access_token").is_some() {
        world.violation(
            now,
            "token_in_query",
            format!("{} {}", request.method, request.path),
        );
    }
    let fault = faults::take(&mut world.faults, &request.method, &request.path);
    let reply = match fault.as_ref().map(|kind| (kind, kind.instead())) {
        Some((_, Some(reply))) => reply,
        Some((kind, None)) => dispatch(sandbox, &mut world, request, now).sent(kind.manner()),
        None => dispatch(sandbox, &mut world, request, now),
    };
    let number = i64::try_from(world.requests.total()).unwrap_or(i64::MAX) + 1;
    world.requests.push(Seen {
        number,
        at: now.rfc3339(),
        method: request.method.clone(),
        path: request.path.clone(),
        query: masked(&request.query),
        bearer: request.header("authorization").is_some(),
        ml_user_id: caller,
        status: (!matches!(reply.manner, Manner::Hang(_) | Manner::Lost)).then_some(reply.status),
        fault: fault.map(|kind| kind.name()),
    });
    reply
}

fn masked(query: &[(String, String)]) -> String {
    let shown = query.iter().map(|(name, value)| {
        let secret = SECRETS.contains(&name.as_str());
        (name.as_str(), if secret { "***" } else { value.as_str() })
    });
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(shown)
        .finish()
}

/// What the marketplace has behind a bearer token.
enum Resource<'a> {
    Me,
    User(&'a str),
    ItemIds(&'a str),
    Item(&'a str),
    Items,
    ItemsRetired,
    OrderSearch,
    Order(&'a str),
    Shipment(&'a str),
    MissedFeeds,
    EndGrant { user: &'a str, application: &'a str },
}

fn resource<'a>(method: &str, segments: &[&'a str]) -> Option<Resource<'a>> {
    Some(match (method, segments) {
        ("GET", ["users", "me"]) => Resource::Me,
        ("GET", ["users", id]) => Resource::User(id),
        ("GET", ["users", id, "items", "search"]) => Resource::ItemIds(id),
        ("GET", ["items"]) => Resource::ItemsRetired,
        ("GET", ["items", "bulk"]) => Resource::Items,
        ("GET", ["items", id]) => Resource::Item(id),
        ("GET", ["orders", "search"]) => Resource::OrderSearch,
        ("GET", ["orders", id]) => Resource::Order(id),
        ("GET", ["shipments", id]) => Resource::Shipment(id),
        ("GET", ["missed_feeds"]) => Resource::MissedFeeds,
        ("DELETE", ["users", user, "applications", application]) => {
            Resource::EndGrant { user, application }
        }
        _ => return None,
    })
}

fn dispatch(sandbox: &Sandbox, world: &mut World, request: &Request, now: Instant) -> Reply {
    let segments: Vec<&str> = request.path.split('/').filter(|s| !s.is_empty()).collect();
    match (request.method.as_str(), segments.as_slice()) {
        ("GET", ["authorization"]) => return pages::consent(sandbox, world, request),
        ("POST", ["authorization"]) => return pages::decide(sandbox, world, request, now),
        ("POST", ["oauth", "token"]) => return oauth::token(sandbox, world, request, now),
        ("POST", ["message", "sendText", instance]) => {
            return chat::evolution(world, request, instance, now);
        }
        ("POST", ["push", device]) => return push::receive(world, request, device, now),
        ("POST", [_, "messages"]) => return chat::cloud(world, request, now),
        _ => {}
    }
    let Some(resource) = resource(&request.method, &segments) else {
        let detail = format!("{} {}", request.method, request.path);
        world.violation(now, "unknown_path", detail);
        return Reply::error(404, "not_found", "resource not found");
    };
    let Some(seller) = oauth::bearer(world, request, now) else {
        return oauth::unauthorized(world);
    };
    let call = Call { seller, now };
    match resource {
        Resource::Me => resources::me(world, call),
        Resource::User(id) => resources::user(world, call, id),
        Resource::ItemIds(id) => resources::item_ids(world, call, id, request),
        Resource::Item(id) => resources::item(world, call, id),
        Resource::Items => resources::items(world, call, request),
        Resource::ItemsRetired => resources::items_retired(world, call, request),
        Resource::OrderSearch => orders::search(world, call, request),
        Resource::Order(id) => orders::order(world, call, id),
        Resource::Shipment(id) => orders::shipment(world, call, id, request),
        Resource::MissedFeeds => resources::missed_feeds(sandbox, world, call, request),
        Resource::EndGrant { user, application } => {
            oauth::end_grant(sandbox, world, call, user, application)
        }
    }
}
