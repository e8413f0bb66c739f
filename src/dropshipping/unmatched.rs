//! Listings of related sellers without a matching product of the supplier: they
//! have no link, and neither their SKU nor their EAN is one of a product.

use super::suggest::{Candidate, Reason as Likeness, Suggester};
use super::{RELATED, relations};
use crate::base::{Cents, UserId};
use crate::db::{Filters, ReadTx, Result, RowWindow, WriteTx};
use crate::named;
use crate::row;

named! {
    /// Why no product was found.
    pub enum Reason: text {
        NoSku = "no_sku", "Sem SKU e sem EAN";
        SkuUnknown = "sku_unknown", "SKU que não está nos seus produtos";
        EanUnknown = "ean_unknown", "EAN que não está nos seus produtos";
    }
}

row! {
    /// A listing for which no product was found.
    #[derive(Clone, Debug)]
    pub struct Unmatched {
        pub seller_id: UserId = "i.owner_id",
        pub seller: String = "u.name",
        /// Such as `MLB123`.
        pub ml_id: String = "i.site || i.item_id",
        pub title: String = "i.title",
        /// Empty without one.
        pub sku: String = "i.sku",
        pub ean: String = "i.ean",
    }
}

impl Unmatched {
    /// Why no product was found.
    pub const fn reason(&self) -> Reason {
        match (self.sku.is_empty(), self.ean.is_empty()) {
            (true, true) => Reason::NoSku,
            (false, _) => Reason::SkuUnknown,
            (true, false) => Reason::EanUnknown,
        }
    }

    /// Its SKU and EAN; empty without any.
    pub fn codes(&self) -> String {
        match (&*self.sku, &*self.ean) {
            ("", "") => String::new(),
            (sku, "") => format!("SKU\u{a0}{sku}"),
            ("", ean) => format!("EAN\u{a0}{ean}"),
            (sku, ean) => format!("SKU\u{a0}{sku} · EAN\u{a0}{ean}"),
        }
    }
}

/// Listings that are for sale or could be again.
const ON_SALE: &str = "i.status IN (SELECT word_id FROM word WHERE text IN ('active', 'paused'))";
const NOT_LINKED: &str = "NOT EXISTS (SELECT 1 FROM drop_link l WHERE l.seller_id = i.owner_id AND l.item_id = i.item_id)";
const SKU_UNKNOWN: &str = "(i.sku = '' OR NOT EXISTS (
    SELECT 1 FROM product p WHERE p.owner_id = :supplier AND p.sku = i.sku))";
const EAN_UNKNOWN: &str = "(i.ean = '' OR NOT EXISTS (
    SELECT 1 FROM product p WHERE p.owner_id = :supplier AND p.ean = i.ean AND p.ean <> ''))";

const FOREIGN: &str = "EXISTS (SELECT 1 FROM drop_foreign f
    WHERE f.supplier_id = :supplier AND f.seller_id = i.owner_id AND f.item_id = i.item_id)";

/// A filter for these listings.
#[derive(Clone, Debug)]
pub struct UnmatchedQuery {
    pub supplier: UserId,
    pub seller: Option<UserId>,
    pub reason: Option<Reason>,
    /// Only those of which the supplier said that they sell nothing of theirs, or only
    /// the others; all when none is asked for.
    pub foreign: Option<bool>,
}

impl UnmatchedQuery {
    fn filters(&self) -> Filters<'_> {
        let related = RELATED.replace("seller_id IN", "i.owner_id IN");
        let mut filters = Filters::new(&related, &[(":supplier", &self.supplier)]);
        filters.and_if("i.owner_id = :seller", ":seller", &self.seller);
        for condition in [ON_SALE, NOT_LINKED, SKU_UNKNOWN, EAN_UNKNOWN] {
            filters.and(condition, &[]);
        }
        match self.foreign {
            None => {}
            Some(true) => filters.and(FOREIGN, &[]),
            Some(false) => filters.and(&format!("NOT {FOREIGN}"), &[]),
        }
        match self.reason {
            None => {}
            Some(Reason::NoSku) => filters.and("i.sku = '' AND i.ean = ''", &[]),
            Some(Reason::SkuUnknown) => filters.and("i.sku <> ''", &[]),
            Some(Reason::EanUnknown) => filters.and("i.sku = '' AND i.ean <> ''", &[]),
        }
        filters
    }
}

/// One page of such listings, by seller and listing, with the number of all.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &UnmatchedQuery,
    window: RowWindow,
) -> Result<(Vec<Unmatched>, u64)> {
    let joins = "JOIN user u ON u.user_id = i.owner_id";
    wanted.filters().page(tx, "listing AS i", joins, "i.owner_id, i.item_id", window)
}

/// Seller and listing number of all such listings, in their order.
pub fn keys(tx: &ReadTx<'_>, wanted: &UnmatchedQuery) -> Result<Vec<(i64, i64)>> {
    let filters = wanted.filters();
    let sql = format!(
        "SELECT i.owner_id, i.item_id FROM listing AS i WHERE {} ORDER BY i.owner_id, i.item_id",
        filters.sql()
    );
    tx.tuples(&sql, filters.values())
}

/// One listing, if it has no product.
pub fn one(
    tx: &ReadTx<'_>,
    wanted: &UnmatchedQuery,
    seller: i64,
    item: i64,
) -> Result<Option<Unmatched>> {
    let mut filters = wanted.filters();
    filters
        .and("i.owner_id = :owner AND i.item_id = :item", &[(":owner", &seller), (":item", &item)]);
    let rest =
        format!("FROM listing AS i JOIN user u ON u.user_id = i.owner_id WHERE {}", filters.sql());
    tx.record(&rest, filters.values())
}

/// Most listings that [`found`] looks at.
const LOOKED_AT: i64 = 5_000;
/// Most products that listings are compared with, those that changed last.
const COMPARED: i64 = 5_000;

/// Listings without a product, as far as they were looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub listings: u64,
    /// Whether all listings of all sellers were looked at.
    pub is_all: bool,
}

/// How many listings wait for their product: the rows of the list, as it stands
/// without a filter.
pub fn found(tx: &ReadTx<'_>, supplier: UserId) -> Result<Found> {
    let wanted = UnmatchedQuery { supplier, seller: None, reason: None, foreign: Some(false) };
    let filters = wanted.filters();
    let related = RELATED.replace("seller_id IN", "owner_id IN");
    let some = format!(
        "SELECT owner_id, item_id, status, sku, ean FROM listing WHERE {related} LIMIT {LOOKED_AT}"
    );
    let sql =
        format!("SELECT count(*) FILTER (WHERE {}), count(*) FROM ({some}) AS i", filters.sql());
    let (listings, looked_at): (i64, i64) = tx.tuple(&sql, filters.values())?.unwrap_or_default();
    Ok(Found { listings: listings.unsigned_abs(), is_all: looked_at < LOOKED_AT })
}

/// A product that a listing likely sells.
#[derive(Clone, Debug)]
pub struct Suggested {
    pub sku: String,
    pub title: String,
    pub price: Cents,
    pub reason: Likeness,
}

/// For each of some listings the product that it likely sells.
pub fn suggested(
    tx: &ReadTx<'_>,
    supplier: UserId,
    rows: &[Unmatched],
) -> Result<Vec<Option<Suggested>>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let products: Vec<(i64, String, String, String, Cents)> = tx.tuples(
        "SELECT product_id, sku, ean, title, price_cents FROM product WHERE owner_id = ?1
         ORDER BY updated_at DESC, product_id DESC LIMIT ?2",
        (supplier, COMPARED),
    )?;
    let candidate = |(_, sku, ean, title, _): &(i64, String, String, String, Cents)| Candidate {
        sku: sku.clone(),
        ean: ean.clone(),
        title: title.clone(),
    };
    let suggester = Suggester::new(&products.iter().map(candidate).collect::<Vec<_>>());
    let of = |row: &Unmatched| {
        let best = suggester.best(&row.title, &row.sku, &row.ean)?;
        let (_, sku, _, title, price) = products.get(best.place)?;
        Some(Suggested {
            sku: sku.clone(),
            title: title.clone(),
            price: *price,
            reason: best.reason,
        })
    };
    Ok(rows.iter().map(of).collect())
}

/// Notes that a listing of a related seller sells nothing of the supplier's; false when
/// there is no such listing.
pub fn put_aside(tx: &WriteTx<'_>, supplier: UserId, seller: UserId, item: i64) -> Result<bool> {
    let is_there: bool = tx.value(
        "SELECT EXISTS (SELECT 1 FROM listing WHERE owner_id = ?1 AND item_id = ?2)",
        (seller, item),
    )?;
    if !is_there || !relations::is_active(tx, supplier, seller)? {
        return Ok(false);
    }
    tx.run(
        "INSERT INTO drop_foreign (supplier_id, seller_id, item_id, noted_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO NOTHING",
        (supplier, seller, item, tx.now()),
    )?;
    Ok(true)
}

/// Takes that back; false when it was not noted.
pub fn take_up(tx: &WriteTx<'_>, supplier: UserId, seller: UserId, item: i64) -> Result<bool> {
    let changed = tx.execute(
        "DELETE FROM drop_foreign WHERE supplier_id = ?1 AND seller_id = ?2 AND item_id = ?3",
        (supplier, seller, item),
    )?;
    Ok(changed > 0)
}
