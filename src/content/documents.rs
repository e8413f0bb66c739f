//! Public documents in memory, ready to send. `public.rs` says what is in them.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;

use crate::base::Instant;
use crate::db::ReadTx;
use crate::http::conditional::Rendered;
use crate::http::envelope::Envelope;
use crate::http::reply::media;
use crate::http::{Problem, Reply, Request};
use crate::services::Services;

/// The documents of one service.
#[derive(Default)]
pub struct PublicContent {
    pub(super) plans: Document,
    pub(super) teachers: Document,
    pub(super) meets: Document,
    pub(super) context: Document,
    pub(super) schema: Document,
}

/// How long a document stays valid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheLifetime {
    UntilChanged,
    /// Until the content changes or the minute passes.
    AMinute,
}

/// One document in memory, with the version and the minute it was rendered for.
#[derive(Default)]
pub(super) struct Document(Mutex<Option<CachedPage>>);

struct CachedPage {
    version: u64,
    minute: i64,
    page: Arc<Page>,
}

/// A rendered document.
pub struct Page {
    pub rendered: Rendered,
    changed: Instant,
}

impl Page {
    /// The document as an answer of its own, without validators.
    pub fn reply(&self) -> Reply {
        Reply::of(media::JSON, self.rendered.body.clone())
    }
}

impl Document {
    /// The page, from memory while it is valid. Requests that arrive while it
    /// is being rendered wait for it, because they all need the same page. What
    /// `make` reads begins with the time of the last change, where that is stored.
    pub(super) fn page<T: Serialize>(
        &self,
        services: &Services,
        lifetime: CacheLifetime,
        request: &Request,
        message: &'static str,
        make: impl FnOnce(&ReadTx<'_>) -> Result<(Option<Instant>, T), Problem>,
    ) -> Result<Arc<Page>, Problem> {
        let minute = match lifetime {
            CacheLifetime::UntilChanged => 0,
            CacheLifetime::AMinute => request.now.minute(),
        };
        let mut cached = self.0.lock();
        // The version is read before the data, so a change in between makes the
        // page stale.
        let version = services.versions.content();
        if let Some(cached) = &*cached
            && cached.version == version
            // A late request of the minute before may use the newer page.
            && (cached.minute == minute || cached.minute == minute + 1)
        {
            return Ok(Arc::clone(&cached.page));
        }
        let (changed, data, at) = services.db.read(request.lane, |tx| {
            let (changed, data) = make(tx)?;
            Ok::<_, Problem>((changed, data, tx.now()))
        })?;
        let body = serde_json::to_vec(&Envelope::of(message, &data)).map_err(Problem::internal)?;
        let page = match cached.as_ref().map(|cached| &cached.page) {
            Some(before) if before.rendered.body == body => Arc::clone(before),
            before => {
                // `Last-Modified` grows with each different body, so a client that
                // asks by date misses no change.
                let least = before.map(|before| before.changed.plus(1));
                let changed = changed.unwrap_or(at).max(least.unwrap_or(Instant(i64::MIN)));
                Arc::new(Page { rendered: Rendered::new(body, Some(changed)), changed })
            }
        };
        *cached = Some(CachedPage { version, minute, page: Arc::clone(&page) });
        Ok(page)
    }
}
