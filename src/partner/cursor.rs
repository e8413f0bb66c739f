//! Cursors: how the next page of a list is asked for without counting entries.
//!
//! A cursor holds the place of the last entry of a page, not how many were passed, so
//! entries that come or go in between move nothing: no page repeats an entry, and none
//! skips one. It is signed for its owner, its list and the list's filters; one that was
//! made up, changed or given elsewhere is refused. Decision partner-10.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use subtle::ConstantTimeEq as _;

use super::list::Window;
use crate::base::{Sealer, UserId};
use crate::db::RowWindow;
use crate::http::input::{Check, Field};
use crate::services::Services;

/// Longest cursor.
pub const LONGEST: usize = 500;
/// Bytes of the signature.
const SIGNATURE: usize = 12;

/// A list of an owner with its filters, for which cursors are made.
pub struct ListScope {
    sealer: Arc<Sealer>,
    name: String,
}

impl ListScope {
    /// The scope of a list; `filters` tells any two of its filters apart.
    pub fn of(services: &Services, owner: UserId, list: &str, filters: &str) -> Self {
        let name = format!("cursor {} {list} {filters}", owner.0);
        Self { sealer: Arc::clone(&services.sealer), name }
    }

    fn signature(&self, place: &str) -> [u8; SIGNATURE] {
        let digest = self.sealer.noted(&[&self.name, place]);
        std::array::from_fn(|index| digest[index])
    }

    fn write(&self, place: &impl Serialize) -> String {
        let place = serde_json::to_string(place).expect("places are lists of plain values");
        let mut bytes = self.signature(&place).to_vec();
        bytes.extend_from_slice(place.as_bytes());
        BASE64.encode(bytes)
    }

    fn read<P: DeserializeOwned>(&self, cursor: &str) -> Option<P> {
        let bytes = BASE64.decode(Some(cursor).filter(|text| text.len() <= LONGEST)?).ok()?;
        let (signature, place) = bytes.split_at_checked(SIGNATURE)?;
        let place = str::from_utf8(place).ok()?;
        let is_ours = bool::from(self.signature(place).ct_eq(signature));
        is_ours.then(|| serde_json::from_str(place).ok()).flatten()
    }
}

/// The page that is asked for: by its offset, or by the cursor of the page before.
pub struct Walk<P> {
    scope: ListScope,
    pub window: Window,
    /// The place after which the page begins.
    pub after: Option<P>,
    /// Entries of the whole list when its first page was read.
    total: Option<i64>,
}

impl<P: Serialize + DeserializeOwned> Walk<P> {
    /// Reads `cursor`, beside a window that was read already.
    pub fn read(
        check: &mut Check,
        scope: ListScope,
        cursor: Field<String>,
        window: Window,
    ) -> Self {
        let mut walk = Self { scope, window, after: None, total: None };
        let Some(cursor) = check.optional("cursor", cursor) else { return walk };
        match walk.scope.read::<(i64, P)>(&cursor) {
            Some((total, place)) => (walk.total, walk.after) = (Some(total), Some(place)),
            None => check.fail(
                "cursor",
                "must be a next_cursor of this list, with the same filters; begin again without it",
            ),
        }
        if window.offset > 0 {
            check.fail("offset", "must not stand beside cursor");
        }
        walk
    }

    /// How many rows to read and to pass over: one more than the page has, which tells
    /// whether there is a next page.
    pub fn rows(&self) -> RowWindow {
        let RowWindow { limit, offset } = self.window.rows();
        RowWindow { limit: limit + 1, offset }
    }

    /// The entries of the list: as the cursor says, or as they were counted now.
    pub fn total(&self, counted: i64) -> i64 {
        self.total.unwrap_or(counted)
    }

    /// Whether it is the first page of the list.
    pub fn is_first(&self) -> bool {
        self.after.is_none() && self.window.offset == 0
    }

    /// Takes the row too many away, and says where the page stands.
    pub fn pagination<R>(
        &self,
        rows: &mut Vec<R>,
        total: i64,
        place: impl Fn(&R) -> P,
    ) -> CursorPagination {
        let Window { limit, offset } = self.window;
        let most = usize::try_from(limit).unwrap_or(0);
        let has_more = rows.len() > most;
        rows.truncate(most);
        let last = rows.last().filter(|_| has_more);
        let next_cursor = last.map(|last| self.scope.write(&(total, place(last))));
        CursorPagination { total, limit, offset, next_cursor }
    }

    /// The page of some rows, of which there may be one too many, and how many there are
    /// where the list was counted.
    pub fn page<R, T>(
        &self,
        (mut rows, counted): (Vec<R>, u64),
        place: impl Fn(&R) -> P,
        shown: impl Fn(R) -> T,
    ) -> CursorListOf<T> {
        let total = self.total(i64::try_from(counted).unwrap_or(i64::MAX));
        let pagination = self.pagination(&mut rows, total, place);
        CursorListOf { data: rows.into_iter().map(shown).collect(), pagination }
    }
}

/// Where a page stands in its list, and how to go on.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CursorPagination")]
pub struct CursorPagination {
    /// Entries of the whole list; with a cursor, as many as when its first page was read.
    pub total: i64,
    /// Most entries of this page, as asked for.
    pub limit: i64,
    /// Entries that were passed over, as asked for.
    pub offset: i64,
    /// The `cursor` of the next page; null when this is the last one.
    pub next_cursor: Option<String>,
}

/// A page of a list that is walked with cursors.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub struct CursorListOf<T> {
    /// The entries of this page.
    data: Vec<T>,
    /// Where this page stands in the list.
    pagination: CursorPagination,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::UserId;

    fn scope(sealer: &Arc<Sealer>, owner: i64, filters: &str) -> ListScope {
        let name = format!("cursor {} orders {filters}", UserId(owner).0);
        ListScope { sealer: Arc::clone(sealer), name }
    }

    #[test]
    fn a_cursor_is_good_for_its_owner_list_and_filters_alone() {
        let sealer = Arc::new(Sealer::new([7; 32]));
        let ours = scope(&sealer, 1, "paid");
        let cursor = ours.write(&(3, "GAR-500", 7));
        assert_eq!(ours.read(&cursor), Some((3, "GAR-500".to_owned(), 7)));
        for other in [
            scope(&sealer, 2, "paid"),
            scope(&sealer, 1, ""),
            scope(&Arc::new(Sealer::new([8; 32])), 1, "paid"),
        ] {
            assert_eq!(other.read::<(i64, String, i64)>(&cursor), None);
        }
        for at in 0..cursor.len() {
            let letter = if &cursor[at..=at] == "A" { "B" } else { "A" };
            let changed = format!("{}{letter}{}", &cursor[..at], &cursor[at + 1..]);
            assert_eq!(ours.read::<(i64, String, i64)>(&changed), None, "{changed}");
        }
        for made_up in ["", "0", "eyJpZCI6MX0", "%", &"A".repeat(LONGEST + 1)] {
            assert_eq!(ours.read::<(i64, String, i64)>(made_up), None, "{made_up}");
        }
    }
}
