//! The shops of the demo: sixty days of sales, listings in every state, a few
//! questions and claims.

use super::call::{ButtonResult, Call};
use super::claims::{self, ClaimChange, NewClaim};
use super::history::{self, HistoryPlan};
use super::questions::{self, NewQuestion, QuestionChange};
use super::sales::{self, NewLine, NewSale};
use super::shops::{self, ItemChange, NewSeller};
use super::state::SandboxState;
use super::things::{ChangeContext, Invoice, Reputation, Variation, item_id};
use crate::base::{Cents, DAY_S, Instant};

/// A shop of the demo.
pub struct Shop {
    id: i64,
    nickname: &'static str,
    level: &'static str,
    power_seller: Option<&'static str>,
    /// Shares of sales: with a claim, shipped late, cancelled.
    shares: [f64; 3],
    seed: u64,
    daily: u64,
}

/// The demo's shops, from the largest to the smallest.
#[rustfmt::skip] // A table: two lines for a shop.
pub const DEMO_SHOPS: [Shop; 3] = [
    Shop { id: 1_480_233_719, nickname: "CASA & VIDA UTILIDADES", level: "5_green",
        power_seller: Some("platinum"), shares: [0.006, 0.031, 0.002], seed: 5, daily: 22 },
    Shop { id: 1_517_904_266, nickname: "TEC MINAS ACESSÓRIOS", level: "4_light_green",
        power_seller: None, shares: [0.018, 0.084, 0.011], seed: 11, daily: 12 },
    Shop { id: 1_633_058_142, nickname: "PET FELIZ CURITIBA", level: "2_orange",
        power_seller: None, shares: [0.052, 0.148, 0.036], seed: 7, daily: 6 },
];

/// The shops of the agency's clients.
#[rustfmt::skip] // A table.
pub const CLIENTS_SHOPS: [Shop; 2] = [
    Shop { id: 1_701_445_918, nickname: "AURORA MODA FEMININA", level: "5_green",
        power_seller: Some("gold"), shares: [0.008, 0.042, 0.004], seed: 23, daily: 15 },
    Shop { id: 1_745_620_337, nickname: "FERRAGENS DO VALE", level: "3_yellow",
        power_seller: None, shares: [0.027, 0.111, 0.018], seed: 31, daily: 5 },
];

/// States of the least popular listings of a shop, starting with the last listing.
const STATES: [(&str, &str); 6] = [
    ("paused", "out_of_stock"),
    ("paused", "paused_by_seller"),
    ("under_review", "waiting_for_patch"),
    ("closed", "expired"),
    ("inactive", "suspended"),
    ("payment_required", ""),
];

/// A question and its answer; an empty answer means unanswered.
const QUESTIONS: [(&str, &str); 9] = [
    ("Boa tarde! Tem a pronta entrega?", ""),
    ("Qual é a medida da caixa?", "Olá! A caixa tem 30 x 20 x 15 cm. Boas compras!"),
    ("Vocês emitem nota fiscal?", "Olá! Sim, a nota vai junto com o produto."),
    ("Serve para presente? Vem embalado?", ""),
    ("Consegue fazer por menos levando três?", "Olá! O preço anunciado já é o nosso melhor."),
    ("A garantia é de quanto tempo?", "Olá! São 90 dias direto conosco."),
    ("Qual a previsão de entrega para Manaus?", ""),
    ("Produto original?", "Olá! Original e lacrado."),
    ("Tem outra cor?", "Olá! No momento, só a do anúncio."),
];

const DAY_MINUTES: i64 = 24 * 60;

/// Time between two questions.
const ASKED_EVERY_S: i64 = 5 * 3600;

/// Opens one of the demo's shops with its history; returns its id.
pub fn open_shop(
    state: &mut SandboxState,
    shop: &Shop,
    days: i64,
    now: Instant,
) -> Result<i64, String> {
    let [claims, late, cancelled] = shop.shares;
    let new = NewSeller {
        nickname: shop.nickname.to_owned(),
        ml_user_id: Some(shop.id),
        reputation: Reputation {
            level: Some(shop.level.to_owned()),
            power_seller: shop.power_seller.map(str::to_owned),
            claims,
            late,
            cancelled,
            real_level: None,
        },
    };
    let id = shops::open(state, new, now)?;
    let plan = HistoryPlan { ml_user_id: id, days, seed: shop.seed, daily: Some(shop.daily) };
    history::write(state, plan, now)?;
    furnish(state, id, now)?;
    Ok(id)
}

/// `POST /acoes/loja`: a shop with a month of sales.
pub fn press_open(call: &mut Call<'_>) -> ButtonResult {
    let (state, now) = (&mut *call.state, call.now);
    let id = shops::open(state, NewSeller::named(call.request.field("apelido")), now)
        .map_err(|_| "O nome deve ter de 1 a 60 letras, e cabem 100 lojas.")?;
    let plan = HistoryPlan { ml_user_id: id, days: 30, seed: id.unsigned_abs(), daily: None };
    let orders = history::write(state, plan, now)
        .map_err(|_| "O mercado está cheio: não cabem mais vendas.")?;
    furnish(state, id, now).map_err(|_| "O mercado está cheio: não cabem mais perguntas.")?;
    Ok(format!("Loja {id} aberta, com {orders} vendas nos últimos 30 dias."))
}

/// Adds listings in all states, questions and claims to a shop with a history,
/// without notifications.
fn furnish(state: &mut SandboxState, seller: i64, now: Instant) -> Result<(), String> {
    vary_listings(state, seller, now)?;
    // Only at active listings: at most others a question cannot be answered.
    let mut items = listings_of(state, seller);
    items.retain(|number| state.items.get(number).is_some_and(|item| item.status == "active"));
    // Every shop gets the same questions, but starts at a different one.
    let first = usize::try_from(seller % 9).unwrap_or(0);
    let texts = QUESTIONS.into_iter().cycle().skip(first).take(QUESTIONS.len());
    for ((item, (text, answer)), number) in items.iter().cycle().zip(texts).zip(1..) {
        let new = NewQuestion {
            ml_user_id: seller,
            item: Some(item_id(*item)),
            text: Some(text.to_owned()),
            date_created: None,
            // There are only four buyers, so some ask more than once.
            buyer: Some(310_000_000 + seller % 1_000 * 10 + number % 4),
        };
        let asked = now.minus(number * ASKED_EVERY_S + seller % 3000);
        let id = questions::ask(state, new, ChangeContext::silent(asked))?;
        if !answer.is_empty() {
            let change =
                QuestionChange { answer: Some(answer.to_owned()), ..QuestionChange::default() };
            questions::change(state, id, change, ChangeContext::silent(asked.plus(1800)))?;
        }
    }
    complain(state, seller, now)
}

/// Numbers of a seller's listings, the most popular first.
fn listings_of(state: &SandboxState, seller: i64) -> Vec<i64> {
    let own = state.items.values().filter(|item| item.seller == seller);
    own.map(|item| item.number).collect()
}

fn vary_listings(state: &mut SandboxState, seller: i64, now: Instant) -> Result<(), String> {
    let items = listings_of(state, seller);
    if let Some(item) = items.first().and_then(|first| state.items.get_mut(first)) {
        let (left, sold) = (item.stock / 2, item.sold / 2);
        item.variations = [("Preto", item.stock - left, item.sold - sold), ("Branco", left, sold)]
            .map(|(value, stock, sold)| Variation {
                id: item.number * 10 + i64::from(value == "Branco"),
                value: value.to_owned(),
                stock,
                sold,
                sku: item.sku.as_ref().map(|sku| format!("{sku}-{}", &value[..2].to_uppercase())),
            })
            .to_vec();
    }
    if let Some(item) = items.get(1).and_then(|second| state.items.get_mut(second)) {
        "fulfillment".clone_into(&mut item.logistic);
    }
    // At least half of the listings stay on sale.
    let unwanted = items.iter().copied().rev().take(items.len() / 2);
    for ((status, sub_status), number) in STATES.into_iter().zip(unwanted) {
        let change = ItemChange {
            status: Some(status.to_owned()),
            sub_status: Some(sub_status.split_whitespace().map(str::to_owned).collect()),
            stock: (sub_status == "out_of_stock").then_some(0),
            ..ItemChange::default()
        };
        let at = now.minus(number % 9 * DAY_S + 3600);
        shops::change_item(state, &item_id(number), change, ChangeContext::silent(at))?;
    }
    Ok(())
}

/// A claim of the demo.
struct DemoClaim {
    stage: &'static str,
    /// Code of the reason.
    reason: &'static str,
    /// What the seller has to do.
    action: &'static str,
    /// Hours since it was opened.
    hours: i64,
    is_over: bool,
}

const DEMO_CLAIMS: [DemoClaim; 3] = [
    DemoClaim {
        stage: "claim",
        reason: "PDD9939",
        action: "send_message_to_complainant",
        hours: 50,
        is_over: false,
    },
    DemoClaim { stage: "dispute", reason: "PNR3430", action: "", hours: 77, is_over: false },
    DemoClaim { stage: "claim", reason: "PDD9940", action: "", hours: 130, is_over: true },
];

/// Adds three claims: one that waits for the seller, one that the marketplace
/// decides and a closed one. Also adds the fiscal notes of the newest sales.
fn complain(state: &mut SandboxState, seller: i64, now: Instant) -> Result<(), String> {
    let delivered: Vec<i64> = state
        .orders
        .values()
        .filter(|order| order.seller == seller && order.status == "paid")
        .map(|order| order.id)
        .collect();
    for order in delivered.iter().rev().take(40) {
        if let Some(order) = state.orders.get_mut(order) {
            order.invoice = Invoice::Issued;
        }
    }
    for (order, course) in delivered.iter().rev().skip(20).zip(DEMO_CLAIMS) {
        let new = NewClaim {
            ml_user_id: seller,
            order: Some(*order),
            stage: course.stage.to_owned(),
            reason: course.reason.to_owned(),
            action: course.action.to_owned(),
            ..NewClaim::default()
        };
        let opened = now.minus(course.hours * 3600 + seller % 3000);
        let id = claims::open(state, new, ChangeContext::silent(opened))?;
        if course.is_over {
            let change = ClaimChange {
                status: Some("closed".to_owned()),
                resolution: Some("payment_refunded".to_owned()),
                ..ClaimChange::default()
            };
            claims::change(state, id, change, ChangeContext::silent(now.minus(DAY_S)))?;
        }
    }
    Ok(())
}

/// A sale of today, in what stage its parcel is.
struct DemoParcel {
    status: &'static str,
    substatus: &'static str,
    logistic: &'static str,
    /// Minutes since the sale.
    minutes: i64,
}

#[rustfmt::skip] // A table: one parcel per row.
const DEMO_PARCELS: [DemoParcel; 7] = [
    DemoParcel { status: "ready_to_ship", substatus: "invoice_pending", logistic: "drop_off", minutes: 35 },
    DemoParcel { status: "ready_to_ship", substatus: "ready_to_print", logistic: "cross_docking", minutes: 50 },
    DemoParcel { status: "ready_to_ship", substatus: "printed", logistic: "drop_off", minutes: 95 },
    DemoParcel { status: "ready_to_ship", substatus: "dropped_off", logistic: "drop_off", minutes: 240 },
    DemoParcel { status: "ready_to_ship", substatus: "picked_up", logistic: "cross_docking", minutes: 300 },
    DemoParcel { status: "ready_to_ship", substatus: "in_hub", logistic: "xd_drop_off", minutes: 420 },
    DemoParcel { status: "pending", substatus: "buffered", logistic: "cross_docking", minutes: 20 },
];

/// Adds what a shop meets rarely, without notifications: an order of two lines, a cart
/// with a claim, parcels in every stage before they leave, one that has to leave within
/// minutes, a sale that must not be sent, and one in another currency.
pub fn show_rarities(state: &mut SandboxState, seller: i64, now: Instant) -> Result<(), String> {
    let mut items = listings_of(state, seller);
    items.retain(|number| state.items.get(number).is_some_and(|item| item.status == "active"));
    let [first, second, third, ..] = items[..] else {
        return Err("a shop shows rarities with three listings on sale".to_owned());
    };
    let mut sell = |minutes: i64, sale: NewSale| {
        let at = now.minus(minutes * 60);
        let sale = NewSale { ml_user_id: seller, date_created: Some(at.rfc3339()), ..sale };
        sales::sell(state, sale, ChangeContext::silent(at))
    };
    let line = |item: i64, quantity: i64| NewLine {
        item: Some(item_id(item)),
        quantity,
        ..NewLine::default()
    };
    let of = |item: i64| NewSale { item: Some(item_id(item)), ..NewSale::default() };
    sell(65, NewSale { items: vec![line(second, 1), line(third, 2)], ..NewSale::default() })?;
    for parcel in DEMO_PARCELS {
        let sale = NewSale {
            shipping_status: Some(parcel.status.to_owned()),
            shipping_substatus: Some(parcel.substatus.to_owned()),
            logistic: Some(parcel.logistic.to_owned()),
            ..of(third)
        };
        sell(parcel.minutes, sale)?;
    }
    let nearby = NewSale {
        shipping_tags: vec!["proximity".to_owned()],
        logistic: Some("cross_docking".to_owned()),
        ..of(third)
    };
    sell(8, nearby)?;
    sell(15, NewSale { tags: vec!["fraud_risk_detected".to_owned()], ..of(first) })?;
    let abroad = NewSale {
        currency: "USD".to_owned(),
        unit_price: Some(Cents(2_490)),
        buyer_nickname: Some("BUYER.ABROAD".to_owned()),
        ..of(third)
    };
    sell(130, abroad)?;
    let pack = Some(2_000_000_000_000_000 + seller);
    let one = sell(DAY_MINUTES * 3, NewSale { pack_id: pack, ..of(first) })?;
    sell(DAY_MINUTES * 3, NewSale { pack_id: pack, ..of(third) })?;
    let claim = NewClaim {
        ml_user_id: seller,
        order: Some(one),
        resource: "purchase".to_owned(),
        reason: "PNR3430".to_owned(),
        ..NewClaim::default()
    };
    claims::open(state, claim, ChangeContext::silent(now.minus(5 * 3600)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Zone;

    #[test]
    fn every_demo_shop_looks_alive() {
        let now = Instant::parse("2026-11-20T23:00:00Z").unwrap();
        let zone = Zone::SAO_PAULO;
        let mut seen = std::collections::HashSet::new();
        for shop in &DEMO_SHOPS {
            let mut state = SandboxState::default();
            open_shop(&mut state, shop, 60, now).unwrap();
            let count = state.orders.len();
            assert!((200..=2_000).contains(&count), "{}: {count}", shop.nickname);
            assert!((8..=25).contains(&state.items.len()));
            let cancelled = state.orders.values().filter(|o| o.status == "cancelled");
            assert!((1..=count / 10).contains(&cancelled.count()));
            let today = zone.day(now);
            assert!(state.orders.values().any(|o| zone.day(o.created) == today));
            seen.extend(state.items.values().map(|item| item.status.clone()));
            let open = state.questions.values().filter(|q| q.status == "UNANSWERED");
            assert_eq!((state.questions.len(), open.count()), (9, 3));
            let open = state.claims.values().filter(|claim| claim.status == "opened");
            assert_eq!((state.claims.len(), open.count()), (3, 2));
        }
        for (status, _) in STATES {
            assert!(seen.contains(status), "{status}");
        }
    }

    #[test]
    fn the_first_shop_shows_what_is_rare() {
        let now = Instant::parse("2026-11-20T23:00:00Z").unwrap();
        let mut state = SandboxState::default();
        let shop = open_shop(&mut state, &DEMO_SHOPS[0], 60, now).unwrap();
        show_rarities(&mut state, shop, now).unwrap();
        assert!(state.orders.values().any(|order| order.lines.len() == 2));
        assert!(state.orders.values().any(|order| order.currency == "USD"));
        let fraud = "fraud_risk_detected".to_owned();
        assert!(state.orders.values().any(|order| order.tags.contains(&fraud)));
        for stage in DEMO_PARCELS.iter().map(|parcel| parcel.substatus) {
            assert!(state.shipments.values().any(|parcel| parcel.finer() == stage), "{stage}");
        }
        assert!(state.shipments.values().any(|parcel| parcel.orders.len() == 2));
        assert!(state.shipments.values().any(|parcel| parcel.tags == ["proximity"]));
        let cart = state.claims.values().find(|claim| claim.resource == "purchase").unwrap();
        assert_eq!(cart.resource_id, 2_000_000_000_000_000 + shop);
    }
}
