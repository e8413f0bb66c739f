//! A thousand connections that send a byte now and then: the others notice nothing.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};

use super::{figure, times};
use crate::support::actors::Actor;
use crate::support::site::Site;
use crate::support::wait::{pause, until};

const SLOW: usize = 1_000;
/// Fewer for each address than one address may have.
const ADDRESSES: usize = 8;
const BETWEEN_BYTES: Duration = Duration::from_millis(700);
const PATIENCE: Duration = Duration::from_mins(1);
/// The machine's own delays make a round worth nothing now and then.
const ROUNDS: usize = 4;
/// Below this nobody notices a difference, and the machine's noise is larger.
const NOISE: Duration = Duration::from_millis(2);

fn open(number: usize, to: SocketAddr) -> Option<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).ok()?;
    let from = Ipv4Addr::new(127, 0, 1, u8::try_from(1 + number % ADDRESSES).ok()?);
    socket.bind(&SocketAddr::from((from, 0)).into()).ok()?;
    socket.connect(&to.into()).ok()?;
    socket.set_nonblocking(true).ok()?;
    Some(socket.into())
}

/// Holds the connections until `over`: a byte each now and then, and a new connection
/// in the place of each that was closed.
fn drip(to: SocketAddr, over: &AtomicBool, held: &AtomicUsize, closed: &AtomicUsize) {
    let text = b"POST /entrar HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    let mut clients: Vec<(Option<TcpStream>, usize)> = (0..SLOW).map(|_| (None, 0)).collect();
    while !over.load(Ordering::Acquire) {
        let began = Instant::now();
        for (number, (stream, sent)) in clients.iter_mut().enumerate() {
            let byte = [*text.get(*sent).unwrap_or(&b'x')];
            let is_gone = stream.as_mut().is_none_or(|stream| stream.write(&byte).is_err());
            *sent += 1;
            if is_gone {
                closed.fetch_add(usize::from(stream.is_some()), Ordering::Relaxed);
                (*stream, *sent) = (open(number, to), 0);
            }
        }
        let open = clients.iter().filter(|(stream, _)| stream.is_some()).count();
        held.store(open, Ordering::Release);
        pause(BETWEEN_BYTES.saturating_sub(began.elapsed()));
    }
}

/// How long a person waits for half of the pages, and for 99 of 100.
fn waits(ana: &Actor<'_>, pages: usize) -> [Duration; 2] {
    let mut waits: Vec<Duration> = (0..pages)
        .map(|_| {
            let began = Instant::now();
            ana.get("/painel").expect(200);
            let took = began.elapsed();
            pause(Duration::from_millis(3));
            took
        })
        .collect();
    waits.sort_unstable();
    [waits[pages / 2], waits[pages * 99 / 100]]
}

#[test]
fn a_thousand_slow_connections_double_nobodys_wait() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let site = Site::builder().unlimited().start();
    let ana = site.person("ana");
    let pages = usize::try_from(times(400, 4_000)).unwrap();
    waits(&ana, 50);
    let before = site.peak_memory();
    let handles = || std::fs::read_dir(format!("/proc/{}/fd", site.pid())).unwrap().count();
    let usual_handles = handles();
    let mut measured = Vec::new();
    for _ in 0..ROUNDS {
        let quiet = waits(&ana, pages);
        let (over, held, closed) =
            (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0));
        let slow = std::thread::scope(|scope| {
            scope.spawn(|| drip(site.address(), &over, &held, &closed));
            until("a thousand are connected", PATIENCE, || {
                (held.load(Ordering::Acquire) == SLOW && handles() >= usual_handles + SLOW * 9 / 10)
                    .then_some(())
            });
            let slow = waits(&ana, pages);
            over.store(true, Ordering::Release);
            slow
        });
        until("their handles are free again", PATIENCE, || {
            (handles() < usual_handles + 20).then_some(())
        });
        measured.push((quiet, slow));
        if slow[1] < 2 * quiet[1] + NOISE {
            break;
        }
    }
    let grown = site.peak_memory().saturating_sub(before) >> 20;
    let (quiet, slow) = measured.last().unwrap();
    assert!(slow[1] < 2 * quiet[1] + NOISE, "quiet and slow, half and 99 of 100: {measured:?}");
    assert!(grown < 64, "{grown} MB more memory");
    figure(
        "F18",
        &format!(
            "p99 of others {:.1} ms quiet, {:.1} ms beside 1,000 slow; {grown} MB more memory",
            quiet[1].as_secs_f64() * 1e3,
            slow[1].as_secs_f64() * 1e3
        ),
    );
}
