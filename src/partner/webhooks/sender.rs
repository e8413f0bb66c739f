//! Posts deliveries: threads for each lane, and one HTTP client for all of them.
//!
//! The threads do not use the database. The worker gives them deliveries and
//! collects the results. At a stop nothing waits for a receiver that hangs.

use std::io::Read as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant as Monotonic};

use parking_lot::Mutex;
use ureq::Agent;
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ureq::unversioned::transport::DefaultConnector;

use super::address::{self, Lookup};
use super::fairness::{Lane, TryPermits};
use super::queue::{Due, TryResult};
use super::sign::signatures;
use super::store::Target;
use crate::base::queue::{CAREFUL_TRIES, QUICK_TRIES};
use crate::base::{Clock, Instant, Stop};

/// A receiver must answer within this time.
const TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(5);
/// Bytes of an answer that are stored.
const KEPT: usize = 1024;
/// Bytes of an answer that are read, so that the connection can be used again.
const READ: u64 = 16 * 1024;
/// Time limit for reading them.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// Most idle connections that are kept, per receiver and in total, and how long.
const IDLE_OF_ONE: usize = 8;
const IDLE: usize = 128;
const IDLE_AGE: Duration = Duration::from_secs(10);

/// A delivery to be tried now.
pub struct Task {
    pub places: TryPermits,
    pub due: Due,
    pub target: Arc<Target>,
}

/// What all threads use.
struct Post {
    agent: Agent,
    extra_hosts: Vec<String>,
    clock: Clock,
    /// The tries that ended.
    done: Mutex<Vec<(TryPermits, TryResult)>>,
    bell: Stop,
}

/// A lane's threads.
struct Threads {
    name: &'static str,
    tasks: Sender<Task>,
    shared: Arc<Mutex<Receiver<Task>>>,
    started: usize,
    most: usize,
    under_way: usize,
}

/// The threads of both lanes. After a drop they end when their present tries
/// are done.
pub struct Senders {
    post: Arc<Post>,
    quick: Threads,
    careful: Threads,
}

impl Senders {
    /// Creates the threads; they ring `bell` when a try ended.
    pub fn new(extra_hosts: &[String], clock: Clock, bell: Stop) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_body(Some(READ_TIMEOUT))
            .max_redirects(0)
            .http_status_as_error(false)
            .max_idle_connections(IDLE)
            .max_idle_connections_per_host(IDLE_OF_ONE)
            .max_idle_age(IDLE_AGE)
            // A proxy would resolve names itself, without our check.
            .proxy(None)
            .user_agent(concat!("seller-platform/", env!("CARGO_PKG_VERSION")))
            .build();
        let lookup = Lookup::new(extra_hosts);
        let agent = Agent::with_parts(config, DefaultConnector::default(), lookup);
        Self {
            post: Arc::new(Post {
                agent,
                extra_hosts: extra_hosts.to_vec(),
                clock,
                done: Mutex::default(),
                bell,
            }),
            quick: Threads::new("webhook-quick", QUICK_TRIES),
            careful: Threads::new("webhook-careful", CAREFUL_TRIES),
        }
    }

    /// How many tries of a lane can begin at once.
    pub fn free(&self, lane: Lane) -> usize {
        let threads = match lane {
            Lane::Quick => &self.quick,
            Lane::Careful => &self.careful,
        };
        threads.most - threads.under_way
    }

    /// Gives a delivery to a thread of its lane.
    pub fn send(&mut self, task: Task) -> std::io::Result<()> {
        let post = Arc::clone(&self.post);
        self.threads(task.places.lane()).send(task, post)
    }

    const fn threads(&mut self, lane: Lane) -> &mut Threads {
        match lane {
            Lane::Quick => &mut self.quick,
            Lane::Careful => &mut self.careful,
        }
    }

    /// The tries that ended since the last call.
    pub fn take_done(&mut self) -> Vec<(TryPermits, TryResult)> {
        let done = std::mem::take(&mut *self.post.done.lock());
        for (places, _) in &done {
            self.threads(places.lane()).under_way -= 1;
        }
        done
    }

    /// Tries that are running.
    pub fn under_way(&self) -> usize {
        self.quick.under_way + self.careful.under_way
    }
}

impl Threads {
    fn new(name: &'static str, most: usize) -> Self {
        let (tasks, received) = channel();
        let shared = Arc::new(Mutex::new(received));
        Self { name, tasks, shared, started: 0, most, under_way: 0 }
    }

    fn send(&mut self, task: Task, post: Arc<Post>) -> std::io::Result<()> {
        if self.under_way >= self.started && self.started < self.most {
            let tasks = Arc::clone(&self.shared);
            let name = format!("{}-{}", self.name, self.started + 1);
            std::thread::Builder::new().name(name).spawn(move || work(&tasks, &post))?;
            self.started += 1;
        }
        self.under_way += 1;
        // Cannot fail: `self` holds the receiving end.
        let _ = self.tasks.send(task);
        Ok(())
    }
}

fn work(tasks: &Mutex<Receiver<Task>>, post: &Post) {
    loop {
        let next = tasks.lock().recv();
        let Ok(task) = next else { return };
        let began = Monotonic::now();
        let answer = catch_unwind(AssertUnwindSafe(|| post.send(&task)));
        let answer = answer.unwrap_or_else(|_| Answer::failed("a entrega falhou aqui".to_owned()));
        let result = TryResult {
            endpoint: task.places.endpoint(),
            number: task.due.number,
            at: post.clock.now(),
            ms: i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX),
            status: answer.status,
            answer: answer.body,
            error: answer.error,
            retry_at: answer.retry_at,
        };
        post.done.lock().push((task.places, result));
        post.bell.ring();
    }
}

/// The answer of a receiver, or why there is none.
struct Answer {
    status: Option<u16>,
    body: Option<String>,
    error: Option<String>,
    retry_at: Option<Instant>,
}

impl Answer {
    const fn failed(error: String) -> Self {
        Self { status: None, body: None, error: Some(error), retry_at: None }
    }
}

impl Post {
    fn send(&self, task: &Task) -> Answer {
        let Target { url, secrets } = &*task.target;
        // The configured exceptions may have changed since the address was entered.
        let uri = match address::check(url, &self.extra_hosts) {
            Ok(uri) => uri,
            Err(fault) => return Answer::failed(fault.words().trim_end_matches('.').to_owned()),
        };
        if secrets.is_empty() {
            return Answer::failed("o segredo se perdeu: gere outro".to_owned());
        }
        let (message, body) = (task.due.message, &task.due.body);
        let began = Monotonic::now();
        let post = || {
            let at = self.clock.now();
            self.agent
                .post(&uri)
                .header(CONTENT_TYPE, "application/json")
                .header("webhook-id", message.to_string())
                .header("webhook-timestamp", at.0.to_string())
                .header("webhook-signature", signatures(secrets, message, at, body))
                .send(body.as_bytes())
        };
        let mut answer = post();
        // The receiver may just have closed an idle connection: try once more.
        if answer.as_ref().is_err_and(was_closed) && began.elapsed() < CONNECT / 5 {
            answer = post();
        }
        match answer {
            Ok(answer) => self.read(answer),
            Err(error) => Answer::failed(words(&error)),
        }
    }

    fn read(&self, mut answer: http::Response<ureq::Body>) -> Answer {
        let status = answer.status().as_u16();
        let asked = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_at = asked.and_then(|text| retry_at(text, self.clock.now()));
        let mut bytes = Vec::new();
        // A body that cannot be read does not change the result.
        let _ = answer.body_mut().as_reader().take(READ).read_to_end(&mut bytes);
        bytes.truncate(KEPT);
        let text = String::from_utf8_lossy(&bytes).replace('\0', "\u{fffd}");
        let error = match status {
            200..=299 => None,
            300..=399 => Some(format!("respondeu {status}: redirecionamentos não são seguidos")),
            410 => Some("respondeu 410: não quer mais receber eventos".to_owned()),
            _ => Some(format!("respondeu {status}")),
        };
        let body = (!text.is_empty()).then_some(text);
        Answer { status: Some(status), body, error, retry_at }
    }
}

/// The instant that a `Retry-After` asks for, in seconds or as a date.
fn retry_at(text: &str, now: Instant) -> Option<Instant> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number {
        // Who asks for more than numbers hold gets the longest pause.
        return Some(Instant(now.0.saturating_add(text.parse().unwrap_or(i64::MAX))));
    }
    Instant::parse_mail_date(text)
}

fn was_closed(error: &ureq::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error, ureq::Error::Io(error) if matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof
            | ErrorKind::ConnectionAborted
    ))
}

/// Why there was no answer, for people.
fn words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => {
            "o nome do endereço não leva a um servidor na internet".to_owned()
        }
        ureq::Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => {
            format!("não foi possível conectar em {} segundos", CONNECT.as_secs())
        }
        ureq::Error::Timeout(_) => format!("não respondeu em {} segundos", TIMEOUT.as_secs()),
        ureq::Error::ConnectionFailed => "a conexão foi recusada".to_owned(),
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
            "a conexão foi recusada".to_owned()
        }
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => {
            format!("o certificado não foi aceito: {error}")
        }
        ureq::Error::Protocol(_) => "a resposta não é HTTP".to_owned(),
        error => format!("não respondeu: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_asked_for_in_seconds_or_as_an_instant() {
        let now = Instant(784_111_770);
        for (text, expected) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
            ("Sun, 06 Nov 1994 08:49:27 GMT", Some(-3)),
            ("99999999999999999999", Some(i64::MAX - now.0)),
            ("-5", None),
            ("+5", None),
            ("1.5", None),
            ("logo", None),
            ("", None),
        ] {
            assert_eq!(retry_at(text, now).map(|at| at.0 - now.0), expected, "{text}");
        }
    }
}
