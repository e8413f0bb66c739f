//! Asking a running Litestream how far it is, by its socket.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::place::SOCKET;
use crate::base::Instant;

const PATIENCE: Duration = Duration::from_secs(2);
/// Most bytes of an answer.
const MOST: u64 = 64 << 10;

#[derive(Deserialize)]
struct List {
    databases: Vec<Database>,
}

#[derive(Deserialize)]
struct Database {
    #[serde(default)]
    last_sync_at: Option<String>,
}

/// Until when everything is at the replica, by the Litestream that runs in a folder;
/// `None` when none answers, or nothing arrived there since it started.
pub fn level_at(folder: &Path) -> Option<Instant> {
    let answer = ask(folder, "/list").ok()?;
    let body = answer.split_once("\r\n\r\n")?.1;
    let list: List = serde_json::from_str(body).ok()?;
    list.databases.first().and_then(|one| Instant::parse(one.last_sync_at.as_deref()?))
}

fn ask(folder: &Path, path: &str) -> std::io::Result<String> {
    // The path of a socket may have some hundred bytes only.
    let opened = File::open(folder)?;
    let short = format!("/proc/self/fd/{}/{SOCKET}", opened.as_raw_fd());
    let mut stream = UnixStream::connect(short)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // Without a length, the answer ends with the connection.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: litestream\r\n\r\n")?;
    std::io::read_to_string(stream.take(MOST))
}
