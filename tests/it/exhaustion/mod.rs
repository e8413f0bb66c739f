//! One client must not stop the others: what one client does to exhaust the
//! service, and what another person notices of it.

mod acts; // People and programs who change something again and again.
mod assets; // The first browsers after a start.
mod bodies; // Many callers who send much and never finish.
mod csv; // Lists that are made to be expensive.
mod door; // Many callers who try passwords.
mod exports; // Many callers who read files slowly.
mod handles; // No file handle is left.
mod json; // Bodies of millions of small values.
mod lanes; // Many requests that wait for a marketplace that does not answer.
mod names; // Addresses and forms with thousands of names, over all routes.
mod queries; // Addresses and forms with thousands of names.
mod writes; // Acts that write very many rows.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::actors::Actor;
use crate::support::site::{Builder, Site};
use crate::support::wait::{pause, until};

/// Memory at which the system kills the server under attack.
const CEILING: u64 = 256 << 20;
/// Most memory that the server may have: 200 MB with the code that is resident
/// where it is installed.
const MOST_RESIDENT: u64 = 180 << 20;
/// How long another person may wait for 99 of 100 pages, in addition to the
/// delay that the machine itself causes.
const BEARABLE: Duration = Duration::from_millis(100);
/// The same for something that the person changes.
const BEARABLE_WRITE: Duration = Duration::from_millis(50);
/// How soon after an attack everything must be as before.
const RECOVERY: Duration = Duration::from_secs(5);
/// Fewest pages that another person requests.
const LOOKS: usize = 100;

/// A server with little memory.
#[track_caller]
fn narrow(builder: Builder) -> Site {
    builder.memory(CEILING).start()
}

/// Runs `attack` while another person requests `page` all the time. The person
/// must notice nothing, the memory must be enough, and five seconds later
/// everything must be as before.
#[track_caller]
fn besieged<T>(site: &Site, bystander: &Actor<'_>, page: &str, attack: impl FnOnce() -> T) -> T {
    bystander.get(page).expect(200);
    let over = AtomicBool::new(false);
    let (outcome, waits) = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut waits = Waits::begin();
            while !over.load(Ordering::Acquire) || waits.asked.len() < LOOKS {
                waits.measure(|| bystander.get(page).expect(200));
            }
            waits
        });
        // Dropped also when the attack fails; otherwise the loop would never end.
        let end = Ended(&over);
        let outcome = attack();
        drop(end);
        (outcome, looking.join().expect("the other person's pages came"))
    });
    let calm = Instant::now();
    until("the service is as before", RECOVERY, || {
        let ready = site.anonymous().get("/readyz").status == 200;
        let began = Instant::now();
        let page = bystander.get(page).status == 200;
        (ready && page && began.elapsed() < BEARABLE).then_some(())
    });
    assert!(calm.elapsed() < RECOVERY);
    let peak = site.peak_memory();
    assert!(peak < MOST_RESIDENT, "{} MB were resident", peak >> 20);
    waits.check("another person");
    outcome
}

/// The same, while another person also changes something all the time.
#[track_caller]
fn besieged_writes<T: Send>(
    site: &Site,
    bystander: &Actor<'_>,
    writer: &Actor<'_>,
    attack: impl FnOnce() -> T + Send,
) -> T {
    let write = |waits: &mut Waits| {
        let tax = json!({ "imposto": waits.asked.len() % 20 });
        waits.measure(|| writer.post("/painel/ml/calculadora/imposto", &tax).ok());
    };
    // A change waits for the disk and for a second thread, also without an attack.
    let mut calm = Waits::begin();
    (0..LOOKS).for_each(|_| write(&mut calm));
    let usual = p99(&mut calm.asked);
    besieged(site, bystander, "/painel", || {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let mut waits = Waits::begin();
                while !over.load(Ordering::Acquire) || waits.asked.len() < LOOKS {
                    write(&mut waits);
                }
                waits
            });
            let end = Ended(&over);
            let outcome = attack();
            drop(end);
            writing
                .join()
                .expect("the other person's changes were made")
                .within("another person's change", BEARABLE_WRITE + usual);
            outcome
        })
    })
}

/// The time of requests, each together with the time of a plain exchange over
/// the loopback. When other tests or the attackers use the processors, both are
/// slow, and only the difference says something about the server.
struct Waits {
    echo: TcpStream,
    asked: Vec<Duration>,
    bare: Vec<Duration>,
}

impl Waits {
    fn begin() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let echo = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        std::thread::spawn(move || {
            let mut byte = [0];
            while other.read_exact(&mut byte).and_then(|()| other.write_all(&byte)).is_ok() {}
        });
        Self { echo, asked: Vec::new(), bare: Vec::new() }
    }

    /// Measures a request, and pauses.
    fn measure<T>(&mut self, ask: impl FnOnce() -> T) {
        let began = Instant::now();
        ask();
        self.asked.push(began.elapsed());
        let began = Instant::now();
        self.echo.write_all(&[1]).and_then(|()| self.echo.read_exact(&mut [0])).unwrap();
        self.bare.push(began.elapsed());
        pause(Duration::from_millis(5));
    }

    #[track_caller]
    fn check(self, whom: &str) {
        self.within(whom, BEARABLE);
    }

    #[track_caller]
    fn within(mut self, whom: &str, bearable: Duration) {
        let (asked, bare) = (p99(&mut self.asked), p99(&mut self.bare));
        // A page needs the processor a few times, an exchange twice.
        assert!(
            asked < bearable + 3 * bare,
            "{whom} waited {asked:?} (p99 of {}), a bare exchange {bare:?}",
            self.asked.len()
        );
    }
}

/// The time within which 99 of 100 were done.
fn p99(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() * 99 / 100).copied().unwrap_or_default()
}

struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[test]
fn a_quiet_server_passes_its_own_siege() {
    let site = narrow(Site::builder().unlimited());
    let ana = site.person("ana");
    besieged(&site, &ana, "/painel", || ());
}
