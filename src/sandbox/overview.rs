//! The sandbox's overview: the records, what was received and sent, and a button
//! for everything that can happen. Each resource's file has the handlers of its
//! buttons (`press_…`).

use std::cmp::Reverse;

use askama::Template;

use super::call::{Call, HandlerResult};
use super::page::page;
use super::state::SandboxState;
use super::things::{Claim, Item, Order, Question, Seller, Shipment, ZONE};
use crate::base::{Cents, Instant, grouped};
use crate::marketplace::books::order_status::OrderState;
use crate::panel::Badge;

/// Most listings that a shop's card offers.
const OPTIONS: usize = 100;

#[derive(Template)]
#[template(path = "sandbox/overview.html", config = "assets/askama.toml")]
struct Overview<'w> {
    state: &'w SandboxState,
    now: Instant,
    /// The name of a style, and the message of the last button.
    notice: Option<(&'static str, &'w str)>,
    shops: Vec<ShopCard>,
    orders: Vec<&'w Order>,
    questions: Vec<&'w Question>,
    claims: Vec<&'w Claim>,
}

struct ShopCard {
    id: i64,
    nickname: String,
    level: Badge,
    connected: bool,
    today: usize,
    revenue: String,
    orders: String,
    items: Vec<(String, String)>,
}

/// `GET /`.
pub fn overview(call: &mut Call<'_>) -> HandlerResult {
    let (state, now) = (&*call.state, call.now);
    let overview = Overview {
        state,
        now,
        notice: ["feito", "erro"].into_iter().find_map(|name| Some((name, call.query(name)?))),
        shops: shop_cards(state, now),
        orders: first(8, state.orders.values(), |order| (order.created, order.id)),
        // Unanswered questions and open claims go first.
        questions: first(6, state.questions.values(), |question| {
            (question.status == "UNANSWERED", question.updated, question.id)
        }),
        claims: first(6, state.claims.values(), |claim| {
            (claim.status == "opened", claim.updated, claim.id)
        }),
    };
    Ok(page(&overview, 200))
}

/// The `count` records with the highest keys.
fn first<'w, T, K: Ord>(
    count: usize,
    records: impl Iterator<Item = &'w T>,
    key: impl Fn(&T) -> K,
) -> Vec<&'w T> {
    let mut all: Vec<&T> = records.collect();
    all.sort_by_cached_key(|record| Reverse(key(record)));
    all.truncate(count);
    all
}

/// Functions that the template calls.
impl Overview<'_> {
    fn nickname(&self, seller: &i64) -> &str {
        self.state.sellers.get(seller).map_or("", |seller| &seller.nickname)
    }

    fn title(&self, item: &i64) -> &str {
        self.state.items.get(item).map_or("", |item| &item.title)
    }

    /// The title of what was sold first.
    fn sold(&self, order: &Order) -> &str {
        self.title(&order.item())
    }

    fn shipping(&self, order: &Order) -> &'static str {
        self.shipment(order).map_or("—", |shipment| shipping_word(&shipment.status))
    }

    /// The sub-status of its shipment, as the marketplace writes it.
    fn finer(&self, order: &Order) -> &str {
        self.shipment(order).map_or("", Shipment::finer)
    }

    fn shipment(&self, order: &Order) -> Option<&Shipment> {
        self.state.shipments.get(&order.shipment?)
    }

    fn requests_total(&self) -> String {
        grouped(self.state.requests.total())
    }

    fn is_claimed(&self, order: &Order) -> bool {
        self.state.claims.values().any(|claim| claim.order == order.id)
    }
}

fn shop_cards(state: &SandboxState, now: Instant) -> Vec<ShopCard> {
    let today = ZONE.day(now);
    let card = |seller: &Seller| {
        let (mut count, mut sold_today, mut revenue) = (0_u64, 0, Cents(0));
        for order in state.orders.values().filter(|o| o.seller == seller.id) {
            count += 1;
            if ZONE.day(order.created) == today && order.status == "paid" {
                sold_today += 1;
                revenue = revenue + order.total();
            }
        }
        let reputation = seller.reputation.level.as_deref().unwrap_or_default();
        ShopCard {
            id: seller.id,
            nickname: seller.nickname.clone(),
            level: Badge::reputation(reputation),
            connected: state.grants.connected(seller.id, now),
            today: sold_today,
            revenue: revenue.page(),
            orders: grouped(count),
            items: item_options(state, seller.id),
        }
    };
    state.sellers.values().map(card).collect()
}

/// A shop's listings, those on sale first.
fn item_options(state: &SandboxState, seller: i64) -> Vec<(String, String)> {
    let own = state.items.values().filter(|item| item.seller == seller);
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
