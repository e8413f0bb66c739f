//! The server under test: a fresh folder, the real executable, its commands
//! and its clock.
//!
//! Dropping a [`Site`] stops it and checks how it ended: exit status 0, no
//! error and no secret in the log, exactly one database file left.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde::Deserialize;
use tempfile::TempDir;

use crate::support::checks::{self, Secret};
use crate::support::client::Reply;
use crate::support::memory::{self, Ceiling};
use crate::support::process::{EXECUTABLE, Outcome, Process, run};
use crate::support::world::World;

/// The instant at which every test begins.
pub const START: &str = "2026-11-20T12:00:00Z";

/// Secrets that the harness configures.
pub const CRON_SECRET: &str = "cron-secret-of-the-tests";
pub const CHECKOUT_TOKEN: &str = "checkout-token-of-the-tests";

/// The marketplace application of the sandbox, also used without it.
pub const CLIENT_ID: &str = "5503910054140001";
pub const CLIENT_SECRET: &str = "sandbox-client-secret";

/// Within this time a running server notices the changes of a command. It takes
/// a second; the rest is for slow machines.
pub const PROPAGATION: Duration = Duration::from_secs(20);

/// How long a stop may take: ten seconds to finish requests, and a margin.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// A file with the present instant, read by the server and moved by the test.
#[derive(Clone)]
pub struct Clock(PathBuf);

impl Clock {
    /// A clock file in `folder` that shows [`START`].
    pub fn new(folder: &Path) -> Self {
        let clock = Self(folder.join("clock"));
        clock.set(START);
        clock
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Moves it to an RFC 3339 instant. The file is replaced in one step, so
    /// that nobody reads half of it.
    pub fn set(&self, instant: &str) {
        let next = self.0.with_extension("next");
        std::fs::write(&next, instant).unwrap();
        std::fs::rename(&next, &self.0).unwrap();
    }

    /// Moves it forward.
    pub fn advance_s(&self, seconds: i64) {
        let later = self.now() + SignedDuration::from_secs(seconds);
        self.set(&format!("{later:.0}"));
    }

    pub fn now(&self) -> Timestamp {
        let text = std::fs::read_to_string(&self.0).unwrap();
        text.parse().unwrap()
    }
}

/// A row of `routes --json`.
#[derive(Clone, Debug, Deserialize)]
pub struct Route {
    pub method: String,
    pub path: String,
    pub call: String,
    pub runs: String,
    pub family: String,
    #[serde(default)]
    pub changes_state: bool,
}

impl Route {
    /// The path with a harmless value for each parameter.
    pub fn sample_path(&self) -> String {
        let segments = self.path.split('/').map(|segment| {
            // The text after the name, such as `.ics`, is kept.
            match segment.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
                Some((_, end)) => format!("999999{end}"),
                None => segment.to_owned(),
            }
        });
        segments.collect::<Vec<_>>().join("/")
    }
}

/// The settings of a [`Site`] before it starts.
#[derive(Default)]
pub struct Builder {
    settings: BTreeMap<String, toml::Value>,
    environment: Vec<(String, String)>,
    clock: Option<Clock>,
    notify: Option<SocketAddr>,
    memory: Option<u64>,
}

impl Builder {
    /// Sets a key of the configuration file, such as `limits.requests`.
    pub fn config(mut self, key: &str, value: impl Into<toml::Value>) -> Self {
        self.settings.insert(key.to_owned(), value.into());
        self
    }

    /// Sets an environment variable of the server and its commands.
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Lifts every limit on requests, for tests that are about something else.
    pub fn unlimited(self) -> Self {
        let rates = ["requests", "partner_get", "partner_post", "session_post", "login_failures"];
        let site = rates
            .into_iter()
            .fold(self, |site, name| site.config(&format!("limits.{name}"), 1_000_000));
        ["starter", "pro", "scale"].into_iter().fold(site, |site, plan| {
            site.config(&format!("partner.plans.{plan}.per_minute"), 1_000_000)
        })
    }

    /// Connects the site to a simulated marketplace: addresses, clock and
    /// notifications, which nobody signs, as in life.
    pub fn world(mut self, world: &World) -> Self {
        let address = format!("http://{}", world.address());
        self.clock = Some(world.clock().clone());
        self.notify = Some(world.address());
        self.config("marketplace.api_base", address.clone())
            .config("marketplace.auth_base", address)
            .config("marketplace.signature", "optional")
    }

    /// Makes the system kill the server when it needs more memory than this.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    #[track_caller]
    pub fn start(self) -> Site {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let clock = self.clock.unwrap_or_else(|| Clock::new(folder.path()));
        let mut settings = default_settings(&data);
        settings.extend(self.settings);
        let lines: Vec<String> =
            settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let text = lines.join("\n");
        std::fs::write(folder.path().join("seller-platform.toml"), text).unwrap();
        let site = Site {
            folder,
            clock,
            environment: self.environment,
            notify: self.notify,
            memory: self.memory,
            ceiling: Mutex::default(),
            process: Mutex::new(None),
            log_before: Mutex::default(),
            people: Mutex::default(),
            secrets: Mutex::default(),
            last: Mutex::default(),
            expected: Mutex::default(),
            tolerated: Mutex::default(),
        };
        site.keep_secret("cron secret", CRON_SECRET);
        site.keep_secret("checkout token", CHECKOUT_TOKEN);
        site.keep_secret("client secret", CLIENT_SECRET);
        site.start_again();
        site
    }
}

/// The configuration of every test: nothing reaches the outside, and periodic
/// work happens when the test asks for it.
fn default_settings(data: &Path) -> BTreeMap<String, toml::Value> {
    let database = data.join("seller-platform.db");
    // Nothing listens on port 9: an unplanned call fails at once.
    let nowhere = "http://127.0.0.1:9";
    let settings: [(&str, toml::Value); 8] = [
        ("database.path", database.display().to_string().into()),
        ("cron.enabled", false.into()),
        ("cron.secret", CRON_SECRET.into()),
        ("checkout.tokens", vec![CHECKOUT_TOKEN].into()),
        ("marketplace.api_base", nowhere.into()),
        ("marketplace.auth_base", nowhere.into()),
        ("marketplace.client_id", CLIENT_ID.into()),
        ("marketplace.client_secret", CLIENT_SECRET.into()),
    ];
    settings.map(|(key, value)| (key.to_owned(), value)).into()
}

/// A person made by the harness, with the name that a test uses.
#[derive(Clone)]
pub struct Person {
    pub email: String,
    pub password: String,
}

/// The server under test.
pub struct Site {
    folder: TempDir,
    clock: Clock,
    environment: Vec<(String, String)>,
    notify: Option<SocketAddr>,
    memory: Option<u64>,
    process: Mutex<Option<Process>>,
    /// Dropped after the process.
    ceiling: Mutex<Option<Ceiling>>,
    log_before: Mutex<String>,
    people: Mutex<BTreeMap<String, Person>>,
    secrets: Mutex<Vec<Secret>>,
    last: Mutex<Option<Reply>>,
    /// Errors that the log must contain.
    expected: Mutex<Vec<String>>,
    /// Errors that the log may contain.
    tolerated: Mutex<Vec<String>>,
}

impl Site {
    /// A server with the default configuration.
    #[track_caller]
    pub fn start() -> Self {
        Self::builder().start()
    }

    pub fn builder() -> Builder {
        Builder::default()
    }

    #[track_caller]
    pub fn address(&self) -> SocketAddr {
        self.try_address().expect("the server is running")
    }

    /// The server's address; `None` while a test has stopped it.
    pub fn try_address(&self) -> Option<SocketAddr> {
        lock(&self.process).as_ref().map(|process| process.address)
    }

    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The files in the folder of the database, those of its folders too.
    pub fn data_files(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.folder.path().join("data")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let of_kind = if path.is_dir() { &mut folders } else { &mut files };
                of_kind.push(path);
            }
        }
        files
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("data/seller-platform.db")
    }

    /// The log of all servers of this site so far.
    pub fn log(&self) -> String {
        let now = lock(&self.process).as_ref().map(Process::log);
        lock(&self.log_before).clone() + &now.unwrap_or_default()
    }

    /// Waits until its log contains this text.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str, limit: Duration) {
        if lock(&self.log_before).contains(text) {
            return;
        }
        let log = lock(&self.process).as_ref().map(|process| Arc::clone(process.live_log()));
        log.expect("the server is running").wait_for(text, limit);
    }

    /// From now on no reply and no log line may contain this text.
    pub fn keep_secret(&self, what: &str, text: &str) {
        lock(&self.secrets).push(Secret { what: what.to_owned(), text: text.to_owned() });
    }

    /// An error that this test causes: in the end the log must contain it.
    pub fn expect_in_log(&self, error: &str) {
        lock(&self.expected).push(error.to_owned());
    }

    /// An error that the log may contain, depending on what happens first.
    pub fn expect_in_log_if_any(&self, error: &str) {
        lock(&self.tolerated).push(error.to_owned());
    }

    /// Sets the size at which the system refuses to write more to a file of the
    /// running server; `None` lifts it.
    #[track_caller]
    pub fn limit_file_size(&self, bytes: Option<u64>) {
        let pid = lock(&self.process).as_ref().expect("the server is running").pid();
        let pid = Pid::from_raw(pid.cast_signed());
        let maximum = prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None });
        maximum.expect("a limit of one's own child is one's own");
    }

    /// Lets the server open only files whose handle is a lower number.
    #[track_caller]
    pub fn limit_handles(&self, number: u64) {
        let pid = Pid::from_raw(self.pid().cast_signed());
        let limit = Rlimit { current: Some(number), maximum: Some(4096) };
        prlimit(pid, Resource::Nofile, limit).unwrap();
    }

    /// Every known secret.
    pub fn secrets(&self) -> Vec<Secret> {
        lock(&self.secrets).clone()
    }

    /// Remembers the newest reply, for the message of a failing test.
    pub fn saw(&self, reply: &Reply) {
        *lock(&self.last) = Some(reply.clone());
    }

    /// The route table as the executable prints it.
    #[track_caller]
    pub fn routes(&self) -> Vec<Route> {
        let table = self.command(&["routes", "--json"]).ok();
        serde_json::from_str(&table).expect("`routes --json` prints the table")
    }

    /// A command on the same configuration and database.
    pub fn command(&self, arguments: &[&str]) -> SiteCommand {
        let mut command = self.executable();
        command.args(arguments);
        SiteCommand { command, input: String::new() }
    }

    /// The result of a statement, one text per row, for what no page shows: on the
    /// file of the running server, else on a verified copy, because whoever opens a
    /// file at rest leaves others beside it.
    #[track_caller]
    pub fn stored(&self, sql: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = if self.try_address().is_some() {
            self.database()
        } else {
            let copy = folder.path().join("copy.db");
            self.command(&["backup", &copy.display().to_string()]).ok();
            copy
        };
        let file = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        file.busy_timeout(PROPAGATION).unwrap();
        let mut statement = file.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    /// The person of that name, made by `user create` when new. `role` is
    /// used for a new one only.
    #[track_caller]
    pub fn make_person(&self, name: &str, role: &str) -> Person {
        if let Some(known) = lock(&self.people).get(name) {
            return known.clone();
        }
        let email = format!("{name}@example.com");
        let password = format!("senha de {name} 1234");
        let full_name = format!("{name} da Silva");
        let arguments = [
            "user",
            "create",
            "--email",
            &email,
            "--nome",
            &full_name,
            "--role",
            role,
            "--password-stdin",
        ];
        let printed = self.command(&arguments).stdin(&password).ok();
        assert_eq!(printed.lines().count(), 1, "the id alone, not {printed:?}");
        let person = Person { email, password };
        self.keep_secret("password", &person.password);
        lock(&self.people).insert(name.to_owned(), person.clone());
        person
    }

    /// Kills the server, like a power failure.
    pub fn kill(&self) {
        if let Some(mut process) = lock(&self.process).take() {
            process.kill();
            lock(&self.log_before).push_str(&process.log());
        }
    }

    /// Stops the server and checks how it ended.
    #[track_caller]
    pub fn stop(&self) {
        let Some(mut process) = lock(&self.process).take() else {
            return;
        };
        let status = process.stop(STOP_LIMIT);
        let log = process.log();
        lock(&self.log_before).push_str(&log);
        assert!(
            status.success(),
            "a stopped server ends with 0, not {status}\n{}",
            checks::tail(&log)
        );
        self.check_one_file_left();
    }

    /// Asks the server to stop and returns its exit code, whatever it is.
    #[track_caller]
    pub fn stop_with_any_status(&self) -> Option<i32> {
        let mut process = lock(&self.process).take()?;
        let status = process.stop(STOP_LIMIT);
        lock(&self.log_before).push_str(&process.log());
        status.code()
    }

    /// Waits until the server ends by itself, and returns its exit code.
    #[track_caller]
    pub fn ends_by_itself(&self, limit: Duration) -> Option<i32> {
        let mut process = lock(&self.process).take().expect("the server was started");
        let status = process.end(limit);
        lock(&self.log_before).push_str(&process.log());
        status.code()
    }

    /// Stops the server, while other databases lie beside its own.
    #[track_caller]
    pub fn stop_beside_other_files(&self) {
        assert_eq!(self.stop_with_any_status(), Some(0), "{}", checks::tail(&self.log()));
    }

    /// Starts the server; how it ended when it refuses to start.
    #[track_caller]
    pub fn try_start(&self) -> Option<Outcome> {
        let mut command = self.executable();
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        match Process::try_start(&mut command) {
            Ok(process) => {
                *lock(&self.process) = Some(process);
                None
            }
            Err(outcome) => Some(outcome),
        }
    }

    /// Starts the server again on the present files.
    #[track_caller]
    pub fn start_again(&self) {
        self.start_with(&[]);
    }

    /// The same, with further arguments for `serve`.
    #[track_caller]
    pub fn start_with(&self, more: &[&str]) {
        let mut command = self.executable();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(more);
        let process = Process::start(&mut command);
        if let Some(world) = self.notify {
            World::notify_to(world, process.address);
        }
        *lock(&self.ceiling) = self.memory.and_then(|bytes| Ceiling::over(process.pid(), bytes));
        *lock(&self.process) = Some(process);
    }

    /// The most memory that the server had resident since it started, in bytes.
    #[track_caller]
    pub fn peak_memory(&self) -> u64 {
        memory::peak_resident(self.pid())
    }

    /// The number by which the system knows the server.
    #[track_caller]
    pub fn pid(&self) -> u32 {
        lock(&self.process).as_ref().expect("the server is running").pid()
    }

    fn executable(&self) -> Command {
        let mut command = Command::new(EXECUTABLE);
        command
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .arg("--config")
            .arg(self.folder.path().join("seller-platform.toml"))
            .arg("--clock-file")
            .arg(self.clock.path());
        command
    }

    /// Requires that a clean stop left one database file, without `-wal` or `-shm`.
    #[track_caller]
    fn check_one_file_left(&self) {
        let names: Vec<String> = std::fs::read_dir(self.folder.path().join("data"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        let leftovers = ["-wal", "-shm", "-journal", ".lock", ".commits", ".partial"];
        let is_leftover = |name: &&String| leftovers.iter().any(|end| name.ends_with(end));
        assert_eq!(names.iter().find(is_leftover), None, "left behind by a clean stop");
        let databases = names.iter().filter(|name| {
            std::fs::read(self.folder.path().join("data").join(name))
                .is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3\0"))
        });
        // Test shops have a database of their own.
        let databases = databases.filter(|name| !name.contains(".teste"));
        assert_eq!(databases.count(), 1, "database files among {names:?}");
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if std::thread::panicking() {
            if let Some(reply) = lock(&self.last).as_ref() {
                eprintln!("--- the last exchange\n{reply}");
            }
            eprintln!("--- the server's log\n{}", checks::tail(&self.log()));
            return;
        }
        self.stop();
        let (log, expected) = (self.log(), lock(&self.expected).clone());
        for error in &expected {
            assert!(log.contains(error), "the log holds no {error:?}\n{}", checks::tail(&log));
        }
        let allowed = [expected, lock(&self.tolerated).clone()].concat();
        let is_other = |line: &&str| !allowed.iter().any(|error| line.contains(error));
        let log: Vec<&str> = log.lines().filter(is_other).collect();
        checks::check_log(&log.join("\n"), &self.secrets());
    }
}

/// A command of the executable, about to run.
pub struct SiteCommand {
    command: Command,
    input: String,
}

impl SiteCommand {
    /// What the command reads from its standard input.
    pub fn stdin(mut self, input: &str) -> Self {
        input.clone_into(&mut self.input);
        self
    }

    /// Runs it to its end, with any exit code.
    #[track_caller]
    pub fn run(mut self) -> Outcome {
        run(&mut self.command, &self.input)
    }

    /// Runs it, requires exit code 0, and returns its output.
    #[track_caller]
    pub fn ok(self) -> String {
        self.exits(0).stdout
    }

    /// Runs it and requires this exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Outcome {
        let described = format!("{:?}", self.command.get_args());
        let outcome = self.run();
        assert_eq!(outcome.code, Some(code), "{described}\n{}\n{}", outcome.stdout, outcome.stderr);
        outcome
    }
}

/// Locks a value that stays valid when another thread's test failed.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
