//! Fixtures for the tests of several modules: a temporary folder, a clock that the
//! test sets, a database, and the service on it without HTTP.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Row;

use crate::app::{App, Parts};
use crate::base::clock::tests::set_file;
use crate::base::{Clock, Instant, Sealer, Zone};
use crate::config::{self, Config, Overrides};
use crate::db::{Db, Lane, Options, ReadTx, Result, WriteTx};
use crate::effects::EFFECTS;

/// The time at the start of a test: 2026-11-20 12:00 UTC.
pub const NOW: Instant = Instant(1_795_176_000);
/// The time zone of most tests.
pub const ZONE: Zone = Zone::SAO_PAULO;

/// A temporary folder with a clock, which starts at [`NOW`].
pub struct TestDir {
    pub folder: tempfile::TempDir,
    clock_file: PathBuf,
}

impl TestDir {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock_file = folder.path().join("clock");
        let dir = Self { folder, clock_file };
        dir.now_is(NOW);
        dir
    }

    pub fn clock(&self) -> Clock {
        Clock::File(self.clock_file.clone())
    }

    /// Sets the clock.
    pub fn now_is(&self, now: Instant) {
        set_file(&self.clock_file, &now.rfc3339());
    }

    /// Opens a database in the folder.
    pub fn database(&self) -> Db {
        let path = self.folder.path().join("test.db");
        let options = Options { path, clock: self.clock(), readers: 2, slow_readers: 9 };
        Db::open_exclusive(&options).unwrap().0
    }
}

/// The service without HTTP.
pub struct TestApp {
    pub app: Arc<App>,
    pub dir: TestDir,
}

impl TestApp {
    pub fn new(config: Config) -> Self {
        Self::at(TestDir::new(), config)
    }

    /// The service in a folder that already exists.
    pub fn at(dir: TestDir, config: Config) -> Self {
        let parts = Parts {
            config,
            clock: dir.clock(),
            db: dir.database(),
            sealer: Sealer::new([7; 32]),
            bound: ([127, 0, 0, 1], 8080).into(),
            https: None,
            routes: Vec::new(),
            effects: EFFECTS,
            demo: Vec::new(),
        };
        Self { app: App::new(parts).unwrap(), dir }
    }

    pub fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&WriteTx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.app.db.write(job).unwrap()
    }

    pub fn read<T>(&self, read: impl FnOnce(&ReadTx<'_>) -> Result<T>) -> T {
        self.app.db.read(Lane::Slow, read).unwrap()
    }

    pub fn ask<T>(&self, sql: &str, row: impl Fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
        self.read(|tx| tx.all(sql, [], row))
    }
}

/// The default configuration with some settings changed. A setting is named like
/// its environment variable, without the prefix: `SERVER__TIMEZONE`.
pub fn config(settings: &[(&str, &str)]) -> Config {
    let variable =
        |(name, value): &(&str, &str)| (format!("SELLER_PLATFORM__{name}").into(), (*value).into());
    let variables = settings.iter().map(variable);
    config::load(None, variables, &Overrides::default()).unwrap().config
}

/// `is_one` knows a key or a token, which begins with `prefix`, and nothing near it.
pub fn has_one_form(key: &str, is_one: fn(&str) -> bool, [prefix, other]: [&str; 2]) {
    assert!(is_one(key), "{key}");
    let (longer, renamed) = (format!("{key}0"), key.replace(prefix, other));
    for near in ["", prefix, &key[..key.len() - 1], &key.to_uppercase(), &longer, &renamed] {
        assert!(!is_one(near), "{near}");
    }
}

/// A documented sample of an answer or notice of the marketplace: a file of
/// `tests/witness/`, and which of its samples.
pub fn witness(file: &str, sample: &str) -> serde_json::Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/witness");
    let text = std::fs::read(format!("{folder}/{file}.json")).unwrap();
    let mut witness: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let sample = witness["samples"][sample].take();
    assert!(!sample.is_null(), "{file} has no such sample");
    sample
}
