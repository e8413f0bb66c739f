//! Every address of the sandbox as a row of one table, and how a call is handled.
//!
//! The row says what an address belongs to. The rest follows from that: which token
//! is needed, whether faults apply and calls are logged, which parameters are
//! known, and the format of errors.
//!
//! Strict mode is always on: a call that the real marketplace would reject or has
//! retired gets the answer of the real marketplace and is recorded as a violation.
//! So a test can check at the end that there were no violations.

use serde_json::json;

use Handler::{Button, Control, Open, OtherService, Page, Seller, Telegram};

use super::call::{ButtonResult, Call, ControlResult, HandlerResult};
use super::faults::{self, FaultKind};
use super::http::{Reply, Request, SendMode};
use super::logs::LoggedRequest;
use super::state::Sandbox;
use super::{
    chat_control, claims, cloud, control, demo, dispatch, division, evolution, fees, fiscal,
    history, inbox, labels, listings, notifications, oauth, orders, overview, page, parcels, push,
    questions, sales, shipment_statuses, shipments, shops, telegram, users, webhook_receiver,
};

/// A row of the table.
pub struct Route {
    /// HTTP method; `*` is any.
    pub method: &'static str,
    /// Path pattern. `{name}` matches a segment or its end, `{digits}` a
    /// segment of digits, and `*` at the end everything that follows.
    pub path: &'static str,
    handler: Handler,
}

/// What an address belongs to, and the function that answers.
enum Handler {
    /// The marketplace, with a seller's token; the text lists the known parameters.
    Seller(fn(&mut Call<'_>) -> HandlerResult, &'static str),
    /// The marketplace, without a token.
    Open(fn(&mut Call<'_>) -> HandlerResult),
    /// A service other than the marketplace, which checks its own credentials.
    OtherService(fn(&mut Call<'_>) -> HandlerResult),
    /// Telegram's Bot API.
    Telegram(fn(&mut Call<'_>) -> HandlerResult),
    /// The control interface.
    Control(fn(&mut Call<'_>) -> ControlResult),
    /// A page of the sandbox's own.
    Page(fn(&mut Call<'_>) -> HandlerResult),
    /// A button of the overview.
    Button(fn(&mut Call<'_>) -> ButtonResult),
}

const fn row(method: &'static str, path: &'static str, handler: Handler) -> Route {
    Route { method, path, handler }
}

/// The marketplace documents this address; the sandbox has no data for it.
const NOTHING: Handler = Seller(|_| Err(Reply::not_found("the sandbox has nothing of this")), "");

/// The table. The first row that matches is used.
#[rustfmt::skip] // A table: one address per row.
pub static ROUTES: &[Route] = &[
    row("GET", "/authorization", Open(oauth::consent)),
    row("POST", "/authorization", Open(oauth::decide)),
    row("POST", "/oauth/token", Open(oauth::token)),

    row("GET", "/users/me", Seller(users::me, "")),
    row("GET", "/users/bulk", Seller(users::users, "ids")),
    row("POST", "/users/test_user", Seller(shops::test_user, "")),
    row("GET", "/users/{id}", Seller(users::user, "")),
    row("GET", "/users/{id}/applications", Seller(oauth::granted_by, "")),
    row("DELETE", "/users/{id}/applications/{application}", Seller(oauth::end_grant, "")),
    row("GET", "/applications/{id}", Seller(oauth::application, "")),
    row("GET", "/applications/{id}/grants", Seller(oauth::grants, "limit offset")),

    row("GET", "/users/{id}/items/search", Seller(listings::search, listings::SEARCH)),
    row("GET", "/items", Seller(listings::items_retired, "ids attributes include_attributes")),
    row("GET", "/items/bulk", Seller(listings::items, "ids attributes include_attributes")),
    row("GET", "/items/{id}", Seller(listings::item, "attributes include_attributes")),
    row("GET", "/items/{id}/sale_price", Seller(listings::sale_price, "context")),
    row("GET", "/sites/MLB/listing_prices", Seller(fees::listing_prices, fees::PRICES)),

    row("GET", "/orders/search", Seller(orders::search, orders::SEARCH)),
    row("GET", "/orders/{id}", Seller(orders::order, "")),
    row("GET", "/orders/{id}/shipments", Seller(orders::shipments, "")),
    row("GET", "/orders/{id}/discounts", Seller(orders::discounts, "")),

    row("GET", "/shipments/{id}", Seller(shipments::shipment, "")),
    row("GET", "/shipments/{id}/orders", Seller(shipments::orders, "")),
    row("GET", "/shipments/{id}/costs", Seller(shipments::costs, "")),
    row("GET", "/shipments/{id}/items", Seller(shipments::items, "")),
    row("GET", "/shipments/{id}/history", Seller(shipments::history, "")),
    row("GET", "/shipments/{id}/sla", Seller(dispatch::sla, "")),
    row("GET", "/shipments/{id}/lead_time", Seller(dispatch::lead_time, "")),
    row("GET", "/shipments/{id}/delays", Seller(dispatch::delays, "")),
    row("GET", "/users/{id}/shipping/schedule/{logistic}", Seller(dispatch::schedule, "")),
    row("GET", "/shipment_labels", Seller(labels::labels, "shipment_ids response_type")),
    row("GET", "/shipment_statuses", Seller(shipment_statuses::statuses, "")),

    row("GET", "/packs/{id}", Seller(fiscal::pack, "")),
    row("GET", "/packs/{id}/fiscal_documents", Seller(fiscal::documents, "")),
    row("GET", "/packs/{id}/fiscal_documents/{document}", Seller(fiscal::document, "")),
    row("GET", "/users/{id}/invoices/orders/{order}", Seller(fiscal::by_order, "")),
    row("GET", "/users/{id}/invoices/shipments/{shipment}", Seller(fiscal::by_shipment, "")),
    row("GET", "/users/{id}/invoices/documents/xml/{note}/authorized", Seller(fiscal::xml, "")),
    row("GET", "/users/{id}/invoices/sites/MLB/documents/danfe/{note}", Seller(fiscal::danfe, "")),
    row("GET", "/users/{id}/invoices/{note}", Seller(fiscal::by_note, "")),

    row("GET", "/questions/search", Seller(questions::search, questions::SEARCH)),
    row("GET", "/questions/{id}", Seller(questions::question, "api_version")),
    row("POST", "/answers", Seller(questions::answer, "")),
    row("GET", "/users/{id}/questions/response_time", Seller(questions::response_time, "")),

    row("GET", "/post-purchase/v1/claims/search", Seller(claims::search, claims::SEARCH)),
    row("GET", "/post-purchase/v1/claims/{id}", Seller(claims::claim, "")),
    row("GET", "/post-purchase/v1/claims/{id}/detail", Seller(claims::detail, "")),
    row("GET", "/post-purchase/v2/claims/{id}/returns", Seller(claims::returns, "")),

    row("GET", "/missed_feeds", Seller(notifications::missed_feeds, "app_id topic site_id offset limit")),

    row("POST", "/questions", NOTHING),
    row("DELETE", "/questions/{id}", NOTHING),
    row("GET", "/item/{id}/performance", NOTHING),
    row("GET", "/shipments/{id}/carrier", NOTHING),
    row("GET", "/shipments/{id}/payments", NOTHING),

    row("POST", "/message/sendText/{instance}", OtherService(evolution::send)),
    row("GET", "/instance/connectionState/{instance}", OtherService(evolution::connection)),
    row("POST", "/push/{device}", OtherService(push::receive)),
    row("POST", "/webhooks/{name}", OtherService(webhook_receiver::receive)),
    row("*", "/bot{token}/*", Telegram(telegram::api::answer)),

    row("POST", "/_sandbox/sellers", Control(shops::control_open)),
    row("POST", "/_sandbox/items", Control(shops::control_publish)),
    row("POST", "/_sandbox/items/{id}", Control(shops::control_change_item)),
    row("POST", "/_sandbox/sales", Control(sales::control_sell)),
    row("POST", "/_sandbox/orders/{id}", Control(sales::control_change)),
    row("POST", "/_sandbox/shipments/{id}", Control(parcels::control_change)),
    row("POST", "/_sandbox/shipments/{id}/next", Control(parcels::control_step)),
    row("POST", "/_sandbox/shipments/{id}/split", Control(division::control_split)),
    row("POST", "/_sandbox/questions", Control(|call| call.make(questions::ask))),
    row("POST", "/_sandbox/questions/{id}", Control(|call| call.change(questions::change))),
    row("POST", "/_sandbox/claims", Control(|call| call.make(claims::open))),
    row("POST", "/_sandbox/claims/{id}", Control(|call| call.change(claims::change))),
    row("POST", "/_sandbox/history", Control(history::control_write)),
    row("POST", "/_sandbox/notifications", Control(notifications::control_announce)),
    row("POST", "/_sandbox/topics", Control(notifications::control_switch_topic)),
    row("POST", "/_sandbox/authorize", Control(oauth::control_authorize)),
    row("POST", "/_sandbox/tokens", Control(oauth::control_end_tokens)),
    row("GET", "/_sandbox/chat", Control(chat_control::state)),
    row("POST", "/_sandbox/chat/wrote", Control(chat_control::wrote)),
    row("POST", "/_sandbox/chat/phone", Control(chat_control::phone)),
    row("POST", "/_sandbox/chat/fate", Control(chat_control::fate)),
    row("POST", "/_sandbox/chat/webhook", Control(chat_control::webhook)),
    row("POST", "/_sandbox/chat/statuses", Control(chat_control::statuses)),
    row("GET", "/_sandbox/telegram", Control(telegram::control::state)),
    row("POST", "/_sandbox/telegram/say", Control(telegram::control::say)),
    row("POST", "/_sandbox/telegram/block", Control(telegram::control::block)),
    row("POST", "/_sandbox/telegram/unblock", Control(telegram::control::unblock)),
    row("POST", "/_sandbox/telegram/updates", Control(telegram::control::update)),
    row("POST", "/_sandbox/spoil", Control(control::spoil)),
    row("GET", "/_sandbox/faults", Control(|call| Ok(json!({ "faults": call.state.faults })))),
    row("POST", "/_sandbox/faults", Control(control::add_fault)),
    row("DELETE", "/_sandbox/faults", Control(control::clear_faults)),
    row("GET", "/_sandbox/config", Control(|call| Ok(json!(call.state.config)))),
    row("POST", "/_sandbox/config", Control(control::change_config)),
    row("GET", "/_sandbox/state", Control(control::state)),
    row("GET", "/_sandbox/truth", Control(control::truth)),
    row("GET", "/_sandbox/requests", Control(|call| Ok(call.state.requests.shown("requests")))),
    row("DELETE", "/_sandbox/requests", Control(|call| control::clear(&mut call.state.requests))),
    row("GET", "/_sandbox/deliveries", Control(control::deliveries)),
    row("DELETE", "/_sandbox/deliveries", Control(|call| control::clear(&mut call.state.deliveries))),
    row("GET", "/_sandbox/violations", Control(|call| Ok(call.state.violations.shown("violations")))),
    row("DELETE", "/_sandbox/violations", Control(|call| control::clear(&mut call.state.violations))),
    row("GET", "/_sandbox/messages", Control(|call| Ok(call.state.messages.shown("messages")))),
    row("POST", "/_sandbox/webhooks", Control(webhook_receiver::control_set_up)),
    row("GET", "/_sandbox/webhooks", Control(|call| Ok(call.state.webhooks.shown("webhooks")))),
    row("DELETE", "/_sandbox/webhooks", Control(|call| control::clear(&mut call.state.webhooks))),
    row("GET", "/_sandbox/pushed", Control(|call| Ok(call.state.pushed.shown("pushed")))),
    row("*", "/_sandbox/*", Page(|_| Err(refused(404, "no such control; docs/sandbox.md has them all")))),

    row("GET", "/", Page(overview::overview)),
    row("GET", "/vendas", Page(overview::overview)),
    row("GET", "/vendas/{id}/detalhe", Page(overview::overview)),
    row("GET", "/mensagens", Page(inbox::inbox)),
    row("GET", "/estilo.css", Page(page::style)),
    row("*", "/imagens/{file}", Page(listings::picture)),
    row("GET", "/telegram", Page(telegram::pages::chats)),
    row("POST", "/telegram", Page(telegram::pages::begin)),
    row("GET", "/telegram/{chat}", Page(telegram::pages::chat)),
    row("POST", "/telegram/{chat}", Page(telegram::pages::act)),
    row("GET", "/t.me/{bot}", Page(telegram::pages::chats)),
    row("*", "/telegram/*", Page(telegram::pages::missing)),
    row("*", "/t.me/*", Page(telegram::pages::missing)),

    row("POST", "/acoes/venda", Button(sales::press_sale)),
    row("POST", "/acoes/venda/sem-envio", Button(sales::press_unshipped)),
    row("POST", "/acoes/carrinho", Button(sales::press_cart)),
    row("POST", "/acoes/pedido", Button(sales::press_order)),
    row("POST", "/acoes/envio/passo", Button(parcels::press_step)),
    row("POST", "/acoes/envio/dividir", Button(division::press_split)),
    row("POST", "/acoes/anuncio", Button(shops::press_item)),
    row("POST", "/acoes/perguntar", Button(questions::press_ask)),
    row("POST", "/acoes/pergunta", Button(questions::press_change)),
    row("POST", "/acoes/reclamar", Button(claims::press_open)),
    row("POST", "/acoes/reclamacao", Button(claims::press_change)),
    row("POST", "/acoes/loja", Button(demo::press_open)),
    row("POST", "/acoes/revogar", Button(oauth::press_revoke)),
    row("POST", "/acoes/vencer", Button(oauth::press_expire)),
    row("POST", "/acoes/perder", Button(control::press_lose_refresh)),
    row("POST", "/acoes/mercado", Button(control::press_market)),
    row("POST", "/acoes/topico", Button(notifications::press_topic)),
    row("POST", "/acoes/falha", Button(control::press_fault)),
    row("POST", "/acoes/falhas/limpar", Button(control::press_clear_faults)),
    row("POST", "/acoes/ajustes", Button(control::press_config)),
    row("POST", "/acoes/*", Button(|_| Err("Esse botão não existe.".to_owned()))),
    row("*", "/acoes/*", Page(page::missing)),
    row("*", "/", Page(page::missing)),
    row("*", "/mensagens", Page(page::missing)),
    row("*", "/estilo.css", Page(page::missing)),

    row("POST", "/{phone}/messages", OtherService(cloud::send)),
    // The marketplace has no address that is only a number.
    row("GET", "/{digits}", OtherService(cloud::phone)),
];

impl Route {
    /// The values of the path variables; `None` when the row does not match.
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

/// The row of an address, and the values of its path variables.
pub fn find<'r>(method: &str, path: &'r str) -> Option<(&'static Route, Vec<&'r str>)> {
    let segments: Vec<&str> = parts(path).collect();
    ROUTES.iter().find_map(|route| Some((route, route.fits(method, &segments)?)))
}

/// Whether a request is for the marketplace itself; unknown addresses count as
/// such.
pub fn is_marketplace(request: &Request) -> bool {
    find(&request.method, &request.path)
        .is_none_or(|(route, _)| matches!(route.handler, Seller(..) | Open(_)))
}

/// Answers one request.
pub fn answer(sandbox: &Sandbox, request: &Request) -> Reply {
    let (route, variables) = find(&request.method, &request.path).unzip();
    let now = sandbox.clock.now();
    let mut state = sandbox.state();
    let variables = variables.unwrap_or_default();
    let call = &mut Call { sandbox, state: &mut state, request, now, seller: 0, variables };
    let elsewhere = || Reply::text(403, "O pedido veio da página de outro site.");
    let handler = route.map(|route| &route.handler);
    let reply = match handler {
        Some(Page(_) | Button(_)) if request.is_from_elsewhere() => elsewhere(),
        Some(Control(_)) if request.is_from_elsewhere() => {
            refused(403, "requests from other sites' pages are refused")
        }
        Some(Page(show)) => either(show(call)),
        Some(Button(press)) => pressed(press(call)),
        Some(Control(act)) => match act(call) {
            Ok(value) => Reply::json(200, &value),
            Err(problem) => refused(400, &problem),
        },
        Some(Telegram(answer)) => {
            let path = telegram::api::path(request);
            let seen = LoggedRequest { path, ..LoggedRequest::default() };
            logged(call, seen, telegram::api::instead, |call| either(answer(call)))
        }
        Some(Seller(..) | Open(_) | OtherService(_)) | None => {
            return marketplace(call, handler);
        }
    };
    drop(state);
    sandbox.ring();
    reply
}

fn either(answer: HandlerResult) -> Reply {
    answer.unwrap_or_else(|refused| refused)
}

fn refused(status: u16, problem: &str) -> Reply {
    Reply::json(status, &json!({ "ok": false, "error": problem }))
}

/// Redirects to the overview, which shows the message of the button.
fn pressed(done: ButtonResult) -> Reply {
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
    let caller = call.state.grants.bearer(request, call.now);
    if request.query("access_token").is_some() {
        call.violation("token_in_query", &*address);
    }
    let seen = LoggedRequest {
        path: request.path.clone(),
        query: masked(&request.query),
        bearer: request.header("authorization").is_some(),
        ml_user_id: caller,
        ..LoggedRequest::default()
    };
    let is_down = call.state.config.down && !matches!(handler, Some(OtherService(_)));
    let down = || Reply::html(503, "<html><body>503 Service Unavailable</body></html>");
    let instead = |fault: &FaultKind| if is_down { Some(down()) } else { fault.instead() };
    logged(call, seen, instead, |call| match handler {
        _ if is_down => down(),
        None => {
            call.violation("unknown_path", address);
            Reply::not_found("resource not found")
        }
        Some(Seller(answer, parameters)) => {
            let Some(seller) = caller else {
                return oauth::unauthorized(call.state);
            };
            call.seller = seller;
            check_parameters(call, parameters);
            either(answer(call))
        }
        Some(Open(answer) | OtherService(answer)) => either(answer(call)),
        Some(_) => unreachable!("a door of the sandbox's own"),
    })
}

/// Answers a call with the fault that matches it, or else with the work. Logs the
/// call.
fn logged(
    call: &mut Call<'_>,
    seen: LoggedRequest,
    instead: impl FnOnce(&FaultKind) -> Option<Reply>,
    work: impl FnOnce(&mut Call<'_>) -> Reply,
) -> Reply {
    let method = &call.request.method;
    let fault = faults::take(&mut call.state.faults, method, &seen.path);
    let reply = fault.as_ref().and_then(instead).unwrap_or_else(|| {
        let send_mode = fault.as_ref().map_or(SendMode::Whole, FaultKind::send_mode);
        let reply = work(call);
        let is_lost = matches!(send_mode, SendMode::Lost | SendMode::Truncated);
        if is_lost && reply.status == 200 && seen.path == "/oauth/token" {
            call.state.grants.unmark_used_refresh_token();
        }
        reply.sent(send_mode)
    });
    call.state.requests.push(LoggedRequest {
        number: call.state.requests.total() + 1,
        at: call.now.rfc3339(),
        method: method.clone(),
        status: (!matches!(reply.send_mode, SendMode::Hang(_) | SendMode::Lost))
            .then_some(reply.status),
        fault: fault.map(|kind| kind.name()),
        ..seen
    });
    reply
}

/// Records unknown and repeated parameters as violations. The marketplace ignores
/// unknown parameters silently, so the client would not notice its mistake.
fn check_parameters(call: &mut Call<'_>, known: &str) {
    let request = call.request;
    let mut before = Vec::new();
    for (name, _) in &request.query {
        let detail = format!("{} {}: {name}", request.method, request.path);
        // A token in the query is already recorded for every path.
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

/// Query parameters whose values are never logged.
const SECRETS: [&str; 6] =
    ["access_token", "token", "client_secret", "refresh_token", "code", "code_verifier"];

fn masked(query: &[(String, String)]) -> String {
    let shown = query.iter().map(|(name, value)| {
        let secret = SECRETS.contains(&name.as_str());
        (name.as_str(), if secret { "***" } else { value.as_str() })
    });
    form_urlencoded::Serializer::new(String::new()).extend_pairs(shown).finish()
}
