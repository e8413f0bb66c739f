//! The promises of this folder, each tested with a real file in a new folder.

mod copies;
mod jobs;
mod log;
mod opening;
mod schema;

use std::path::PathBuf;

use super::*;

/// A database in a folder that is removed when the value is dropped.
struct TestFile {
    folder: tempfile::TempDir,
}

impl TestFile {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("seller.db")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn options(&self) -> Options {
        Options { path: self.path(), clock: Clock::System, readers: 4, slow_readers: 2 }
    }

    fn open(&self) -> Db {
        Db::open_exclusive(&self.options()).unwrap().0
    }

    /// Names of the files in the folder, sorted.
    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A new database, open.
fn opened() -> (TestFile, Db) {
    let place = TestFile::new();
    let db = place.open();
    (place, db)
}

/// A database that was made and closed.
fn made() -> TestFile {
    let place = TestFile::new();
    place.open().close().unwrap();
    place
}

fn put(tx: &WriteTx<'_>, name: &str, value: &[u8]) -> Result<()> {
    tx.execute(
        "INSERT INTO setting (name, value, updated_at) VALUES (?1, ?2, ?3)",
        (name, value, tx.now().0),
    )?;
    Ok(())
}

fn has(tx: &ReadTx<'_>, name: &str) -> Result<bool> {
    let found = tx.optional("SELECT 1 FROM setting WHERE name = ?1", [name], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Settings beside the number of commits.
const COUNT: &str = "SELECT count(*) FROM setting WHERE name <> 'commits'";

fn count(db: &Db) -> i64 {
    db.read(Lane::InPlace, |tx| tx.value(COUNT, [])).map_err(|error: DbError| error).unwrap()
}

/// Runs a write that cannot fail for a reason of its own.
fn write<T: Send + 'static>(
    db: &Db,
    job: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
) -> T {
    db.write(job).unwrap()
}

/// Waits until `holds`, at most ten seconds.
#[track_caller]
fn wait_until(mut holds: impl FnMut() -> bool) {
    let (_sender, never) = std::sync::mpsc::channel::<()>();
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        let _ = never.recv_timeout(Duration::from_millis(10));
    }
    panic!("it did not come true within ten seconds");
}
