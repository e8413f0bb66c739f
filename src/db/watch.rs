//! Reports what commits change, so that data kept in memory becomes stale.
//!
//! TEMP triggers on the writer's connection note the key of every row that
//! changes in a watched table, whatever statement changed it: one of ours, a
//! trigger of the schema, or a cascade. After the commit the keys are reported.
//! The triggers are not stored in the file. SQLite's update hook cannot be used,
//! because it skips tables without a rowid. Decision db-18.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Null;

use super::Result;

/// A watched table.
pub struct Watch<T> {
    pub table: &'static str,
    /// The statements to look at: `INSERT`, `DELETE`, `UPDATE`, and `UPDATE OF` some columns.
    pub events: &'static [&'static str],
    /// The column that is reported; empty for none, and then 0 is reported.
    pub key: &'static str,
    /// What the change means to the caller.
    pub meaning: T,
}

/// Called with what a commit changed: the index of the watched table, and the key.
type Listener = Box<dyn Fn(usize, i64) + Send + Sync>;

/// Changes of the transaction under way.
#[derive(Default)]
pub struct Changes {
    noted: Mutex<HashSet<(usize, i64), foldhash::fast::RandomState>>,
    listener: OnceLock<Listener>,
}

impl Changes {
    /// Reports the noted changes after a commit.
    pub fn committed(&self) {
        let mut noted = self.noted.lock();
        if let Some(listener) = self.listener.get() {
            noted.iter().for_each(|(watch, key)| listener(*watch, *key));
        }
        noted.clear();
    }

    /// Forgets the noted changes after a rollback.
    pub fn undone(&self) {
        self.noted.lock().clear();
    }

    /// From now on calls `listener` for the changes of each commit.
    pub fn listen(&self, listener: Listener) {
        // There is one place for a listener: a second one would get no changes.
        assert!(self.listener.set(listener).is_ok(), "changes are watched once");
    }
}

/// Makes the triggers that note changes.
pub fn install<T>(
    connection: &Connection,
    watches: &[Watch<T>],
    changes: Arc<Changes>,
) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("note_change", 2, flags, move |call| {
        let watch = usize::try_from(call.get::<i64>(0)?).unwrap_or(usize::MAX);
        changes.noted.lock().insert((watch, call.get(1)?));
        Ok(Null)
    })?;
    for (place, watch) in watches.iter().enumerate() {
        for event in watch.events {
            let rows: &[&str] = match event.as_bytes()[0] {
                b'I' => &["NEW"],
                b'D' => &["OLD"],
                _ => &["OLD", "NEW"],
            };
            let notes = rows.iter().map(|row| match watch.key {
                "" => format!("note_change({place}, 0)"),
                key => format!("note_change({place}, coalesce({row}.{key}, 0))"),
            });
            let name = format!("watch_{place}_{}", &event[..1]);
            connection.execute_batch(&format!(
                "CREATE TEMP TRIGGER {name} AFTER {event} ON main.{} BEGIN SELECT {}; END",
                watch.table,
                notes.collect::<Vec<_>>().join(", "),
            ))?;
        }
    }
    Ok(())
}
