//! Checks of the whole file, each on a connection of its own.

use rusqlite::Connection;

use super::{Db, DbError, ReadTx, Result};

/// How thoroughly the database is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The form of all pages.
    Light,
    /// Also that each index has what its table has, and that rows refer to rows.
    Whole,
}

impl Depth {
    /// The first fault; `None` for a sound database.
    pub(super) fn first_fault(self, connection: &Connection) -> rusqlite::Result<Option<String>> {
        let pragma = match self {
            Self::Light => "PRAGMA quick_check(1)",
            Self::Whole => "PRAGMA integrity_check(1)",
        };
        let line: String = connection.query_row(pragma, [], |row| row.get(0))?;
        if line != "ok" {
            return Ok(Some(line));
        }
        if self == Self::Whole {
            let mut keys = connection.prepare("PRAGMA foreign_key_check")?;
            if let Some(row) = keys.query([])?.next()? {
                let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
                return Ok(Some(format!("a row of {table} refers to no row of {parent}")));
            }
        }
        Ok(None)
    }
}

impl ReadTx<'_> {
    /// The first fault of what is read; `None` for a sound database.
    pub fn first_fault(&self, depth: Depth) -> Result<Option<String>> {
        Ok(depth.first_fault(self.connection())?)
    }
}

impl Db {
    /// Checks the database; the first fault, which also raises the alarm, or
    /// `None` when it is sound. An error means that it could not be checked.
    pub fn check(&self, depth: Depth) -> Result<Option<String>> {
        let alarm = &self.inner.alarm;
        let found = {
            let readers = self.inner.readers.read();
            let readers = readers.as_ref().ok_or(DbError::Stopped)?;
            let reader = readers.for_check();
            reader.and_then(|reader| Ok(depth.first_fault(reader.connection())?))
        };
        // What SQLite refuses to open or to read is a fault like those that it lists.
        let found = match found {
            Err(DbError::Damaged(error)) => Ok(Some(error.to_string())),
            found => found,
        };
        super::alarm::take_fault();
        match &found {
            Ok(Some(fault)) => {
                alarm.judged_damaged();
                alarm.raise(fault);
            }
            Ok(None) if depth == Depth::Whole => alarm.judged_sound(),
            _ => {}
        }
        found
    }

    /// Ends the checks that run with [`DbError::Deadline`], before a stop.
    pub fn stop_checks(&self) {
        if let Some(readers) = &*self.inner.readers.read() {
            readers.stop_checks();
        }
    }

    /// Whether a damage that an earlier process found waits for a whole check.
    pub fn awaits_judgement(&self) -> bool {
        self.inner.alarm.is_unjudged()
    }
}
