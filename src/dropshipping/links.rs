//! Listings of sellers that sell products of suppliers.
//!
//! A listing sells one product, so it has one link at most, no matter who
//! supplies the product. Links exist only within an active relation; when the
//! relation ends, its links are removed.

use super::{RELATED, relations};
use crate::base::{Instant, UserId};
use crate::catalog::store::ByProduct;
use crate::db::{DbError, Filters, ReadTx, Result, RowWindow, WriteTx};
use crate::row;

/// Most links of a supplier at a time.
pub const MOST: u64 = 50_000;

row! {
    /// A link as lists show it.
    #[derive(Clone, Debug)]
    pub struct Link {
        pub id: i64 = "link_id",
        pub seller_id: UserId,
        /// Such as `MLB123`.
        pub ml_id: String = "site || item_id",
        pub product_id: i64,
        /// Of the product.
        pub sku: String = "(SELECT sku FROM product p WHERE p.product_id = drop_link.product_id)",
        pub created_at: Instant,
    }
}

/// A link to be made.
#[derive(Clone, Debug)]
pub struct NewLink {
    pub seller: UserId,
    /// Number of the listing id, without the site.
    pub item: i64,
    pub product: ByProduct,
}

/// Why a link cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    NoSeller,
    NoListing,
    NoProduct,
    Taken,
    Full,
}

impl LinkFault {
    /// The message for API clients.
    pub const fn said(self) -> &'static str {
        match self {
            Self::NoSeller => "no active relation with this seller",
            Self::NoListing => "the seller has no such listing",
            Self::NoProduct => "there is no such product in your catalog",
            Self::Taken => "the listing is linked to another product",
            Self::Full => "there are too many links; remove some first",
        }
    }

    /// The code of a row of a list that has the fault.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NoSeller => "seller_not_related",
            Self::NoListing => "listing_not_found",
            Self::NoProduct => "product_not_found",
            Self::Taken => "already_linked",
            Self::Full => "too_many_links",
        }
    }
}

/// Something about a link, or why it cannot be made.
pub type Checked<T> = Result<std::result::Result<T, LinkFault>>;

/// The result of making a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    Created(i64),
    Unchanged(i64),
}

/// What making a link would do.
pub enum LinkPlan {
    /// A new link, of a listing of this site to this product.
    New { site: String, product: i64 },
    /// Nothing: the link with this id exists.
    Known(i64),
}

/// Checks what making a link would do.
pub fn check(tx: &ReadTx<'_>, supplier: UserId, new: &NewLink) -> Checked<LinkPlan> {
    if !relations::is_active(tx, supplier, new.seller)? {
        return Ok(Err(LinkFault::NoSeller));
    }
    let site: Option<String> = tx.maybe(
        "SELECT site FROM listing WHERE owner_id = ?1 AND item_id = ?2",
        (new.seller, new.item),
    )?;
    let Some(site) = site else {
        return Ok(Err(LinkFault::NoListing));
    };
    let Some(product) = new.product.find(tx, supplier)? else {
        return Ok(Err(LinkFault::NoProduct));
    };
    let present: Option<(i64, i64)> = tx.tuple(
        "SELECT link_id, product_id FROM drop_link WHERE seller_id = ?1 AND item_id = ?2",
        (new.seller, new.item),
    )?;
    Ok(match present {
        Some((id, linked)) if linked == product.id => Ok(LinkPlan::Known(id)),
        Some(_) => Err(LinkFault::Taken),
        None => Ok(LinkPlan::New { site, product: product.id }),
    })
}

/// Links a listing of a seller to a product of the supplier, once.
pub fn make(tx: &WriteTx<'_>, supplier: UserId, new: &NewLink) -> Checked<Linked> {
    let (site, product) = match check(tx, supplier, new)? {
        Ok(LinkPlan::New { site, product }) => (site, product),
        Ok(LinkPlan::Known(id)) => return Ok(Ok(Linked::Unchanged(id))),
        Err(fault) => return Ok(Err(fault)),
    };
    if count(tx, supplier)? >= MOST {
        return Ok(Err(LinkFault::Full));
    }
    let id = tx.insert(
        "INSERT INTO drop_link (supplier_id, seller_id, item_id, site, product_id, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (supplier, new.seller, new.item, site, product, tx.now()),
    )?;
    Ok(Ok(Linked::Created(id)))
}

pub fn link(tx: &ReadTx<'_>, supplier: UserId, id: i64) -> Result<Option<Link>> {
    tx.record("FROM drop_link WHERE link_id = ?2 AND supplier_id = ?1", (supplier, id))
}

/// The id of a supplier's link of a seller's listing.
pub fn of_listing(
    tx: &ReadTx<'_>,
    supplier: UserId,
    seller: UserId,
    item: i64,
) -> Result<Option<i64>> {
    tx.maybe(
        "SELECT link_id FROM drop_link WHERE seller_id = ?2 AND item_id = ?3 AND supplier_id = ?1",
        (supplier, seller, item),
    )
}

/// Removes a link of a supplier; false when there is none.
pub fn remove(tx: &WriteTx<'_>, supplier: UserId, id: i64) -> Result<bool> {
    let removed = tx
        .execute("DELETE FROM drop_link WHERE link_id = ?2 AND supplier_id = ?1", (supplier, id))?;
    Ok(removed > 0)
}

/// Removes links of a relation, and what was said of its other listings; false when
/// some are left.
pub fn end_some(tx: &WriteTx<'_>, supplier: UserId, seller: UserId) -> Result<bool> {
    tx.work_off(|most| {
        let most = i64::try_from(most).unwrap_or(1);
        let links = tx.execute(
            "DELETE FROM drop_link WHERE link_id IN (
                 SELECT link_id FROM drop_link WHERE supplier_id = ?1 AND seller_id = ?2 LIMIT ?3)",
            (supplier, seller, most),
        )?;
        let others = tx.execute(
            "DELETE FROM drop_foreign WHERE supplier_id = ?1 AND seller_id = ?2 AND item_id IN (
                 SELECT item_id FROM drop_foreign WHERE supplier_id = ?1 AND seller_id = ?2 LIMIT ?3)",
            (supplier, seller, most),
        )?;
        Ok::<_, DbError>(links + others)
    })
}

/// How many links a supplier has.
pub fn count(tx: &ReadTx<'_>, supplier: UserId) -> Result<u64> {
    tx.count("SELECT count(*) FROM drop_link WHERE supplier_id = ?1", [supplier])
}

/// How many links each of the given products of a supplier has.
pub fn by_product(tx: &ReadTx<'_>, supplier: UserId, products: &[i64]) -> Result<Vec<i64>> {
    let of = |product: &i64| {
        tx.value(
            "SELECT count(*) FROM drop_link WHERE product_id = ?2 AND supplier_id = ?1",
            (supplier, product),
        )
    };
    products.iter().map(of).collect()
}

row! {
    /// A link with the names of its seller, listing and product.
    #[derive(Clone, Debug)]
    pub struct ShownLink {
        pub link: Link as row,
        pub seller: String = "(SELECT name FROM user u WHERE u.user_id = drop_link.seller_id)",
        /// Title of the listing; empty when the listing is gone.
        pub listing: String = "coalesce((SELECT title FROM listing i
                WHERE i.owner_id = drop_link.seller_id AND i.item_id = drop_link.item_id), '')",
        pub product: String = "(SELECT title FROM product p WHERE p.product_id = drop_link.product_id)",
    }
}

impl ShownLink {
    /// The title of its listing, or the id of one that is gone.
    pub fn title(&self) -> &str {
        if self.listing.is_empty() { &self.link.ml_id } else { &self.listing }
    }
}

/// A filter for the links of a supplier.
#[derive(Clone, Debug)]
pub struct LinkQuery {
    pub supplier: UserId,
    pub seller: Option<UserId>,
    /// Number of a listing id.
    pub item: Option<i64>,
    /// SKU of a product, as a whole.
    pub sku: Option<String>,
    /// Search key for product and listing; empty for all.
    pub search: String,
}

impl LinkQuery {
    fn filters(&self) -> Filters<'_> {
        let mut filters = Filters::new("supplier_id = :supplier", &[(":supplier", &self.supplier)]);
        filters.and(RELATED, &[]);
        filters.and_if("seller_id = :seller", ":seller", &self.seller);
        filters.and_if("item_id = :item", ":item", &self.item);
        filters.and_if(
            "product_id = (SELECT product_id FROM product WHERE owner_id = :supplier AND sku = :sku)",
            ":sku",
            &self.sku,
        );
        if !self.search.is_empty() {
            filters.and(
                "(EXISTS (SELECT 1 FROM product p
                          WHERE p.product_id = drop_link.product_id AND instr(p.search_key, :key) > 0)
                  OR EXISTS (SELECT 1 FROM listing i
                             WHERE i.owner_id = drop_link.seller_id AND i.item_id = drop_link.item_id
                               AND holds(i.title, :key))
                  OR instr(lower(site || item_id), :key) > 0)",
                &[(":key", &self.search)],
            );
        }
        filters
    }
}

/// One page of links, the newest first, with the number of all.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &LinkQuery,
    window: RowWindow,
) -> Result<(Vec<ShownLink>, u64)> {
    wanted.filters().page(tx, ("drop_link", ""), "link_id DESC", window)
}

/// Ids of all links, the newest first.
pub fn ids(tx: &ReadTx<'_>, wanted: &LinkQuery) -> Result<Vec<i64>> {
    let filters = wanted.filters();
    let sql =
        format!("SELECT link_id FROM drop_link WHERE {} ORDER BY link_id DESC", filters.sql());
    tx.values(&sql, filters.values())
}

/// One link with its names.
pub fn shown(tx: &ReadTx<'_>, supplier: UserId, id: i64) -> Result<Option<ShownLink>> {
    tx.record("FROM drop_link WHERE link_id = ?2 AND supplier_id = ?1", (supplier, id))
}
