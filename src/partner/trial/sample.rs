//! What is in a new test shop. It goes through the books, as what the marketplace tells, so
//! lists, sums, stock and what is owed agree.

use super::store::{self, Cast, ShopKey};
use crate::base::{Cents, DAY_S, Instant, MlUserId, OrderId, UserId};
use crate::catalog::store::ByProduct;
use crate::catalog::{ProductEntry, stock, store as products};
use crate::db::{Result, WriteTx};
use crate::dropshipping::links::{self, NewLink};
use crate::dropshipping::{payments, relations};
use crate::marketplace::books::claims::{self, ClaimState};
use crate::marketplace::books::document::{
    ClaimDocument, ItemId, ListingDocument, OrderDocument, QuestionDocument, QuestionRow,
    QuestionState, Shipment, SoldItem, SoldLine,
};
use crate::marketplace::books::orders::{self, BookContext};
use crate::marketplace::books::{BookWrite, listings, questions};
use crate::partner::{PlanName, store as partners};

/// Days that the shop has existed.
const AGE_DAYS: i64 = 45;
/// Orders of the last month.
const ORDERS: i64 = 30;
/// Orders older than this are paid to the supplier.
const PAID_S: i64 = 12 * DAY_S;

/// SKU, title, cost, price and units of a product, and of its listing.
type Good = (&'static str, &'static str, i64, i64, i64);

#[rustfmt::skip] // A table: one product per row. The first is sent by the supplier.
const GOODS: [Good; 6] = [
    ("GAR-INX-1L", "Garrafa térmica inox 1 litro", 3_150, 6_990, 84),
    ("POT-HER-10", "Kit 10 potes herméticos", 4_200, 8_990, 40),
    ("FAC-INX-06", "Jogo de facas 6 peças", 2_480, 5_490, 22),
    ("LUM-LED-01", "Luminária de mesa LED", 2_900, 6_490, 12),
    ("CAB-USC-2M", "Cabo USB-C reforçado 2 metros", 790, 2_990, 250),
    ("MOU-SEM-01", "Mouse sem fio recarregável", 1_980, 4_990, 3),
];
#[rustfmt::skip]
const SUPPLIERS: [Good; 3] = [
    ("RP-GARRAFA-1L", "Garrafa térmica inox 1 litro", 2_100, 3_150, 300),
    ("RP-POTES-10", "Kit 10 potes herméticos", 2_900, 4_200, 220),
    ("RP-COPO-473", "Copo térmico 473 ml com tampa", 2_600, 3_890, 400),
];

/// The numbers that a shop has at the marketplace, which are no other shop's.
#[derive(Clone, Copy)]
pub struct Numbers(i64);

impl Numbers {
    pub const fn of(seller: UserId) -> Self {
        Self(seller.0)
    }

    pub const fn store(self) -> MlUserId {
        MlUserId(9_000_000_000 + self.0)
    }

    /// A listing, by its place.
    pub const fn item(self, place: i64) -> i64 {
        9_000_000_000 + self.0 * 100 + place
    }

    /// An order, parcel, question or claim, by its place.
    pub const fn record(self, place: i64) -> i64 {
        2_000_000_000_000_000 + self.0 * 1_000_000 + place
    }
}

pub fn make(tx: &WriteTx<'_>, context: &BookContext, key: &ShopKey) -> Result<Cast> {
    let cast = store::insert(tx, key, None)?;
    fill(tx, context, key, cast)?;
    Ok(cast)
}

/// Makes a shop that was removed again, with the numbers of its people.
pub fn refill(tx: &WriteTx<'_>, context: &BookContext, key: &ShopKey, cast: Cast) -> Result<()> {
    store::insert(tx, key, Some(cast))?;
    fill(tx, context, key, cast)
}

fn fill(tx: &WriteTx<'_>, context: &BookContext, key: &ShopKey, cast: Cast) -> Result<()> {
    let since = tx.now().minus(AGE_DAYS * DAY_S);
    let numbers = Numbers::of(cast.seller);
    store::open_store(tx, cast.seller, numbers.store(), since)?;
    for (owner, goods) in [(cast.seller, &GOODS[..]), (cast.supplier, &SUPPLIERS[..])] {
        for good in goods {
            stock_up(tx, owner, good)?;
        }
    }
    let write = (tx, context, cast.seller);
    for place in 0..GOODS.len() {
        listings::apply(write, &listing(numbers, place, since), tx.now())?;
    }
    relations::relate(tx, cast.supplier, cast.seller, &key.seller())?;
    let (item, sku) = (numbers.item(0), SUPPLIERS[0].0.to_owned());
    let link = NewLink { seller: cast.seller, item, product: ByProduct::Sku(sku) };
    // Nothing is wrong with this one: listing, product and relation are from above.
    let _ = links::make(tx, cast.supplier, &link)?;
    store::date_back(tx, cast, since)?;
    for place in 0..ORDERS {
        orders::apply(write, &old_order(numbers, place, tx.now()), tx.now())?;
    }
    for id in store::owed_before(tx, cast.supplier, tx.now().minus(PAID_S))? {
        payments::pay(tx, cast.supplier, id, None)?;
    }
    ask_and_claim(write, numbers)?;
    // Last: what went before is no news for programs.
    for person in [cast.seller, cast.supplier] {
        partners::set_plan(tx, person, Some(PlanName::Starter), None)?;
    }
    Ok(())
}

fn stock_up(tx: &WriteTx<'_>, owner: UserId, good: &Good) -> Result<()> {
    let (sku, title, cost, price, units) = *good;
    let entry = ProductEntry {
        sku: sku.to_owned(),
        ean: String::new(),
        title: title.to_owned(),
        cost: Cents(cost),
        price: Cents(price),
        low_stock: (units < 20).then_some(5),
    };
    let product = products::insert(tx, owner, &entry)?;
    stock::set_counted_stock(tx, product, 0, units, "Cadastro")
}

/// A listing, by its place.
pub fn listing(numbers: Numbers, place: usize, since: Instant) -> ListingDocument {
    let (sku, title, _, price, units) = GOODS[place];
    let number = numbers.item(i64::try_from(place).unwrap_or(0));
    ListingDocument {
        id: ItemId { site: "MLB".to_owned(), number },
        seller: numbers.store(),
        title: title.to_owned(),
        status: if place + 1 == GOODS.len() { "paused" } else { "active" }.to_owned(),
        sub_status: String::new(),
        price: Some(Cents(price)),
        currency: "BRL".to_owned(),
        available: units,
        sold: 5,
        listing_type: "gold_special".to_owned(),
        logistic_type: "drop_off".to_owned(),
        category: "MLB1000".to_owned(),
        sku: sku.to_owned(),
        ean: String::new(),
        permalink: String::new(),
        thumbnail: String::new(),
        created_at: since,
        updated_at: since,
        is_whole: true,
        hides_codes: false,
    }
}

/// An order of the past month, by its place.
fn old_order(numbers: Numbers, place: i64, now: Instant) -> OrderDocument {
    let at = now.minus(place * DAY_S * 9 / 10 + 3_600);
    let mut order = order(numbers, place, place.rem_euclid(5), at);
    let sent_at = (place >= 2).then(|| at.plus(DAY_S));
    order.shipment = Some(match place {
        0 | 1 => ready(at),
        2..=4 => Shipment { status: "shipped".to_owned(), sent_at, ..ready(at) },
        _ => Shipment {
            status: "delivered".to_owned(),
            sent_at,
            delivered_at: Some(at.plus(3 * DAY_S)),
            ..ready(at)
        },
    });
    if place.rem_euclid(9) == 7 {
        "cancelled".clone_into(&mut order.status);
        order.shipment = Some(Shipment { status: "cancelled".to_owned(), ..ready(at) });
    }
    order
}

/// A parcel that waits to be sent.
pub fn ready(at: Instant) -> Shipment {
    Shipment {
        status: "ready_to_ship".to_owned(),
        logistic_type: "drop_off".to_owned(),
        updated_at: Some(at),
        dispatch_by: Some(at.plus(2 * DAY_S)),
        ..Shipment::default()
    }
}

/// A paid order of a good, both by place.
pub fn order(numbers: Numbers, place: i64, good: i64, at: Instant) -> OrderDocument {
    let (sku, title, _, price, _) = GOODS[usize::try_from(good).unwrap_or(0) % GOODS.len()];
    let quantity = 1 + place.rem_euclid(7) / 5;
    OrderDocument {
        id: OrderId(numbers.record(place)),
        seller: numbers.store(),
        status: "paid".to_owned(),
        created_at: at,
        closed_at: Some(at),
        updated_at: at,
        total: Cents(price * quantity),
        currency: "BRL".to_owned(),
        refunded: Cents(0),
        lines: vec![SoldLine {
            item: SoldItem {
                site: "MLB".to_owned(),
                number: numbers.item(good),
                variation: 0,
                title: title.to_owned(),
                sku: sku.to_owned(),
            },
            units: quantity,
            unit_price: Cents(price),
            fee: Some(Cents(price * quantity * 12 / 100)),
        }],
        pack_id: None,
        payments: Vec::new(),
        is_to_agree: false,
        is_fraud_risk: false,
        is_split: false,
        buyer_id: None,
        buyer_nickname: format!("COMPRADOR{}", 100 + place.rem_euclid(17)),
        shipping_id: Some(numbers.record(place)),
        shipment: Some(ready(at)),
        paid_at: Some(at),
    }
}

fn ask_and_claim(write: BookWrite<'_, '_>, numbers: Numbers) -> Result<()> {
    let now = write.0.now();
    for (place, answer) in [(0, Some("Sim, com nota fiscal.")), (1, None)] {
        let mut asked = question(numbers, place, now.minus((3 - place) * DAY_S / 2));
        if let Some(answer) = answer {
            asked.row.state = QuestionState::Answered;
            "ANSWERED".clone_into(&mut asked.row.status);
            asked.row.answer = Some(answer.to_owned());
            asked.row.answered_at = Some(asked.row.asked_at.plus(600));
        }
        questions::apply(write, &asked, now)?;
    }
    claims::apply(write, &claim(numbers, 0, numbers.record(8), now.minus(2 * DAY_S)), now)?;
    Ok(())
}

/// A question that waits for an answer, by its place.
pub fn question(numbers: Numbers, place: i64, at: Instant) -> QuestionDocument {
    const TEXTS: [&str; 3] =
        ["Tem pronta entrega?", "Serve para água quente?", "Qual é a garantia?"];
    let text = TEXTS[usize::try_from(place).unwrap_or(0) % TEXTS.len()];
    QuestionDocument {
        row: QuestionRow {
            id: numbers.record(place),
            asked_at: at,
            ml_user_id: numbers.store(),
            item_id: numbers.item(place.rem_euclid(5)),
            state: QuestionState::Open,
            status: "UNANSWERED".to_owned(),
            text: text.to_owned(),
            answer: None,
            answered_at: None,
            asker_id: None,
            updated_at: Some(at),
        },
        site: "MLB".to_owned(),
    }
}

/// An open claim about an order, by its place.
pub fn claim(numbers: Numbers, place: i64, order: i64, at: Instant) -> ClaimDocument {
    ClaimDocument {
        id: numbers.record(place),
        opened_at: at,
        seller: numbers.store(),
        state: ClaimState::Open,
        kind: "mediations".to_owned(),
        stage: "claim".to_owned(),
        reason: "PDD9939".to_owned(),
        resource: "order".to_owned(),
        resource_id: Some(order),
        due_at: Some(at.plus(3 * DAY_S)),
        action: "send_message_to_complainant".to_owned(),
        came_back: false,
        resolution: String::new(),
        updated_at: at,
    }
}
