//! The sandbox's pages: the overview at `/`, whose buttons are in
//! `buttons.rs`, and the marketplace's consent page. They work without scripts; texts are Brazilian
//! Portuguese.

use askama::Template;

use super::buttons::{SWITCHES, described, press};
use super::http::{Reply, Request, first};
use super::inbox;
use super::oauth::Asked;
use super::routes;
use super::state::{Sandbox, World};
use super::things::{Order, Seller};
use crate::clock::{Instant, Zone};
use crate::http::view::Badge;
use crate::money::Cents;
use crate::text::grouped;

const STYLE: &str = include_str!("sandbox.css");
const ZONE: Zone = Zone(chrono_tz::America::Sao_Paulo);
/// Rows of each list on the overview.
const ROWS: usize = 12;

/// What a page may load and who may frame it. Forms of the consent page are
/// redirected to the platform, so `form-action` stays open.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

#[derive(Template)]
#[template(path = "sandbox/overview.html", config = "assets/askama.toml")]
struct Overview {
    now: String,
    notice: Option<(&'static str, String)>,
    shops: Vec<ShopCard>,
    orders: Vec<OrderRow>,
    deliveries: Vec<DeliveryRow>,
    waiting: usize,
    requests: Vec<RequestRow>,
    requests_total: String,
    violations: Vec<(String, &'static str, String)>,
    faults: Vec<String>,
    notify_url: String,
    switches: Vec<(&'static str, &'static str, bool)>,
}

struct ShopCard {
    id: i64,
    nickname: String,
    level: &'static str,
    level_class: &'static str,
    connected: bool,
    today: usize,
    revenue: String,
    orders: String,
    items: Vec<(String, String)>,
}

struct OrderRow {
    id: i64,
    at: String,
    shop: String,
    title: String,
    quantity: i64,
    total: String,
    status: &'static str,
    status_class: &'static str,
    shipping: &'static str,
    open: bool,
}

struct DeliveryRow {
    at: String,
    what: String,
    attempt: u32,
    answer: String,
    good: bool,
}

struct RequestRow {
    at: String,
    call: String,
    query: String,
    answer: String,
    good: bool,
}

#[derive(Template)]
#[template(path = "sandbox/consent.html", config = "assets/askama.toml")]
struct Consent {
    problem: Option<String>,
    query: String,
    shops: Vec<(i64, String, bool)>,
}

/// Answers the overview, its style sheet and its buttons.
pub fn answer(sandbox: &Sandbox, request: &Request) -> Reply {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/") => overview(sandbox, request),
        ("GET", "/mensagens") => inbox::inbox(&sandbox.world()),
        ("GET", "/estilo.css") => Reply::css(STYLE),
        ("POST", action) if !routes::from_elsewhere(request) => {
            let form = request.form();
            let now = sandbox.clock.now();
            let done = press(&mut sandbox.world(), action, &form, now);
            sandbox.ring();
            let (name, text) = match done {
                Ok(text) => ("feito", text),
                Err(text) => ("erro", text),
            };
            let mut query = form_urlencoded::Serializer::new(String::new());
            Reply::see_other(&format!("/?{}", query.append_pair(name, &text).finish()))
        }
        ("POST", _) => Reply::text(403, "O pedido veio da página de outro site.".to_owned()),
        _ => Reply::text(404, "Esta página não existe.".to_owned()),
    }
}

/// A page of the sandbox.
pub fn page(template: &impl Template, status: u16) -> Reply {
    match template.render() {
        Ok(html) => Reply::html(status, html)
            .header("content-security-policy", POLICY)
            .header("cache-control", "no-store"),
        Err(error) => {
            tracing::error!(%error, "a sandbox page could not be rendered");
            Reply::text(500, "A página não pôde ser montada.".to_owned())
        }
    }
}

/// `GET /authorization`: who authorises, or what is wrong with the request.
pub fn consent(sandbox: &Sandbox, world: &World, request: &Request) -> Reply {
    let problem = Asked::read(sandbox, world, &request.query).err();
    let now = sandbox.clock.now();
    let shops = world
        .sellers
        .values()
        .map(|seller| {
            let connected = world.grants.connected(seller.id, now);
            (seller.id, seller.nickname.clone(), connected)
        })
        .collect();
    let status = if problem.is_some() { 400 } else { 200 };
    let consent = Consent {
        problem,
        query: request.raw_query.clone(),
        shops,
    };
    page(&consent, status)
}

/// `POST /authorization`: sends the browser back with a code or a refusal.
pub fn decide(sandbox: &Sandbox, world: &mut World, request: &Request, now: Instant) -> Reply {
    if routes::from_elsewhere(request) {
        return Reply::text(403, "O pedido veio da página de outro site.".to_owned());
    }
    let Ok(asked) = Asked::read(sandbox, world, &request.query) else {
        return consent(sandbox, world, request);
    };
    let form = request.form();
    if first(&form, "decisao") == Some("recusar") {
        return Reply::see_other(&asked.refuse());
    }
    let seller = first(&form, "ml_user_id").and_then(|id| id.parse().ok());
    match seller.filter(|id| world.sellers.contains_key(id)) {
        Some(seller) => Reply::see_other(&asked.accept(world, seller, now)),
        None => consent(sandbox, world, request),
    }
}

fn overview(sandbox: &Sandbox, request: &Request) -> Reply {
    let now = sandbox.clock.now();
    let world = sandbox.world();
    let notice = ["feito", "erro"]
        .into_iter()
        .find_map(|name| Some((name, request.query(name)?.to_owned())));
    let overview = Overview {
        now: ZONE.page(now),
        notice,
        shops: shop_cards(&world, now),
        orders: order_rows(&world),
        deliveries: delivery_rows(&world),
        waiting: world.queue.len() + world.in_flight,
        requests: request_rows(&world),
        requests_total: grouped(world.requests.total()),
        violations: world
            .violations
            .iter()
            .rev()
            .take(ROWS)
            .map(|violation| {
                (
                    time(&violation.at),
                    violation.rule,
                    violation.detail.clone(),
                )
            })
            .collect(),
        faults: world.faults.iter().map(described).collect(),
        notify_url: world.config.notify_url.clone().unwrap_or_default(),
        switches: SWITCHES
            .iter()
            .map(|switch| (switch.name, switch.label, (switch.read)(&world.config)))
            .collect(),
    };
    drop(world);
    page(&overview, 200)
}

fn shop_cards(world: &World, now: Instant) -> Vec<ShopCard> {
    let today = ZONE.day(now);
    let card = |seller: &Seller| {
        let (mut count, mut sold_today, mut revenue) = (0_u64, 0, Cents(0));
        for order in world.orders.values().filter(|o| o.seller == seller.id) {
            count += 1;
            if ZONE.day(order.created) == today && order.status == "paid" {
                sold_today += 1;
                revenue = revenue + order.total();
            }
        }
        let reputation = seller.reputation.level.as_deref().unwrap_or_default();
        let (level, level_class) = shown(Badge::reputation(reputation));
        ShopCard {
            id: seller.id,
            nickname: seller.nickname.clone(),
            level,
            level_class,
            connected: world.grants.connected(seller.id, now),
            today: sold_today,
            revenue: revenue.page(),
            orders: grouped(count),
            items: world
                .items
                .values()
                .filter(|item| item.seller == seller.id && item.status == "active")
                .map(|item| (item.id(), format!("{} · {}", item.title, item.price.page())))
                .collect(),
        }
    };
    world.sellers.values().map(card).collect()
}

/// The word that every page uses for a state, and its colour.
fn shown(badge: Badge) -> (&'static str, &'static str) {
    (badge.word(), badge.tone().class())
}

fn order_rows(world: &World) -> Vec<OrderRow> {
    let mut newest: Vec<&Order> = world.orders.values().collect();
    newest.sort_by_key(|order| std::cmp::Reverse((order.created, order.id)));
    newest.truncate(8);
    let row = |order: &&Order| OrderRow {
        id: order.id,
        at: ZONE.page(order.created),
        shop: world
            .sellers
            .get(&order.seller)
            .map(|seller| seller.nickname.clone())
            .unwrap_or_default(),
        title: world
            .items
            .get(&order.item)
            .map(|item| item.title.clone())
            .unwrap_or_default(),
        quantity: order.quantity,
        total: order.total().page(),
        status: shown(Badge::order(&order.status)).0,
        status_class: shown(Badge::order(&order.status)).1,
        shipping: order
            .shipment
            .and_then(|id| world.shipments.get(&id))
            .map_or("—", |shipment| shipping_word(&shipment.status)),
        open: order.status != "cancelled",
    };
    newest.iter().map(row).collect()
}

fn shipping_word(status: &str) -> &'static str {
    match status {
        "ready_to_ship" => "Pronto para enviar",
        "shipped" => "A caminho",
        "delivered" => "Entregue",
        "not_delivered" => "Não entregue",
        "cancelled" => "Cancelado",
        _ => "Em preparação",
    }
}

fn delivery_rows(world: &World) -> Vec<DeliveryRow> {
    let newest = world.deliveries.iter().rev().take(ROWS);
    newest
        .map(|delivery| DeliveryRow {
            at: time(&delivery.at),
            what: format!("{} {}", delivery.topic, delivery.resource),
            attempt: delivery.attempt,
            answer: match (delivery.status, &delivery.detail) {
                (Some(200), _) => format!("200 em {} ms", delivery.took_ms),
                (Some(status), Some(text)) => format!("{status} {text}"),
                (Some(status), None) => status.to_string(),
                (None, detail) => detail.clone().unwrap_or_default(),
            },
            good: delivery.outcome == "delivered",
        })
        .collect()
}

fn request_rows(world: &World) -> Vec<RequestRow> {
    let newest = world.requests.iter().rev().take(ROWS);
    newest
        .map(|seen| RequestRow {
            at: time(&seen.at),
            call: format!("{} {}", seen.method, seen.path),
            query: seen.query.clone(),
            answer: match (seen.status, seen.fault) {
                (Some(status), None) => status.to_string(),
                (Some(status), Some(fault)) => format!("{status} ({fault})"),
                (None, fault) => format!("sem resposta ({})", fault.unwrap_or("—")),
            },
            good: seen.status.is_some_and(|status| status < 400),
        })
        .collect()
}

/// A log's instant as the pages show it.
pub fn time(rfc3339: &str) -> String {
    Instant::parse(rfc3339)
        .map(|at| ZONE.civil(at).format("%H:%M:%S").to_string())
        .unwrap_or_default()
}
