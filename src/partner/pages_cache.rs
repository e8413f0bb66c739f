//! Rendered answers of the Partner API, kept by owner and query until
//! something of the owner changes.

use crate::base::cache::Cache;
use crate::base::ids::UserId;
use crate::http::conditional::Rendered;

/// Bytes kept for rendered answers.
const BYTES: usize = 16 * 1024 * 1024;

/// Owner, operation and raw query.
pub type PageKey = (UserId, &'static str, String);

/// The answers kept.
pub struct Pages {
    cache: Cache<PageKey, Rendered>,
}

impl Default for Pages {
    fn default() -> Self {
        Self { cache: Cache::new(BYTES) }
    }
}

impl Pages {
    /// The answer of a version, if it is kept.
    pub fn get(&self, key: &PageKey, version: u64) -> Option<Rendered> {
        self.cache.get(key).filter(|(kept, _)| *kept == version).map(|(_, page)| page)
    }

    /// Keeps an answer made from data that is at least as new as the version.
    pub fn put(&self, key: PageKey, version: u64, page: Rendered) {
        let bytes = page.body.len() + key.2.len() + 256;
        self.cache.put(key, version, page, bytes);
    }
}
