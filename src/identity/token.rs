//! Tokens as the database knows them, and those of them that are kept in memory.
//!
//! `guard/lookup.rs` reads them and finds out which are stale.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use super::PartnerToken;
use crate::accounts::{Account, Viewing};
use crate::base::cache::Cache;
use crate::base::{Instant, TokenHash, UserId};
use crate::keys::ApiKey;
use crate::partner::Plan;
use crate::partner::oauth::Granted;

/// Bytes for known tokens; about fifty thousand of them.
const CACHE_BYTES: usize = 16 * 1024 * 1024;
pub(super) const ENTRY_BYTES: usize = 320;

/// A token as the database knows it.
#[derive(Clone)]
pub enum TokenRecord {
    Extension {
        account: Arc<Account>,
        expires_at: Instant,
        revoked: bool,
    },
    Session {
        account: Arc<Account>,
        created_at: Instant,
        ended: bool,
        /// Set while an administrator views the panel as a student.
        viewing: Option<Viewing>,
    },
    Partner {
        account: Arc<Account>,
        token: Arc<PartnerToken>,
        revoked: bool,
        plan: Option<Plan>,
        /// Set for the access token of a connected app.
        granted: Option<Granted>,
    },
    Key(Arc<ApiKey>),
    Nothing,
}

impl TokenRecord {
    pub(super) fn owner(&self) -> Option<UserId> {
        match self {
            Self::Extension { account, .. }
            | Self::Session { account, .. }
            | Self::Partner { account, .. } => Some(account.user_id),
            Self::Key(_) | Self::Nothing => None,
        }
    }
}

/// Kinds of tokens, each with its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    Extension,
    Session,
    Partner,
    /// Access tokens of connected apps.
    Granted,
    Key,
}

pub struct CachedToken {
    pub(super) record: TokenRecord,
    /// The version at which the token was read.
    pub(super) version: u64,
    /// Last use, in seconds; written later, at most once a minute.
    pub(super) used_at: AtomicI64,
    pub(super) noted_at: AtomicI64,
}

/// Recently used tokens, by digest.
pub struct Identities {
    pub(super) entries: Cache<(TokenKind, TokenHash), Arc<CachedToken>>,
}

impl Default for Identities {
    fn default() -> Self {
        Self { entries: Cache::new(CACHE_BYTES) }
    }
}

impl CachedToken {
    /// The last use of the token; `None` if it was never used.
    pub(super) fn last_used_at(&self) -> Option<Instant> {
        let used_at = self.used_at.load(Ordering::Relaxed);
        (used_at != i64::MIN).then_some(Instant(used_at))
    }
}
