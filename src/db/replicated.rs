//! A program beside the server that copies the log away: Litestream.
//!
//! It keeps a read transaction open, so nobody else can restart the log, and it
//! writes to two tables of its own when it checkpoints. Decisions replica-1, replica-3.

use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension as _, ffi};

use super::count;
use super::pragmas::WRITER_PATIENCE;
use super::readers::WorkerConnections;
use super::writer::execute;

/// Pause between two tries to begin while another program checkpoints, which takes some
/// milliseconds. SQLite itself would wait longer and longer.
const PAUSE: Duration = Duration::from_millis(1);

/// Begins a write. While another program holds the lock, no kept snapshot may hold up
/// the checkpoint for which it may have taken it: each would wait for the other.
pub fn begin(
    connection: &Connection,
    worker_connections: &WorkerConnections,
) -> Result<(), ffi::Error> {
    let begun = Instant::now();
    let set =
        |patience| connection.busy_timeout(patience).map_err(|error| super::writer::bare(&error));
    set(Duration::ZERO)?;
    let outcome = loop {
        match execute(connection, "BEGIN IMMEDIATE") {
            Err(code)
                if code.code == rusqlite::ErrorCode::DatabaseBusy
                    && begun.elapsed() < WRITER_PATIENCE =>
            {
                worker_connections.end_kept();
                std::thread::park_timeout(PAUSE);
            }
            outcome => break outcome,
        }
    };
    set(WRITER_PATIENCE)?;
    outcome
}

/// What tells a change of the other program from one of a command.
#[derive(Default)]
pub struct Foreign {
    /// The number of commits, which commands raise too.
    commits: i64,
    /// The other program's own number; 0 where it never was.
    sequence: i64,
    /// A command committed between two commits of this process.
    has_command: bool,
}

impl Foreign {
    /// This process committed.
    pub fn counted(&mut self, commits: i64) {
        self.has_command |= commits != self.commits + 1;
        self.commits = commits;
    }

    /// Looks again after somebody else committed; false when that was only the other
    /// program, which changes nothing that is kept in memory.
    pub fn look(&mut self, connection: &Connection) -> bool {
        let before = (self.commits, self.sequence);
        self.commits = count::stored(connection).unwrap_or_default();
        self.sequence = sequence(connection);
        let has_command = std::mem::take(&mut self.has_command);
        has_command || self.commits != before.0 || self.sequence == before.1
    }
}

fn sequence(connection: &Connection) -> i64 {
    let sql = "SELECT seq FROM _litestream_seq WHERE id = 1";
    let found = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)).optional());
    found.ok().flatten().unwrap_or_default()
}

/// Whether the other program ever opened this database.
pub fn is_known(connection: &Connection) -> bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_litestream_seq')";
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_the_other_program_is_told_from_one_of_a_command() {
        let connection = Connection::open_in_memory().unwrap();
        let tables = "CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB, updated_at INTEGER);
            CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
            INSERT INTO setting VALUES ('commits', CAST('7' AS BLOB), 0);
            INSERT INTO _litestream_seq VALUES (1, 1);";
        connection.execute_batch(tables).unwrap();
        let set = |commits: i64, sequence: i64| {
            let rows = format!(
                "UPDATE setting SET value = CAST('{commits}' AS BLOB); UPDATE _litestream_seq SET seq = {sequence}"
            );
            connection.execute_batch(&rows).unwrap();
        };
        let mut foreign = Foreign::default();
        foreign.look(&connection);
        set(7, 2);
        assert!(!foreign.look(&connection), "the other program alone");
        set(8, 2);
        foreign.counted(8);
        set(8, 3);
        assert!(!foreign.look(&connection), "the other program and this one");
        set(9, 4);
        assert!(foreign.look(&connection), "a command, and the other program");
        set(11, 5);
        foreign.counted(11);
        assert!(foreign.look(&connection), "a command before a commit of this process");
        assert!(foreign.look(&connection), "somebody who counts nothing");
        assert!(is_known(&connection));
    }
}
