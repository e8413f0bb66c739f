//! Products in the database.
//!
//! Every statement filters by owner. A person has at most [`MAX_PRODUCTS`](super::MAX_PRODUCTS)
//! products, so a search scans that person's part of one index, which contains
//! every column the search needs.

use super::{Product, ProductEntry};
use crate::base::UserId;
use crate::base::text::search_key;
use crate::db::{Filters, ReadTx, Result, WriteTx, sorted};

/// Parameters for the words of a search; further words are ignored.
const WORDS: [&str; 6] = [":word1", ":word2", ":word3", ":word4", ":word5", ":word6"];

/// Which products, in which order.
#[derive(Clone, Debug)]
pub struct ProductQuery<'w> {
    pub owner: UserId,
    /// As typed.
    pub search: &'w str,
    /// Only the product with this SKU.
    pub sku: Option<&'w str>,
    /// Only products in stock, or only those out of stock.
    pub in_stock: Option<bool>,
    /// The order, by its name in the list's query.
    pub order: &'static str,
    pub descending: bool,
}

impl ProductQuery<'_> {
    fn words(&self) -> Vec<String> {
        search_key(self.search).split_whitespace().map(str::to_owned).collect()
    }

    fn filters<'f>(&'f self, words: &'f [String]) -> Filters<'f> {
        let mut filters = Filters::new("owner_id = :owner", &[(":owner", &self.owner)]);
        filters.and_if("sku = :sku", ":sku", &self.sku);
        match self.in_stock {
            Some(true) => filters.and("stock > 0", &[]),
            Some(false) => filters.and("stock <= 0", &[]),
            None => {}
        }
        for (name, word) in WORDS.into_iter().zip(words) {
            filters.and(&format!("instr(search_key, {name}) > 0"), &[(name, word)]);
        }
        filters
    }

    fn sorted(&self) -> String {
        let column = match self.order {
            "sku" => "sku",
            "estoque" => "stock",
            "alteracao" => "updated_at",
            _ => "search_key",
        };
        sorted(&format!("{column}, product_id"), self.descending).into_owned()
    }
}

/// Ids of all products that match, in order.
pub fn ids(tx: &ReadTx<'_>, wanted: &ProductQuery<'_>) -> Result<Vec<i64>> {
    let words = wanted.words();
    let filters = wanted.filters(&words);
    let (matching, order) = (filters.sql(), wanted.sorted());
    let sql = format!("SELECT product_id FROM product WHERE {matching} ORDER BY {order}");
    tx.values(&sql, filters.values())
}

/// One page of products, with the number of all that match.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &ProductQuery<'_>,
    window: (u32, u32),
) -> Result<(Vec<Product>, u64)> {
    wanted.filters(&wanted.words()).page(tx, ("product", ""), &wanted.sorted(), window)
}

/// One product of a person.
pub fn product(tx: &ReadTx<'_>, owner: UserId, id: i64) -> Result<Option<Product>> {
    tx.record("FROM product WHERE product_id = ?2 AND owner_id = ?1", (owner, id))
}

/// The product of a person with this SKU.
pub fn by_sku(tx: &ReadTx<'_>, owner: UserId, sku: &str) -> Result<Option<Product>> {
    tx.record("FROM product WHERE owner_id = ?1 AND sku = ?2", (owner, sku))
}

/// How many products a person has, with those that an import under way is still
/// to make.
pub fn count(tx: &ReadTx<'_>, owner: UserId) -> Result<usize> {
    let products: u32 = tx.value(
        "SELECT (SELECT count(*) FROM product WHERE owner_id = ?1)
              + coalesce((SELECT max(room - created, 0) FROM product_import WHERE owner_id = ?1), 0)",
        [owner],
    )?;
    Ok(products as usize)
}

/// Makes a product with nothing in stock.
pub fn insert(tx: &WriteTx<'_>, owner: UserId, entry: &ProductEntry) -> Result<i64> {
    let (now, key) = (tx.now(), entry.search_key());
    tx.put(
        "INSERT INTO product",
        entry,
        &[
            ("owner_id", &owner),
            ("stock", &0),
            ("created_at", &now),
            ("updated_at", &now),
            ("search_key", &key),
        ],
    )
}

/// Changes a product but not its stock.
pub fn update(tx: &WriteTx<'_>, owner: UserId, id: i64, entry: &ProductEntry) -> Result<()> {
    tx.change(
        "product",
        entry,
        &[("updated_at", &tx.now()), ("search_key", &entry.search_key())],
        &[("product_id", &id), ("owner_id", &owner)],
    )?;
    Ok(())
}

/// Removes a product with its movements.
pub fn delete(tx: &WriteTx<'_>, owner: UserId, id: i64) -> Result<()> {
    tx.run("DELETE FROM product WHERE product_id = ?2 AND owner_id = ?1", (owner, id))
}

/// Removes movements and links of a person's product, at most `most` of each;
/// returns how many. A product can have any number, so they go piece by piece
/// before it does.
pub fn empty(tx: &WriteTx<'_>, owner: UserId, id: i64, most: usize) -> Result<usize> {
    let most = i64::try_from(most).unwrap_or(1);
    if product(tx, owner, id)?.is_none() {
        return Ok(0);
    }
    let links = tx.execute(
        "DELETE FROM drop_link WHERE link_id IN (
             SELECT link_id FROM drop_link WHERE product_id = ?1 LIMIT ?2)",
        (id, most),
    )?;
    // Should the rest not go, orders of before must not move its stock once more.
    tx.run("UPDATE product SET created_at = ?2 WHERE product_id = ?1", (id, tx.now()))?;
    let movements = tx.execute(
        "DELETE FROM stock_movement WHERE product_id = ?1 AND movement_id IN (
             SELECT movement_id FROM stock_movement WHERE product_id = ?1 LIMIT ?2)",
        (id, most),
    )?;
    Ok(links + movements)
}

/// Removes products of a person, with their movements, at most `most` rows of a
/// kind; returns how many. None is left when it returns 0.
pub fn forget(tx: &WriteTx<'_>, owner: UserId, most: usize) -> Result<usize> {
    let next: Option<i64> =
        tx.maybe("SELECT product_id FROM product WHERE owner_id = ?1 LIMIT 1", [owner])?;
    let Some(id) = next else { return Ok(0) };
    match empty(tx, owner, id, most)? {
        0 => delete(tx, owner, id).map(|()| 1),
        removed => Ok(removed),
    }
}
