//! What was sold: its title and SKU, kept in memory, and the search by them.

use std::sync::Arc;

use crate::base::cache::Cache;
use crate::base::ids::UserId;
use crate::base::text::{like_beginning, search_key};
use crate::db::{ReadTx, Result};

/// Bytes kept for wordings.
const BYTES: usize = 16 * 1024 * 1024;
/// Bytes of an entry beside its texts.
const ENTRY_BYTES: usize = 192;

/// Listing, variation and version of what was sold.
pub type SoldKey = (i64, i64, i64);

/// What an order shows of what was sold; empty where nothing is known.
///
/// All of it is one text: a page looks up twenty, and each piece of memory that
/// no cache of the processor holds takes its time.
#[derive(Clone)]
pub struct Wording {
    text: Arc<str>,
    title_at: usize,
    sku_at: usize,
}

impl Wording {
    fn of(ml_id: &str, title: &str, sku: &str) -> Self {
        let title_at = ml_id.len();
        let text = [ml_id, title, sku].concat().into();
        Self { text, title_at, sku_at: title_at + title.len() }
    }

    /// Marketplace listing id.
    pub fn ml_id(&self) -> &str {
        &self.text[..self.title_at]
    }

    /// Title of the listing when it was sold.
    pub fn title(&self) -> &str {
        &self.text[self.title_at..self.sku_at]
    }

    /// SKU; empty when it has none.
    pub fn sku(&self) -> &str {
        &self.text[self.sku_at..]
    }
}

/// The wordings read of late.
///
/// They never go stale: rows of `sold_item` are only ever added, and other
/// words get another version.
pub struct Wordings {
    kept: Cache<SoldKey, Wording>,
}

impl Default for Wordings {
    fn default() -> Self {
        Self { kept: Cache::new(BYTES) }
    }
}

impl Wordings {
    /// The wording of a key. `tx` must not be a write, whose rows may be undone.
    pub fn wording(&self, tx: &ReadTx<'_>, key: SoldKey) -> Result<Wording> {
        if let Some((_, wording)) = self.kept.get(&key) {
            return Ok(wording);
        }
        let found = tx.optional(
            "SELECT site || item_id, title, sku FROM sold_item
             WHERE item_id = ?1 AND variation_id = ?2 AND version = ?3",
            key,
            |row| {
                let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
                Ok(Wording::of(text(0)?, text(1)?, text(2)?))
            },
        )?;
        let Some(wording) = found else {
            return Ok(Wording::of("", "", ""));
        };
        self.kept.put(key, 0, wording.clone(), ENTRY_BYTES + wording.text.len());
        Ok(wording)
    }
}

/// Listings whose orders a search by words shows.
pub const MOST: usize = 100;

/// Numbers of the listings that an owner sold from under a title with the words
/// of a text, or under a SKU that begins with it: the newest, and one more than
/// [`MOST`] when there are others.
pub fn called(tx: &ReadTx<'_>, owner: UserId, text: &str) -> Result<Vec<i64>> {
    // Each listing is found by one seek from the one before, however many
    // orders it has.
    tx.all(
        "WITH RECURSIVE sold (item_id) AS (
             SELECT max(item_id) FROM sale_order WHERE owner_id = ?1
             UNION ALL
             SELECT (SELECT max(item_id) FROM sale_order WHERE owner_id = ?1 AND item_id < sold.item_id)
             FROM sold WHERE item_id IS NOT NULL)
         SELECT item_id FROM sold
         WHERE EXISTS (SELECT 1 FROM sold_item i
                       WHERE i.item_id = sold.item_id AND (holds(i.title, ?2) OR i.sku LIKE ?3 ESCAPE '\\'))
         LIMIT ?4",
        (
            owner,
            search_key(text),
            like_beginning(text),
            i64::try_from(MOST).unwrap_or(0) + 1,
        ),
        |row| row.get(0),
    )
}
