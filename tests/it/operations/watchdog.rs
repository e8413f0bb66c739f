//! The supervisor's watchdog hears of the server while its writer and a reader answer.

use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::support::site::Site;
use crate::support::wait::until;

/// In this time of silence a supervisor of the test would give up.
const PATIENCE: Duration = Duration::from_millis(800);
const SLOW_MACHINE: Duration = Duration::from_mins(1);
/// Enough times of patience to be sure of the silence.
const LONG: Duration = Duration::from_secs(3);

struct Supervisor {
    socket: UnixDatagram,
    _folder: tempfile::TempDir,
}

impl Supervisor {
    /// Starts a site that tells a supervisor how it is.
    fn of_site() -> (Self, Site) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let site = Site::builder()
            .environment("NOTIFY_SOCKET", &path.display().to_string())
            .environment("WATCHDOG_USEC", &PATIENCE.as_micros().to_string())
            .start();
        (Self { socket, _folder: folder }, site)
    }

    /// The next message, if there is one.
    fn next(&self) -> Option<String> {
        let mut bytes = [0; 256];
        let length = self.socket.recv(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }

    fn is_fed(&self) -> bool {
        self.next().is_some_and(|said| said.contains("WATCHDOG=1"))
    }

    #[track_caller]
    fn is_fed_again(&self, times: usize) {
        for _ in 0..times {
            until("the watchdog is fed", SLOW_MACHINE, || self.is_fed().then_some(()));
        }
    }

    fn drain(&self) {
        while self.next().is_some() {}
    }
}

#[test]
fn it_is_fed_while_the_writer_answers_and_not_while_it_hangs() {
    let (supervisor, site) = Supervisor::of_site();
    supervisor.is_fed_again(3);
    // Another program holds the file, so that the writer waits.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let other = Connection::open_with_flags(site.database(), flags).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    supervisor.drain();
    let begun = Instant::now();
    let mut fed = 0;
    while begun.elapsed() < LONG {
        fed += usize::from(supervisor.is_fed());
    }
    // One look may have been over before, one may end within the writer's patience.
    assert!(fed <= 2, "fed {fed} times by a writer that does not answer");
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    supervisor.drain();
    supervisor.is_fed_again(3);
}

#[test]
fn a_full_disk_is_no_reason_to_start_again() {
    let (supervisor, site) = Supervisor::of_site();
    site.expect_in_log("the database takes no writes");
    site.limit_file_size(Some(16));
    until("the full disk is noticed", SLOW_MACHINE, || {
        (site.anonymous().get("/readyz").status == 503).then_some(())
    });
    supervisor.drain();
    supervisor.is_fed_again(5);
    site.limit_file_size(None);
    until("there is space again", SLOW_MACHINE, || {
        (site.anonymous().get("/readyz").status == 200).then_some(())
    });
}
