//! A replica in a bucket, with a network to it that ends. A stand-in server of the S3 API
//! (moto) keeps the bucket; `tests/run` installs it beside Litestream.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::following::{Journal, get};
use crate::support::client::{Client, Request};
use crate::support::replica::{FOLLOWS, MINUTE, Machine, litestream, now};
use crate::support::site::lock;
use crate::support::wait::until;

const LAG: &str = "seller_platform_replica_lag_seconds ";
const FAILING: &str = "\nseller_platform_replica_failing 1\n";

fn figures(to: SocketAddr, key: &str) -> String {
    let bearer =
        format!("Bearer {}", key.split_whitespace().find(|word| word.starts_with("spk_")).unwrap());
    let request = Request::new("GET", "/metrics").header("Authorization", &bearer);
    Client::default().send(to, &request).unwrap().expect(200).text()
}

/// The stand-in; ends with its value.
struct Bucket {
    child: Child,
    address: SocketAddr,
}

impl Bucket {
    /// Starts it on a free port, with the bucket `copies`.
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let program =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("target/litestream/bin/moto_server");
        let child = Command::new(&program)
            .args(["-H", "127.0.0.1", "-p", &free.port().to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let bucket = Self { child, address: free };
        until("the bucket is there", FOLLOWS, || {
            let made = Client::default().send(free, &Request::new("PUT", "/copies"));
            made.ok().filter(|reply| reply.status == 200)
        });
        bucket
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A wire to a server, which can be cut: whoever comes then is shut out, and connections
/// that are open end.
struct Wire {
    address: SocketAddr,
    is_cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (is_cut, open) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let wire = Self { address, is_cut: Arc::clone(&is_cut), open: Arc::clone(&open) };
        std::thread::spawn(move || {
            for here in listener.incoming().filter_map(Result::ok) {
                if is_cut.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok(there) = TcpStream::connect(server) else { continue };
                let copies = [&here, &there].map(|stream| stream.try_clone().unwrap());
                lock(&open).extend(copies);
                let (back, forth) = (there.try_clone().unwrap(), here.try_clone().unwrap());
                std::thread::spawn(move || carry(here, there));
                std::thread::spawn(move || carry(back, forth));
            }
        });
        wire
    }

    fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
        for stream in lock(&self.open).drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }

    fn mend(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16_384];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Write).ok();
}

#[test]
#[ignore = "needs Litestream and moto; tests/run installs them"]
fn while_the_bucket_is_away_all_is_served_and_afterwards_nothing_is_missing() {
    let bucket = Bucket::start();
    let wire = Wire::to(bucket.address);
    let machine = Machine::with("s3://copies/shop", &litestream());
    machine.add(&format!(
        "endpoint = \"http://{}\"\nregion = \"us-east-1\"\naccess_key = \"key\"\n",
        wire.address
    ));
    let mut server = machine.serve();
    let key = machine.ok(&["key", "create", "--name", "figures", "--scope", "admin"]);
    let journal = Journal::default();
    journal.send_many(server.address, 50);
    machine.wait_level();

    wire.cut();
    journal.send_many(server.address, 200);
    until("it is told", MINUTE, || {
        journal.send_many(server.address, 1);
        let figures = figures(server.address, &key);
        let lag = figures.lines().find_map(|line| line.strip_prefix(LAG))?;
        let is_late = lag.parse::<i64>().unwrap() > 10;
        (is_late && figures.contains(FAILING)).then_some(())
    });
    assert!(machine.behind().is_none(), "check says that it cannot be reached");
    get(server.address, "/readyz").expect(200);
    // Neither a stop nor a start waits for it.
    let begun = now();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    assert!((now() - begun).as_secs() < 40, "a stop takes {}", now() - begun);
    let mut server = machine.serve();
    journal.send_many(server.address, 50);
    get(server.address, "/readyz").expect(200);

    wire.mend();
    until("the replica is level again", Duration::from_secs(120), || {
        journal.send_many(server.address, 1);
        (machine.behind()? <= 4).then_some(())
    });
    machine.wait_level();
    assert!(server.stop(MINUTE).success(), "{}", server.log());
    std::fs::rename(machine.path("seller.db"), machine.path("lost.db")).unwrap();
    machine.ok(&["restore", "replica"]);
    journal.compare(&machine.kept(), now());
}
