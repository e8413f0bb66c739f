//! Every address of the sandbox as a row of one table, and the way of a call.
//!
//! The row says what is behind an address, and from that follows all else:
//! which token is needed, whether faults are played and calls are logged, which
//! parameters are known, how a refusal looks.
//!
//! Strict mode is always on: what the real marketplace would refuse or has
//! retired is answered as it would be, and noted as a violation, so a test can
//! ask at the end that there were none.

use serde_json::json;

use super::call::{Answer, Call, Outcome, Pressed};
use super::faults::{self, FaultKind};
use super::http::{Manner, Reply, Request};
use super::logs::Seen;
use super::state::Sandbox;
use super::{
    chat, claims, control, demo, fees, fiscal, history, inbox, listings, notices, oauth, orders,
    overview, page, push, questions, sales, shipments, shops, telegram, users,
};

/// A row of the table.
pub struct Route {
    /// HTTP method; `*` is any.
    pub method: &'static str,
    /// Path in which `{name}` stands for a segment or its end, `{digits}` for a
    /// segment of digits, and `*` at the end for all that follows.
    pub path: &'static str,
    handler: Handler,
}

/// What is behind an address.
enum Handler {
    /// The marketplace, for a seller's token; with the parameters it knows.
    Seller(fn(&mut Call<'_>) -> Answer, &'static str),
    /// The marketplace, without a token.
    Open(fn(&mut Call<'_>) -> Answer),
    /// A service beside the marketplace, with checks of its own.
    Neighbour(fn(&mut Call<'_>) -> Answer),
    /// Telegram's Bot API.
    Telegram(fn(&mut Call<'_>) -> Answer),
    /// The control interface.
    Control(fn(&mut Call<'_>) -> Outcome),
    /// A page of the sandbox's own.
    Page(fn(&mut Call<'_>) -> Answer),
    /// A button of the overview.
    Button(fn(&mut Call<'_>) -> Pressed),
}

const fn seller(
    method: &'static str,
    path: &'static str,
    handler: fn(&mut Call<'_>) -> Answer,
    parameters: &'static str,
) -> Route {
    Route { method, path, handler: Handler::Seller(handler, parameters) }
}

/// The marketplace documents it, and there is nothing of it here.
const fn nothing(method: &'static str, path: &'static str) -> Route {
    seller(method, path, |_| Err(Reply::not_found("the sandbox has nothing of this")), "")
}

const fn open(
    method: &'static str,
    path: &'static str,
    handler: fn(&mut Call<'_>) -> Answer,
) -> Route {
    Route { method, path, handler: Handler::Open(handler) }
}

const fn neighbour(
    method: &'static str,
    path: &'static str,
    handler: fn(&mut Call<'_>) -> Answer,
) -> Route {
    Route { method, path, handler: Handler::Neighbour(handler) }
}

const fn control(
    method: &'static str,
    path: &'static str,
    handler: fn(&mut Call<'_>) -> Outcome,
) -> Route {
    Route { method, path, handler: Handler::Control(handler) }
}

const fn page(
    method: &'static str,
    path: &'static str,
    handler: fn(&mut Call<'_>) -> Answer,
) -> Route {
    Route { method, path, handler: Handler::Page(handler) }
}

const fn button(path: &'static str, handler: fn(&mut Call<'_>) -> Pressed) -> Route {
    Route { method: "POST", path, handler: Handler::Button(handler) }
}

/// The table. The first row that fits counts.
#[rustfmt::skip] // A table: one address per row.
pub static ROUTES: &[Route] = &[
    open("GET", "/authorization", oauth::consent),
    open("POST", "/authorization", oauth::decide),
    open("POST", "/oauth/token", oauth::token),

    seller("GET", "/users/me", users::me, ""),
    seller("GET", "/users/bulk", users::users, "ids"),
    seller("POST", "/users/test_user", shops::test_user, ""),
    seller("GET", "/users/{id}", users::user, ""),
    seller("GET", "/users/{id}/applications", oauth::granted_by, ""),
    seller("DELETE", "/users/{id}/applications/{application}", oauth::end_grant, ""),
    seller("GET", "/applications/{id}", oauth::application, ""),
    seller("GET", "/applications/{id}/grants", oauth::grants, "limit offset"),

    seller("GET", "/users/{id}/items/search", listings::search, listings::SEARCH),
    seller("GET", "/items", listings::items_retired, "ids attributes include_attributes"),
    seller("GET", "/items/bulk", listings::items, "ids attributes include_attributes"),
    seller("GET", "/items/{id}", listings::item, "attributes include_attributes"),
    seller("GET", "/items/{id}/sale_price", listings::sale_price, "context"),
    seller("GET", "/sites/MLB/listing_prices", fees::listing_prices, fees::PRICES),

    seller("GET", "/orders/search", orders::search, orders::SEARCH),
    seller("GET", "/orders/{id}", orders::order, ""),
    seller("GET", "/orders/{id}/shipments", orders::shipments, ""),
    seller("GET", "/orders/{id}/discounts", orders::discounts, ""),

    seller("GET", "/shipments/{id}", shipments::shipment, ""),
    seller("GET", "/shipments/{id}/orders", shipments::orders, ""),
    seller("GET", "/shipments/{id}/costs", shipments::costs, ""),
    seller("GET", "/shipment_labels", shipments::labels, "shipment_ids response_type"),
    seller("GET", "/shipment_statuses", shipments::statuses, ""),

    seller("GET", "/packs/{id}", fiscal::pack, ""),
    seller("GET", "/packs/{id}/fiscal_documents", fiscal::documents, ""),
    seller("GET", "/packs/{id}/fiscal_documents/{document}", fiscal::document, ""),
    seller("GET", "/users/{id}/invoices/orders/{order}", fiscal::by_order, ""),
    seller("GET", "/users/{id}/invoices/shipments/{shipment}", fiscal::by_shipment, ""),
    seller("GET", "/users/{id}/invoices/documents/xml/{note}/authorized", fiscal::xml, ""),
    seller("GET", "/users/{id}/invoices/sites/MLB/documents/danfe/{note}", fiscal::danfe, ""),
    seller("GET", "/users/{id}/invoices/{note}", fiscal::by_note, ""),

    seller("GET", "/questions/search", questions::search, questions::SEARCH),
    seller("GET", "/questions/{id}", questions::question, "api_version"),
    seller("POST", "/answers", questions::answer, ""),
    seller("GET", "/users/{id}/questions/response_time", questions::response_time, ""),

    seller("GET", "/post-purchase/v1/claims/search", claims::search, claims::SEARCH),
    seller("GET", "/post-purchase/v1/claims/{id}", claims::claim, ""),
    seller("GET", "/post-purchase/v1/claims/{id}/detail", claims::detail, ""),

    seller("GET", "/missed_feeds", notices::missed_feeds, "app_id topic site_id offset limit"),

    nothing("POST", "/questions"),
    nothing("DELETE", "/questions/{id}"),
    nothing("GET", "/item/{id}/performance"),
    nothing("GET", "/shipments/{id}/items"),
    nothing("GET", "/shipments/{id}/lead_time"),
    nothing("GET", "/shipments/{id}/history"),
    nothing("GET", "/shipments/{id}/carrier"),
    nothing("GET", "/shipments/{id}/payments"),
    nothing("GET", "/shipments/{id}/sla"),
    nothing("GET", "/shipments/{id}/delays"),

    neighbour("POST", "/message/sendText/{instance}", chat::evolution),
    neighbour("GET", "/instance/connectionState/{instance}", chat::connection),
    neighbour("POST", "/push/{device}", push::receive),
    Route { method: "*", path: "/bot{token}/*", handler: Handler::Telegram(telegram::api::answer) },

    control("POST", "/_sandbox/sellers", shops::control_open),
    control("POST", "/_sandbox/items", shops::control_publish),
    control("POST", "/_sandbox/items/{id}", shops::control_change_item),
    control("POST", "/_sandbox/sales", sales::control_sell),
    control("POST", "/_sandbox/orders/{id}", sales::control_change),
    control("POST", "/_sandbox/questions", questions::control_ask),
    control("POST", "/_sandbox/questions/{id}", questions::control_change),
    control("POST", "/_sandbox/claims", claims::control_open),
    control("POST", "/_sandbox/claims/{id}", claims::control_change),
    control("POST", "/_sandbox/history", history::control_write),
    control("POST", "/_sandbox/notifications", notices::control_announce),
    control("POST", "/_sandbox/topics", notices::control_switch_topic),
    control("POST", "/_sandbox/authorize", oauth::control_authorize),
    control("POST", "/_sandbox/tokens", oauth::control_end_tokens),
    control("POST", "/_sandbox/chat/wrote", chat::control_wrote),
    control("GET", "/_sandbox/telegram", telegram::control::state),
    control("POST", "/_sandbox/telegram/say", telegram::control::say),
    control("POST", "/_sandbox/telegram/block", telegram::control::block),
    control("POST", "/_sandbox/telegram/unblock", telegram::control::unblock),
    control("POST", "/_sandbox/telegram/updates", telegram::control::update),
    control("POST", "/_sandbox/spoil", control::spoil),
    control("GET", "/_sandbox/faults", |call| Ok(json!({ "faults": call.world.faults }))),
    control("POST", "/_sandbox/faults", control::add_fault),
    control("DELETE", "/_sandbox/faults", control::clear_faults),
    control("GET", "/_sandbox/config", |call| Ok(json!(call.world.config))),
    control("POST", "/_sandbox/config", control::change_config),
    control("GET", "/_sandbox/state", control::state),
    control("GET", "/_sandbox/truth", control::truth),
    control("GET", "/_sandbox/requests", |call| Ok(call.world.requests.shown("requests"))),
    control("DELETE", "/_sandbox/requests", |call| control::clear(&mut call.world.requests)),
    control("GET", "/_sandbox/deliveries", control::deliveries),
    control("DELETE", "/_sandbox/deliveries", |call| control::clear(&mut call.world.deliveries)),
    control("GET", "/_sandbox/violations", |call| Ok(call.world.violations.shown("violations"))),
    control("DELETE", "/_sandbox/violations", |call| control::clear(&mut call.world.violations)),
    control("GET", "/_sandbox/messages", |call| Ok(call.world.messages.shown("messages"))),
    control("GET", "/_sandbox/pushed", |call| Ok(call.world.pushed.shown("pushed"))),
    page("*", "/_sandbox/*", |_| Err(refused(404, "no such control; docs/sandbox.md has them all"))),

    page("GET", "/", overview::overview),
    page("GET", "/mensagens", inbox::inbox),
    page("GET", "/estilo.css", page::style),
    page("*", "/imagens/{file}", listings::picture),
    page("GET", "/telegram", telegram::pages::chats),
    page("POST", "/telegram", telegram::pages::begin),
    page("GET", "/telegram/{chat}", telegram::pages::chat),
    page("POST", "/telegram/{chat}", telegram::pages::act),
    page("GET", "/t.me/{bot}", telegram::pages::chats),
    page("*", "/telegram/*", telegram::pages::missing),
    page("*", "/t.me/*", telegram::pages::missing),

    button("/acoes/venda", sales::press_sale),
    button("/acoes/venda/sem-envio", sales::press_unshipped),
    button("/acoes/carrinho", sales::press_cart),
    button("/acoes/pedido", sales::press_order),
    button("/acoes/anuncio", shops::press_item),
    button("/acoes/perguntar", questions::press_ask),
    button("/acoes/pergunta", questions::press_change),
    button("/acoes/reclamar", claims::press_open),
    button("/acoes/reclamacao", claims::press_change),
    button("/acoes/loja", demo::press_open),
    button("/acoes/revogar", oauth::press_revoke),
    button("/acoes/vencer", oauth::press_expire),
    button("/acoes/perder", control::press_lose_refresh),
    button("/acoes/mercado", control::press_market),
    button("/acoes/topico", notices::press_topic),
    button("/acoes/falha", control::press_fault),
    button("/acoes/falhas/limpar", control::press_clear_faults),
    button("/acoes/ajustes", control::press_config),
    button("/acoes/*", |_| Err("Esse botão não existe.".to_owned())),
    page("*", "/acoes/*", page::missing),
    page("*", "/", page::missing),
    page("*", "/mensagens", page::missing),
    page("*", "/estilo.css", page::missing),

    neighbour("POST", "/{phone}/messages", chat::cloud),
    // No address of the marketplace is a number alone.
    neighbour("GET", "/{digits}", chat::phone),
];

impl Route {
    /// What stands in the place of the path's variables, when the row fits.
    fn fits<'r>(&self, method: &str, segments: &[&'r str]) -> Option<Vec<&'r str>> {
        if self.method != "*" && self.method != method {
            return None;
        }
        let mut variables = Vec::new();
        let mut segments = segments.iter();
        for pattern in parts(self.path) {
            if pattern == "*" {
                return Some(variables);
            }
            let segment = segments.next()?;
            match pattern.split_once('{') {
                None if pattern == *segment => {}
                None => return None,
                Some((_, "digits}")) if !segment.bytes().all(|byte| byte.is_ascii_digit()) => {
                    return None;
                }
                Some((start, _)) => variables.push(segment.strip_prefix(start)?),
            }
        }
        segments.next().is_none().then_some(variables)
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

fn find(request: &Request) -> Option<(&'static Route, Vec<&str>)> {
    let segments: Vec<&str> = parts(&request.path).collect();
    ROUTES.iter().find_map(|route| Some((route, route.fits(&request.method, &segments)?)))
}

/// Whether a request is one to the marketplace itself: also when it has no such
/// address.
pub fn is_marketplace(request: &Request) -> bool {
    find(request)
        .is_none_or(|(route, _)| matches!(route.handler, Handler::Seller(..) | Handler::Open(_)))
}

/// Answers one request.
pub fn answer(sandbox: &Sandbox, request: &Request) -> Reply {
    let (route, variables) = find(request).unzip();
    let now = sandbox.clock.now();
    let mut world = sandbox.world();
    let variables = variables.unwrap_or_default();
    let call = &mut Call { sandbox, world: &mut world, request, now, seller: 0, variables };
    let elsewhere = || Reply::text(403, "O pedido veio da página de outro site.");
    let handler = route.map(|route| &route.handler);
    let reply = match handler {
        Some(Handler::Page(_) | Handler::Button(_)) if request.is_from_elsewhere() => elsewhere(),
        Some(Handler::Control(_)) if request.is_from_elsewhere() => {
            refused(403, "requests from other sites' pages are refused")
        }
        Some(Handler::Page(show)) => either(show(call)),
        Some(Handler::Button(press)) => pressed(press(call)),
        Some(Handler::Control(act)) => match act(call) {
            Ok(value) => Reply::json(200, &value),
            Err(problem) => refused(400, &problem),
        },
        Some(Handler::Telegram(answer)) => {
            let path = telegram::api::path(request);
            let seen = Seen { path, ..Seen::default() };
            logged(call, seen, telegram::api::instead, |call| either(answer(call)))
        }
        Some(Handler::Seller(..) | Handler::Open(_) | Handler::Neighbour(_)) | None => {
            return marketplace(call, handler);
        }
    };
    drop(world);
    sandbox.ring();
    reply
}

fn either(answer: Answer) -> Reply {
    answer.unwrap_or_else(|refused| refused)
}

fn refused(status: u16, problem: &str) -> Reply {
    Reply::json(status, &json!({ "ok": false, "error": problem }))
}

/// Back to the overview, which shows what a button says.
fn pressed(done: Pressed) -> Reply {
    let (name, text) = match done {
        Ok(text) => ("feito", text),
        Err(text) => ("erro", text),
    };
    let mut query = form_urlencoded::Serializer::new(String::new());
    Reply::see_other(&format!("/?{}", query.append_pair(name, &text).finish()))
}

fn marketplace(call: &mut Call<'_>, handler: Option<&Handler>) -> Reply {
    let request = call.request;
    let address = format!("{} {}", request.method, request.path);
    let caller = call.world.grants.bearer(request, call.now);
    if request.query("access_token").is_some() {
        call.violation("token_in_query", &*address);
    }
    let seen = Seen {
        path: request.path.clone(),
        query: masked(&request.query),
        bearer: request.header("authorization").is_some(),
        ml_user_id: caller,
        ..Seen::default()
    };
    let is_down = call.world.config.down && !matches!(handler, Some(Handler::Neighbour(_)));
    let down = || Reply::html(503, "<html><body>503 Service Unavailable</body></html>");
    let instead = |fault: &FaultKind| if is_down { Some(down()) } else { fault.instead() };
    logged(call, seen, instead, |call| match handler {
        _ if is_down => down(),
        None => {
            call.violation("unknown_path", address);
            Reply::not_found("resource not found")
        }
        Some(Handler::Seller(answer, parameters)) => {
            let Some(seller) = caller else {
                return oauth::unauthorized(call.world);
            };
            call.seller = seller;
            check_parameters(call, parameters);
            either(answer(call))
        }
        Some(Handler::Open(answer) | Handler::Neighbour(answer)) => either(answer(call)),
        Some(_) => unreachable!("a door of the sandbox's own"),
    })
}

/// Answers from outside: the fault that waits for such a call, or the work;
/// and a line in the log.
fn logged(
    call: &mut Call<'_>,
    seen: Seen,
    instead: impl FnOnce(&FaultKind) -> Option<Reply>,
    work: impl FnOnce(&mut Call<'_>) -> Reply,
) -> Reply {
    let method = &call.request.method;
    let fault = faults::take(&mut call.world.faults, method, &seen.path);
    let reply = fault.as_ref().and_then(instead).unwrap_or_else(|| {
        let manner = fault.as_ref().map_or(Manner::Whole, FaultKind::manner);
        let reply = work(call);
        let is_lost = matches!(manner, Manner::Lost | Manner::Truncated);
        if is_lost && reply.status == 200 && seen.path == "/oauth/token" {
            call.world.grants.forgive();
        }
        reply.sent(manner)
    });
    call.world.requests.push(Seen {
        number: call.world.requests.total() + 1,
        at: call.now.rfc3339(),
        method: method.clone(),
        status: (!matches!(reply.manner, Manner::Hang(_) | Manner::Lost)).then_some(reply.status),
        fault: fault.map(|kind| kind.name()),
        ..seen
    });
    reply
}

/// Notes parameters that the marketplace ignores in silence, because a client
/// that sends them believes something that is not so, and those sent twice.
fn check_parameters(call: &mut Call<'_>, known: &str) {
    let request = call.request;
    let mut before = Vec::new();
    for (name, _) in &request.query {
        let detail = format!("{} {}: {name}", request.method, request.path);
        // A token in the query is noted for every path already.
        let is_known = name == "access_token" || known.split(' ').any(|one| one == name);
        if !is_known {
            call.violation("unknown_parameter", &*detail);
        }
        if before.contains(&name) {
            call.violation("doubled_parameter", detail);
        }
        before.push(name);
    }
}

/// Query parameters whose values never reach the log.
const SECRETS: [&str; 6] =
    ["access_token", "token", "client_secret", "refresh_token", "code", "code_verifier"];

fn masked(query: &[(String, String)]) -> String {
    let shown = query.iter().map(|(name, value)| {
        let secret = SECRETS.contains(&name.as_str());
        (name.as_str(), if secret { "***" } else { value.as_str() })
    });
    form_urlencoded::Serializer::new(String::new()).extend_pairs(shown).finish()
}
