//! A machine with a replica, by Litestream.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::process::{EXECUTABLE, Outcome, Process, run};
use crate::support::site::{CLIENT_ID, CLIENT_SECRET};
use crate::support::wait::until;

/// Within this time a standby has its copy, and a replica follows.
pub const FOLLOWS: Duration = Duration::from_secs(40);

/// A server that was taken over from ends within a minute.
pub const MINUTE: Duration = Duration::from_secs(60);

/// The instant by the clock of the system, which Litestream goes by.
#[expect(clippy::disallowed_methods, reason = "Litestream goes by the machine's clock")]
pub fn now() -> Timestamp {
    SystemTime::now().try_into().unwrap()
}

/// The executable of Litestream.
pub fn litestream() -> PathBuf {
    if let Some(named) = std::env::var_os("SELLER_PLATFORM_TEST_LITESTREAM") {
        return named.into();
    }
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/litestream/bin/litestream");
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join("litestream"));
    found.chain([built]).find(|path| path.is_file()).expect("Litestream is installed")
}

/// A machine: a folder with a configuration.
pub struct Machine {
    pub folder: TempDir,
}

impl Machine {
    /// A machine whose replica is in `replica`.
    pub fn new(replica: &Path) -> Self {
        Self::with(&format!("file://{}", replica.display()), &litestream())
    }

    pub fn with(url: &str, litestream: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = format!(
            "[database]\npath = \"seller.db\"\n[cron]\nenabled = false\n\
             [marketplace]\napi_base = \"http://127.0.0.1:9\"\nauth_base = \"http://127.0.0.1:9\"\n\
             client_id = \"{CLIENT_ID}\"\nclient_secret = \"{CLIENT_SECRET}\"\n\
             [limits]\nrequests = 1000000\n\
             [replica]\nurl = \"{url}\"\nlitestream = \"{}\"\nsecret_key = \"a-secret-of-the-bucket\"\n",
            litestream.display()
        );
        std::fs::write(folder.path().join("seller-platform.toml"), settings).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(EXECUTABLE);
        command.env_clear().current_dir(self.folder.path()).args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        run(&mut self.command(arguments), "")
    }

    #[track_caller]
    pub fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}\n{}\n{}", done.stdout, done.stderr);
        done.stdout
    }

    #[track_caller]
    pub fn refuses(&self, arguments: &[&str], words: &[&str]) {
        let done = self.run(arguments);
        assert_eq!(done.code, Some(1), "{arguments:?}\n{}\n{}", done.stdout, done.stderr);
        for word in words {
            assert!(done.stderr.contains(word), "{word:?} is not said\n{}", done.stderr);
        }
    }

    #[track_caller]
    pub fn serve(&self) -> Process {
        Process::start(&mut self.command(&["serve", "--listen", "127.0.0.1:0"]))
    }

    #[track_caller]
    pub fn standby(&self) -> Process {
        Process::start(&mut self.command(&["standby", "--listen", "127.0.0.1:0"]))
    }

    pub fn take_key_of(&self, other: &Self) {
        std::fs::copy(other.path("seller.db.key"), self.path("seller.db.key")).unwrap();
    }

    /// Adds lines to its section `replica`, the last one of its configuration.
    pub fn add(&self, lines: &str) {
        let path = self.path("seller-platform.toml");
        let settings = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, settings + lines).unwrap();
    }

    /// `resource` of all notifications in the database.
    pub fn kept(&self) -> Vec<String> {
        kept(&self.path("seller.db"))
    }

    /// Waits until the server's replica has what was written before.
    #[track_caller]
    pub fn wait_level(&self) {
        let since = now();
        until("the replica is level", FOLLOWS, || {
            let level = now() - SignedDuration::from_secs(self.behind()?);
            (level > since).then_some(())
        });
    }

    /// By how many seconds the replica is behind, as `check` says.
    pub fn behind(&self) -> Option<i64> {
        self.check_of("replica").split(" s behind").next()?.rsplit(' ').next()?.parse().ok()
    }

    /// The text of a line of `check`.
    pub fn check_of(&self, what: &str) -> String {
        let printed = self.run(&["check", "--json"]).stdout;
        let report: Value = serde_json::from_str(&printed).unwrap();
        let found = report["findings"].as_array().unwrap().iter().find(|one| one["what"] == what);
        found.unwrap()["text"].as_str().unwrap().to_owned()
    }
}

pub fn kept(database: &Path) -> Vec<String> {
    let connection =
        Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut statement = connection.prepare("SELECT resource FROM ml_notification").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}
