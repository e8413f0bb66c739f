//! Finds a token by digest, in memory when it was used of late; a stale entry is read
//! again.
//!
//! The last use of a token is noted here and written later, so a token that is
//! used all day costs one write a minute.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::accounts::store as accounts;
use crate::app::App;
use crate::base::{Instant, TokenHash};
use crate::db::Lane;
use crate::http::Problem;
use crate::identity::last_uses::LastUse;
use crate::identity::token::{CachedToken, ENTRY_BYTES, TokenKind, TokenRecord};
use crate::keys::store as keys;
use crate::partner::oauth::store as oauth;
use crate::partner::store as partners;

/// The last use of a token is written at most once in so many seconds.
const TOUCH_EVERY_S: i64 = 60;
/// A token by digest, from memory when it is there and not stale.
pub(super) fn lookup(
    app: &App,
    kind: TokenKind,
    hash: TokenHash,
) -> Result<Arc<CachedToken>, Problem> {
    let key = (kind, hash);
    let current = |record: &TokenRecord| match record.owner() {
        Some(owner) => app.versions.of(owner),
        None if kind == TokenKind::Key => app.versions.keys(),
        None => app.versions.tokens(),
    };
    let kept = app.callers.identities.entries.get(&key);
    if let Some((version, entry)) = &kept
        && *version == current(&entry.record)
    {
        return Ok(Arc::clone(entry));
    }
    let read = || {
        app.db.read(Lane::InPlace, |tx| match kind {
            TokenKind::Extension => accounts::extension_token(tx, &hash),
            TokenKind::Session => accounts::session(tx, &hash),
            TokenKind::Partner => partners::token(tx, &hash, &app.config, app.zone()),
            TokenKind::Granted => oauth::token(tx, &hash, &app.config, app.zone()),
            TokenKind::Key => {
                let found = keys::by_hash(tx, &hash)?;
                let record =
                    found.map_or(TokenRecord::Nothing, |key| TokenRecord::Key(Arc::new(key)));
                Ok((record, Instant(i64::MIN)))
            }
        })
    };
    // The version must be read before the data. The owner of the version is
    // known only from the data, so the first lookup of a token reads twice.
    let mut version = current(&TokenRecord::Nothing);
    let (mut record, mut last_used) = read()?;
    if record.owner().is_some() {
        version = current(&record);
        (record, last_used) = read()?;
    }
    // The last use in memory is newer than the one in the database.
    let remembered = kept.map_or(i64::MIN, |(_, entry)| entry.used_at.load(Ordering::Relaxed));
    let entry = Arc::new(CachedToken {
        record,
        version,
        used_at: AtomicI64::new(last_used.0.max(remembered)),
        noted_at: AtomicI64::new(i64::MIN / 2),
    });
    app.callers.identities.entries.put(key, version, Arc::clone(&entry), ENTRY_BYTES);
    Ok(entry)
}

impl CachedToken {
    /// Notes a successful use, for idle times and the last-use columns.
    pub(super) fn mark_used(
        &self,
        app: &App,
        kind: TokenKind,
        hash: TokenHash,
        now: Instant,
        address: IpAddr,
    ) {
        self.used_at.store(now.0, Ordering::Relaxed);
        if now.0.saturating_sub(self.noted_at.load(Ordering::Relaxed)).saturating_abs()
            >= TOUCH_EVERY_S
            && let Some(owner) = self.record.owner()
        {
            self.noted_at.store(now.0, Ordering::Relaxed);
            app.callers.last_uses.note(kind, hash, LastUse::Person { owner, at: now, address });
        }
    }
}
