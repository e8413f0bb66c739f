//! What was sold: its title and SKU, kept in memory, and the search by them.
//! Decisions marketplace-20, marketplace-21, marketplace-27.

use std::collections::HashMap;

use foldhash::quality::RandomState;

use crate::base::cache::Cache;
use crate::base::ids::UserId;
use crate::base::text::{like_beginning, search_key};
use crate::db::{ReadTx, Result};

/// Bytes kept for wordings.
const BYTES: usize = 16 * 1024 * 1024;
/// Bytes of them for one owner.
const SHELF_BYTES: usize = 768 * 1024;
/// Bytes of an entry beside its texts.
const ENTRY_BYTES: usize = size_of::<(SoldKey, Span)>() + 1;
/// Bytes that most wordings have at most.
const USUAL_BYTES: usize = 96;

/// Listing, variation and version of what was sold.
pub type SoldKey = (i64, i64, i64);

/// Listing id, title and SKU of what an order sold; empty when not known.
#[derive(Clone, Copy, Default)]
pub struct Wording<'w> {
    /// Marketplace listing id.
    pub ml_id: &'w str,
    /// Title of the listing when it was sold.
    pub title: &'w str,
    /// SKU; empty when it has none.
    pub sku: &'w str,
}

/// Where a wording stands in a text: where it begins, where its title and its SKU
/// begin, and where it ends.
type Span = [u32; 4];

/// What one owner sold, as one text and a table.
///
/// A page looks up the wordings of one owner, and each piece of memory that is not in
/// the processor's cache takes time: they stand side by side.
#[derive(Default)]
struct Shelf {
    text: String,
    spans: HashMap<SoldKey, Span, RandomState>,
}

impl Shelf {
    /// Reads a wording that is not on it.
    fn read(&mut self, tx: &ReadTx<'_>, key: SoldKey) -> Result<Option<Span>> {
        tx.optional(
            "SELECT site || item_id, title, sku FROM sold_item
             WHERE item_id = ?1 AND variation_id = ?2 AND version = ?3",
            key,
            |row| {
                let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
                Ok(self.add(key, [text(0)?, text(1)?, text(2)?]))
            },
        )
    }

    fn add(&mut self, key: SoldKey, parts: [&str; 3]) -> Span {
        let mut span = [offset(self.text.len()); 4];
        for (end, part) in span[1..].iter_mut().zip(parts) {
            self.text.push_str(part);
            *end = offset(self.text.len());
        }
        self.spans.insert(key, span);
        span
    }

    /// Adds what was read; without room for both it replaces what was there.
    fn take(&mut self, read: Self) {
        let fits = self.bytes() + read.bytes() <= SHELF_BYTES;
        if !fits {
            *self = Self::default();
        }
        if self.spans.is_empty() {
            *self = if read.bytes() <= SHELF_BYTES { read } else { Self::default() };
            return;
        }
        let begin = offset(self.text.len());
        self.text.push_str(&read.text);
        let moved = |(key, span): (SoldKey, Span)| (key, span.map(|at| at + begin));
        self.spans.extend(read.spans.into_iter().map(moved));
    }

    fn bytes(&self) -> usize {
        self.text.capacity() + self.spans.capacity() * ENTRY_BYTES
    }
}

/// A place in the text of a shelf, which is never longer.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The wordings of a page, in the order of their keys.
#[derive(Default)]
pub struct Worded {
    text: String,
    spans: Vec<Span>,
}

impl Worded {
    /// The wording at an index.
    pub fn at(&self, place: usize) -> Wording<'_> {
        let Some(span) = self.spans.get(place) else {
            return Wording::default();
        };
        let [begin, title_at, sku_at, end] = span.map(|at| at as usize);
        Wording {
            ml_id: &self.text[begin..title_at],
            title: &self.text[title_at..sku_at],
            sku: &self.text[sku_at..end],
        }
    }

    fn set(&mut self, place: usize, shelf: &Shelf, span: Span) {
        let begin = self.text.len();
        let [from, .., until] = span.map(|at| at as usize);
        self.text.push_str(&shelf.text[from..until]);
        self.spans[place] = span.map(|at| at - span[0] + offset(begin));
    }
}

/// Cache of the wordings read recently.
///
/// Entries never go stale: rows of `sold_item` are only ever added, and another
/// title or SKU gets another version.
pub struct Wordings {
    cache: Cache<UserId, Shelf>,
}

impl Default for Wordings {
    fn default() -> Self {
        Self { cache: Cache::new(BYTES) }
    }
}

impl Wordings {
    /// The wordings of what an owner sold. `tx` must not be a write
    /// transaction, whose rows may be rolled back.
    pub fn of(&self, tx: &ReadTx<'_>, owner: UserId, keys: &[SoldKey]) -> Result<Worded> {
        let mut worded = Worded {
            text: String::with_capacity(keys.len() * USUAL_BYTES),
            spans: vec![Span::default(); keys.len()],
        };
        let mut missing = Vec::new();
        match self.cache.part(&owner).value(&owner) {
            Some(shelf) => {
                // All are looked up before their texts are copied, so that the
                // processor fetches several at once.
                let found: Vec<_> = keys.iter().map(|key| shelf.spans.get(key)).collect();
                for (place, found) in found.into_iter().enumerate() {
                    match found {
                        Some(span) => worded.set(place, shelf, *span),
                        None => missing.push(place),
                    }
                }
            }
            None => missing.extend(0..keys.len()),
        }
        if missing.is_empty() {
            return Ok(worded);
        }
        // Orders of one listing stand on a page more than once; neighbours in the table
        // are read one after the other.
        missing.sort_unstable_by_key(|place| keys[*place]);
        let mut read = Shelf::default();
        for alike in missing.chunk_by(|one, next| keys[*one] == keys[*next]) {
            let key = keys[alike[0]];
            if let Some(span) = read.read(tx, key)? {
                for place in alike {
                    worded.set(*place, &read, span);
                }
            }
        }
        self.cache.part(&owner).change(owner, |shelf| {
            shelf.take(read);
            shelf.bytes()
        });
        Ok(worded)
    }
}

/// Most listings whose orders a search by words shows.
pub const MOST: usize = 100;

/// Numbers of the listings that an owner sold under a title with the words of a
/// text, or under a SKU that begins with the text. The newest come first. One
/// more than [`MOST`] is returned when there are more.
pub fn search_items(tx: &ReadTx<'_>, owner: UserId, text: &str) -> Result<Vec<i64>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(items: std::ops::Range<i64>, title: &str) -> Shelf {
        let mut shelf = Shelf::default();
        for item in items {
            shelf.add((item, 0, 0), [&format!("MLB{item}"), title, "SKU"]);
        }
        shelf
    }

    fn worded(shelf: &Shelf, items: &[i64]) -> Vec<String> {
        let mut worded = Worded { spans: vec![Span::default(); items.len()], ..Worded::default() };
        for (place, item) in items.iter().enumerate() {
            worded.set(place, shelf, shelf.spans[&(*item, 0, 0)]);
        }
        let texts = (0..items.len()).map(|place| worded.at(place));
        texts.map(|text| [text.ml_id, text.title, text.sku].join("|")).collect()
    }

    #[test]
    fn what_was_read_in_two_turns_is_found_as_it_was() {
        let mut all = Shelf::default();
        all.take(shelf(1..3, "Caneca"));
        all.take(shelf(3..5, "Copo térmico"));
        assert_eq!(
            worded(&all, &[4, 1, 4]),
            ["MLB4|Copo térmico|SKU", "MLB1|Caneca|SKU", "MLB4|Copo térmico|SKU"]
        );
    }

    #[test]
    fn an_owner_with_more_than_has_room_keeps_what_was_read_last() {
        let long = "T".repeat(200);
        let mut all = Shelf::default();
        all.take(shelf(0..2000, &long));
        all.take(shelf(5000..7000, &long));
        assert!(all.bytes() <= SHELF_BYTES, "{}", all.bytes());
        assert!(!all.spans.contains_key(&(1, 0, 0)) && all.spans.len() == 2000);
        all.take(shelf(0..9000, &long));
        assert!(all.spans.is_empty());
    }
}
