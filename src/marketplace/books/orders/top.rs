//! What sold most: the sums of `sums.rs` by product, that is by SKU, or by listing where
//! there is no SKU.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::cost;
use super::freight::shares;
use super::lines::{StoredLine, of_basket};
use super::list::Filter;
use super::sold::SoldKey;
use super::sums::{Sold, Sum, basket_of, sold_by_key};
use crate::base::{Cents, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::words::Words;
use crate::named;

named! {
    /// What makes a product come first.
    pub enum Rank: text {
        Revenue = "revenue";
        Units = "units";
        Margin = "margin";
    }
}

/// A product with what its sales come to.
#[derive(Clone, Debug, Default)]
pub struct ProductSum {
    /// Empty for a listing without one.
    pub sku: String,
    /// Title and listing id of what sold most of it.
    pub title: String,
    pub ml_id: String,
    /// Listings that sold it.
    pub listings: u64,
    pub units: i64,
    pub sum: Sum,
    /// The listing that was counted last, and the largest sum of one.
    last: i64,
    most: i64,
}

impl ProductSum {
    /// What it is sorted by: a margin that is not known comes last.
    fn place(&self, by: Rank) -> i64 {
        match by {
            Rank::Revenue => self.sum.gross.0,
            Rank::Units => self.units,
            Rank::Margin if self.sum.known == 0 => i64::MIN,
            Rank::Margin => self.sum.left.0,
        }
    }
}

/// The products of a filter that come first, at most `most`, and how many were sold.
pub fn products(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    filter: &Filter,
    tax: f64,
    by: Rank,
    most: usize,
) -> Result<(Vec<ProductSum>, u64)> {
    let sold = by_thing(tx, words, owner, sold_by_key(tx, words, owner, filter)?, filter)?;
    let mut keys: Vec<SoldKey> = sold.keys().copied().collect();
    keys.sort_unstable();
    let worded = words.sold.of(tx, owner, &keys)?;
    let mut found: HashMap<(&str, i64), ProductSum> = HashMap::new();
    for (place, key) in keys.iter().enumerate() {
        let (one, wording) = (sold.get(key).copied().unwrap_or_default(), worded.at(place));
        let unit = cost::unit(tx, owner, key.0, wording.sku)?;
        let product = found.entry(product_of(wording.sku, key.0)).or_default();
        let cost = unit.map(|unit| Cents(unit.cents.0.saturating_mul(one.units)));
        product.sum.add(one, cost, tax);
        product.units += one.things;
        // Keys come in the order of their listings.
        if product.listings == 0 || product.last != key.0 {
            product.listings += 1;
            product.last = key.0;
        }
        if product.title.is_empty() || one.gross >= product.most {
            product.most = one.gross;
            wording.sku.clone_into(&mut product.sku);
            wording.title.clone_into(&mut product.title);
            wording.ml_id.clone_into(&mut product.ml_id);
        }
    }
    let total = found.len() as u64;
    let mut found: Vec<ProductSum> = found.into_values().collect();
    found.sort_by(|a, b| {
        let key = |one: &ProductSum| Reverse((one.place(by), one.sum.gross.0));
        key(a).cmp(&key(b)).then_with(|| (&a.sku, &a.ml_id).cmp(&(&b.sku, &b.ml_id)))
    });
    found.truncate(most);
    Ok((found, total))
}

/// What things of a SKU are one product by: it, else their listing.
const fn product_of(sku: &str, listing: i64) -> (&str, i64) {
    (sku, if sku.is_empty() { listing } else { 0 })
}

/// Sums by thing: those of baskets are shared by their lines, by the value of each.
fn by_thing(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    sold: HashMap<SoldKey, Sold>,
    filter: &Filter,
) -> Result<HashMap<SoldKey, Sold>> {
    let (baskets, mut things): (HashMap<SoldKey, Sold>, HashMap<SoldKey, Sold>) =
        sold.into_iter().partition(|(key, _)| basket_of(*key).is_some());
    for (key, whole) in baskets {
        let lines = of_basket(tx, basket_of(key).unwrap_or_default())?;
        let values: Vec<i64> =
            lines.iter().map(|line| line.unit.0.saturating_mul(line.units)).collect();
        let parts =
            [whole.gross, whole.value, whole.charged].map(|sum| shares(Cents(sum), &values));
        let keys: Vec<SoldKey> = lines.iter().map(StoredLine::key).collect();
        let worded = words.sold.of(tx, owner, &keys)?;
        let mut seen: Vec<(&str, i64)> = Vec::new();
        for (place, line) in lines.iter().enumerate() {
            if filter.items.as_ref().is_some_and(|items| !items.contains(&line.item_id)) {
                continue;
            }
            // Two lines of one product are one order of it.
            let product = product_of(worded.at(place).sku, line.item_id);
            let is_first = !seen.contains(&product);
            seen.push(product);
            let times = |sum: i64| if is_first { sum } else { 0 };
            let [gross, value, charged] = [0, 1, 2].map(|part: usize| parts[part][place].0);
            things.entry(line.key()).or_default().add(Sold {
                orders: times(whole.orders),
                gross,
                things: whole.orders.saturating_mul(line.units),
                told: times(whole.told),
                units: whole.told.saturating_mul(line.units),
                value,
                charged,
            });
        }
    }
    Ok(things)
}
