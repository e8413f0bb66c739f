//! Words of the marketplace: states, kinds of shipping, currencies.
//!
//! Orders refer to them by number. Unknown words get a number of their own, so
//! that no record fails because the marketplace has a new state. The word of a
//! number never changes, so both directions are cached.

use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

use super::orders::sold::Wordings;
use crate::db::{ReadTx, Result, WriteTx};

/// Longest word that is kept whole.
const LONGEST: usize = 60;

/// The number that `schema.sql` gives to the currency of all sums.
pub const BRL: i64 = 20;

/// Cache of the words that were used since the process started.
#[derive(Default)]
pub struct Words {
    /// Titles and SKUs of what was sold.
    pub sold: Wordings,
    texts: RwLock<HashMap<i64, Arc<str>>>,
    numbers: RwLock<HashMap<Arc<str>, i64>>,
}

impl Words {
    /// The word of a number.
    pub fn text(&self, tx: &ReadTx<'_>, number: i64) -> Result<Arc<str>> {
        if let Some(text) = self.texts.read().get(&number) {
            return Ok(Arc::clone(text));
        }
        let text: Arc<str> =
            tx.value::<String>("SELECT text FROM word WHERE word_id = ?1", [number])?.into();
        self.texts.write().insert(number, Arc::clone(&text));
        Ok(text)
    }

    /// The number of a word, if it has one.
    pub fn find(&self, tx: &ReadTx<'_>, text: &str) -> Result<Option<i64>> {
        if let Some(number) = self.numbers.read().get(text) {
            return Ok(Some(*number));
        }
        tx.maybe("SELECT word_id FROM word WHERE text = ?1", [text])
    }

    /// The number of a word; a new word gets one.
    pub fn number(self: &Arc<Self>, tx: &WriteTx<'_>, text: &str) -> Result<i64> {
        let text = crate::base::text::shortened(text, LONGEST);
        if let Some(number) = self.find(tx, text)? {
            self.remember(tx, text, number);
            return Ok(number);
        }
        // Numbers below 100 belong to the schema.
        let number = tx.value(
            "INSERT INTO word (word_id, text)
             SELECT max(99, max(word_id)) + 1, ?1 FROM word
             RETURNING word_id",
            [text],
        )?;
        self.remember(tx, text, number);
        Ok(number)
    }

    /// Caches a number after the commit, when it is sure to stay.
    fn remember(self: &Arc<Self>, tx: &WriteTx<'_>, text: &str, number: i64) {
        if self.numbers.read().contains_key(text) {
            return;
        }
        let (words, text): (Arc<Self>, Arc<str>) = (Arc::clone(self), text.into());
        tx.after_commit(move || {
            words.numbers.write().insert(text, number);
        });
    }
}
