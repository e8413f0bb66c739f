//! Sales arrive and change. Each change queues its notification.
//!
//! Errors are sentences for whoever sent the command.

use serde::Deserialize;

use super::deliver;
use super::shipments::{refine, ship};
use super::shops::{no_seller, set_stock, touch};
use super::state::{ORDERS_MAX, World};
use super::things::{Invoice, Item, Order, Variation, state_word};
use crate::base::clock::Instant;
use crate::base::money::Cents;

/// A sale to arrive.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSale {
    /// The seller.
    pub ml_user_id: i64,
    /// The listing's id; the seller's first active one when absent.
    #[serde(default)]
    pub item: Option<String>,
    /// Units.
    #[serde(default = "one")]
    pub quantity: i64,
    /// Price of a unit in reais; the listing's when absent.
    #[serde(default)]
    pub unit_price: Option<Cents>,
    /// `paid`, `cancelled` … or any other word.
    #[serde(default = "paid")]
    pub status: String,
    /// RFC 3339; now when absent.
    #[serde(default)]
    pub date_created: Option<String>,
    /// When the marketplace makes the shipment.
    #[serde(default)]
    pub shipping: Shipping,
    /// Shown in the order when given.
    #[serde(default)]
    pub buyer_nickname: Option<String>,
    /// The cart it belongs to.
    #[serde(default)]
    pub pack_id: Option<i64>,
    /// Which variation of the listing, by id; none when absent.
    #[serde(default)]
    pub variation_id: Option<i64>,
    /// Further tags, such as `fraud_risk_detected`.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Its fiscal note.
    #[serde(default)]
    pub invoice: Invoice,
    /// Whether a notification goes out.
    #[serde(default = "yes")]
    pub notify: bool,
}

fn one() -> i64 {
    1
}

fn paid() -> String {
    "paid".to_owned()
}

/// What `notify` is when nobody says.
pub fn yes() -> bool {
    true
}

/// When an order gets its shipment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shipping {
    /// With the order.
    #[default]
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
    /// `ready_to_ship`, `shipped`, `delivered` …; makes the shipment if there is none.
    pub shipping_status: Option<String>,
    /// Finer shipping state.
    pub shipping_substatus: Option<String>,
    /// What a partial refund gives back, in reais; half when absent.
    pub refund: Option<Cents>,
    /// Its fiscal note.
    pub invoice: Option<Invoice>,
    /// Whether a notification goes out; it does unless `false`.
    pub notify: Option<bool>,
}

/// A sale arrives; gives the order's id.
pub fn sell(world: &mut World, sale: NewSale, now: Instant) -> Result<i64, String> {
    let number = sold_item(world, &sale)?;
    state_word(&sale.status)?;
    if !(1..=10_000).contains(&sale.quantity) {
        return Err("quantity must be from 1 to 10000".to_owned());
    }
    let created = match &sale.date_created {
        None => now,
        Some(text) => Instant::parse(text)
            .ok_or_else(|| format!("date_created is not an RFC 3339 date: {text}"))?,
    };
    let item = world.items.get_mut(&number).ok_or("the listing is gone")?;
    let unit_price = sale.unit_price.unwrap_or(item.price);
    if unit_price.0 <= 0 {
        return Err("unit_price must be positive".to_owned());
    }
    if let Some(id) = sale.variation_id {
        let variation = item.variations.iter_mut().find(|variation| variation.id == id);
        let variation = variation.ok_or_else(|| format!("the listing has no variation {id}"))?;
        variation.sold += sale.quantity;
        variation.stock = (variation.stock - sale.quantity).max(0);
    }
    let logistic = item.logistic.clone();
    item.sold += sale.quantity;
    let stock = item.stock - sale.quantity;
    set_stock(item, stock);
    touch(item, now);
    let item_id = item.id();
    // A payment takes seconds, but nothing is dated after now.
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
    let id = record(world, order)?;
    if sale.shipping == Shipping::Now {
        ship(world, id, &logistic, "ready_to_ship", created);
    }
    if sale.notify {
        let resource = format!("/orders/{id}");
        deliver::notify(world, now, sale.ml_user_id, "orders_v2", &resource);
        let resource = format!("/items/{item_id}");
        deliver::notify(world, now, sale.ml_user_id, "items", &resource);
    }
    Ok(id)
}

fn sold_item(world: &World, sale: &NewSale) -> Result<i64, String> {
    if !world.sellers.contains_key(&sale.ml_user_id) {
        return Err(no_seller(sale.ml_user_id));
    }
    if world.orders.len() >= ORDERS_MAX {
        return Err(format!("at most {ORDERS_MAX} orders fit"));
    }
    let own = |item: &&Item| item.seller == sale.ml_user_id;
    match &sale.item {
        Some(id) => world
            .item(id)
            .filter(own)
            .map(|item| item.number)
            .ok_or_else(|| format!("seller {} has no listing {id}", sale.ml_user_id)),
        None => world
            .items
            .values()
            .filter(own)
            .find(|item| item.status == "active")
            .map(|item| item.number)
            .ok_or_else(|| format!("seller {} has no active listing", sale.ml_user_id)),
    }
}

/// Whether an order of that status has been paid or confirmed.
pub fn closes(status: &str) -> bool {
    !matches!(status, "payment_required" | "payment_in_process" | "invalid")
}

/// Stores an order under a fresh id, with a buyer of its own.
pub fn record(world: &mut World, mut order: Order) -> Result<i64, String> {
    if world.orders.len() >= ORDERS_MAX {
        return Err(format!("at most {ORDERS_MAX} orders fit"));
    }
    let number = world.next_number();
    order.id = 2_000_010_000_000_000 + number;
    order.buyer = 300_000_000 + number;
    let id = order.id;
    let place = (order.seller, order.created, id);
    world.orders_by_date.insert(place);
    world.orders.insert(id, order);
    Ok(id)
}

/// Changes an order.
pub fn change(world: &mut World, id: i64, change: OrderChange, now: Instant) -> Result<(), String> {
    let order = world.orders.get_mut(&id).ok_or_else(|| format!("there is no order {id}"))?;
    if change.shipping_substatus.is_some()
        && change.shipping_status.is_none()
        && order.shipment.is_none()
    {
        return Err("the order has no shipment yet: name shipping_status too".to_owned());
    }
    let mut returns = false;
    if let Some(status) = change.status {
        state_word(&status)?;
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
    // A change is visible as one even within the second of the one before.
    order.updated = now.max(order.updated.plus(1));
    let order = order.clone();
    let returned = returns && give_back(world, &order, now);
    if let Some(status) = &change.shipping_status {
        let item = world.items.get(&order.item);
        let logistic = item.map_or("drop_off", |item| &item.logistic).to_owned();
        ship(world, id, &logistic, status, now);
    }
    let shipment = world.orders.get(&id).and_then(|order| order.shipment);
    if let (Some(substatus), Some(shipment)) = (change.shipping_substatus.clone(), shipment) {
        refine(world, shipment, substatus, now);
    }
    if change.notify == Some(false) {
        return Ok(());
    }
    let tell = |world: &mut World, topic: &str, resource: String| {
        deliver::notify(world, now, order.seller, topic, &resource);
    };
    tell(world, "orders_v2", format!("/orders/{id}"));
    if returned {
        tell(world, "items", format!("/items/MLB{}", order.item));
    }
    let moved = change.shipping_status.is_some() || change.shipping_substatus.is_some();
    if let Some(shipment) = shipment.filter(|_| moved) {
        tell(world, "shipments", format!("/shipments/{shipment}"));
    }
    Ok(())
}

/// What a cancelled order had sold is for sale again.
fn give_back(world: &mut World, order: &Order, now: Instant) -> bool {
    let Some(item) = world.items.get_mut(&order.item) else {
        return false;
    };
    item.sold -= order.quantity;
    let of_order = |variation: &&mut Variation| Some(variation.id) == order.variation;
    if let Some(variation) = item.variations.iter_mut().find(of_order) {
        variation.sold -= order.quantity;
        variation.stock += order.quantity;
    }
    let stock = item.stock + order.quantity;
    set_stock(item, stock);
    touch(item, now);
    true
}
