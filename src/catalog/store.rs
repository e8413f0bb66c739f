//! Products in the database.
//!
//! Every statement carries the owner. A person has at most
//! [`MOST`](super::MOST) products, so a search walks that person's part of
//! one index, which holds everything it looks at.

use rusqlite::{Row, ToSql, params_from_iter};

use super::{Entry, Product};
use crate::base::ids::UserId;
use crate::base::text::search_key;
use crate::db::{ReadTx, Result, WriteTx};

const COLUMNS: &str =
    "product_id, sku, ean, title, cost_cents, price_cents, stock, created_at, updated_at";
/// Words of a search that count; what follows them is ignored.
const MOST_WORDS: usize = 6;

fn read_product(row: &Row<'_>) -> rusqlite::Result<Product> {
    Ok(Product {
        id: row.get(0)?,
        entry: Entry {
            sku: row.get(1)?,
            ean: row.get(2)?,
            title: row.get(3)?,
            cost: row.get(4)?,
            price: row.get(5)?,
        },
        stock: row.get(6)?,
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
    })
}

/// What a list of products is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Title,
    Sku,
    Stock,
    Change,
}

impl Order {
    const fn column(self) -> &'static str {
        match self {
            Self::Title => "search_key",
            Self::Sku => "sku",
            Self::Stock => "stock",
            Self::Change => "updated_at",
        }
    }
}

/// Which products, in which order.
#[derive(Clone, Debug)]
pub struct Wanted<'w> {
    pub owner: UserId,
    /// As typed.
    pub search: &'w str,
    /// Those in stock, or those that are not.
    pub in_stock: Option<bool>,
    pub order: Order,
    pub descending: bool,
}

impl Wanted<'_> {
    /// The condition and the values it is about.
    fn condition(&self) -> (String, Vec<Box<dyn ToSql>>) {
        let mut sql = "owner_id = ?".to_owned();
        let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(self.owner)];
        match self.in_stock {
            Some(true) => sql.push_str(" AND stock > 0"),
            Some(false) => sql.push_str(" AND stock <= 0"),
            None => {}
        }
        for word in search_key(self.search).split_whitespace().take(MOST_WORDS) {
            sql.push_str(" AND instr(search_key, ?) > 0");
            values.push(Box::new(word.to_owned()));
        }
        (sql, values)
    }

    fn sorted(&self) -> String {
        let (column, down) = (self.order.column(), if self.descending { " DESC" } else { "" });
        format!("ORDER BY {column}{down}, product_id{down}")
    }
}

/// Numbers of all products, in their order.
pub fn ids(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<Vec<i64>> {
    let (condition, values) = wanted.condition();
    let sql = format!("SELECT product_id FROM product WHERE {condition} {}", wanted.sorted());
    tx.values(&sql, params_from_iter(values.iter()))
}

/// One page of products, with the number of all.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &Wanted<'_>,
    limit: u32,
    offset: u32,
) -> Result<(Vec<Product>, u64)> {
    let (condition, mut values) = wanted.condition();
    let total: i64 = tx.value(
        &format!("SELECT count(*) FROM product WHERE {condition}"),
        params_from_iter(values.iter()),
    )?;
    values.push(Box::new(limit));
    values.push(Box::new(offset));
    let products = tx.all(
        &format!(
            "SELECT {COLUMNS} FROM product WHERE {condition} {} LIMIT ? OFFSET ?",
            wanted.sorted()
        ),
        params_from_iter(values.iter()),
        read_product,
    )?;
    Ok((products, u64::try_from(total).unwrap_or(0)))
}

/// One product of a person.
pub fn product(tx: &ReadTx<'_>, owner: UserId, id: i64) -> Result<Option<Product>> {
    tx.optional(
        &format!("SELECT {COLUMNS} FROM product WHERE product_id = ?2 AND owner_id = ?1"),
        (owner, id),
        read_product,
    )
}

/// The product of a person with this SKU.
pub fn by_sku(tx: &ReadTx<'_>, owner: UserId, sku: &str) -> Result<Option<Product>> {
    tx.optional(
        &format!("SELECT {COLUMNS} FROM product WHERE owner_id = ?1 AND sku = ?2"),
        (owner, sku),
        read_product,
    )
}

/// How many products a person has.
pub fn count(tx: &ReadTx<'_>, owner: UserId) -> Result<usize> {
    let products: u32 = tx.value("SELECT count(*) FROM product WHERE owner_id = ?1", [owner])?;
    Ok(products as usize)
}

/// Makes a product with nothing in stock.
pub fn insert(tx: &WriteTx<'_>, owner: UserId, entry: &Entry) -> Result<i64> {
    tx.insert(
        "INSERT INTO product
             (owner_id, sku, ean, title, cost_cents, price_cents, stock, created_at, updated_at, search_key)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?7, ?8)",
        (
            owner,
            &entry.sku,
            &entry.ean,
            &entry.title,
            entry.cost.0,
            entry.price.0,
            tx.now().0,
            entry.search_key(),
        ),
    )
}

/// Changes a product; its stock stays.
pub fn update(tx: &WriteTx<'_>, owner: UserId, id: i64, entry: &Entry) -> Result<()> {
    tx.execute(
        "UPDATE product
         SET sku = ?3, ean = ?4, title = ?5, cost_cents = ?6, price_cents = ?7, updated_at = ?8, search_key = ?9
         WHERE product_id = ?2 AND owner_id = ?1",
        (
            owner,
            id,
            &entry.sku,
            &entry.ean,
            &entry.title,
            entry.cost.0,
            entry.price.0,
            tx.now().0,
            entry.search_key(),
        ),
    )?;
    Ok(())
}

/// Removes a product with its movements.
pub fn delete(tx: &WriteTx<'_>, owner: UserId, id: i64) -> Result<()> {
    tx.execute("DELETE FROM product WHERE product_id = ?2 AND owner_id = ?1", (owner, id))?;
    Ok(())
}

/// Removes products of a person with their movements, at most so many; gives
/// back how many. Nothing is left when that is none.
pub fn forget(tx: &WriteTx<'_>, owner: UserId, most: usize) -> Result<usize> {
    let most = i64::try_from(most).unwrap_or(1);
    tx.execute(
        "DELETE FROM product WHERE product_id IN (
             SELECT product_id FROM product WHERE owner_id = ?1 LIMIT ?2)",
        (owner, most),
    )
}
