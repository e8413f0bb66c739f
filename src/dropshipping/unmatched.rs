//! Listings of related sellers without a matching product of the supplier: they
//! have no link, and neither their SKU nor their EAN is one of a product.

use super::RELATED;
use crate::base::UserId;
use crate::db::{Filters, ReadTx, Result};
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
            (sku, "") => format!("SKU {sku}"),
            ("", ean) => format!("EAN {ean}"),
            (sku, ean) => format!("SKU {sku} · EAN {ean}"),
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

/// A filter for these listings.
#[derive(Clone, Debug)]
pub struct UnmatchedQuery {
    pub supplier: UserId,
    pub seller: Option<UserId>,
    pub reason: Option<Reason>,
}

impl UnmatchedQuery {
    fn filters(&self) -> Filters<'_> {
        let related = RELATED.replace("seller_id IN", "i.owner_id IN");
        let mut filters = Filters::new(&related, &[(":supplier", &self.supplier)]);
        filters.and_if("i.owner_id = :seller", ":seller", &self.seller);
        for condition in [ON_SALE, NOT_LINKED, SKU_UNKNOWN, EAN_UNKNOWN] {
            filters.and(condition, &[]);
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
    window: (u32, u32),
) -> Result<(Vec<Unmatched>, u64)> {
    let tables = ("listing AS i", "JOIN user u ON u.user_id = i.owner_id");
    wanted.filters().page(tx, tables, "i.owner_id, i.item_id", window)
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
    (seller, item): (i64, i64),
) -> Result<Option<Unmatched>> {
    let mut filters = wanted.filters();
    filters
        .and("i.owner_id = :owner AND i.item_id = :item", &[(":owner", &seller), (":item", &item)]);
    let rest =
        format!("FROM listing AS i JOIN user u ON u.user_id = i.owner_id WHERE {}", filters.sql());
    tx.record(&rest, filters.values())
}
