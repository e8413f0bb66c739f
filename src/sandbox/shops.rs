//! Shops open, listings appear and change.
//!
//! Errors are sentences for whoever sent the command.

use serde::Deserialize;

use super::deliver;
use super::questions;
use super::state::{ITEMS_MAX, SELLERS_MAX, World, item_number};
use super::things::{Item, Reputation, Seller, Variation};
use crate::base::clock::Instant;
use crate::base::money::Cents;

/// A seller to be made.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSeller {
    /// Public name.
    pub nickname: String,
    /// Marketplace id; a free one when absent.
    #[serde(default)]
    pub ml_user_id: Option<i64>,
    /// Conduct so far.
    #[serde(default)]
    pub reputation: Reputation,
}

/// A listing to be published.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewItem {
    /// Whose it is.
    pub ml_user_id: i64,
    /// Title.
    pub title: String,
    /// Price in reais.
    pub price: Cents,
    /// Units for sale.
    #[serde(default = "ten")]
    pub stock: i64,
    /// Attribute `SELLER_SKU`.
    #[serde(default)]
    pub sku: Option<String>,
    /// Attribute `GTIN`.
    #[serde(default)]
    pub ean: Option<String>,
    /// Category id.
    #[serde(default = "accessories")]
    pub category: String,
    /// `gold_special` or `gold_pro`.
    #[serde(default = "classic")]
    pub listing_type: String,
    /// How it is shipped.
    #[serde(default = "drop_off")]
    pub logistic: String,
    /// Its kinds; their stock is in `stock` too.
    #[serde(default)]
    pub variations: Vec<Variation>,
    /// The catalogue's product it sells.
    #[serde(default)]
    pub catalog_product: Option<String>,
    /// Whether a notification goes out.
    #[serde(default)]
    pub notify: bool,
}

/// Kinds of one listing.
const VARIATIONS_MAX: usize = 100;

fn ten() -> i64 {
    10
}

fn accessories() -> String {
    "MLB31447".to_owned()
}

fn classic() -> String {
    "gold_special".to_owned()
}

fn drop_off() -> String {
    "drop_off".to_owned()
}

/// A change of a listing; absent fields stay.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ItemChange {
    /// `active`, `paused`, `closed` …
    pub status: Option<String>,
    /// Why it is so; follows from the status when absent.
    pub sub_status: Option<Vec<String>>,
    /// Price in reais.
    pub price: Option<Cents>,
    /// Units for sale.
    pub stock: Option<i64>,
    /// Title.
    pub title: Option<String>,
    /// Attribute `SELLER_SKU`; empty takes it away.
    pub sku: Option<String>,
    /// How it is shipped from now on.
    pub logistic: Option<String>,
    /// Whether a notification goes out; it does unless `false`.
    pub notify: Option<bool>,
}

/// Opens a shop.
pub fn open(world: &mut World, new: NewSeller, now: Instant) -> Result<i64, String> {
    if world.sellers.len() >= SELLERS_MAX {
        return Err(format!("at most {SELLERS_MAX} sellers fit"));
    }
    let nickname = new.nickname.trim().to_owned();
    if nickname.is_empty() || nickname.chars().count() > 60 {
        return Err("nickname must have 1 to 60 characters".to_owned());
    }
    let id = match new.ml_user_id {
        Some(id) if id <= 0 => return Err("ml_user_id must be positive".to_owned()),
        Some(id) if world.sellers.contains_key(&id) => {
            return Err(format!("seller {id} exists already"));
        }
        Some(id) => id,
        None => free_seller_id(world),
    };
    let seller = Seller {
        id,
        email: format!("{}@loja.invalid", nickname.to_lowercase().replace(' ', ".")),
        nickname,
        reputation: new.reputation,
        created: now.minus(800 * crate::base::clock::DAY_S),
    };
    world.sellers.insert(id, seller);
    Ok(id)
}

fn free_seller_id(world: &mut World) -> i64 {
    loop {
        let id = 1_480_000_000 + world.next_number() * 7;
        if !world.sellers.contains_key(&id) {
            return id;
        }
    }
}

/// Publishes a listing; gives its id.
pub fn publish(world: &mut World, new: NewItem, now: Instant) -> Result<String, String> {
    if !world.sellers.contains_key(&new.ml_user_id) {
        return Err(no_seller(new.ml_user_id));
    }
    if world.items.len() >= ITEMS_MAX {
        return Err(format!("at most {ITEMS_MAX} listings fit"));
    }
    if new.price.0 <= 0 || new.stock < 0 {
        return Err("price must be positive and stock not negative".to_owned());
    }
    if new.variations.len() > VARIATIONS_MAX {
        return Err(format!("at most {VARIATIONS_MAX} variations fit"));
    }
    let number = 3_800_000_000 + world.next_number();
    let mut variations = new.variations;
    for variation in variations.iter_mut().filter(|variation| variation.id == 0) {
        variation.id = 174_000_000_000 + world.next_number();
    }
    let item = Item {
        number,
        seller: new.ml_user_id,
        title: new.title,
        category: new.category,
        price: new.price,
        stock: new.stock,
        sold: 0,
        listing_type: new.listing_type,
        status: "active".to_owned(),
        sub_status: Vec::new(),
        sku: new.sku,
        ean: new.ean,
        logistic: new.logistic,
        variations,
        catalog_product: new.catalog_product,
        created: now,
        updated: now,
    };
    let id = item.id();
    world.items.insert(number, item);
    if new.notify {
        deliver::notify(world, now, new.ml_user_id, "items", &format!("/items/{id}"));
    }
    Ok(id)
}

/// Changes a listing.
pub fn change_item(
    world: &mut World,
    id: &str,
    change: ItemChange,
    now: Instant,
) -> Result<(), String> {
    let item = item_number(id).and_then(|number| world.items.get_mut(&number));
    let item = item.ok_or_else(|| format!("there is no listing {id}"))?;
    if item.status == "closed" && change.status.as_deref().is_some_and(|to| to != "closed") {
        return Err(format!("{id} is closed for good"));
    }
    if change.price.is_some_and(|price| price.0 <= 0) {
        return Err("price must be positive".to_owned());
    }
    if let Some(status) = change.status {
        item.sub_status = match status.as_str() {
            "paused" => vec!["paused_by_seller".to_owned()],
            _ => Vec::new(),
        };
        item.status = status;
    }
    if let Some(price) = change.price {
        item.price = price;
    }
    if let Some(title) = change.title {
        item.title = title;
    }
    if let Some(sku) = change.sku {
        item.sku = (!sku.is_empty()).then_some(sku);
    }
    if let Some(logistic) = change.logistic {
        item.logistic = logistic;
    }
    if let Some(stock) = change.stock {
        set_stock(item, stock);
    }
    if let Some(sub_status) = change.sub_status {
        item.sub_status = sub_status;
    }
    touch(item, now);
    let (seller, number, is_closed) = (item.seller, item.number, item.status == "closed");
    let notify = change.notify != Some(false);
    if notify {
        deliver::notify(world, now, seller, "items", &format!("/items/{id}"));
    }
    if is_closed {
        questions::close_for(world, number, notify, now);
    }
    Ok(())
}

/// A change is visible as one even within the second of the one before.
pub fn touch(item: &mut Item, now: Instant) {
    item.updated = now.max(item.updated.plus(1));
}

/// Stock zero pauses a listing, stock brings it back unless its seller paused it.
pub fn set_stock(item: &mut Item, stock: i64) {
    item.stock = stock.max(0);
    let by_stock = item.sub_status.iter().any(|sub| sub == "out_of_stock");
    if item.stock == 0 && item.status == "active" {
        "paused".clone_into(&mut item.status);
        item.sub_status = vec!["out_of_stock".to_owned()];
    } else if item.stock > 0 && by_stock {
        "active".clone_into(&mut item.status);
        item.sub_status.clear();
    }
}

/// What is said about a seller who is not there.
pub fn no_seller(id: i64) -> String {
    format!("there is no seller {id}")
}
