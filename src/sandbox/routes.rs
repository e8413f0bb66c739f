//! The way of a call: the sandbox's own pages and controls, or the
//! marketplace with its faults, its bearer check, its log and its strictness.
//!
//! Strict mode is always on: what the real marketplace would refuse or has
//! retired is answered as it would be, and noted as a violation, so a test can
//! ask at the end that there were none.

use super::aside;
use super::faults;
use super::http::{Manner, Reply, Request};
use super::state::{Sandbox, Seen, World};
use super::{
    chat, claims, control, fees, fiscal, listings, oauth, orders, pages, push, questions,
    resources, shipments, strict, telegram,
};
use crate::base::clock::Instant;

/// Query parameters whose values never reach the log.
const SECRETS: [&str; 6] =
    ["access_token", "token", "client_secret", "refresh_token", "code", "code_verifier"];

/// Who calls a resource of the marketplace, and when.
#[derive(Clone, Copy)]
pub struct Call {
    /// The seller whose token it is.
    pub seller: i64,
    /// The instant of the call.
    pub now: Instant,
}

/// Whose door a request knocks at.
enum Door {
    Page,
    Picture,
    Control,
    TelegramPage,
    Telegram(String),
    Marketplace,
}

fn door(request: &Request) -> Door {
    let path = request.path.as_str();
    if matches!(path, "/" | "/mensagens" | "/estilo.css") || path.starts_with("/acoes/") {
        return Door::Page;
    }
    if path.starts_with("/imagens/") {
        return Door::Picture;
    }
    if path.starts_with("/_sandbox/") {
        return Door::Control;
    }
    if path == "/telegram" || path.starts_with("/telegram/") || path.starts_with("/t.me/") {
        return Door::TelegramPage;
    }
    telegram::api::path(request).map_or(Door::Marketplace, Door::Telegram)
}

/// The phone number that the official chat API is asked about: no address of
/// the marketplace is a number alone.
fn phone(request: &Request) -> Option<&str> {
    let id = request.path.strip_prefix('/')?;
    let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    (request.method == "GET" && is_number).then_some(id)
}

/// Whether a request is one to the marketplace itself, and not to the chat
/// gateways and the push service beside it.
pub fn is_marketplace(request: &Request) -> bool {
    let segments: Vec<&str> = request.path.split('/').filter(|s| !s.is_empty()).collect();
    let is_neighbour = matches!(
        (request.method.as_str(), segments.as_slice()),
        ("POST", ["message", "sendText", _] | ["push", _] | [_, "messages"])
            | ("GET", ["instance", "connectionState", _])
    ) || phone(request).is_some();
    !is_neighbour && matches!(door(request), Door::Marketplace)
}

/// Answers one request.
pub fn answer(sandbox: &Sandbox, request: &Request) -> Reply {
    match door(request) {
        Door::Page => pages::answer(sandbox, request),
        Door::Picture => listings::picture(&sandbox.world(), &request.path),
        Door::Control => control::answer(sandbox, request),
        Door::TelegramPage => telegram::pages::answer(sandbox, request),
        Door::Telegram(path) => telegram::api::answer(sandbox, request, path),
        Door::Marketplace => marketplace(sandbox, request),
    }
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
        world.violation(now, "token_in_query", format!("{} {}", request.method, request.path));
    }
    let fault = faults::take(&mut world.faults, &request.method, &request.path);
    let reply = match fault.as_ref().map(|kind| (kind, kind.instead())) {
        _ if world.config.down && is_marketplace(request) => {
            Reply::html(503, "<html><body>503 Service Unavailable</body></html>".to_owned())
        }
        Some((_, Some(reply))) => reply,
        Some((kind, None)) => {
            let reply = dispatch(sandbox, &mut world, request, now);
            let is_lost = matches!(kind.manner(), Manner::Lost | Manner::Truncated);
            if is_lost && reply.status == 200 && request.path == "/oauth/token" {
                world.grants.forgive();
            }
            reply.sent(kind.manner())
        }
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
    form_urlencoded::Serializer::new(String::new()).extend_pairs(shown).finish()
}

/// What the marketplace has behind a bearer token.
pub enum Resource<'a> {
    Me,
    User(&'a str),
    Users,
    ItemIds(&'a str),
    Item(&'a str),
    Items,
    ItemsRetired,
    OrderSearch,
    Order(&'a str),
    OrderShipments(&'a str),
    Pack(&'a str),
    Shipment(&'a str),
    ShipmentOrders(&'a str),
    Labels,
    Invoices(&'a str, fiscal::Asked<'a>),
    FiscalDocuments(&'a str),
    FiscalDocument(&'a str, &'a str),
    QuestionSearch,
    Question(&'a str),
    Answer,
    ClaimSearch,
    Claim(&'a str),
    ClaimDetail(&'a str),
    Fees,
    MissedFeeds,
    EndGrant { user: &'a str, application: &'a str },
    Aside(aside::Asked<'a>),
}

fn resource<'a>(method: &str, segments: &[&'a str]) -> Option<Resource<'a>> {
    Some(match (method, segments) {
        ("GET", ["users", "me"]) => Resource::Me,
        ("GET", ["users", "bulk"]) => Resource::Users,
        ("GET", ["users", id]) => Resource::User(id),
        ("GET", ["users", id, "items", "search"]) => Resource::ItemIds(id),
        ("GET", ["items"]) => Resource::ItemsRetired,
        ("GET", ["items", "bulk"]) => Resource::Items,
        ("GET", ["items", id]) => Resource::Item(id),
        ("GET", ["orders", "search"]) => Resource::OrderSearch,
        ("GET", ["orders", id]) => Resource::Order(id),
        ("GET", ["orders", id, "shipments"]) => Resource::OrderShipments(id),
        ("GET", ["packs", id]) => Resource::Pack(id),
        ("GET", ["packs", id, "fiscal_documents"]) => Resource::FiscalDocuments(id),
        ("GET", ["packs", id, "fiscal_documents", document]) => {
            Resource::FiscalDocument(id, document)
        }
        ("GET", ["shipments", id]) => Resource::Shipment(id),
        ("GET", ["shipments", id, "orders"]) => Resource::ShipmentOrders(id),
        ("GET", ["shipment_labels"]) => Resource::Labels,
        ("GET", ["users", id, "invoices", rest @ ..]) => Resource::Invoices(id, invoice(rest)?),
        ("GET", ["questions", "search"]) => Resource::QuestionSearch,
        ("GET", ["questions", id]) => Resource::Question(id),
        ("POST", ["answers"]) => Resource::Answer,
        ("GET", ["post-purchase", "v1", "claims", "search"]) => Resource::ClaimSearch,
        ("GET", ["post-purchase", "v1", "claims", id]) => Resource::Claim(id),
        ("GET", ["post-purchase", "v1", "claims", id, "detail"]) => Resource::ClaimDetail(id),
        ("GET", ["sites", "MLB", "listing_prices"]) => Resource::Fees,
        ("GET", ["missed_feeds"]) => Resource::MissedFeeds,
        ("DELETE", ["users", user, "applications", application]) => {
            Resource::EndGrant { user, application }
        }
        _ => Resource::Aside(aside::Asked::read(method, segments)?),
    })
}

fn invoice<'a>(rest: &[&'a str]) -> Option<fiscal::Asked<'a>> {
    Some(match rest {
        ["orders", id] => fiscal::Asked::Order(id),
        ["shipments", id] => fiscal::Asked::Shipment(id),
        ["documents", "xml", id, "authorized"] => fiscal::Asked::Xml(id),
        ["sites", "MLB", "documents", "danfe", id] => fiscal::Asked::Danfe(id),
        [id] => fiscal::Asked::Note(id),
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
        ("GET", ["instance", "connectionState", instance]) => {
            return chat::connection(request, instance);
        }
        ("POST", ["push", device]) => return push::receive(world, request, device, now),
        ("POST", [_, "messages"]) => return chat::cloud(world, request, now),
        _ => {}
    }
    if let Some(id) = phone(request) {
        return chat::phone(request, id);
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
    strict::check_parameters(world, call, request, &resource);
    match resource {
        Resource::Me => resources::me(world, call),
        Resource::User(id) => resources::user(world, call, id),
        Resource::Users => resources::users(world, call, request),
        Resource::ItemIds(id) => listings::item_ids(world, call, id, request),
        Resource::Item(id) => listings::item(world, call, id, request),
        Resource::Items => listings::items(world, call, request),
        Resource::ItemsRetired => listings::items_retired(world, call, request),
        Resource::OrderSearch => orders::search(world, call, request),
        Resource::Order(id) => orders::order(world, call, id),
        Resource::OrderShipments(id) => shipments::of_order(world, call, id, request),
        Resource::Pack(id) => fiscal::pack(world, call, id),
        Resource::Shipment(id) => shipments::shipment(world, call, id, request),
        Resource::ShipmentOrders(id) => shipments::orders_of(world, call, id, request),
        Resource::Labels => shipments::labels(world, call, request),
        Resource::Invoices(user, asked) => fiscal::invoices(world, call, user, &asked),
        Resource::FiscalDocuments(id) => fiscal::documents(world, call, id),
        Resource::FiscalDocument(id, document) => fiscal::document(world, call, id, document),
        Resource::QuestionSearch => questions::search(world, call, request),
        Resource::Question(id) => questions::question(world, call, id, request),
        Resource::Answer => questions::answer(world, call, request),
        Resource::ClaimSearch => claims::search(world, call, request),
        Resource::Claim(id) => claims::claim(world, call, id),
        Resource::ClaimDetail(id) => claims::detail(world, call, id),
        Resource::Fees => fees::listing_prices(world, request),
        Resource::MissedFeeds => resources::missed_feeds(sandbox, world, call, request),
        Resource::EndGrant { user, application } => {
            oauth::end_grant(sandbox, world, call, user, application)
        }
        Resource::Aside(asked) => aside::answer(sandbox, world, call, request, &asked),
    }
}
