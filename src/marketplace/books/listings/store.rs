//! Listings in the database. Triggers keep the counts by state.

use super::pages::{self, WireListing};
use crate::base::text::{like_beginning, search_key};
use crate::base::{Cents, Instant, MlUserId, UserId};
use crate::db::{Filters, Page, ReadTx, Record as _, Result, RowWindow, WriteTx};
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::listed::{Listed, RecordFilter};
use crate::marketplace::books::words::Words;
use crate::marketplace::kinds::RecordKind;
use crate::panel::Listing;
use crate::row;
use crate::services::Services;

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ListingRow: stored {
        pub ml_user_id: MlUserId,
        pub site: String,
        pub title: String,
        /// Number of a word, as `currency`, `listing_type` and `logistic_type`.
        pub status: i64,
        /// Why: the marketplace's codes, separated by spaces; may be empty.
        pub sub_status: String,
        /// `None` when the marketplace does not say it.
        pub price: Option<Cents> = "price_cents",
        pub currency: i64,
        pub available: i64,
        pub sold: i64,
        pub listing_type: i64,
        pub logistic_type: Option<i64>,
        /// Such as `MLB31447`; may be empty.
        pub category: String,
        pub sku: String,
        pub ean: String,
        /// Address of its page; may be empty.
        pub permalink: String,
        /// Address of its small picture; may be empty.
        pub thumbnail: String,
        pub created_at: Instant,
        pub updated_at: Instant,
    }
}

/// The condition of a search: by words of the title, or by the beginning of the
/// SKU or the id.
pub const FOUND: &str =
    "(holds(title, :key) OR sku LIKE :from ESCAPE '\\' OR site || item_id LIKE :from ESCAPE '\\')";

row! {
    pub struct SellerListing {
        /// Such as `MLB123`.
        pub id: String = "site || item_id",
        pub row: ListingRow as row,
        /// The marketplace's name of the state.
        pub status: String = "(SELECT text FROM word WHERE word_id = status)",
        pub currency: String = "(SELECT text FROM word WHERE word_id = currency)",
        /// Such as `gold_special`.
        pub kind: String = "(SELECT text FROM word WHERE word_id = listing_type)",
        /// Kind of shipping, such as `drop_off`.
        pub logistic: Option<String> = "(SELECT text FROM word WHERE word_id = logistic_type)",
    }
}

impl Listed for SellerListing {
    type Wire = WireListing;

    const LIST: &'static Listing = &pages::LIST;
    const TABLE: &'static str = "listing";
    const ID: &'static str = "item_id";
    const STATE: &'static str = "status";
    const COUNT_ALL: Option<&'static str> = Some(COUNT);

    fn state(tx: &ReadTx<'_>, words: &Words, name: &str) -> Result<i64> {
        // A state that was never seen has no number; -1 finds nothing.
        Ok(words.find(tx, name)?.unwrap_or(-1))
    }

    fn search<'w>(filters: &mut Filters<'w>, wanted: &'w RecordFilter) {
        filters.and(FOUND, &[(":key", &wanted.key), (":from", &wanted.beginning)]);
    }

    fn column(order: &str) -> &'static str {
        match order {
            "titulo" => "title COLLATE NOCASE",
            "preco" => "price_cents",
            "disponivel" => "available",
            "vendidos" => "sold",
            _ => "updated_at",
        }
    }

    fn wire(self, services: &Services, stores: &Stores) -> WireListing {
        WireListing::of(services, stores, self)
    }
}

/// How many listings there are, up to a WHERE without a search.
const COUNT: &str = "SELECT coalesce(sum(listings), 0) FROM listing_count";

/// What a program asks for of a seller's listings.
pub struct ListingFilter {
    pub owner: UserId,
    pub store: Option<MlUserId>,
    /// Number of the word of a state.
    pub status: Option<i64>,
    /// As a whole.
    pub sku: Option<String>,
    /// As in [`FOUND`].
    pub search: Option<String>,
}

/// One page of listings, those that changed last first, and how many there are.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &ListingFilter,
    window: RowWindow,
) -> Result<(Vec<SellerListing>, u64)> {
    let search = wanted.search.as_deref().unwrap_or_default();
    let (key, beginning) = (search_key(search), like_beginning(search));
    let mut filters = Filters::new("owner_id = :owner", &[(":owner", &wanted.owner)]);
    filters.and_if("ml_user_id = :store", ":store", &wanted.store);
    filters.and_if("status = :status", ":status", &wanted.status);
    filters.and_if("sku = :sku AND sku <> ''", ":sku", &wanted.sku);
    if wanted.search.is_some() {
        filters.and(FOUND, &[(":key", &key), (":from", &beginning)]);
    }
    let is_counted = wanted.sku.is_none() && wanted.search.is_none();
    let total =
        filters.count(tx, if is_counted { COUNT } else { "SELECT count(*) FROM listing" })?;
    let page = Page { table: "listing", order: "updated_at DESC, item_id DESC", window };
    Ok((filters.rows(tx, &page, SellerListing::COLUMNS, SellerListing::read)?, total))
}

/// How many listings an account has in each state, by the marketplace's names.
pub fn by_state(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<Vec<(String, i64)>> {
    tx.tuples(
        "SELECT (SELECT text FROM word WHERE word_id = status), listings FROM listing_count
         WHERE owner_id = ?1 AND ml_user_id = ?2",
        (owner, account),
    )
}

/// How many active and paused listings of an account have no unit to sell.
pub fn out_of_stock(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<i64> {
    tx.value(
        "SELECT count(*) FROM listing
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND available < 1
             AND status IN (SELECT word_id FROM word WHERE text IN ('active', 'paused'))",
        (owner, account),
    )
}

row! {
    /// A listing that is on sale with nothing left of it.
    pub struct Unstocked {
        pub title: String,
        pub permalink: String,
    }
}

/// The first listing of an account that is on sale without stock.
pub fn unstocked(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<Option<Unstocked>> {
    tx.record(
        "FROM listing WHERE owner_id = ?1 AND ml_user_id = ?2
             AND status = (SELECT word_id FROM word WHERE text = 'active') AND available < 1
         LIMIT 1",
        (owner, account),
    )
}

/// What listings of a list add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worth {
    pub listings: i64,
    /// Units for sale.
    pub units: i64,
    /// Those at their prices, as far as these are known.
    pub value: Cents,
    /// Listings whose price the marketplace does not say.
    pub unpriced: i64,
}

/// What the listings of an owner add up to, by the marketplace's names of their
/// states.
pub fn worths(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: Option<MlUserId>,
    search: &str,
) -> Result<Vec<(String, Worth)>> {
    let (key, beginning) = (search_key(search), like_beginning(search));
    let mut filters = Filters::new("owner_id = :owner", &[(":owner", &owner)]);
    filters.and_if("ml_user_id = :store", ":store", &account);
    if !search.is_empty() {
        filters.and(FOUND, &[(":key", &key), (":from", &beginning)]);
    }
    // Floats, because the sum of whole numbers fails when it is too large.
    let sql = format!(
        "SELECT (SELECT text FROM word WHERE word_id = status), count(*),
                CAST(min(total(max(available, 0)), 9e18) AS INTEGER),
                CAST(min(total(max(available, 0) * price_cents), 9e18) AS INTEGER),
                count(*) - count(price_cents)
         FROM listing WHERE {} GROUP BY status",
        filters.sql()
    );
    tx.all(&sql, filters.values(), |row| {
        let worth = Worth {
            listings: row.get(1)?,
            units: row.get(2)?,
            value: row.get(3)?,
            unpriced: row.get(4)?,
        };
        Ok((row.get(0)?, worth))
    })
}

/// The listings of an owner with a SKU, those that changed last first.
pub fn of_sku(tx: &ReadTx<'_>, owner: UserId, sku: &str, most: u32) -> Result<Vec<SellerListing>> {
    tx.records(
        "FROM listing WHERE owner_id = ?1 AND sku = ?2 AND sku <> ''
         ORDER BY updated_at DESC, item_id DESC LIMIT ?3",
        (owner, sku, most),
    )
}

/// How many listings of an owner have a SKU.
pub fn count_of_sku(tx: &ReadTx<'_>, owner: UserId, sku: &str) -> Result<u64> {
    tx.count(
        "SELECT count(*) FROM listing WHERE owner_id = ?1 AND sku = ?2 AND sku <> ''",
        (owner, sku),
    )
}

/// Some listings that a search finds, those that changed last first.
pub fn found(
    tx: &ReadTx<'_>,
    owner: UserId,
    search: &str,
    most: u32,
) -> Result<Vec<SellerListing>> {
    let (key, beginning) = (search_key(search), like_beginning(search));
    let sql = format!(
        "FROM listing WHERE owner_id = :owner AND {FOUND}
         ORDER BY updated_at DESC, item_id DESC LIMIT :most"
    );
    let values: [(&str, &dyn rusqlite::ToSql); 4] =
        [(":owner", &owner), (":key", &key), (":from", &beginning), (":most", &most)];
    tx.records(&sql, &values[..])
}

/// Titles of the listings that changed last.
pub fn newest(tx: &ReadTx<'_>, owner: UserId, most: u32) -> Result<Vec<String>> {
    tx.values(
        "SELECT title FROM listing WHERE owner_id = ?1
         ORDER BY updated_at DESC, item_id DESC LIMIT ?2",
        (owner, most),
    )
}

pub fn stored(tx: &ReadTx<'_>, owner: UserId, item: i64) -> Result<Option<ListingRow>> {
    tx.record("FROM listing WHERE owner_id = ?1 AND item_id = ?2", (owner, item))
}

/// Stores a listing. A row that exists is updated, not replaced, so that the
/// triggers see what changed.
pub fn put(tx: &WriteTx<'_>, owner: UserId, item: i64, row: &ListingRow) -> Result<()> {
    tx.keep("listing", row, &[], &[("owner_id", &owner), ("item_id", &item)])
}

pub fn delete(tx: &WriteTx<'_>, owner: UserId, account: MlUserId, item: i64) -> Result<()> {
    tx.run(
        "DELETE FROM listing WHERE owner_id = ?1 AND item_id = ?3 AND ml_user_id = ?2",
        (owner, account, item),
    )
}

/// Sets an account's number of listings from the stored ones. Until all
/// listings were read once, the marketplace's own number stays, unless more are
/// stored.
pub fn recount(tx: &WriteTx<'_>, owner: UserId, account: MlUserId) -> Result<()> {
    let counted: i64 = tx.value(
        "SELECT coalesce(sum(listings), 0) FROM listing_count
         WHERE owner_id = ?1 AND ml_user_id = ?2
             AND status IN (SELECT word_id FROM word WHERE text IN ('active', 'paused'))",
        (owner, account),
    )?;
    tx.run(
        "UPDATE ml_account
         SET listings = iif(
             EXISTS (SELECT 1 FROM ml_sync WHERE ml_user_id = ?2 AND area = ?4 AND good_until IS NOT NULL),
             ?3, max(listings, ?3))
         WHERE ml_user_id = ?2 AND owner_id = ?1",
        (owner, account, counted, RecordKind::Listing),
    )
}

/// The title of a listing, when the listing is stored and has one.
pub fn title(tx: &ReadTx<'_>, owner: UserId, item: i64) -> Result<Option<String>> {
    tx.maybe(
        "SELECT title FROM listing WHERE owner_id = ?1 AND item_id = ?2 AND title <> ''",
        (owner, item),
    )
}
