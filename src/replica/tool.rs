//! Litestream as a program: found, started, waited for. Decision replica-4.

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant as Monotonic};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

use super::place::{Replica, Use};
use super::{Fault, Result};
use crate::base::{Instant, shortened};

/// The oldest version that does what is needed.
const OLDEST: (u32, u32) = (0, 5);
/// How long the program may take to say its version.
const BRIEF: Duration = Duration::from_secs(10);
/// How long one look at the replica may take.
pub const LOOK: Duration = Duration::from_secs(20);
/// How long it may take to fetch a whole database.
pub const FETCH: Duration = Duration::from_secs(6 * 3600);
/// Time between two looks at a running program.
const STEP: Duration = Duration::from_millis(5);
/// Most bytes of its output that are read. A list has some 150 for each piece, and there
/// is a piece for each second of an hour.
const MOST: u64 = 16 << 20;
/// Longest text of an error.
const SHOWN: usize = 300;

/// The executable, found and of a version that fits.
#[derive(Clone, Debug)]
pub struct Tool {
    pub executable: PathBuf,
    pub version: String,
}

impl Tool {
    /// Looks for the configured executable and asks its version.
    pub fn find(replica: &Replica) -> Result<Self> {
        let name = &replica.settings.litestream;
        let executable = locate(name).ok_or_else(|| {
            Fault(format!(
                "the executable {name:?} of replica.litestream is not there; install Litestream 0.5 or later, or set replica.litestream to its path"
            ))
        })?;
        let mut command = Command::new(&executable);
        command.arg("version");
        let said = run(&mut command, BRIEF, replica)?;
        let version = said.trim().trim_start_matches('v');
        let mut numbers = version.split('.').map(|part| part.parse::<u32>().ok());
        let found = (numbers.next().flatten(), numbers.next().flatten());
        match found {
            (Some(major), Some(minor)) if (major, minor) >= OLDEST => {
                Ok(Self { executable, version: version.to_owned() })
            }
            _ => Err(Fault(format!(
                "{} says version {:?}, and 0.5 or later is needed; install a newer Litestream",
                executable.display(),
                shortened(version, 40)
            ))),
        }
    }

    /// A command of the program with a file of settings.
    pub fn command(&self, verb: &str, settings: &Path) -> Command {
        let mut command = Command::new(&self.executable);
        command.arg(verb).arg("-config").arg(settings).arg("-no-expand-env");
        command
    }

    /// Fetches what lies at `below` the address into `to`, as of `at`; false when
    /// there is nothing.
    pub fn fetch(
        &self,
        replica: &Replica,
        below: &str,
        at: Option<Instant>,
        to: &Path,
        patience: Duration,
    ) -> Result<bool> {
        let settings = replica.describe(below, Use::Once, None)?;
        let mut command = self.command("restore", &settings.0);
        command.args(["-if-replica-exists", "-o"]).arg(to);
        if let Some(at) = at {
            command.arg("-timestamp").arg(at.rfc3339());
        }
        command.arg(&replica.database);
        run(&mut command, patience, replica)?;
        Ok(to.exists())
    }

    /// Copies a small database to `below` the address, once.
    pub fn publish(&self, replica: &Replica, below: &str) -> Result<()> {
        let settings = replica.describe(below, Use::Once, None)?;
        let mut command = self.command("replicate", &settings.0);
        command.arg("-once");
        run(&mut command, LOOK, replica)?;
        Ok(())
    }

    /// The number of the newest transaction at `below` the address; 0 when nothing is there.
    pub fn newest(&self, replica: &Replica, below: &str) -> Result<u64> {
        let pieces = self.list(replica, below, "0")?;
        let number = |piece: &Piece| u64::from_str_radix(&piece.max_txid, 16).unwrap_or(0);
        Ok(pieces.iter().map(number).max().unwrap_or(0))
    }

    /// Since when what lies at `below` the address can be restored, by its whole copies.
    pub fn reaches_back_to(&self, replica: &Replica, below: &str) -> Result<Option<Instant>> {
        let mut pieces = Vec::new();
        // Whole copies of each day, and the first pieces while they are kept.
        for level in ["9", "3", "0"] {
            pieces.extend(self.list(replica, below, level)?);
        }
        let is_whole = |piece: &&Piece| u64::from_str_radix(&piece.min_txid, 16) == Ok(1);
        let at = |piece: &Piece| Instant::parse(&piece.timestamp);
        Ok(pieces.iter().filter(is_whole).filter_map(at).min())
    }

    /// The pieces of a level at `below` the address.
    fn list(&self, replica: &Replica, below: &str, level: &str) -> Result<Vec<Piece>> {
        let settings = replica.describe(below, Use::Once, None)?;
        let mut command = self.command("ltx", &settings.0);
        command.args(["-level", level, "-json"]).arg(&replica.database);
        let said = run(&mut command, LOOK, replica)?;
        serde_json::from_str(&said).map_err(|error| {
            Fault(format!("Litestream lists the replica in a form that is not known: {error}"))
        })
    }
}

/// What was written in a while, as a file of the replica.
#[derive(Deserialize)]
struct Piece {
    min_txid: String,
    max_txid: String,
    timestamp: String,
}

fn locate(name: &str) -> Option<PathBuf> {
    let is_file = |path: &PathBuf| path.is_file();
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(is_file);
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(is_file)
}

/// Runs a program to its end; what it printed. A failure is told in its own words.
fn run(command: &mut Command, patience: Duration, replica: &Replica) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.map_err(Fault::io(&format!("run {program}")))?;
    let mut running = Running(child);
    let (out, err) = (running.0.stdout.take(), running.0.stderr.take());
    let out = std::thread::spawn(move || read_all(out));
    let err = std::thread::spawn(move || read_all(err));
    let ended = running.wait(patience);
    if ended.is_none() {
        running.end(Duration::ZERO);
    }
    let printed = out.join().unwrap_or_default();
    let said = err.join().unwrap_or_default();
    match ended {
        Some(true) => Ok(printed),
        Some(false) => Err(Fault(format!("Litestream says: {}", last_words(&said, replica)))),
        None => Err(Fault(format!(
            "Litestream did not end within {} s; is the replica reachable?",
            patience.as_secs()
        ))),
    }
}

/// The last thing that a failing program said.
pub fn last_words(said: &str, replica: &Replica) -> String {
    let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    let line = line.trim_start_matches("Error: ").trim();
    // A secret that was cut would no longer be found.
    shortened(&replica.without_secrets(line), SHOWN).to_owned()
}

fn read_all(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        let _ = (&mut from).take(MOST).read_to_end(&mut bytes);
        // What is not read would block it.
        let _ = std::io::copy(&mut from, &mut std::io::sink());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A program that is ended when the value is dropped.
pub struct Running(pub Child);

impl Running {
    /// Waits for the end; whether it was a success, `None` when it still runs.
    pub fn wait(&mut self, at_most: Duration) -> Option<bool> {
        let begun = Monotonic::now();
        loop {
            match self.0.try_wait() {
                Ok(Some(status)) => return Some(status.success()),
                Err(_) => return Some(false),
                Ok(None) if begun.elapsed() >= at_most => return None,
                Ok(None) => std::thread::park_timeout(STEP),
            }
        }
    }

    /// Asks it to end, and kills it when it has not done so in time.
    pub fn end(&mut self, patience: Duration) {
        if !patience.is_zero() && self.wait(Duration::ZERO).is_none() {
            self.signal(Signal::TERM);
            self.wait(patience);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.0), signal);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.wait(Duration::ZERO).is_none() {
            self.end(Duration::ZERO);
        }
    }
}

/// Gives each line that a program says to `line`, until it says no more.
pub fn listen(from: ChildStderr, mut line: impl FnMut(&str) + Send + 'static) {
    let listening = std::thread::Builder::new().name("litestream-log".to_owned());
    // Without the thread nothing is said, and the program still works.
    let _ = listening.spawn(move || {
        for text in BufReader::new(from).lines().map_while(std::io::Result::ok) {
            line(&text);
        }
    });
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::fixture;

    /// A replica whose Litestream is a script.
    fn stand_in(folder: &tempfile::TempDir, script: &str) -> (Replica, Tool) {
        let executable = folder.path().join("litestream");
        let text =
            format!("#!/bin/sh\n[ \"$1\" != version ] || {{ echo 0.5.17; exit; }}\n{script}\n");
        std::fs::write(&executable, text).unwrap();
        std::fs::set_permissions(&executable, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut config = fixture::config(&[
            ("REPLICA__URL", "file:///nowhere/shop"),
            ("REPLICA__LITESTREAM", executable.to_str().unwrap()),
            ("REPLICA__SECRET_KEY", "the-secret-of-the-bucket"),
        ]);
        config.database.path = folder.path().join("seller.db");
        let replica = Replica::of(&config).unwrap();
        let tool = Tool::find(&replica).unwrap();
        (replica, tool)
    }

    #[test]
    fn a_busy_replica_is_listed_whole_and_a_cut_list_is_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let piece = |number: u64| {
            format!(
                "  {{\n    \"level\": 0,\n    \"min_txid\": \"{number:016x}\",\n    \"max_txid\": \"{number:016x}\",\n    \"size\": 566,\n    \"timestamp\": \"2026-11-20T12:00:00Z\"\n  }}"
            )
        };
        let list = (1..=3_600).map(piece).collect::<Vec<_>>().join(",\n");
        let printed = folder.path().join("printed");
        let (replica, tool) = stand_in(&folder, &format!("cat {}", printed.display()));
        std::fs::write(&printed, format!("[\n{list}\n]\n")).unwrap();
        assert_eq!(tool.newest(&replica, ""), Ok(3_600));
        let first = tool.reaches_back_to(&replica, "").unwrap();
        assert_eq!(first.map(Instant::rfc3339).as_deref(), Some("2026-11-20T12:00:00Z"));
        std::fs::write(&printed, format!("[\n{list}")).unwrap();
        assert!(tool.newest(&replica, "").is_err(), "it is not taken for an empty one");
        std::fs::write(&printed, "[]\n").unwrap();
        assert_eq!(tool.newest(&replica, ""), Ok(0));
    }

    #[test]
    fn a_secret_is_hidden_where_a_text_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        let (replica, _) = stand_in(&folder, "");
        let said = format!("{} the-secret-of-the-bucket", "x".repeat(SHOWN - 10));
        assert!(!last_words(&said, &replica).contains("the-sec"));
    }
}
