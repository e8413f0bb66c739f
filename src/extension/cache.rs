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
use crate::base::{Day, Instant, UserId};
use crate::content::agenda::Ahead;

const BYTES: usize = 16 * 1024 * 1024;
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

/// Values of owners. Callers give the versions, as for [`Cache`]; they include that of
/// the content.
pub struct Owned<V>(Cache<UserId, Cached<V>>);

impl<V: Clone> Owned<V> {
    /// An owner's value, when it is cached and valid at `now`.
    pub fn get(&self, owner: UserId, version: u64, day: Day, now: Instant) -> Option<V> {
        let (of, kept) = self.0.get(&owner)?;
        (of == version && kept.is_current(day, now)).then_some(kept.value)
    }

    /// Caches an owner's value, which has so many bytes, and returns it.
    pub fn keep(&self, owner: UserId, version: u64, kept: Cached<V>, bytes: usize) -> V {
        let value = kept.value.clone();
        self.0.put(owner, version, kept, ENTRY_BYTES + bytes);
        value
    }
}

/// What is cached of dashboards.
pub struct DashboardCache {
    pub whole: Owned<Bytes>,
    pub bases: Owned<Arc<DashboardBase>>,
}

impl Default for DashboardCache {
    fn default() -> Self {
        Self { whole: Owned(Cache::new(BYTES)), bases: Owned(Cache::new(BASE_BYTES)) }
    }
}

impl DashboardBase {
    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        let meets = self.ahead.meets.iter().map(|meet| &meet.entry);
        let texts = meets.map(|meet| meet.title.len() + meet.description.len() + meet.link.len());
        texts.map(|texts| MEET_BYTES + texts).sum()
    }
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
            status: status.map(str::to_owned).into_iter().collect(),
            ..Filter::all(zone, 20)
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
