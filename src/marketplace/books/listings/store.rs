//! Listings in the database. Their numbers by state are kept by triggers.

use rusqlite::Row;

use crate::base::clock::Instant;
use crate::base::ids::{MlUserId, UserId};
use crate::base::money::Cents;
use crate::db::{ReadTx, Result, WriteTx};

/// A listing as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub ml_user_id: MlUserId,
    pub site: String,
    pub title: String,
    /// A word, as the others below.
    pub status: i64,
    pub sub_status: String,
    pub price: Cents,
    pub currency: i64,
    pub available: i64,
    pub sold: i64,
    pub listing_type: i64,
    pub logistic_type: Option<i64>,
    pub category: String,
    pub sku: String,
    pub ean: String,
    pub permalink: String,
    pub thumbnail: String,
    pub created_at: Instant,
    pub updated_at: Instant,
}

/// One listing of an owner.
pub fn stored(tx: &ReadTx<'_>, owner: UserId, item: i64) -> Result<Option<Stored>> {
    tx.optional(
        "SELECT ml_user_id, site, title, status, sub_status, price_cents, currency, available, sold,
                listing_type, logistic_type, category, sku, ean, permalink, thumbnail, created_at, updated_at
         FROM listing
         WHERE owner_id = ?1 AND item_id = ?2",
        (owner, item),
        read,
    )
}

fn read(row: &Row<'_>) -> rusqlite::Result<Stored> {
    Ok(Stored {
        ml_user_id: row.get(0)?,
        site: row.get(1)?,
        title: row.get(2)?,
        status: row.get(3)?,
        sub_status: row.get(4)?,
        price: row.get(5)?,
        currency: row.get(6)?,
        available: row.get(7)?,
        sold: row.get(8)?,
        listing_type: row.get(9)?,
        logistic_type: row.get(10)?,
        category: row.get(11)?,
        sku: row.get(12)?,
        ean: row.get(13)?,
        permalink: row.get(14)?,
        thumbnail: row.get(15)?,
        created_at: row.get(16)?,
        updated_at: row.get(17)?,
    })
}

/// Stores a listing. The row stays the same one, so that the triggers see
/// what changed.
pub fn put(tx: &WriteTx<'_>, owner: UserId, item: i64, row: &Stored) -> Result<()> {
    tx.execute(
        "INSERT INTO listing
             (owner_id, item_id, ml_user_id, site, title, status, sub_status, price_cents, currency, available, sold,
              listing_type, logistic_type, category, sku, ean, permalink, thumbnail, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
         ON CONFLICT (owner_id, item_id) DO UPDATE
         SET ml_user_id = ?3, site = ?4, title = ?5, status = ?6, sub_status = ?7, price_cents = ?8, currency = ?9,
             available = ?10, sold = ?11, listing_type = ?12, logistic_type = ?13, category = ?14, sku = ?15,
             ean = ?16, permalink = ?17, thumbnail = ?18, created_at = ?19, updated_at = ?20",
        rusqlite::params![
            owner,
            item,
            row.ml_user_id,
            &row.site,
            &row.title,
            row.status,
            &row.sub_status,
            row.price.0,
            row.currency,
            row.available,
            row.sold,
            row.listing_type,
            row.logistic_type,
            &row.category,
            &row.sku,
            &row.ean,
            &row.permalink,
            &row.thumbnail,
            row.created_at.0,
            row.updated_at.0,
        ],
    )?;
    Ok(())
}

/// Removes a listing; false when there is none.
pub fn delete(tx: &WriteTx<'_>, owner: UserId, account: MlUserId, item: i64) -> Result<bool> {
    let gone = tx.execute(
        "DELETE FROM listing WHERE owner_id = ?1 AND item_id = ?3 AND ml_user_id = ?2",
        (owner, account, item),
    )?;
    Ok(gone > 0)
}

/// Sets an account's number of listings to what is here. Until all of them
/// were read once the marketplace's own number stands, unless there are more.
pub fn recount(tx: &WriteTx<'_>, owner: UserId, account: MlUserId) -> Result<()> {
    let counted: i64 = tx.value(
        "SELECT coalesce(sum(listings), 0) FROM listing_count
         WHERE owner_id = ?1 AND ml_user_id = ?2
             AND status IN (SELECT word_id FROM word WHERE text IN ('active', 'paused'))",
        (owner, account),
    )?;
    tx.execute(
        "UPDATE ml_account
         SET listings = iif(
             EXISTS (SELECT 1 FROM ml_sync WHERE ml_user_id = ?2 AND area = 2 AND good_until IS NOT NULL),
             ?3, max(listings, ?3))
         WHERE ml_user_id = ?2 AND owner_id = ?1",
        (owner, account, counted),
    )?;
    Ok(())
}

/// The title of a listing, when it is here and has one.
pub fn title(tx: &ReadTx<'_>, owner: UserId, item: i64) -> Result<Option<String>> {
    let title = tx.maybe::<String>(
        "SELECT title FROM listing WHERE owner_id = ?1 AND item_id = ?2",
        (owner, item),
    )?;
    Ok(title.filter(|title| !title.is_empty()))
}
