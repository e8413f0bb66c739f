//! What a server has at some moment: memory, handles, files, rows.

use rusqlite::{Connection, OpenFlags};

use crate::support::memory;
use crate::support::site::Site;

/// The head of a table of states.
pub const HEAD: [&str; 2] = [
    "| when | memory MB | handles | database MB | its log MB | rows | service log MB |",
    "|---:|---:|---:|---:|---:|---:|---:|",
];

#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Resident bytes, without the code of the executable.
    pub memory: u64,
    pub handles: usize,
    pub database: u64,
    /// Bytes of the write-ahead log.
    pub log: u64,
    pub rows: i64,
    /// Bytes that the server has written to its log.
    pub said: usize,
}

impl State {
    #[track_caller]
    pub fn of(site: &Site) -> Self {
        let size = |path| std::fs::metadata(path).map_or(0, |file| file.len());
        let handles = std::fs::read_dir(format!("/proc/{}/fd", site.pid())).unwrap().count();
        Self {
            memory: memory::resident(site.pid()),
            handles,
            database: size(site.database()),
            log: size(site.database().with_extension("db-wal")),
            rows: rows(site),
            said: site.log().len(),
        }
    }

    pub fn row(&self, when: &str) -> String {
        let megabytes =
            |bytes: u64| format!("{}.{}", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20);
        format!(
            "| {when} | {} | {} | {} | {} | {} | {} |",
            megabytes(self.memory),
            self.handles,
            megabytes(self.database),
            megabytes(self.log),
            self.rows,
            megabytes(self.said as u64)
        )
    }
}

/// Rows of all tables, in a copy that the product made.
fn rows(site: &Site) -> i64 {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    site.command(&["backup", &copy.display().to_string()]).ok();
    let copy = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let names = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'";
    let mut names = copy.prepare(names).unwrap();
    let names: Vec<String> =
        names.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let count = |name: &String| -> i64 {
        let count = format!("SELECT count(*) FROM \"{name}\"");
        copy.query_row(&count, [], |row| row.get(0)).unwrap()
    };
    names.iter().map(count).sum()
}
