//! A cache of dashboards, ready to send, and of their parts that a sale does
//! not change.
//!
//! A dashboard is valid until something of its owner or of the content changes
//! (`invalidation.rs` lists what raises their versions), the civil day ends, or it
//! expires: while it counts minutes down to a meet, that is at the next minute.
//! Permissions and meets are cached apart, so that after a sale only the other
//! data is read.

use std::sync::Arc;

use bytes::Bytes;

use crate::accounts::Permissions;
use crate::base::cache::Cache;
use crate::base::clock::{Day, Instant};
use crate::base::ids::UserId;
use crate::content::agenda::Ahead;

/// Bytes kept for dashboards.
const BYTES: usize = 16 * 1024 * 1024;
/// Bytes kept for bases of dashboards.
const BASE_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of an entry beside the body.
const ENTRY_BYTES: usize = 160;
/// Bytes of a meet beside its texts.
const MEET_BYTES: usize = 256;

/// The part of a dashboard that no sale changes.
pub struct DashboardBase {
    pub permissions: Permissions,
    pub ahead: Ahead,
}

/// A cached value, with what decides how long it is valid.
#[derive(Clone)]
pub struct Cached<V> {
    pub day: Day,
    pub made_at: Instant,
    /// When it expires, if it does so within the day without a change.
    pub until: Option<Instant>,
    pub value: V,
}

impl<V> Cached<V> {
    fn is_current(&self, day: Day, now: Instant) -> bool {
        self.day == day
            && self.until.is_none_or(|until| now < until)
            // After the clock was set back, older values are not used.
            && self.made_at.minute() <= now.minute() + 1
    }
}

/// The cached values, by owner. Callers give the versions, as for [`Cache`];
/// both include the version of the content.
pub struct DashboardCache {
    whole: Cache<UserId, Cached<Bytes>>,
    bases: Cache<UserId, Cached<Arc<DashboardBase>>>,
}

impl Default for DashboardCache {
    fn default() -> Self {
        Self { whole: Cache::new(BYTES), bases: Cache::new(BASE_BYTES) }
    }
}

impl DashboardCache {
    /// An owner's dashboard, when it is cached and valid at `now`.
    pub fn get(&self, owner: UserId, version: u64, day: Day, now: Instant) -> Option<Bytes> {
        current(&self.whole, owner, version, day, now)
    }

    /// Caches an owner's dashboard and returns its body.
    pub fn keep(&self, owner: UserId, version: u64, kept: Cached<Bytes>) -> Bytes {
        let body = kept.value.clone();
        self.whole.put(owner, version, kept, ENTRY_BYTES + body.len());
        body
    }

    /// The base of an owner's dashboard, when it is cached and valid at `now`.
    pub fn base(
        &self,
        owner: UserId,
        version: u64,
        day: Day,
        now: Instant,
    ) -> Option<Arc<DashboardBase>> {
        current(&self.bases, owner, version, day, now)
    }

    /// Caches the base of an owner's dashboard and returns it.
    pub fn keep_base(
        &self,
        owner: UserId,
        version: u64,
        kept: Cached<Arc<DashboardBase>>,
    ) -> Arc<DashboardBase> {
        let base = Arc::clone(&kept.value);
        let texts = base.ahead.meets.iter().map(|meet| {
            MEET_BYTES
                + meet.entry.title.len()
                + meet.entry.description.len()
                + meet.entry.link.len()
        });
        let bytes = ENTRY_BYTES + texts.sum::<usize>();
        self.bases.put(owner, version, kept, bytes);
        base
    }
}

fn current<V: Clone>(
    kept: &Cache<UserId, Cached<V>>,
    owner: UserId,
    version: u64,
    day: Day,
    now: Instant,
) -> Option<V> {
    let (of, kept) = kept.get(&owner)?;
    (of == version && kept.is_current(day, now)).then_some(kept.value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::accounts::{Account, Role};
    use crate::base::clock::{Clock, Zone};
    use crate::db::{Db, Options};
    use crate::extension::api::{books, read_base};
    use crate::invalidation::{self, Invalidates};
    use crate::marketplace::books::orders::list::{Filter, read_page};
    use crate::marketplace::books::words::Words;

    /// Tables that cached answers read and that need not be watched, with the
    /// reason.
    const UNWATCHED: [(&str, &str); 3] = [
        ("sold_item", "rows are only added"),
        ("word", "rows are only added"),
        ("sqlite_master", "a table that is looked up"),
    ];

    fn ana() -> Account {
        Account {
            user_id: UserId(1),
            name: "Ana".to_owned(),
            email: "ana@example.com".to_owned(),
            role: Role::Vip,
            photo: String::new(),
            suspended: false,
            agency: false,
        }
    }

    #[test]
    fn whatever_is_shown_from_memory_is_watched() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            path: folder.path().join("seller.db"),
            clock: Clock::System,
            readers: 1,
            slow_readers: 1,
        };
        let (db, _) = Db::open_exclusive(&options).unwrap();
        db.write(|tx| {
            tx.run(
                "INSERT INTO user (user_id, email, name, role, created_at) VALUES (1, 'ana@example.com', 'Ana', 'vip', ?1)",
                [tx.now()],
            )?;
            tx.run(
                "INSERT INTO ml_account (ml_user_id, owner_id, nickname, token_expires_at, token_ok, linked_at)
                 VALUES (7, 1, 'LOJA', ?1, 1, ?1)",
                [tx.now()],
            )?;
            tx.execute(
                "INSERT INTO meet (title, starts_at, minutes, created_at, updated_at)
                 VALUES ('Mentoria', ?1 + 60, 60, ?1, ?1)",
                [tx.now().0],
            )
        })
        .unwrap();
        let zone = Zone::SAO_PAULO;
        let filter = |status: Option<&str>| Filter {
            status: status.map(str::to_owned),
            store: None,
            days: (None, None),
            created: (None, None),
            items: None,
            limit: 20,
            offset: 0,
            oldest_first: false,
            zone,
            keys_only: false,
        };
        let of_books = db.columns_read(|tx| {
            books(tx, UserId(1), Day(20_000)).unwrap();
            for status in [None, Some("paid")] {
                read_page(tx, &Words::default(), UserId(1), &filter(status)).unwrap();
            }
        });
        let of_bases = db.columns_read(|tx| {
            read_base(tx, &ana(), tx.now()).unwrap();
        });
        let watched =
            |read: &BTreeSet<(String, String)>, raised: &[Invalidates], tables: &[&str]| {
                for (table, column) in read {
                    let is_known = UNWATCHED.iter().any(|(known, _)| known == table);
                    let is_watched = invalidation::is_watched(table, column, raised);
                    assert!(is_known || is_watched, "nobody watches {table}.{column}");
                }
                for table in tables {
                    assert!(read.iter().any(|(read, _)| read == table), "{table} was not read");
                }
            };
        let raises_bases = [Invalidates::Person, Invalidates::Everybody, Invalidates::Content];
        watched(&of_bases, &raises_bases, &["meet", "user_permission", "role_permission"]);
        let raises_books =
            [Invalidates::Books, Invalidates::Person, Invalidates::Everybody, Invalidates::Content];
        watched(&of_books, &raises_books, &["notification", "sales_day", "order_count"]);
    }
}
