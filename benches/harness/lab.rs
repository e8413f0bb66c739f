//! The environment of measurements: the executable, the hello server, the
//! seeded files, and servers that run on copies of them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::args::Args;
use crate::hello;
use crate::people::{CHECKOUT_TOKENS, CLIENT_ID, CLIENT_SECRET};
use crate::seed::{self, Recipe};
use crate::server::Server;

/// Settings of every measured server: limits that are never reached, only
/// warnings logged, no periodic work of its own.
const SETTINGS: [(&str, &str); 15] = [
    ("SERVER__LISTEN", "127.0.0.1:0"),
    ("CRON__ENABLED", "false"),
    ("LOG__LEVEL", "warn"),
    ("LIMITS__REQUESTS", "1000000000"),
    ("LIMITS__PARTNER_GET", "1000000000"),
    ("LIMITS__PARTNER_POST", "1000000000"),
    ("LIMITS__LOGIN_FAILURES", "1000000000"),
    ("PARTNER__PLANS__SCALE__QUOTA", "1000000000"),
    ("PARTNER__PLANS__SCALE__PER_MINUTE", "1000000000"),
    ("SECURITY__SECRET_KEY", "bench-secret-key-0123456789abcdef"),
    ("MARKETPLACE__SIGNATURE", "required"),
    ("MARKETPLACE__CLIENT_ID", CLIENT_ID),
    ("MARKETPLACE__CLIENT_SECRET", CLIENT_SECRET),
    ("CHECKOUT__TOKENS", CHECKOUT_TOKENS),
    // Nothing listens there, so a measured server makes no calls.
    ("MARKETPLACE__API_BASE", "http://127.0.0.1:9"),
];

/// Everything that the cases share.
pub struct Lab {
    /// How to measure.
    pub args: Args,
    /// The hello server, which is the ceiling.
    pub hello: Server,
    exe: PathBuf,
    target: PathBuf,
}

/// A server on a copy of a seeded file; both are removed when this is dropped.
pub struct Site {
    pub server: Server,
    /// Its database.
    pub file: PathBuf,
    // Removed last, after the server has ended.
    _folder: tempfile::TempDir,
}

/// A copy of a seeded file in a folder of its own.
pub struct Copy {
    /// The database.
    pub file: PathBuf,
    folder: tempfile::TempDir,
}

impl Lab {
    /// Finds the executable, makes the data folder, starts the hello server.
    pub fn open(args: Args) -> anyhow::Result<Self> {
        let exe = args
            .exe
            .clone()
            .unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_seller-platform")));
        let exe = exe
            .canonicalize()
            .with_context(|| format!("finding the executable {}", exe.display()))?;
        ensure!(args.orders.is_sorted(), "--orders must be ascending");
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
        let lab = Self { args, hello: hello::start()?, exe, target };
        std::fs::create_dir_all(lab.data())?;
        std::fs::write(lab.log(), "")?;
        Ok(lab)
    }

    /// The executable under measurement.
    pub fn exe(&self) -> &Path {
        &self.exe
    }

    /// Folder of the seeded files.
    pub fn data(&self) -> PathBuf {
        self.target.join("bench-data")
    }

    /// The log of the measured servers and commands of this run.
    fn log(&self) -> PathBuf {
        self.data().join("server.log")
    }

    /// Where the figures are written.
    pub fn json_file(&self) -> PathBuf {
        self.target.join("bench.json")
    }

    /// A command of the executable, on a file, with the settings of all
    /// measurements. It sees no other configuration.
    pub fn command(&self, file: &Path) -> anyhow::Result<Command> {
        let log = std::fs::File::options().create(true).append(true).open(self.log())?;
        let mut command = Command::new(&self.exe);
        command
            .arg("--db")
            .arg(file)
            .current_dir(self.data())
            .env_clear()
            .envs(SETTINGS.map(|(name, value)| (format!("SELLER_PLATFORM__{name}"), value)))
            .stdin(Stdio::null())
            .stderr(log);
        Ok(command)
    }

    /// A copy of a seeded file, made first if it is not there yet.
    pub fn copy(&self, recipe: Recipe) -> anyhow::Result<Copy> {
        let seeded = seed::file(self, recipe)?;
        let folder = tempfile::Builder::new().prefix("run-").tempdir_in(self.data())?;
        let file = folder.path().join("bench.db");
        std::fs::copy(&seeded, &file)?;
        seed::freshen(&file)?;
        Ok(Copy { file, folder })
    }

    /// A server on a copy of a seeded file; `extra` settings override those of
    /// all measurements.
    pub fn site(&self, recipe: Recipe, extra: &[(&str, &str)]) -> anyhow::Result<Site> {
        self.site_with(recipe, extra, |_| Ok(()))
    }

    /// The same with more rows in the copy, which `prepare` adds before the start.
    pub fn site_with(
        &self,
        recipe: Recipe,
        extra: &[(&str, &str)],
        prepare: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<Site> {
        let Copy { file, folder } = self.copy(recipe)?;
        prepare(&file)?;
        Ok(Site { server: self.serve(&file, extra)?, file, _folder: folder })
    }

    /// A server on a file.
    pub fn serve(&self, file: &Path, extra: &[(&str, &str)]) -> anyhow::Result<Server> {
        let mut command = self.command(file)?;
        command.arg("serve");
        for (name, value) in extra {
            command.env(format!("SELLER_PLATFORM__{name}"), value);
        }
        let server = Server::start(command)?;
        server.settle()?;
        Ok(server)
    }

    /// The smallest database that was asked for.
    pub fn small(&self) -> Recipe {
        Recipe::orders(self.args.orders.first().copied().unwrap_or(10_000))
    }

    /// The largest database that was asked for.
    pub fn large(&self) -> Recipe {
        Recipe::orders(self.args.orders.last().copied().unwrap_or(1_000_000))
    }
}

/// Shows the waiting person what is being done.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "harness: {text}");
}

/// Lets time pass. A measurement over time has nothing else to wait for.
pub fn pause(time: Duration) {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}
