//! The sandbox's overview: what there is, what went in and out, and a button
//! for everything that can happen. What the buttons do is in `buttons.rs`.

use askama::Template;

use super::buttons::described;
use super::http::{Reply, Request};
use super::pages::{page, time};
use super::state::{Sandbox, World};
use super::switches::SWITCHES;
use super::things::{Claim, Item, Order, Question, Seller};
use crate::base::clock::{Instant, Zone};
use crate::base::money::Cents;
use crate::base::text::grouped;
use crate::marketplace::books::order_status::OrderState;
use crate::panel::view::Badge;

const ZONE: Zone = Zone(chrono_tz::America::Sao_Paulo);
/// Rows of each log.
const ROWS: usize = 12;
/// Listings that a shop's card offers.
const OPTIONS: usize = 100;

#[derive(Template)]
#[template(path = "sandbox/overview.html", config = "assets/askama.toml")]
struct Overview {
    now: String,
    notice: Option<(&'static str, String)>,
    shops: Vec<ShopCard>,
    orders: Vec<OrderRow>,
    questions: Vec<QuestionRow>,
    claims: Vec<ClaimRow>,
    deliveries: Vec<DeliveryRow>,
    waiting: usize,
    requests: Vec<RequestRow>,
    requests_total: String,
    violations: Vec<(String, &'static str, String)>,
    faults: Vec<String>,
    silenced: Vec<String>,
    down: bool,
    slow: bool,
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
    status: String,
    status_class: &'static str,
    shipping: &'static str,
    open: bool,
    claimed: bool,
}

struct QuestionRow {
    id: i64,
    at: String,
    shop: String,
    title: String,
    text: String,
    answer: Option<String>,
    open: bool,
    /// The word and its colour.
    state: (&'static str, &'static str),
}

struct ClaimRow {
    id: i64,
    at: String,
    shop: String,
    order: i64,
    /// Until when the seller has to act.
    due: Option<String>,
    open: bool,
    disputed: bool,
    /// The word and its colour.
    state: (&'static str, &'static str),
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

/// `GET /`.
pub fn overview(sandbox: &Sandbox, request: &Request) -> Reply {
    let now = sandbox.clock.now();
    let world = sandbox.world();
    let notice = ["feito", "erro"]
        .into_iter()
        .find_map(|name| Some((name, request.query(name)?.to_owned())));
    let overview = Overview {
        now: ZONE.page(now),
        notice,
        shops: shop_cards(&world, now),
        questions: question_rows(&world),
        claims: claim_rows(&world),
        silenced: world.silenced.iter().cloned().collect(),
        down: world.config.down,
        slow: world.config.delay_ms > 0,
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
            .map(|violation| (time(&violation.at), violation.rule, violation.detail.clone()))
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
            items: item_options(world, seller.id),
        }
    };
    world.sellers.values().map(card).collect()
}

/// A shop's listings, those on sale first.
fn item_options(world: &World, seller: i64) -> Vec<(String, String)> {
    let own = world.items.values().filter(|item| item.seller == seller);
    let mut items: Vec<&Item> = own.collect();
    items.sort_by_key(|item| (item.status != "active", item.number));
    items.truncate(OPTIONS);
    let label = |item: &&Item| {
        let state = match item.status.as_str() {
            "active" => format!("{} un.", item.stock),
            status => listing_word(status, &item.sub_status).to_owned(),
        };
        (item.id(), format!("{} · {} · {state}", item.title, item.price.page()))
    };
    items.iter().map(label).collect()
}

fn listing_word(status: &str, sub_status: &[String]) -> &'static str {
    match (status, sub_status.first().map(String::as_str)) {
        ("paused", Some("out_of_stock")) => "sem estoque",
        ("paused", _) => "pausado",
        ("closed", _) => "encerrado",
        ("under_review", _) => "em revisão",
        ("inactive", _) => "inativo",
        ("payment_required", _) => "falta pagamento",
        _ => "fora do ar",
    }
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
        shop: nickname(world, order.seller),
        title: world.items.get(&order.item).map(|item| item.title.clone()).unwrap_or_default(),
        quantity: order.quantity,
        total: order.total().page(),
        status: OrderState::new(&order.status).word().to_owned(),
        status_class: OrderState::new(&order.status).tone().class(),
        shipping: order
            .shipment
            .and_then(|id| world.shipments.get(&id))
            .map_or("—", |shipment| shipping_word(&shipment.status)),
        open: order.status != "cancelled",
        claimed: world.claims.values().any(|claim| claim.order == order.id),
    };
    newest.iter().map(row).collect()
}

fn nickname(world: &World, seller: i64) -> String {
    let seller = world.sellers.get(&seller);
    seller.map(|seller| seller.nickname.clone()).unwrap_or_default()
}

fn question_rows(world: &World) -> Vec<QuestionRow> {
    let mut newest: Vec<&Question> = world.questions.values().collect();
    // What waits for an answer goes first.
    newest.sort_by_key(|question| {
        let waits = question.status == "UNANSWERED";
        std::cmp::Reverse((waits, question.updated, question.id))
    });
    newest.truncate(6);
    let row = |question: &&Question| QuestionRow {
        id: question.id,
        at: ZONE.page(question.created),
        shop: nickname(world, question.seller),
        title: world.items.get(&question.item).map(|item| item.title.clone()).unwrap_or_default(),
        text: question.text.clone(),
        answer: question.answer.as_ref().map(|answer| answer.text.clone()),
        open: question.status == "UNANSWERED",
        state: match question.status.as_str() {
            "UNANSWERED" => ("Sem resposta", "warn"),
            "ANSWERED" => ("Respondida", "good"),
            "BANNED" => ("Vetada", "bad"),
            _ => ("Encerrada", "plain"),
        },
    };
    newest.iter().map(row).collect()
}

fn claim_rows(world: &World) -> Vec<ClaimRow> {
    let mut newest: Vec<&Claim> = world.claims.values().collect();
    newest.sort_by_key(|claim| {
        std::cmp::Reverse((claim.status == "opened", claim.updated, claim.id))
    });
    newest.truncate(6);
    let row = |claim: &&Claim| ClaimRow {
        id: claim.id,
        at: ZONE.page(claim.created),
        shop: nickname(world, claim.seller),
        order: claim.order,
        due: claim.action.as_ref().map(|(_, due)| ZONE.page(*due)),
        open: claim.status == "opened",
        disputed: claim.stage == "dispute",
        state: match (claim.status.as_str(), claim.stage.as_str()) {
            ("closed", _) => ("Encerrada", "plain"),
            (_, "dispute") => ("Em mediação", "bad"),
            _ => ("Aberta", "warn"),
        },
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
