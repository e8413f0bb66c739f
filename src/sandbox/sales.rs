//! Sales arrive and change. Each change queues its notification.
//!
//! Errors are sentences for whoever sent the command.

use serde::Deserialize;

use super::deliver;
use super::shops::{no_seller, set_stock};
use super::state::{Item, ORDERS_MAX, Order, Shipment, World};
use crate::clock::Instant;
use crate::money::Cents;

/// Statuses that an order may have.
pub const ORDER_STATUSES: [&str; 9] = [
    "confirmed",
    "payment_required",
    "payment_in_process",
    "partially_paid",
    "paid",
    "partially_refunded",
    "pending_cancel",
    "cancelled",
    "invalid",
];

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
    /// One of [`ORDER_STATUSES`].
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

fn yes() -> bool {
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
    /// One of [`ORDER_STATUSES`].
    pub status: Option<String>,
    /// `ready_to_ship`, `shipped`, `delivered` …; makes the shipment if there is none.
    pub shipping_status: Option<String>,
    /// Finer shipping state.
    pub shipping_substatus: Option<String>,
    /// Whether a notification goes out; it does unless `false`.
    pub notify: Option<bool>,
}

/// A sale arrives; gives the order's id.
pub fn sell(world: &mut World, sale: NewSale, now: Instant) -> Result<i64, String> {
    let number = sold_item(world, &sale)?;
    known_status(&sale.status)?;
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
    let logistic = item.logistic.clone();
    item.sold += sale.quantity;
    let status_before = item.status.clone();
    let stock = item.stock - sale.quantity;
    set_stock(item, stock);
    let (paused, item_id) = (item.status != status_before, item.id());
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
        quantity: sale.quantity,
        unit_price,
        shipment: None,
    };
    let id = record(world, order)?;
    if sale.shipping == Shipping::Now {
        ship(world, id, &logistic, "ready_to_ship", created);
    }
    if sale.notify {
        let resource = format!("/orders/{id}");
        deliver::notify(world, now, sale.ml_user_id, "orders_v2", &resource);
        if paused {
            let resource = format!("/items/{item_id}");
            deliver::notify(world, now, sale.ml_user_id, "items", &resource);
        }
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
    !matches!(
        status,
        "payment_required" | "payment_in_process" | "invalid"
    )
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
    world.orders.insert(id, order);
    Ok(id)
}

/// Makes an order's shipment, or moves it on.
pub fn ship(world: &mut World, order: i64, logistic: &str, status: &str, at: Instant) {
    let number = world.next_number();
    let Some(order) = world.orders.get_mut(&order) else {
        return;
    };
    let shipment = order.shipment.get_or_insert_with(|| Shipment {
        id: 44_000_000_000 + number,
        status: String::new(),
        substatus: None,
        logistic: logistic.to_owned(),
        updated: at,
    });
    status.clone_into(&mut shipment.status);
    shipment.substatus = (status == "ready_to_ship").then(|| "ready_to_print".to_owned());
    shipment.updated = at;
}

/// Changes an order.
pub fn change(world: &mut World, id: i64, change: OrderChange, now: Instant) -> Result<(), String> {
    let order = world
        .orders
        .get_mut(&id)
        .ok_or_else(|| format!("there is no order {id}"))?;
    let (seller, item, quantity) = (order.seller, order.item, order.quantity);
    let mut returns = false;
    if let Some(status) = change.status {
        known_status(&status)?;
        if closes(&status) && order.closed.is_none() && status != "cancelled" {
            order.closed = Some(now);
        }
        returns = status == "cancelled" && order.status != "cancelled";
        order.status = status;
    }
    // A change is visible as one even within the second of the one before.
    order.updated = now.max(order.updated.plus(1));
    if returns && let Some(item) = world.items.get_mut(&item) {
        item.sold -= quantity;
        let stock = item.stock + quantity;
        set_stock(item, stock);
        item.updated = now;
    }
    if let Some(status) = &change.shipping_status {
        let item = world.items.get(&item);
        let logistic = item.map_or("drop_off", |item| &item.logistic).to_owned();
        ship(world, id, &logistic, status, now);
    }
    if let Some(substatus) = change.shipping_substatus {
        let order = world.orders.get_mut(&id);
        let shipment = order.and_then(|order| order.shipment.as_mut());
        shipment
            .ok_or("the order has no shipment yet: name shipping_status too")?
            .substatus = Some(substatus);
    }
    if change.notify != Some(false) {
        let resource = format!("/orders/{id}");
        deliver::notify(world, now, seller, "orders_v2", &resource);
    }
    Ok(())
}

fn known_status(status: &str) -> Result<(), String> {
    if ORDER_STATUSES.contains(&status) {
        return Ok(());
    }
    Err(format!(
        "status must be one of {}",
        ORDER_STATUSES.join(", ")
    ))
}
