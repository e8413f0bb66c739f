//! A measured server: started as a child process, its CPU time and memory read
//! from `/proc`, stopped as an operator would.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::lab::pause;

/// How long a server may take until it prints its address.
const START_LIMIT: Duration = Duration::from_mins(1);
/// How long a thread must rest to be taken as done.
const SETTLED: Duration = Duration::from_secs(2);
/// How long a server may take to read its file.
const READING_LIMIT: Duration = Duration::from_mins(20);

/// Linux counts processor time in hundredths of a second for all user space.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running server; dropping it ends the process.
pub struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts a command that prints `listening on http://ADDRESS` first.
    pub fn start(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {}", command.get_program().display()))?;
        let found = child.stdout.take().context("no output").and_then(announced);
        match found {
            Ok(address) => Ok(Self { child, address }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(error)
            }
        }
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Seconds of processor time that all its threads have used.
    pub fn cpu_seconds(&self) -> anyhow::Result<f64> {
        used_seconds(&self.proc("stat")?)
    }

    /// Seconds of processor time that its thread with this name has used.
    pub fn thread_seconds(&self, name: &str) -> anyhow::Result<f64> {
        let tasks = format!("/proc/{}/task", self.child.id());
        for task in std::fs::read_dir(&tasks).with_context(|| format!("reading {tasks}"))? {
            let stat = std::fs::read_to_string(task?.path().join("stat"))?;
            if stat.contains(&format!("({name})")) {
                return used_seconds(&stat);
            }
        }
        bail!("no thread is called {name}")
    }

    /// Waits until it has read its whole file, as it does after each start: what that
    /// takes would be counted as time of requests.
    pub fn settle(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + READING_LIMIT;
        let (mut before, mut rests_since) = (f64::NAN, Instant::now());
        // While its thread waits for the disk it uses no time either.
        while rests_since.elapsed() < SETTLED {
            // Its thread begins a moment after the address is told.
            let used = self.thread_seconds("soundness").unwrap_or(f64::NAN);
            #[expect(clippy::float_cmp, reason = "a thread that rests has used the same time")]
            if used != before {
                (before, rests_since) = (used, Instant::now());
            }
            ensure!(Instant::now() < deadline, "a server reads its file without an end");
            pause(Duration::from_millis(300));
        }
        Ok(())
    }

    /// Megabytes of its anonymous memory, which belongs to no file.
    pub fn rss_anon_mb(&self) -> anyhow::Result<f64> {
        let status = self.proc("status")?;
        let kilobytes: f64 = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))
            .and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse().ok())
            .context("the kernel shows no RssAnon")?;
        Ok(kilobytes / 1024.0)
    }

    /// Asks it to stop and waits until it has.
    pub fn stop(mut self) -> anyhow::Result<()> {
        if self.child.stdin.take().is_none() {
            kill_process(Pid::from_child(&self.child), Signal::TERM)
                .context("stopping a server")?;
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "a server stopped with {status}");
        Ok(())
    }

    fn proc(&self, file: &str) -> anyhow::Result<String> {
        let path = format!("/proc/{}/{file}", self.child.id());
        std::fs::read_to_string(&path).with_context(|| format!("reading {path}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processor time in a line of `/proc`.
fn used_seconds(stat: &str) -> anyhow::Result<f64> {
    // The second field, a name in parentheses, may hold blanks.
    let (_, fields) = stat.rsplit_once(')').context("unexpected /proc stat")?;
    let used: f64 = fields
        .split_whitespace()
        .skip(11) // utime and stime
        .take(2)
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum();
    Ok(used / TICKS_PER_SECOND)
}

/// The address on the first line; later lines are read and dropped, so that
/// the server never waits for a reader.
fn announced(output: ChildStdout) -> anyhow::Result<SocketAddr> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    let line = match told.recv_timeout(START_LIMIT) {
        Ok(line) => line,
        Err(mpsc::RecvTimeoutError::Timeout) => bail!("a server said nothing for a minute"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            bail!("a server ended at once; see target/bench-data/server.log")
        }
    };
    line.strip_prefix("listening on http://")
        .and_then(|address| address.trim().parse().ok())
        .with_context(|| format!("a server's first line gives no address: {line}"))
}
