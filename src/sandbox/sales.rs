//! The controls and buttons that create and change sales. Each change queues its
//! notifications.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{ButtonResult, Call, ControlResult};
use super::notifications::notify;
use super::shipments::{refine, ship};
use super::state::{ORDERS_MAX, SandboxState, check_room};
use super::things::{ChangeContext, Invoice, Order, check_status, created_at, item_id, touch};
use crate::base::{Cents, Instant};
use crate::marketplace::kinds::RecordKind;
use crate::usual;

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
        /// `paid`, `cancelled` … or any other word.
        pub status: String = "paid".to_owned(),
        /// RFC 3339; now when absent.
        pub date_created: Option<String>,
        /// When the marketplace creates the shipment.
        pub shipping: Shipping = Shipping::Now,
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
    let number = state.item_of(sale.ml_user_id, sale.item.as_deref())?;
    check_status(&sale.status)?;
    if !(1..=10_000).contains(&sale.quantity) {
        return Err("quantity must be from 1 to 10000".to_owned());
    }
    let created = created_at(sale.date_created.as_deref(), now)?;
    let item = state.items.get_mut(&number).ok_or("the listing is gone")?;
    let unit_price = sale.unit_price.unwrap_or(item.price);
    if unit_price.0 <= 0 {
        return Err("unit_price must be positive".to_owned());
    }
    if let Some(id) = sale.variation_id {
        let variation = item.variation_mut(Some(id));
        let variation = variation.ok_or_else(|| format!("the listing has no variation {id}"))?;
        variation.sold += sale.quantity;
        variation.stock = (variation.stock - sale.quantity).max(0);
    }
    let logistic = item.logistic.clone();
    item.sold += sale.quantity;
    item.set_stock(item.stock - sale.quantity);
    touch(&mut item.updated, now);
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
        item: number,
        variation: sale.variation_id,
        quantity: sale.quantity,
        unit_price,
        refunded: Cents(0),
        tags: sale.tags,
        shipment: None,
        invoice: sale.invoice,
    };
    let id = record(state, order)?;
    if sale.shipping == Shipping::Now {
        ship(state, id, &logistic, "ready_to_ship", created);
    }
    notify(state, context, sale.ml_user_id, RecordKind::Order, id);
    notify(state, context, sale.ml_user_id, RecordKind::Listing, item_id(number));
    Ok(id)
}

/// Whether an order of that status has been paid or confirmed.
fn closes(status: &str) -> bool {
    !matches!(status, "payment_required" | "payment_in_process" | "invalid")
}

/// Stores an order under a new id, with a new buyer.
pub fn record(state: &mut SandboxState, mut order: Order) -> Result<i64, String> {
    check_room(state.orders.len(), ORDERS_MAX, "orders")?;
    let number = state.next_number();
    order.id = 2_000_010_000_000_000 + number;
    order.buyer = 300_000_000 + number;
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
    if let Some(invoice) = change.invoice {
        order.invoice = invoice;
    }
    touch(&mut order.updated, now);
    let order = order.clone();
    let returned = returns && restock(state, &order, now);
    if let Some(status) = &change.shipping_status {
        let item = state.items.get(&order.item);
        let logistic = item.map_or("drop_off", |item| &item.logistic).to_owned();
        ship(state, id, &logistic, status, now);
    }
    let moved = change.shipping_status.is_some() || change.shipping_substatus.is_some();
    let shipment = state.orders.get(&id).and_then(|order| order.shipment);
    if let (Some(substatus), Some(shipment)) = (change.shipping_substatus, shipment) {
        refine(state, shipment, substatus, now);
    }
    notify(state, context, order.seller, RecordKind::Order, id);
    if returned {
        notify(state, context, order.seller, RecordKind::Listing, item_id(order.item));
    }
    if let Some(shipment) = shipment.filter(|_| moved) {
        notify(state, context, order.seller, RecordKind::Shipment, shipment);
    }
    Ok(())
}

/// Puts the units of a cancelled order back into the listing's stock.
fn restock(state: &mut SandboxState, order: &Order, now: Instant) -> bool {
    let Some(item) = state.items.get_mut(&order.item) else {
        return false;
    };
    item.sold -= order.quantity;
    if let Some(variation) = item.variation_mut(order.variation) {
        variation.sold -= order.quantity;
        variation.stock += order.quantity;
    }
    item.set_stock(item.stock + order.quantity);
    touch(&mut item.updated, now);
    true
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
    let shipment = order.shipment.and_then(|id| state.shipments.get(&id));
    json!({
        "id": order.id, "ml_user_id": order.seller, "status": order.status,
        "item": item_id(order.item), "quantity": order.quantity,
        "unit_price": order.unit_price, "total": order.total(),
        "date_created": order.created.rfc3339(), "last_updated": order.updated.rfc3339(),
        "buyer": { "id": order.buyer, "nickname": order.buyer_nickname },
        "shipment": shipment.map(|shipment| json!({
            "id": shipment.id, "status": shipment.status, "substatus": shipment.substatus,
            "logistic_type": shipment.logistic,
        })),
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
            ("reter", r#"{ "shipping_status": "pending", "shipping_substatus": "buffered" }"#),
        ])
        .ok_or("Escolha o que muda na venda.")?;
    change(call.state, id, new, call.notified())
        .map_err(|_| format!("O pedido {id} não existe mais."))?;
    Ok(format!("Pedido {id} mudou e a notificação está na fila."))
}
