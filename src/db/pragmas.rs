//! How connections are opened: every setting of SQLite in one place.
//!
//! Settings that durability and integrity depend on (log mode, sync, foreign
//! keys) are read back, because SQLite ignores settings that it cannot apply.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::OpenError;

/// How long the writer waits for a command that writes beside it.
pub const WRITER_PATIENCE: Duration = Duration::from_secs(5);

/// Statements that a connection keeps prepared.
const STATEMENTS: usize = 256;

/// Asserts that SQLite is at least 3.51.3: earlier ones can corrupt the file
/// when the log restarts.
pub fn check_version() -> Result<(), OpenError> {
    if rusqlite::version_number() < 3_051_003 {
        return Err(OpenError::OldSqlite { found: rusqlite::version() });
    }
    Ok(())
}

/// The connection that writes: WAL, synced at each commit, checkpointed by
/// hand. The file must exist.
pub fn open_writer(path: &Path) -> Result<Connection, OpenError> {
    let connection = open_plain(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let set = || -> rusqlite::Result<()> {
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA wal_autocheckpoint = 0;
             PRAGMA cell_size_check = ON;
             PRAGMA journal_size_limit = 67108864;
             PRAGMA cache_size = -16000;",
        )?;
        limit(&connection)
    };
    set().map_err(OpenError::sqlite(path))?;
    read_back(&connection, path, "journal_mode", "wal")?;
    read_back(&connection, path, "synchronous", "2")?;
    read_back(&connection, path, "foreign_keys", "1")?;
    if connection.is_readonly("main").unwrap_or(true) {
        return Err(OpenError::read_only(path, path));
    }
    Ok(connection)
}

/// A connection that only reads. The whole file is mapped into memory, so its own
/// cache stays small. The check of every cell, which the writer makes, is off: a
/// page is loaded anew for each read, and the check would take a tenth of the time.
pub fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_secs(2))?;
    connection.execute_batch(
        "PRAGMA query_only = ON;
         PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA mmap_size = 17179869184;
         PRAGMA cache_size = -2000;",
    )?;
    limit(&connection)?;
    Ok(connection)
}

/// A connection for migrations and copies: safe settings, no log mode of its
/// own, no limits on the length of a script.
pub fn open_plain(path: &Path, flags: OpenFlags) -> Result<Connection, OpenError> {
    open(path, flags).map_err(OpenError::sqlite(path))
}

/// A connection with the settings that all share. `path` is a URI when the flags
/// say so.
pub fn open(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // First, so that the next settings wait for a busy file instead of failing.
    connection.busy_timeout(WRITER_PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    // Query plans depend on the statement alone. Otherwise SQLite compiles some
    // statements (`LIMIT ?`, ranges) again for each new bound value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA temp_store = MEMORY;",
    )?;
    // `holds(text, key)`, for searches among few rows.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("holds", 2, flags, |call| {
        let text = call.get_raw(0).as_str_or_null()?.unwrap_or_default();
        Ok(crate::base::text::holds(text, call.get_raw(1).as_str()?))
    })?;
    Ok(connection)
}

/// Limits as a precaution: nothing that the service stores or asks comes near them.
fn limit(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 16 << 20)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, 64 << 10)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, 100)?;
    Ok(())
}

fn read_back(
    connection: &Connection,
    path: &Path,
    setting: &'static str,
    wanted: &'static str,
) -> Result<(), OpenError> {
    let found = connection
        .pragma_query_value(None, setting, |row| {
            Ok(match row.get_ref(0)? {
                rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                other => other.as_str()?.to_owned(),
            })
        })
        .map_err(OpenError::sqlite(path))?;
    if found == wanted {
        return Ok(());
    }
    Err(OpenError::Setting { path: path.to_owned(), setting, wanted, found })
}
