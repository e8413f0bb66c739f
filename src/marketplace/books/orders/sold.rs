//! What was sold: its title and SKU, kept in memory, and the search by them.
//! Decisions marketplace-20, marketplace-21, marketplace-27.

use crate::base::cache::Cache;
use crate::base::ids::UserId;
use crate::base::text::{like_beginning, search_key};
use crate::db::{ReadTx, Result};

/// Bytes kept for wordings.
const BYTES: usize = 16 * 1024 * 1024;
/// Bytes of an entry beside its texts.
const ENTRY_BYTES: usize = 192;
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

/// The parts of a wording as one text, and where the second and the third begin.
///
/// One allocation holds all parts. A page looks up twenty wordings, and each
/// piece of memory that is not in the processor's cache takes time.
struct Joined {
    text: Box<str>,
    title_at: usize,
    sku_at: usize,
}

impl Joined {
    fn of(ml_id: &str, title: &str, sku: &str) -> Self {
        let title_at = ml_id.len();
        let text = [ml_id, title, sku].concat().into();
        Self { text, title_at, sku_at: title_at + title.len() }
    }
}

/// The wordings of a page, in the order of their keys.
#[derive(Default)]
pub struct Worded {
    text: String,
    /// For each wording: where it begins in `text`, where its title and its SKU
    /// begin, and where it ends.
    places: Vec<[usize; 4]>,
}

impl Worded {
    /// The wording at an index.
    pub fn at(&self, place: usize) -> Wording<'_> {
        let Some([begin, title_at, sku_at, end]) = self.places.get(place).copied() else {
            return Wording::default();
        };
        Wording {
            ml_id: &self.text[begin..title_at],
            title: &self.text[title_at..sku_at],
            sku: &self.text[sku_at..end],
        }
    }

    fn set(&mut self, place: usize, wording: &Joined) {
        let begin = self.text.len();
        self.text.push_str(&wording.text);
        let (title_at, sku_at) = (begin + wording.title_at, begin + wording.sku_at);
        self.places[place] = [begin, title_at, sku_at, self.text.len()];
    }
}

/// Cache of the wordings read recently.
///
/// Entries never go stale: rows of `sold_item` are only ever added, and another
/// title or SKU gets another version.
pub struct Wordings {
    cache: Cache<SoldKey, Joined>,
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
            places: vec![[0; 4]; keys.len()],
        };
        let mut missing = Vec::new();
        {
            let kept = self.cache.part(&owner);
            // All entries are looked up before their texts are copied, so that
            // the processor fetches several at once.
            let found: Vec<_> = keys.iter().map(|key| kept.value(key)).collect();
            for (place, found) in found.into_iter().enumerate() {
                match found {
                    Some(wording) => worded.set(place, wording),
                    None => missing.push(place),
                }
            }
        }
        // Orders of one listing stand on a page more than once; neighbours in the table
        // are read one after the other.
        missing.sort_unstable_by_key(|place| keys[*place]);
        for alike in missing.chunk_by(|one, next| keys[*one] == keys[*next]) {
            let key = keys[alike[0]];
            let Some(wording) = read(tx, key)? else {
                continue;
            };
            for place in alike {
                worded.set(*place, &wording);
            }
            let bytes = ENTRY_BYTES + wording.text.len();
            self.cache.part(&owner).put(key, 0, wording, bytes);
        }
        Ok(worded)
    }
}

fn read(tx: &ReadTx<'_>, key: SoldKey) -> Result<Option<Joined>> {
    tx.optional(
        "SELECT site || item_id, title, sku FROM sold_item
         WHERE item_id = ?1 AND variation_id = ?2 AND version = ?3",
        key,
        |row| {
            let text = |column: usize| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
            Ok(Joined::of(text(0)?, text(1)?, text(2)?))
        },
    )
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
