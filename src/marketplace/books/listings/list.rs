//! Pages of a seller's listings.

use rusqlite::{Row, ToSql};

use crate::base::clock::Instant;
use crate::base::ids::{MlUserId, UserId};
use crate::base::money::Cents;
use crate::base::text::{like_beginning, search_key};
use crate::db::{ReadTx, Result};

/// A listing as lists show it.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Such as `MLB123`.
    pub id: String,
    pub ml_user_id: MlUserId,
    pub title: String,
    /// As the marketplace calls it.
    pub status: String,
    /// Why, in the marketplace's words with blanks between; may be empty.
    pub sub_status: String,
    pub price: Cents,
    pub currency: String,
    pub available: i64,
    pub sold: i64,
    /// Such as `gold_special`.
    pub kind: String,
    pub sku: String,
    pub ean: String,
    /// Its page; may be empty.
    pub permalink: String,
    /// Address of its small picture; may be empty.
    pub thumbnail: String,
    pub updated_at: Instant,
    /// Such as `MLB31447`; may be empty.
    pub category: String,
    /// Kind of shipping, such as `drop_off`.
    pub logistic: Option<String>,
}

/// What a list shows.
pub struct Wanted<'q> {
    pub owner: UserId,
    pub store: Option<MlUserId>,
    /// Number of the word of a state.
    pub status: Option<i64>,
    /// Words of a title, or the beginning of an SKU or a listing's number;
    /// empty for all.
    pub search: &'q str,
    pub order: Order,
    pub descending: bool,
    pub limit: u32,
    pub offset: u32,
}

/// By what a list is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Changed,
    Title,
    Price,
    Available,
    Sold,
}

impl Order {
    /// The order of a word in the address.
    pub fn of_word(word: &str) -> Self {
        match word {
            "titulo" => Self::Title,
            "preco" => Self::Price,
            "disponivel" => Self::Available,
            "vendidos" => Self::Sold,
            _ => Self::Changed,
        }
    }

    const fn column(self) -> &'static str {
        match self {
            Self::Changed => "l.updated_at",
            Self::Title => "l.title COLLATE NOCASE",
            Self::Price => "l.price_cents",
            Self::Available => "l.available",
            Self::Sold => "l.sold",
        }
    }
}

const COLUMNS: &str =
    "l.site || l.item_id, l.ml_user_id, l.title, w.text, l.sub_status, l.price_cents,
    c.text, l.available, l.sold, t.text, l.sku, l.ean, l.permalink, l.thumbnail, l.updated_at,
    l.category, g.text";

const WORDS: &str = "JOIN word w ON w.word_id = l.status
    JOIN word c ON c.word_id = l.currency
    JOIN word t ON t.word_id = l.listing_type
    LEFT JOIN word g ON g.word_id = l.logistic_type";

fn read(row: &Row<'_>) -> rusqlite::Result<Listing> {
    Ok(Listing {
        id: row.get(0)?,
        ml_user_id: row.get(1)?,
        title: row.get(2)?,
        status: row.get(3)?,
        sub_status: row.get(4)?,
        price: row.get(5)?,
        currency: row.get(6)?,
        available: row.get(7)?,
        sold: row.get(8)?,
        kind: row.get(9)?,
        sku: row.get(10)?,
        ean: row.get(11)?,
        permalink: row.get(12)?,
        thumbnail: row.get(13)?,
        updated_at: row.get(14)?,
        category: row.get(15)?,
        logistic: row.get(16)?,
    })
}

/// One page of an owner's listings with the number of all that match. A
/// search and an order other than by change walk over the owner's listings.
pub fn page(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<(Vec<Listing>, u64)> {
    select(tx, wanted, COLUMNS, read)
}

/// Numbers of the listings that match, in the order of [`page`].
pub fn ids(tx: &ReadTx<'_>, wanted: &Wanted<'_>) -> Result<Vec<i64>> {
    select(tx, wanted, "l.item_id", |row| row.get(0)).map(|(ids, _)| ids)
}

/// One listing of an owner, by its number.
pub fn listing(tx: &ReadTx<'_>, owner: UserId, id: i64) -> Result<Option<Listing>> {
    tx.optional(
        &format!(
            "SELECT {COLUMNS} FROM listing l {WORDS} WHERE l.owner_id = ?1 AND l.item_id = ?2"
        ),
        (owner, id),
        read,
    )
}

fn select<T>(
    tx: &ReadTx<'_>,
    wanted: &Wanted<'_>,
    columns: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<(Vec<T>, u64)> {
    let (key, beginning) = (search_key(wanted.search), like_beginning(wanted.search));
    let mut values: Vec<(&str, &dyn ToSql)> = vec![(":owner", &wanted.owner)];
    let mut filters = String::new();
    if let Some(store) = &wanted.store {
        filters.push_str(" AND l.ml_user_id = :store");
        values.push((":store", store));
    }
    if let Some(status) = &wanted.status {
        filters.push_str(" AND l.status = :status");
        values.push((":status", status));
    }
    let total: i64 = if wanted.search.is_empty() {
        let sums = filters.replace(" l.", " ");
        tx.value(
            &format!(
                "SELECT coalesce(sum(listings), 0) FROM listing_count WHERE owner_id = :owner{sums}"
            ),
            &values[..],
        )?
    } else {
        filters.push_str(
            " AND (holds(l.title, :key) OR l.sku LIKE :from ESCAPE '\\' OR l.site || l.item_id LIKE :from ESCAPE '\\')",
        );
        values.push((":key", &key));
        values.push((":from", &beginning));
        let count = format!("SELECT count(*) FROM listing l WHERE l.owner_id = :owner{filters}");
        tx.value(&count, &values[..])?
    };
    let direction = if wanted.descending { "DESC" } else { "ASC" };
    values.push((":limit", &wanted.limit));
    values.push((":offset", &wanted.offset));
    // Words are looked up for the rows of the page only.
    let listings = tx.all(
        &format!(
            "SELECT {columns} FROM (
                 SELECT l.* FROM listing l WHERE l.owner_id = :owner{filters}
                 ORDER BY {column} {direction}, l.item_id {direction} LIMIT :limit OFFSET :offset) l
             {WORDS}
             ORDER BY {column} {direction}, l.item_id {direction}",
            column = wanted.order.column(),
        ),
        &values[..],
        read,
    )?;
    Ok((listings, u64::try_from(total).unwrap_or(0)))
}
