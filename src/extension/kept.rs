//! Dashboards kept in memory, ready to send.
//!
//! A dashboard stays true until something of its owner or of the content
//! changes (`stale.rs` lists what raises their versions), the civil day ends,
//! or an instant passes that it carries with it: the next minute while it
//! counts minutes down to a meet.

use bytes::Bytes;

use crate::base::cache::Cache;
use crate::base::clock::{Day, Instant};
use crate::base::ids::UserId;

/// Bytes kept for dashboards.
const BYTES: usize = 16 * 1024 * 1024;
/// Bytes of an entry beside the body.
const ENTRY_BYTES: usize = 160;

/// A dashboard with what it was made from.
#[derive(Clone)]
pub struct Kept {
    pub day: Day,
    pub made_at: Instant,
    /// When it is no longer true, if time alone ends it within the day.
    pub until: Option<Instant>,
    pub body: Bytes,
}

/// The dashboards kept, by owner.
pub struct Dashboards {
    kept: Cache<UserId, Kept>,
}

impl Default for Dashboards {
    fn default() -> Self {
        Self { kept: Cache::new(BYTES) }
    }
}

impl Dashboards {
    /// An owner's dashboard, when it is kept and true at `now`. The version is
    /// the owner's and the content's together.
    pub fn get(&self, owner: UserId, version: u64, day: Day, now: Instant) -> Option<Bytes> {
        let (of, kept) = self.kept.get(&owner)?;
        let is_current = of == version
            && kept.day == day
            && kept.until.is_none_or(|until| now < until)
            // A clock that was set back makes what was read before it worthless.
            && kept.made_at.minute() <= now.minute() + 1;
        is_current.then_some(kept.body)
    }

    /// Keeps an owner's dashboard and returns its body.
    pub fn keep(&self, owner: UserId, version: u64, kept: Kept) -> Bytes {
        let body = kept.body.clone();
        self.kept.put(owner, version, kept, ENTRY_BYTES + body.len());
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::{Account, Role};
    use crate::base::clock::{Clock, Zone};
    use crate::db::{Db, Options};
    use crate::extension::api::facts;
    use crate::marketplace::books::orders::list::{Filter, read_page};
    use crate::marketplace::books::words::Words;
    use crate::stale;

    /// Tables and columns that kept answers read and nobody watches, because
    /// they never change, or are not shown.
    const UNWATCHED: [(&str, &str); 4] = [
        ("sold_item", "rows are only added"),
        ("word", "rows are only added"),
        ("ml_sync", "the dashboard does not show how far an account is read"),
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
            tx.execute(
                "INSERT INTO meet (title, starts_at, minutes, created_at, updated_at)
                 VALUES ('Mentoria', ?1 + 60, 60, ?1, ?1)",
                [tx.now().0],
            )
        })
        .unwrap();
        let zone = Zone(chrono_tz::America::Sao_Paulo);
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
        let read = db.columns_read(|tx| {
            facts(tx, &ana(), Day(20_000), tx.now()).unwrap();
            for status in [None, Some("paid")] {
                read_page(tx, &Words::default(), UserId(1), &filter(status)).unwrap();
            }
        });
        for (table, column) in &read {
            let is_known = UNWATCHED.iter().any(|(known, _)| known == table);
            let is_watched = stale::is_watched(table, column);
            assert!(is_known || is_watched, "nobody watches {table}.{column}");
        }
        for table in ["notification", "sales_day", "meet", "user_permission", "order_count"] {
            assert!(read.iter().any(|(read, _)| read == table), "{table} was not read");
        }
    }
}
