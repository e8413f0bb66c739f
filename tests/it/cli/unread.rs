//! What is only told (log, standard output) ends and holds up nothing, whoever reads it.

use std::fs::File;
use std::io::{Read as _, pipe};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::support::client::{Client, Request};
use crate::support::process::EXECUTABLE;
use crate::support::wait::{await_end, until};

const MINUTE: Duration = Duration::from_secs(60);
/// More lines than a pipe holds.
const MANY: usize = 1_500;

/// A server whose words go wherever they may.
struct Server {
    folder: TempDir,
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start(out: impl Into<Stdio>, err: impl Into<Stdio>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut serve = Command::new(EXECUTABLE);
        serve.env_clear().current_dir(folder.path());
        serve.args(["--db", "x.db", "serve", "--listen", "127.0.0.1:0"]);
        let child = serve.stdin(Stdio::null()).stdout(out).stderr(err).spawn().unwrap();
        let lock = folder.path().join("x.db.lock");
        let address = until("it listens", MINUTE, || {
            std::fs::read_to_string(&lock).ok()?.lines().nth(1)?.parse().ok()
        });
        Self { folder, child, address }
    }

    /// An address that is a line of the log.
    #[track_caller]
    fn get(&self, client: &mut Client) {
        client.send(self.address, &Request::new("GET", "/nada")).unwrap().expect(404);
    }

    /// Stops it; an end that is clean.
    #[track_caller]
    fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        await_end(&self.child, MINUTE);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        assert!(!self.folder.path().join("x.db.lock").exists());
    }
}

#[test]
fn a_full_disk_under_log_and_output_stops_nothing() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let server = Server::start(full(), full());
    let mut client = Client::default();
    for _ in 0..3 {
        server.get(&mut client);
    }
    server.stop();
}

#[test]
fn a_pipe_that_nobody_empties_stops_nothing_and_goes_on_once_it_is_read() {
    let (mut reader, writer) = pipe().unwrap();
    let server = Server::start(Stdio::null(), writer);
    let mut client = Client::default();
    for _ in 0..MANY {
        server.get(&mut client);
    }
    let mut chunk = vec![0; 1 << 17];
    let length = reader.read(&mut chunk).unwrap();
    let text = String::from_utf8_lossy(&chunk[..length]).into_owned();
    assert!(!text.contains("could not be written"), "{text}");
    server.get(&mut client);
    server.stop();
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("the log could not be written for a while"), "{rest}");
    assert!(rest.contains("stopped"), "{rest}");
}
