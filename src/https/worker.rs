//! The thread that looks after the certificate: reads files again that changed, renews
//! what a directory gave, tries for the port, and tells the end.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Monotonic};

use super::acme::{self, ChallengeKind, Refusal};
use super::store::Keeper;
use super::{Facts, Https, Source, certificate, end};
use crate::app::App;
use crate::base::{Instant, Stop, worker};

/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(500);
/// Pause between two tries for the port, for a file that could not be read, and to write
/// what the disk did not take.
const PAUSE: Duration = Duration::from_secs(5);
/// Pauses after failures in a row, in seconds: the directory did not answer as it
/// should, or refused. Refusals are few, because directories count them for hours.
const AWAY_S: [i64; 9] = [5, 10, 20, 40, 60, 120, 300, 600, 3_600];
const REFUSED_S: [i64; 5] = [60, 600, 3_600, 4 * 3_600, 86_400];
/// No certificate is asked for again before this part of its life is over, whatever
/// the machine's clock says of its end.
const LEAST_PART: i64 = 6;

/// Starts the thread; none without HTTPS of our own.
pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<Option<JoinHandle<()>>> {
    let Some(https) = app.server.https.clone() else {
        return Ok(None);
    };
    let app = Arc::clone(app);
    worker::start("https", stop, move |stop| watch(&app, &https, stop)).map(Some)
}

fn watch(app: &App, https: &Https, stop: &Stop) {
    let (mut files, mut renewal) = (Files::default(), Renewal::beside(&app.config.database.path));
    let mut told = None;
    let mut port_due = Monotonic::now();
    announce(https);
    loop {
        if https.tls.bound().is_none() && Monotonic::now() >= port_due {
            if https.bind() {
                tracing::info!("the port of HTTPS is free now");
                announce(https);
            }
            port_due = Monotonic::now() + PAUSE;
        }
        match &https.source {
            Source::Files { chain, key } => files.look(app, https, chain, key),
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
    let status = https.status();
    if let Some(fault) = &status.port_fault {
        tracing::error!(fault, "HTTPS is not served, and plain HTTP is as without it");
    }
    let Some(facts) = &status.served else {
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
            app.server.addresses.learn(origin);
        }
        announce(self);
    }

    fn fail(&self, fault: &str) {
        let is_served = self.status.lock().served.is_some();
        if is_served {
            tracing::error!(fault, "no new certificate; the one before is served on");
        } else {
            tracing::error!(fault, "no certificate; plain HTTP is served as without HTTPS");
        }
        self.status.lock().fault = Some(fault.to_owned());
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
    /// When the last try to read it failed.
    failed: Option<Monotonic>,
}

impl Files {
    fn look(&mut self, app: &App, https: &Https, chain: &Path, key: &Path) {
        let now = Some((mark(chain), mark(key)));
        // Certificate and key are written one after the other, so what changes is read
        // once it stands still.
        let is_still = self.read.is_none() || self.seen == now;
        self.seen = now;
        // What failed may pass without a change of the files: too many may be open.
        let is_again = self.failed.is_some_and(|failed| failed.elapsed() >= PAUSE);
        if self.read == now && !is_again || !is_still {
            return;
        }
        let is_first = self.read.is_none();
        self.read = now;
        let read = certificate::read_files(chain, key);
        self.failed = read.is_err().then(Monotonic::now);
        match read {
            // It was taken before the start.
            Ok(found) if is_first && https.status().served.as_ref() == Some(&found.facts) => {}
            Ok(found) => https.take_late(app, &found, None),
            Err(fault) if is_again && https.status().fault.as_ref() == Some(&fault) => {}
            Err(fault) => https.fail(&fault),
        }
    }
}

/// When the directory may be asked again.
#[derive(Default)]
struct Pace {
    /// Failures since the last success: it did not answer as it should, or refused.
    away: usize,
    refused: usize,
    pause: Option<Pause>,
}

/// A pause is over when either clock says so: that of the machine may be set back, and
/// the other stands still while the machine sleeps.
struct Pause {
    began: Monotonic,
    at: Instant,
    seconds: i64,
}

impl Pace {
    /// Whether a pause is not over yet.
    fn waits(&self, now: Instant) -> bool {
        self.pause.as_ref().is_some_and(|pause| {
            let seconds = pause.seconds.unsigned_abs();
            let by_clock = now.since(pause.at).unsigned_abs() >= seconds;
            !by_clock && pause.began.elapsed().as_secs() < seconds
        })
    }

    /// Begins the pause after a failure; returns its end.
    fn failed(&mut self, is_away: bool, wait_s: Option<i64>, now: Instant) -> Instant {
        let (pauses, count) = if is_away {
            (&AWAY_S[..], &mut self.away)
        } else {
            (&REFUSED_S[..], &mut self.refused)
        };
        let pause = pauses[(*count).min(pauses.len() - 1)];
        *count += 1;
        self.rest(pause.max(wait_s.unwrap_or(0)), now)
    }

    /// Begins the pause after a certificate that lives for so many seconds.
    fn succeeded(&mut self, life: i64, now: Instant) {
        *self = Self::default();
        self.rest(life / LEAST_PART, now);
    }

    fn rest(&mut self, seconds: i64, now: Instant) -> Instant {
        self.pause = Some(Pause { began: Monotonic::now(), at: now, seconds });
        now.plus(seconds)
    }
}

/// Renewal by the directory.
struct Renewal {
    keeper: Keeper,
    /// When what the disk did not take is written again.
    write_due: Monotonic,
    pace: Pace,
    /// The way that led to a certificate last.
    way: Option<ChallengeKind>,
}

impl Renewal {
    fn beside(database: &Path) -> Self {
        let (keeper, write_due) = (Keeper::beside(database), Monotonic::now());
        Self { keeper, write_due, pace: Pace::default(), way: None }
    }

    fn look(&mut self, app: &App, https: &Https, stop: &Stop) {
        if self.keeper.owes() && Monotonic::now() >= self.write_due {
            self.write(https);
        }
        let now = app.clock.now();
        if self.pace.waits(now) || !is_due(https, now) {
            return;
        }
        let ways = self.ways(https);
        let Some(ended) = acme::obtain(https, &ways, &mut self.keeper, stop) else {
            return;
        };
        let ended = ended.and_then(|way| {
            let stored = self.keeper.certificate();
            let stored = stored.map_err(|said| Refusal { said, is_away: false, wait_s: None });
            Ok((way, stored?))
        });
        // The attempt may have taken minutes.
        let now = app.clock.now();
        match ended {
            Ok((way, stored)) => {
                let facts = &stored.certificate.facts;
                self.pace.succeeded(facts.until.since(facts.from), now);
                self.way = Some(way);
                https.status.lock().next_try = None;
                https.take_late(app, &stored.certificate, Some(stored.directory));
            }
            Err(refusal) => {
                let next = self.pace.failed(refusal.is_away, refusal.wait_s, now);
                https.status.lock().next_try = Some(next);
                https.fail(&format!("{}: {}", https.directory(), refusal.said));
            }
        }
    }

    /// Writes what is in memory alone; that it is so is said as long as it lasts.
    fn write(&mut self, https: &Https) {
        let unwritten = self.keeper.retry().err();
        self.write_due = Monotonic::now() + PAUSE;
        if unwritten.is_none() {
            tracing::info!("what the directory gave is written now");
        }
        https.status.lock().unwritten = unwritten;
    }

    /// The ways in which the directory may look at us, the most promising first.
    fn ways(&self, https: &Https) -> Vec<ChallengeKind> {
        let mut ways = vec![ChallengeKind::Tls, ChallengeKind::Http];
        if https.tls.bound().is_none() {
            ways.remove(0);
        } else if self.way == Some(ChallengeKind::Http) {
            ways.reverse();
        }
        ways
    }
}

/// Whether a certificate is to be asked for.
fn is_due(https: &Https, now: Instant) -> bool {
    let status = https.status();
    let lacks =
        |facts: &Facts| https.server.acme_domains.iter().any(|name| !facts.names.contains(name));
    match &status.served {
        None => true,
        Some(facts) => {
            end::is_late(facts, now)
                || lacks(facts)
                || status.issuer.as_deref() != Some(https.directory())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant(1_795_183_200);

    #[test]
    fn refusals_and_a_directory_that_is_away_have_paces_of_their_own() {
        let mut pace = Pace::default();
        let away: Vec<i64> = (0..5).map(|_| pace.failed(true, None, NOW).since(NOW)).collect();
        assert_eq!(away, AWAY_S[..5]);
        let refused: Vec<i64> = (0..6).map(|_| pace.failed(false, None, NOW).since(NOW)).collect();
        assert_eq!(refused, [60, 600, 3_600, 14_400, 86_400, 86_400]);
        assert_eq!(pace.failed(true, None, NOW), NOW.plus(AWAY_S[5]));
        assert_eq!(pace.failed(true, Some(7_000), NOW), NOW.plus(7_000), "it asked for more");
        pace.succeeded(90 * 86_400, NOW);
        assert_eq!(pace.failed(false, None, NOW), NOW.plus(60));
    }

    #[test]
    fn a_pause_ends_by_either_clock() {
        let mut pace = Pace::default();
        assert!(!pace.waits(NOW));
        pace.failed(false, None, NOW);
        assert!(pace.waits(NOW.plus(59)) && !pace.waits(NOW.plus(60)));
        assert!(pace.waits(NOW.minus(59)) && !pace.waits(NOW.minus(60)), "it was set back");
        let began = Monotonic::now().checked_sub(Duration::from_secs(61)).unwrap();
        pace.pause = Some(Pause { began, at: NOW, seconds: 60 });
        assert!(!pace.waits(NOW.plus(1)), "the machine's clock stood still");
        pace.succeeded(90 * 86_400, NOW);
        assert!(pace.waits(NOW.plus(14 * 86_400)) && !pace.waits(NOW.plus(15 * 86_400)));
    }
}
