//! The load: keep-alive connections that each send a request, wait for the
//! whole answer and send the next.
//!
//! One thread runs them all: on a small machine a second one would take
//! processor time from the server that is measured.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::answer::{self, Head};
use crate::histogram::Histogram;
use crate::random::Random;

/// Time after the end in which outstanding answers must arrive.
const LAST_ANSWERS: Duration = Duration::from_secs(30);

/// Writes the next request into an empty buffer.
pub type Request = Arc<dyn Fn(&mut Random, &mut Vec<u8>) + Send + Sync>;

/// What to send, where, and for how long.
#[derive(Clone)]
pub struct Load {
    pub address: SocketAddr,
    pub connections: u32,
    /// The longest time that the load runs.
    pub duration: Duration,
    /// Set to end the load earlier.
    pub stop: Arc<AtomicBool>,
    /// Makes each request.
    pub request: Request,
    /// Statuses that show that the work was done.
    pub expected: &'static [u16],
}

impl Load {
    /// A load of 64 connections for a second.
    pub fn new(address: SocketAddr, request: Request, expected: &'static [u16]) -> Self {
        Self {
            address,
            connections: 64,
            duration: Duration::from_secs(1),
            stop: Arc::default(),
            request,
            expected,
        }
    }
}

/// The result of a load. Every counted answer was an expected one.
#[derive(Default)]
pub struct Outcome {
    /// Answers received.
    pub answers: u64,
    /// Time from the first request to the last answer.
    pub elapsed: Duration,
    /// Time to each answer.
    pub latencies: Histogram,
}

impl Outcome {
    /// Answers a second.
    #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
    pub fn per_second(&self) -> f64 {
        self.answers as f64 / self.elapsed.as_secs_f64()
    }
}

/// Runs a load to its end. An unexpected answer or a broken connection is an
/// error that shows the first such answer.
pub fn run(load: &Load) -> anyhow::Result<Outcome> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let started = Instant::now();
        let end = started + load.duration;
        let mut clients = JoinSet::new();
        for _ in 0..load.connections {
            let client = client(load.clone(), Random::fresh()?, end);
            clients.spawn(tokio::time::timeout_at((end + LAST_ANSWERS).into(), client));
        }
        let mut outcome = Outcome::default();
        while let Some(done) = clients.join_next().await {
            let latencies = done?.context("a server stopped answering")??;
            outcome.latencies.merge(&latencies);
        }
        outcome.answers = outcome.latencies.count();
        outcome.elapsed = started.elapsed();
        Ok(outcome)
    })
}

/// Runs a load until `work` is done.
pub fn during<T>(
    mut load: Load,
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(Outcome, T)> {
    load.duration = Duration::from_mins(10);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&load));
        let done = work();
        load.stop.store(true, Ordering::Relaxed);
        let outcome = running.join().ok().context("the load panicked")?;
        Ok((outcome?, done?))
    })
}

async fn client(load: Load, mut random: Random, end: Instant) -> anyhow::Result<Histogram> {
    let mut latencies = Histogram::default();
    let mut stream = connect(load.address).await?;
    let (mut request, mut bytes) = (Vec::new(), Vec::with_capacity(16 * 1024));
    while Instant::now() < end && !load.stop.load(Ordering::Relaxed) {
        request.clear();
        (load.request)(&mut random, &mut request);
        let sent = Instant::now();
        stream.write_all(&request).await?;
        let head = receive(&mut stream, &mut bytes).await?;
        latencies.add(sent.elapsed());
        ensure!(
            load.expected.contains(&head.status),
            "an answer with status {}, expected {:?}: {:.300}",
            head.status,
            load.expected,
            String::from_utf8_lossy(&bytes[head.length..])
        );
        if head.closes {
            stream = connect(load.address).await?;
        }
    }
    Ok(latencies)
}

async fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Reads one whole answer into `bytes`, replacing the earlier one.
async fn receive(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> anyhow::Result<Head> {
    bytes.clear();
    let head = loop {
        more(stream, bytes).await?;
        if let Some(head) = answer::head(bytes)? {
            break head;
        }
    };
    while bytes.len() < head.total {
        more(stream, bytes).await?;
    }
    ensure!(bytes.len() == head.total, "more bytes than one answer");
    Ok(head)
}

async fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> anyhow::Result<()> {
    let read = stream.read_buf(bytes).await?;
    ensure!(read > 0, "the server closed without an answer");
    Ok(())
}
