//! What was sold: its title and SKU, kept in memory, and the search by them.
//! Decisions marketplace-20, marketplace-21, marketplace-27.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;

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
#[derive(Clone, Default)]
struct Shelf {
    text: String,
    spans: HashMap<SoldKey, Span, RandomState>,
}

impl Shelf {
    /// Where the wordings of keys stand; `None` when one of them is not on it.
    fn find(&self, keys: &[SoldKey]) -> Option<Vec<Span>> {
        let spans: Option<Vec<_>> = keys.iter().map(|key| self.spans.get(key).copied()).collect();
        // A byte of each is read here, so that the processor fetches them together and
        // not one after the other when they are written.
        let first = |[begin, ..]: &Span| self.text.as_bytes().get(*begin as usize);
        black_box(spans.iter().flatten().filter_map(first).fold(0_u8, |sum, byte| sum ^ byte));
        spans
    }

    /// The same with those read that are not on it. What nothing is known of is empty.
    fn find_or_read(&mut self, tx: &ReadTx<'_>, keys: &[SoldKey]) -> Result<Vec<Span>> {
        let mut missing: Vec<_> =
            keys.iter().filter(|key| !self.spans.contains_key(key)).copied().collect();
        // Neighbours in the table are read one after the other.
        missing.sort_unstable();
        missing.dedup();
        for key in missing {
            tx.each(
                "SELECT site || item_id, title, sku FROM sold_item
                 WHERE item_id = ?1 AND variation_id = ?2 AND version = ?3",
                key,
                |row| {
                    let text = |at: usize| Ok::<_, rusqlite::Error>(row.get_ref(at)?.as_str()?);
                    self.add(key, [text(0)?, text(1)?, text(2)?]);
                    Ok(())
                },
            )?;
        }
        self.text.shrink_to_fit();
        Ok(keys.iter().map(|key| self.spans.get(key).copied().unwrap_or_default()).collect())
    }

    fn add(&mut self, key: SoldKey, parts: [&str; 3]) {
        let mut span = [offset(self.text.len()); 4];
        for (end, part) in span[1..].iter_mut().zip(parts) {
            self.text.push_str(part);
            *end = offset(self.text.len());
        }
        self.spans.insert(key, span);
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
    shelf: Arc<Shelf>,
    spans: Vec<Span>,
}

impl Worded {
    /// The wording at an index.
    pub fn at(&self, place: usize) -> Wording<'_> {
        let Some(span) = self.spans.get(place) else {
            return Wording::default();
        };
        let [begin, title_at, sku_at, end] = span.map(|at| at as usize);
        let text = &self.shelf.text;
        Wording {
            ml_id: &text[begin..title_at],
            title: &text[title_at..sku_at],
            sku: &text[sku_at..end],
        }
    }
}

/// Cache of the wordings read recently.
///
/// Entries never go stale: rows of `sold_item` are only ever added, and another
/// title or SKU gets another version.
pub struct Wordings {
    cache: Cache<UserId, Arc<Shelf>>,
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
        let (_, shelf) = self.cache.get(&owner).unwrap_or_default();
        if let Some(spans) = shelf.find(keys) {
            return Ok(Worded { shelf, spans });
        }
        let mut shelf = Shelf::clone(&shelf);
        let mut spans = shelf.find_or_read(tx, keys)?;
        if shelf.bytes() > SHELF_BYTES {
            shelf = Shelf::default();
            spans = shelf.find_or_read(tx, keys)?;
        }
        let bytes = shelf.bytes();
        let shelf = Arc::new(shelf);
        if bytes <= SHELF_BYTES {
            self.cache.put(owner, 0, Arc::clone(&shelf), bytes);
        }
        Ok(Worded { shelf, spans })
    }
}

/// Most listings whose orders a search by words shows.
pub const MOST: usize = 100;

/// Numbers of the listings that an owner sold under a title with the words of a
/// text, or under a SKU that begins with the text. The newest come first. One
/// more than [`MOST`] is returned when there are more.
pub fn search_items(tx: &ReadTx<'_>, owner: UserId, text: &str) -> Result<Vec<i64>> {
    // Each listing is found by one seek from the one before, however many
    // orders it has; those of further lines stand in a table of their own.
    tx.all(
        "WITH RECURSIVE sold (item_id) AS (
             SELECT max(item_id) FROM sale_order WHERE owner_id = ?1
             UNION ALL
             SELECT (SELECT max(item_id) FROM sale_order WHERE owner_id = ?1 AND item_id < sold.item_id)
             FROM sold WHERE item_id IS NOT NULL),
         beside (item_id) AS (
             SELECT max(item_id) FROM sale_line WHERE owner_id = ?1
             UNION ALL
             SELECT (SELECT max(item_id) FROM sale_line WHERE owner_id = ?1 AND item_id < beside.item_id)
             FROM beside WHERE item_id IS NOT NULL)
         SELECT item_id FROM (SELECT item_id FROM sold UNION SELECT item_id FROM beside) AS each
         WHERE EXISTS (SELECT 1 FROM sold_item i
                       WHERE i.item_id = each.item_id AND (holds(i.title, ?2) OR i.sku LIKE ?3 ESCAPE '\\'))
         ORDER BY item_id DESC LIMIT ?4",
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
    use crate::marketplace::books::orders::tests::{NEVER, World, order};

    const ANA: UserId = UserId(1);

    fn sell(world: &World, items: std::ops::Range<i64>, title: &str) {
        let documents = items.map(|item| {
            let mut document = order(item);
            document.lines[0].item.number = item;
            document.lines[0].item.title = format!("{title} {item}");
            document
        });
        world.apply(ANA, documents.collect(), NEVER);
    }

    /// The wordings of items, as one text each.
    fn worded(world: &World, wordings: &Wordings, items: impl Iterator<Item = i64>) -> Vec<String> {
        let keys: Vec<SoldKey> = items.map(|item| (item, 0, 0)).collect();
        let worded = world.read(|tx| wordings.of(tx, ANA, &keys));
        let texts = (0..keys.len()).map(|place| worded.at(place));
        texts.map(|text| [text.ml_id, text.title, text.sku].join("|")).collect()
    }

    fn known(wordings: &Wordings) -> usize {
        wordings.cache.get(&ANA).map_or(0, |(_, shelf)| shelf.spans.len())
    }

    #[test]
    fn what_was_read_in_two_turns_is_found_as_it_was() {
        let (world, wordings) = (World::new(), Wordings::default());
        sell(&world, 1..5, "Copo térmico");
        let wanted = |items: &[i64]| -> Vec<_> {
            items.iter().map(|item| format!("MLB{item}|Copo térmico {item}|CAB-1")).collect()
        };
        for items in [&[2, 1, 2][..], &[4, 1, 3, 4], &[3, 2]] {
            assert_eq!(worded(&world, &wordings, items.iter().copied()), wanted(items));
        }
        assert_eq!(known(&wordings), 4);
        assert_eq!(worded(&world, &wordings, [1, 9].into_iter()), [&wanted(&[1])[0], "||"]);
    }

    #[test]
    fn an_owner_with_more_than_has_room_keeps_what_was_read_last() {
        let (world, wordings) = (World::new(), Wordings::default());
        sell(&world, 1..5_001, &"T".repeat(200));
        for (items, left) in [(1..2_001, 2_000), (1_900..4_001, 2_101), (1..5_001, 2_101)] {
            let texts = worded(&world, &wordings, items.clone());
            for (text, item) in texts.iter().zip(items) {
                assert!(text.ends_with(&format!("T {item}|CAB-1")), "{item}: {text}");
            }
            assert_eq!(known(&wordings), left);
        }
        let (_, shelf) = wordings.cache.get(&ANA).expect("the last that had room");
        assert!(shelf.bytes() <= SHELF_BYTES, "{}", shelf.bytes());
    }
}
