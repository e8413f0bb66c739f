//! What an owner has sold, found by the words it was sold with.

use crate::base::ids::UserId;
use crate::base::text::{like_beginning, search_key};
use crate::db::{ReadTx, Result};

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
