//! Child processes: started, read from, ended.
//!
//! A child gets signals only through the handle of the test that started it.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::wait::{Log, await_end, has_ended};

/// The executable under test.
pub const EXECUTABLE: &str = env!("CARGO_BIN_EXE_seller-platform");

/// How long a child may take to print its address.
const START_LIMIT: Duration = Duration::from_secs(30);

/// A running `serve` or `sandbox`.
pub struct Process {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    log: Arc<Log>,
    log_reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts `command` and waits for its line `listening on http://ADDR`.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        Self::try_start(command).unwrap_or_else(|outcome| {
            panic!(
                "no line `listening on http://ADDR` on stdout ({:?})\n{}",
                outcome.code, outcome.stderr
            )
        })
    }

    /// The same; how it ended when it does not come so far.
    #[track_caller]
    pub fn try_start(command: &mut Command) -> Result<Self, Outcome> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the executable starts");
        let stderr = child.stderr.take().unwrap();
        let log = Arc::<Log>::default();
        let log_reader = std::thread::spawn({
            let log = Arc::clone(&log);
            move || collect(stderr, &log)
        });
        let stdout = child.stdout.take().unwrap();
        let (found, address) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("listening on http://") {
                    found.send(address.trim().parse::<SocketAddr>()).ok();
                }
            }
        });
        let address = address.recv_timeout(START_LIMIT);
        let mut process = Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            child,
            log,
            log_reader: Some(log_reader),
        };
        match address {
            Ok(Ok(address)) => process.address = address,
            // Its output ended, so it has ended or is about to.
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let status = process.child.wait().unwrap();
                process.finish_log();
                let outcome =
                    Outcome { code: status.code(), stdout: String::new(), stderr: process.log() };
                return Err(outcome);
            }
            other => {
                let status = process.kill();
                panic!("no address on stdout ({other:?}; {status})\n{}", process.log());
            }
        }
        Ok(process)
    }

    /// The number of the process in the operating system.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has written to stderr; complete when it has ended.
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Its log, to wait for a line of it.
    pub const fn live_log(&self) -> &Arc<Log> {
        &self.log
    }

    /// Waits until it has written this text to stderr.
    #[track_caller]
    pub fn wait_for_log(&self, text: &str, limit: Duration) {
        self.log.wait_for(text, limit);
    }

    /// Asks it to stop and waits; panics when it takes longer than `limit`.
    #[track_caller]
    pub fn stop(&mut self, limit: Duration) -> ExitStatus {
        self.signal(Signal::TERM);
        self.end(limit)
    }

    /// Waits until it ends by itself; panics when it takes longer than `limit`.
    #[track_caller]
    pub fn end(&mut self, limit: Duration) -> ExitStatus {
        await_end(&self.child, limit);
        let status = self.child.wait().unwrap();
        self.finish_log();
        status
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// Kills it, like a power failure, and waits for the end.
    pub fn kill(&mut self) -> ExitStatus {
        self.child.kill().ok();
        let status = self.child.wait().unwrap();
        self.finish_log();
        status
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("the child is still running");
    }

    fn finish_log(&mut self) {
        if let Some(reader) = self.log_reader.take() {
            reader.join().ok();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
        }
    }
}

/// Appends everything from `source` to `log` as it arrives.
fn collect(mut source: impl Read, log: &Log) {
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = source.read(&mut chunk) {
        log.push(&String::from_utf8_lossy(&chunk[..length]));
    }
}

/// How a command ended.
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `command` to its end, with `input` on stdin; panics after a minute.
#[track_caller]
pub fn run(command: &mut Command, input: &str) -> Outcome {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the executable starts");
    // A command that reads nothing may have ended already.
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    let stdout = read_aside(child.stdout.take().unwrap());
    let stderr = read_aside(child.stderr.take().unwrap());
    if !has_ended(&child, Duration::from_mins(1)) {
        child.kill().ok();
        let log = stderr.join().unwrap();
        panic!("{command:?} did not end within a minute\n{log}");
    }
    let status = child.wait().unwrap();
    Outcome { code: status.code(), stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }
}

fn read_aside(mut source: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).ok();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
