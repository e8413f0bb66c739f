//! Products in the database.
//!
//! Every statement filters by owner. A person has at most [`MAX_PRODUCTS`](super::MAX_PRODUCTS)
//! products, so a search scans that person's part of one index, which contains
//! every column the search needs.

use super::{Product, ProductEntry};
use crate::base::{Cents, UserId, search_key};
use crate::db::{Filters, Page, ReadTx, Record as _, Result, RowWindow, WriteTx, sorted};
use crate::named;

/// Parameters for the words of a search; further words are ignored.
const WORDS: [&str; 6] = [":word1", ":word2", ":word3", ":word4", ":word5", ":word6"];

/// How a request names a product of an owner.
#[derive(Clone, Debug)]
pub enum ByProduct {
    Id(i64),
    Sku(String),
}

impl ByProduct {
    /// The product of that name, if the owner has it.
    pub fn find(&self, tx: &ReadTx<'_>, owner: UserId) -> Result<Option<Product>> {
        match self {
            Self::Id(id) => product(tx, owner, *id),
            Self::Sku(sku) => by_sku(tx, owner, sku),
        }
    }
}

named! {
    /// How much of a product is in stock, as the list's filter.
    pub enum StockLevel: text {
        Low = "baixo", "Estoque baixo";
        Stocked = "com", "Com estoque";
        Empty = "sem", "Sem estoque";
    }
}

impl StockLevel {
    const fn condition(self) -> &'static str {
        match self {
            Self::Low => "stock <= low_stock",
            Self::Stocked => "stock > 0",
            Self::Empty => "stock <= 0",
        }
    }
}

/// What products of a list add up to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worth {
    pub products: i64,
    /// Their stock at cost.
    pub value: Cents,
    /// Those in stock whose cost is not known.
    pub uncosted: i64,
}

impl Worth {
    fn add(&mut self, part: Self) {
        self.products += part.products;
        self.value = Cents(self.value.0.saturating_add(part.value.0));
        self.uncosted += part.uncosted;
    }
}

/// The sums of a list for each value of its filter by stock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Worths {
    all: Worth,
    levels: [Worth; StockLevel::ALL.len()],
}

impl Worths {
    /// Of a level of stock, or of all.
    pub fn of(&self, level: Option<StockLevel>) -> Worth {
        level.map_or(self.all, |level| self.levels[level as usize])
    }
}

/// Which products, in which order.
#[derive(Clone, Debug)]
pub struct ProductQuery<'w> {
    pub owner: UserId,
    /// As typed.
    pub search: &'w str,
    /// Only the product with this SKU.
    pub sku: Option<&'w str>,
    /// Only products with so much in stock.
    pub level: Option<StockLevel>,
    /// The order, by its name in the list's query.
    pub order: &'static str,
    pub descending: bool,
    /// In the order of SKUs: only those after this SKU and number. They are not counted.
    pub after: Option<(&'w str, i64)>,
}

impl ProductQuery<'_> {
    fn words(&self) -> Vec<String> {
        search_key(self.search).split_whitespace().map(str::to_owned).collect()
    }

    fn filters<'f>(&'f self, words: &'f [String]) -> Filters<'f> {
        let mut filters = Filters::new("owner_id = :owner", &[(":owner", &self.owner)]);
        filters.and_if("sku = :sku", ":sku", &self.sku);
        if let Some(level) = self.level {
            filters.and(level.condition(), &[]);
        }
        if let Some((sku, id)) = &self.after {
            filters
                .and("(sku, product_id) > (:after, :number)", &[(":after", sku), (":number", id)]);
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
    window: RowWindow,
) -> Result<(Vec<Product>, u64)> {
    let words = wanted.words();
    let (filters, order) = (wanted.filters(&words), wanted.sorted());
    if wanted.after.is_some() {
        let page = Page { table: "product", order: &order, window };
        return Ok((filters.rows(tx, &page, Product::COLUMNS, Product::read)?, 0));
    }
    filters.page(tx, ("product", ""), &order, window)
}

/// What the products of a list add up to, for each value of its filter by stock.
pub fn worths(tx: &ReadTx<'_>, wanted: &ProductQuery<'_>) -> Result<Worths> {
    let wanted = ProductQuery { level: None, ..wanted.clone() };
    let words = wanted.words();
    let filters = wanted.filters(&words);
    // The sum is a float, because that of whole numbers fails when it is too large.
    let sql = format!(
        "SELECT stock > 0, coalesce(stock <= low_stock, 0), count(*),
                CAST(min(total(max(stock, 0) * cost_cents), 9e18) AS INTEGER),
                sum(stock > 0 AND cost_cents = 0)
         FROM product WHERE {} GROUP BY 1, 2",
        filters.sql()
    );
    let mut worths = Worths::default();
    let parts = tx.all(&sql, filters.values(), |row| {
        let part = Worth { products: row.get(2)?, value: row.get(3)?, uncosted: row.get(4)? };
        Ok((row.get(0)?, row.get(1)?, part))
    })?;
    for (has_stock, is_low, part) in parts {
        worths.all.add(part);
        let level = if has_stock { StockLevel::Stocked } else { StockLevel::Empty };
        worths.levels[level as usize].add(part);
        if is_low {
            worths.levels[StockLevel::Low as usize].add(part);
        }
    }
    Ok(worths)
}

/// Some products that a search finds, in the order of their titles.
pub fn found(tx: &ReadTx<'_>, owner: UserId, search: &str, most: u32) -> Result<Vec<Product>> {
    let wanted = ProductQuery {
        owner,
        search,
        sku: None,
        level: None,
        order: "titulo",
        descending: false,
        after: None,
    };
    let words = wanted.words();
    let mut filters = wanted.filters(&words);
    let sql =
        format!("FROM product WHERE {} ORDER BY search_key, product_id LIMIT :most", filters.sql());
    filters.bind(&[(":most", &most)]);
    tx.records(&sql, filters.values())
}

/// Titles of the products that changed last.
pub fn newest(tx: &ReadTx<'_>, owner: UserId, most: u32) -> Result<Vec<String>> {
    tx.values(
        "SELECT title FROM product WHERE owner_id = ?1
         ORDER BY updated_at DESC, product_id DESC LIMIT ?2",
        (owner, most),
    )
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
