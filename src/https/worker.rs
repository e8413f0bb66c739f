//! The thread that looks after the certificate: reads files again that changed, renews
//! what a directory gave, tries for the port, and tells the end.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Monotonic};

use super::acme::{self, Refusal, Way};
use super::{Facts, Https, Source, certificate, end, store};
use crate::app::App;
use crate::base::{Instant, Stop, worker};

/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(500);
/// Pause between two tries for the port.
const PORT_PAUSE: Duration = Duration::from_secs(5);
/// Pauses after failures in a row, in seconds: the directory did not answer as it
/// should, or refused. Refusals are few, because directories count them for hours.
const AWAY_S: [i64; 9] = [5, 10, 20, 40, 60, 120, 300, 600, 3_600];
const REFUSED_S: [i64; 5] = [60, 600, 3_600, 4 * 3_600, 86_400];
/// No certificate is asked for again before this part of its life is over, whatever
/// the machine's clock says of its end.
const LEAST_PART: i64 = 6;

/// Starts the thread; none without HTTPS of our own.
pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<Option<JoinHandle<()>>> {
    let Some(https) = app.https.clone() else {
        return Ok(None);
    };
    let app = Arc::clone(app);
    worker::start("https", stop, move |stop| watch(&app, &https, stop)).map(Some)
}

fn watch(app: &App, https: &Https, stop: &Stop) {
    let (mut files, mut renewal) = (Files::default(), Renewal::default());
    let mut told = None;
    let mut port_due = Monotonic::now();
    announce(https);
    loop {
        if https.tls.bound().is_none() && Monotonic::now() >= port_due {
            if https.bind() {
                tracing::info!("the port of HTTPS is free now");
                announce(https);
            }
            port_due = Monotonic::now() + PORT_PAUSE;
        }
        match &https.source {
            Source::Files { chain, key } => files.look(app, https, (chain, key)),
            Source::Directory => renewal.look(app, https, stop),
        }
        end::tell(app, https, &mut told);
        if stop.wait(LOOK) {
            return;
        }
    }
}

/// What is served, or why nothing is.
fn announce(https: &Https) {
    let standing = https.standing();
    if let Some(fault) = &standing.port_fault {
        tracing::error!(fault, "HTTPS is not served, and plain HTTP is as without it");
    }
    let Some(facts) = &standing.served else {
        return;
    };
    if let Some(bound) = https.tls.bound() {
        let names = facts.names.join(", ");
        let until = facts.until.rfc3339();
        tracing::info!(address = %bound, names, until, "serving HTTPS; plain HTTP leads to it");
    }
}

impl Https {
    /// Serves a certificate that came while the service runs.
    fn take_late(&self, app: &App, certificate: &certificate::Certificate, issuer: Option<String>) {
        self.take(certificate, issuer);
        if self.names_us
            && app.config.server.base_url.is_empty()
            && let Some(origin) = self.told_origin()
        {
            tracing::warn!(
                origin,
                "the certificate tells the public address only now; start the server again, or set server.base_url, so that links name it"
            );
            app.addresses.learn(origin);
        }
        announce(self);
    }

    fn fail(&self, fault: &str) {
        let is_served = self.standing.lock().served.is_some();
        if is_served {
            tracing::error!(fault, "no new certificate; the one before is served on");
        } else {
            tracing::error!(fault, "no certificate; plain HTTP is served as without HTTPS");
        }
        self.standing.lock().fault = Some(fault.to_owned());
    }
}

/// By what a file that was written again is known: its number, size and times.
type Mark = Option<(u64, u64, i64, i64, i64, i64)>;

fn mark(path: &Path) -> Mark {
    let found = std::fs::metadata(path).ok()?;
    let (changed, moved) =
        ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
    Some((found.ino(), found.size(), changed.0, changed.1, moved.0, moved.1))
}

/// Files of the operator.
#[derive(Default)]
struct Files {
    /// What was read last.
    read: Option<(Mark, Mark)>,
    /// What was seen last.
    seen: Option<(Mark, Mark)>,
}

impl Files {
    fn look(&mut self, app: &App, https: &Https, (chain, key): (&Path, &Path)) {
        let now = Some((mark(chain), mark(key)));
        // Certificate and key are written one after the other, so what changes is read
        // once it stands still.
        let is_still = self.read.is_none() || self.seen == now;
        self.seen = now;
        if self.read == now || !is_still {
            return;
        }
        let is_first = self.read.is_none();
        self.read = now;
        match certificate::read_files(chain, key) {
            // It was taken before the start.
            Ok(found) if is_first && https.standing().served.as_ref() == Some(&found.facts) => {}
            Ok(found) => https.take_late(app, &found, None),
            Err(fault) => https.fail(&fault),
        }
    }
}

/// Renewal by the directory.
#[derive(Default)]
struct Renewal {
    failures: usize,
    next: Option<Instant>,
    /// The way that led to a certificate last.
    way: Option<Way>,
}

impl Renewal {
    fn look(&mut self, app: &App, https: &Https, stop: &Stop) {
        let now = app.clock.now();
        if self.next.is_some_and(|next| now < next) || !is_due(https, now) {
            return;
        }
        let database = &app.config.database.path;
        let Some(ended) = acme::obtain(https, &self.ways(https), database, stop) else {
            return;
        };
        let ended = ended.and_then(|way| {
            match store::load(database) {
                Ok(Some(stored)) => Ok((way, stored)),
                Ok(None) => Err("the new certificate is gone".to_owned()),
                Err(fault) => Err(fault),
            }
            .map_err(|said| Refusal { said, is_away: false, wait_s: None })
        });
        match ended {
            Ok((way, stored)) => {
                let facts = &stored.certificate.facts;
                let life = facts.until.since(facts.from);
                self.next = Some(now.plus(life / LEAST_PART));
                (self.failures, self.way) = (0, Some(way));
                https.standing.lock().next_try = None;
                https.take_late(app, &stored.certificate, Some(stored.directory));
            }
            Err(refusal) => {
                let pauses = if refusal.is_away { &AWAY_S[..] } else { &REFUSED_S };
                let pause = pauses[self.failures.min(pauses.len() - 1)];
                self.failures += 1;
                let next = now.plus(pause.max(refusal.wait_s.unwrap_or(0)));
                self.next = Some(next);
                https.standing.lock().next_try = Some(next);
                https.fail(&format!("{}: {}", https.directory(), refusal.said));
            }
        }
    }

    /// The ways in which the directory may look at us, the most promising first.
    fn ways(&self, https: &Https) -> Vec<Way> {
        let mut ways = vec![Way::Tls, Way::Http];
        if https.tls.bound().is_none() {
            ways.remove(0);
        } else if self.way == Some(Way::Http) {
            ways.reverse();
        }
        ways
    }
}

/// Whether a certificate is to be asked for.
fn is_due(https: &Https, now: Instant) -> bool {
    let standing = https.standing();
    let lacks =
        |facts: &Facts| https.server.acme_domains.iter().any(|name| !facts.names.contains(name));
    match &standing.served {
        None => true,
        Some(facts) => {
            end::is_late(facts, now)
                || lacks(facts)
                || standing.issuer.as_deref() != Some(https.directory())
        }
    }
}
