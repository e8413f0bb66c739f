//! What a unit of a listing costs its seller: the cost of the product with its SKU,
//! else the one that was typed for the listing, else the price of the supplier's
//! product that the listing sells. A product without a cost says 0, which is none.

use std::collections::HashMap;

use super::lines::StoredLine;
use super::sold::SoldKey;
use crate::base::{Cents, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::books::words::Words;

/// The cost of one unit, and where it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    pub cents: Cents,
    pub source: Source,
}

/// Where a cost is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The seller's product with the SKU.
    Product(i64),
    /// Typed for the listing.
    Listing,
    /// The supplier whose product the listing sells.
    Supplier,
}

/// The cost of one unit of a listing and SKU; `None` when it is not known.
pub fn unit(tx: &ReadTx<'_>, owner: UserId, item: i64, sku: &str) -> Result<Option<Unit>> {
    let product: Option<(i64, Cents)> = match sku {
        "" => None,
        sku => tx.tuple(
            "SELECT product_id, cost_cents FROM product
             WHERE owner_id = ?1 AND sku = ?2 AND cost_cents > 0",
            (owner, sku),
        )?,
    };
    if let Some((product, cents)) = product {
        return Ok(Some(Unit { cents, source: Source::Product(product) }));
    }
    let typed: Option<Cents> = tx.maybe(
        "SELECT cost_cents FROM listing_cost WHERE owner_id = ?1 AND item_id = ?2",
        (owner, item),
    )?;
    if let Some(cents) = typed {
        return Ok(Some(Unit { cents, source: Source::Listing }));
    }
    let asked: Option<Cents> = tx.maybe(
        "SELECT p.price_cents FROM drop_link l JOIN product p ON p.product_id = l.product_id
         WHERE l.seller_id = ?1 AND l.item_id = ?2 AND p.price_cents > 0",
        (owner, item),
    )?;
    Ok(asked.map(|cents| Unit { cents, source: Source::Supplier }))
}

/// Costs of what one owner sold, each looked up once.
pub struct Costs<'c, 'tx> {
    tx: &'c ReadTx<'tx>,
    words: &'c Words,
    owner: UserId,
    skus: HashMap<SoldKey, String>,
    units: HashMap<(i64, String), Option<Unit>>,
}

impl<'c, 'tx> Costs<'c, 'tx> {
    pub fn of(tx: &'c ReadTx<'tx>, words: &'c Words, owner: UserId) -> Self {
        Self { tx, words, owner, skus: HashMap::new(), units: HashMap::new() }
    }

    /// Reads the SKUs of things together.
    pub fn learn(&mut self, keys: &[SoldKey]) -> Result<()> {
        let worded = self.words.sold.of(self.tx, self.owner, keys)?;
        for (place, key) in keys.iter().enumerate() {
            self.skus.insert(*key, worded.at(place).sku.to_owned());
        }
        Ok(())
    }

    /// The cost of one unit of a thing.
    pub fn unit(&mut self, key: SoldKey) -> Result<Option<Unit>> {
        if !self.skus.contains_key(&key) {
            self.learn(&[key])?;
        }
        let sku = self.skus.get(&key).cloned().unwrap_or_default();
        let thing = (key.0, sku);
        if let Some(known) = self.units.get(&thing) {
            return Ok(*known);
        }
        let found = unit(self.tx, self.owner, thing.0, &thing.1)?;
        Ok(*self.units.entry(thing).or_insert(found))
    }

    /// The cost of some lines; `None` while that of one is not known.
    pub fn of_lines(&mut self, lines: &[StoredLine]) -> Result<Option<Cents>> {
        let mut sum = Cents(0);
        for line in lines {
            let Some(unit) = self.unit(line.key())? else { return Ok(None) };
            sum.0 = sum.0.saturating_add(unit.cents.0.saturating_mul(line.units));
        }
        Ok(Some(sum))
    }
}

/// Sets what a unit costs: at the product with the SKU, or else at the listing.
pub fn set(tx: &WriteTx<'_>, owner: UserId, item: i64, sku: &str, cost: Cents) -> Result<()> {
    let of_product = tx.execute(
        "UPDATE product SET cost_cents = ?3, updated_at = ?4 WHERE owner_id = ?1 AND sku = ?2",
        (owner, sku, cost, tx.now()),
    )?;
    if of_product > 0 {
        return Ok(());
    }
    tx.run(
        "INSERT INTO listing_cost (owner_id, item_id, cost_cents, updated_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (owner_id, item_id) DO UPDATE SET cost_cents = ?3, updated_at = ?4",
        (owner, item, cost, tx.now()),
    )
}
