//! The controls and buttons that create and change sales. Each change queues its
//! notifications.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{ButtonResult, Call, ControlResult};
use super::notifications::notify;
use super::parcels::{self, NewParcel, refine, retag, ship, unlock};
use super::state::{ORDERS_MAX, SandboxState, check_room};
use super::things::{
    ChangeContext, Invoice, Line, Order, Word, check_status, created_at, item_id, touch,
};
use crate::base::{Cents, Instant};
use crate::marketplace::kinds::RecordKind;
use crate::usual;

/// Most lines of one order.
const LINES_MAX: usize = 50;

usual! {
    /// A sale to be created.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct NewSale {
        pub ml_user_id: i64,
        /// The listing's id; the seller's first active one when absent.
        pub item: Option<String>,
        pub quantity: i64 = 1,
        /// The listing's price when absent.
        pub unit_price: Option<Cents>,
        /// Lines, instead of the one that `item`, `quantity`, `unit_price` and
        /// `variation_id` describe.
        pub items: Vec<NewLine>,
        /// `BRL` or another currency.
        pub currency: String = "BRL".to_owned(),
        /// `paid`, `cancelled` … or any other word.
        pub status: String = "paid".to_owned(),
        /// RFC 3339; now when absent.
        pub date_created: Option<String>,
        /// When the marketplace creates the shipment.
        pub shipping: Shipping = Shipping::Now,
        /// State of the shipment; `ready_to_ship` when absent.
        pub shipping_status: Option<String>,
        /// Its sub-status; that with which it comes into the state when absent.
        pub shipping_substatus: Option<String>,
        /// Tags of the shipment, such as `proximity`.
        pub shipping_tags: Vec<String>,
        /// Kind of logistics; the listing's when absent.
        pub logistic: Option<String>,
        /// Shown in the order when given.
        pub buyer_nickname: Option<String>,
        /// The cart it belongs to.
        pub pack_id: Option<i64>,
        /// Which variation of the listing, by id; none when absent.
        pub variation_id: Option<i64>,
        /// Further tags, such as `fraud_risk_detected`.
        pub tags: Vec<String>,
        pub invoice: Invoice = Invoice::None,
    }
}

usual! {
    /// A line of a sale to be created.
    #[derive(Clone, Debug, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct NewLine {
        /// The listing's id; the seller's first active one when absent.
        pub item: Option<String>,
        pub quantity: i64 = 1,
        /// The listing's price when absent.
        pub unit_price: Option<Cents>,
        /// Which variation of the listing, by id; none when absent.
        pub variation_id: Option<i64>,
        /// The seller's code that the order shows; the listing's when absent.
        pub sku: Option<String>,
    }
}

/// When an order gets its shipment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shipping {
    /// With the order.
    Now,
    /// With the first change that names a shipping status.
    Later,
}

/// A change of an order; absent fields stay.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrderChange {
    /// `paid`, `cancelled` … or any other word.
    pub status: Option<String>,
    /// `ready_to_ship`, `shipped` …; creates the shipment if there is none.
    pub shipping_status: Option<String>,
    /// Sub-status of the shipment.
    pub shipping_substatus: Option<String>,
    /// Tags that the order gets, such as `fraud_risk_detected`, and those it loses.
    pub add_tags: Vec<String>,
    pub remove_tags: Vec<String>,
    /// Why it was cancelled, such as `pack_splitted`; with the status `cancelled`.
    pub cancel_code: Option<String>,
    /// Amount of a partial refund, in reais; half of the total when absent.
    pub refund: Option<Cents>,
    pub invoice: Option<Invoice>,
}

/// Creates a sale; returns the order's id.
pub fn sell(
    state: &mut SandboxState,
    sale: NewSale,
    context: ChangeContext,
) -> Result<i64, String> {
    let now = context.now;
    state.check_seller(sale.ml_user_id)?;
    check_room(state.orders.len(), ORDERS_MAX, "orders")?;
    check_status(&sale.status)?;
    let states = [&sale.shipping_status, &sale.shipping_substatus];
    states.into_iter().flatten().try_for_each(|word| check_status(word))?;
    if !is_currency(&sale.currency) {
        return Err("currency must be three capital letters".to_owned());
    }
    let created = created_at(sale.date_created.as_deref(), now)?;
    let lines = lines_of(state, &sale)?;
    let (mut tags, mut shipping_tags) = (Vec::new(), Vec::new());
    retag(&mut tags, sale.tags, &[])?;
    retag(&mut shipping_tags, sale.shipping_tags, &[])?;
    for line in &lines {
        take_stock(state, line, now);
    }
    let first = lines.first().map_or(0, |line| line.item);
    let logistic = sale.logistic.or_else(|| Some(state.items.get(&first)?.logistic.clone()));
    // The payment is some seconds later than the order, but not in the future.
    let settled = created.plus(4).min(now).max(created);
    let order = Order {
        id: 0,
        seller: sale.ml_user_id,
        closed: closes(&sale.status).then_some(settled),
        status: sale.status,
        created,
        updated: settled,
        pack: sale.pack_id,
        buyer: 0,
        buyer_nickname: sale.buyer_nickname,
        lines,
        currency: sale.currency.into(),
        refunded: Cents(0),
        tags,
        cancel_code: None,
        shipment: None,
        invoice: sale.invoice,
    };
    let mut items: Vec<i64> = order.lines.iter().map(|line| line.item).collect();
    items.dedup();
    let id = record(state, order)?;
    if sale.shipping == Shipping::Now {
        let status = sale.shipping_status.map_or("ready_to_ship".into(), Word::from);
        let logistic = &logistic.unwrap_or_default();
        let parcel = ship(state, NewParcel { order: id, logistic, status, at: created });
        if let (Some(substatus), Some(parcel)) = (sale.shipping_substatus, parcel) {
            refine(state, parcel, substatus, created);
        }
        if let Some(parcel) = parcel.and_then(|id| state.shipments.get_mut(&id)) {
            retag(&mut parcel.tags, shipping_tags, &[])?;
        }
    }
    notify(state, context, sale.ml_user_id, RecordKind::Order, id);
    for item in items {
        notify(state, context, sale.ml_user_id, RecordKind::Listing, item_id(item));
    }
    Ok(id)
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// The lines of a sale, checked.
fn lines_of(state: &SandboxState, sale: &NewSale) -> Result<Vec<Line>, String> {
    let single = [NewLine {
        item: sale.item.clone(),
        quantity: sale.quantity,
        unit_price: sale.unit_price,
        variation_id: sale.variation_id,
        sku: None,
    }];
    let asked = if sale.items.is_empty() { &single[..] } else { &sale.items[..] };
    if asked.len() > LINES_MAX {
        return Err(format!("at most {LINES_MAX} lines fit"));
    }
    asked.iter().map(|line| line_of(state, sale.ml_user_id, line)).collect()
}

fn line_of(state: &SandboxState, seller: i64, asked: &NewLine) -> Result<Line, String> {
    let number = state.item_of(seller, asked.item.as_deref())?;
    let item = state.items.get(&number).ok_or("the listing is gone")?;
    if !(1..=10_000).contains(&asked.quantity) {
        return Err("quantity must be from 1 to 10000".to_owned());
    }
    let unit_price = asked.unit_price.unwrap_or(item.price);
    if unit_price.0 <= 0 {
        return Err("unit_price must be positive".to_owned());
    }
    if let Some(id) = asked.variation_id.filter(|id| item.variation(Some(*id)).is_none()) {
        return Err(format!("the listing has no variation {id}"));
    }
    Ok(Line {
        item: number,
        variation: asked.variation_id,
        quantity: asked.quantity,
        unit_price,
        sku: asked.sku.clone(),
    })
}

/// Takes the units of a line out of its listing.
fn take_stock(state: &mut SandboxState, line: &Line, now: Instant) {
    let Some(item) = state.items.get_mut(&line.item) else { return };
    if let Some(variation) = item.variation_mut(line.variation) {
        variation.sold += line.quantity;
        variation.stock = (variation.stock - line.quantity).max(0);
    }
    item.sold += line.quantity;
    item.set_stock(item.stock - line.quantity);
    touch(&mut item.updated, now);
}

/// Whether an order of that status has been paid or confirmed.
fn closes(status: &str) -> bool {
    !matches!(status, "payment_required" | "payment_in_process" | "invalid")
}

/// Stores an order under a new id, with a new buyer unless it has one.
pub fn record(state: &mut SandboxState, mut order: Order) -> Result<i64, String> {
    check_room(state.orders.len(), ORDERS_MAX, "orders")?;
    let number = state.next_number();
    order.id = 2_000_010_000_000_000 + number;
    if order.buyer == 0 {
        order.buyer = 300_000_000 + number;
    }
    let id = order.id;
    state.orders_by_date.insert((order.seller, order.created, id));
    state.orders.insert(id, order);
    Ok(id)
}

/// Changes an order.
pub fn change(
    state: &mut SandboxState,
    id: i64,
    change: OrderChange,
    context: ChangeContext,
) -> Result<(), String> {
    let now = context.now;
    let order = state.orders.get_mut(&id).ok_or_else(|| format!("there is no order {id}"))?;
    if change.shipping_substatus.is_some()
        && change.shipping_status.is_none()
        && order.shipment.is_none()
    {
        return Err("the order has no shipment yet: name shipping_status too".to_owned());
    }
    let mut returns = false;
    if let Some(status) = change.status {
        check_status(&status)?;
        if closes(&status) && order.closed.is_none() && status != "cancelled" {
            order.closed = Some(now);
        }
        if status == "partially_refunded" {
            let half = Cents(order.total().0 / 2);
            order.refunded = change.refund.unwrap_or(half).min(order.total());
        }
        returns = status == "cancelled" && order.status != "cancelled";
        order.status = status;
    }
    if let Some(code) = change.cancel_code {
        check_status(&code)?;
        order.cancel_code = Some(code);
    }
    retag(&mut order.tags, change.add_tags, &change.remove_tags)?;
    if let Some(invoice) = change.invoice {
        order.invoice = invoice;
    }
    touch(&mut order.updated, now);
    let order = order.clone();
    let mut returned = Vec::new();
    if returns {
        order.lines.iter().for_each(|line| restock(state, line, now));
        returned.extend(order.lines.iter().map(|line| line.item));
        returned.dedup();
    }
    if let Some(status) = change.shipping_status.clone() {
        let item = state.items.get(&order.item());
        let logistic = &item.map_or("drop_off", |item| &item.logistic).to_owned();
        ship(state, NewParcel { order: id, logistic, status: status.into(), at: now });
    }
    let mut moved = change.shipping_status.is_some() || change.shipping_substatus.is_some();
    let shipment = state.orders.get(&id).and_then(|order| order.shipment);
    if let (Some(substatus), Some(shipment)) = (change.shipping_substatus, shipment) {
        refine(state, shipment, substatus, now);
    }
    // A note of the marketplace's own biller unlocks the label, an attached file does not.
    if let Some(shipment) = shipment.filter(|_| change.invoice == Some(Invoice::Issued)) {
        moved |= unlock(state, shipment, now);
    }
    notify(state, context, order.seller, RecordKind::Order, id);
    for item in returned {
        notify(state, context, order.seller, RecordKind::Listing, item_id(item));
    }
    if let Some(shipment) = shipment.filter(|_| moved) {
        notify(state, context, order.seller, RecordKind::Shipment, shipment);
    }
    Ok(())
}

/// Puts the units of a cancelled line back into the listing's stock.
fn restock(state: &mut SandboxState, line: &Line, now: Instant) {
    let Some(item) = state.items.get_mut(&line.item) else { return };
    item.sold -= line.quantity;
    if let Some(variation) = item.variation_mut(line.variation) {
        variation.sold -= line.quantity;
        variation.stock += line.quantity;
    }
    item.set_stock(item.stock + line.quantity);
    touch(&mut item.updated, now);
}

/// `POST /_sandbox/sales`.
pub fn control_sell(call: &mut Call<'_>) -> ControlResult {
    let (sale, context) = call.body_and_context(true)?;
    let id = sell(call.state, sale, context)?;
    Ok(json!({ "ok": true, "order": shown(call.state, id) }))
}

/// `POST /_sandbox/orders/{id}`.
pub fn control_change(call: &mut Call<'_>) -> ControlResult {
    let id = call.number()?;
    let (new, context) = call.body_and_context(true)?;
    change(call.state, id, new, context)?;
    Ok(json!({ "ok": true, "order": shown(call.state, id) }))
}

/// An order as controls show it.
fn shown(state: &SandboxState, id: i64) -> Value {
    let Some(order) = state.orders.get(&id) else {
        return Value::Null;
    };
    let line = |line: &Line| {
        json!({
            "item": item_id(line.item), "quantity": line.quantity,
            "unit_price": line.unit_price, "variation_id": line.variation,
        })
    };
    json!({
        "id": order.id, "ml_user_id": order.seller, "status": order.status,
        "item": item_id(order.item()), "quantity": order.units(),
        "unit_price": order.lines.first().map(|line| line.unit_price), "total": order.total(),
        "items": order.lines.iter().map(line).collect::<Vec<_>>(),
        "currency": order.currency, "tags": order.tags, "pack_id": order.pack,
        "date_created": order.created.rfc3339(), "last_updated": order.updated.rfc3339(),
        "buyer": { "id": order.buyer, "nickname": order.buyer_nickname },
        "shipment": order.shipment.map(|id| parcels::shown(state, id)),
    })
}

/// The sale that a shop's form describes.
fn asked(call: &Call<'_>) -> Result<NewSale, String> {
    Ok(NewSale {
        ml_user_id: call.number_field("ml_user_id")?,
        item: call.filled("item"),
        quantity: call.number_field("quantidade")?,
        ..NewSale::default()
    })
}

fn press(call: &mut Call<'_>, sale: NewSale) -> Result<i64, String> {
    sell(call.state, sale, call.notified())
        .map_err(|_| "Confira o anúncio e a quantidade (1 a 10.000).".to_owned())
}

/// `POST /acoes/venda`.
pub fn press_sale(call: &mut Call<'_>) -> ButtonResult {
    let id = press(call, asked(call)?)?;
    Ok(format!("Venda {id} feita e notificação na fila."))
}

/// `POST /acoes/venda/sem-envio`.
pub fn press_unshipped(call: &mut Call<'_>) -> ButtonResult {
    let id = press(call, NewSale { shipping: Shipping::Later, ..asked(call)? })?;
    Ok(format!("Venda {id} feita, ainda sem envio; a notificação está na fila."))
}

/// `POST /acoes/carrinho`: two orders, one parcel.
pub fn press_cart(call: &mut Call<'_>) -> ButtonResult {
    let sale = asked(call)?;
    let one = press(call, sale.clone())?;
    // A cart takes its number from its first order.
    let order = call.state.orders.get_mut(&one).ok_or("A venda não existe mais.")?;
    order.pack = Some(one);
    let other = press(call, NewSale { pack_id: Some(one), ..sale })?;
    Ok(format!(
        "Carrinho com as vendas {one} e {other}, em um só envio; as notificações estão na fila."
    ))
}

/// `POST /acoes/pedido`.
pub fn press_order(call: &mut Call<'_>) -> ButtonResult {
    let id = call.number_field("pedido")?;
    let parcel =
        r#"{ "shipping_status": "ready_to_ship", "shipping_substatus": "ready_to_print" }"#;
    let invoice =
        r#"{ "shipping_status": "ready_to_ship", "shipping_substatus": "invoice_pending" }"#;
    let new = call
        .chosen(&[
            ("cancelar", r#"{ "status": "cancelled" }"#),
            ("reembolsar", r#"{ "status": "partially_refunded" }"#),
            ("enviar", r#"{ "shipping_status": "shipped" }"#),
            ("entregar", r#"{ "shipping_status": "delivered" }"#),
            ("liberar", parcel),
            ("nota", invoice),
            ("emitir", r#"{ "invoice": "issued" }"#),
            ("fraude", r#"{ "add_tags": ["fraud_risk_detected"] }"#),
            ("reter", r#"{ "shipping_status": "pending", "shipping_substatus": "buffered" }"#),
        ])
        .ok_or("Escolha o que muda na venda.")?;
    change(call.state, id, new, call.notified())
        .map_err(|_| format!("O pedido {id} não existe mais."))?;
    Ok(format!("Pedido {id} mudou e a notificação está na fila."))
}
