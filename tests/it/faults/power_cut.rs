//! A power cut at any moment: what was answered is on the disk.
//!
//! A run of the real server is recorded, each write, each sync and the moment of each
//! answer. Then disks are made as a power cut at some moment may leave them. What was
//! synced is there. Of the rest there is nothing, all, some, some in another order, or
//! some cut off within a page. Each such disk is opened and compared with the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::json;

use super::disk::{Change, Disk, Step};
use super::{figure, notify, resource, times};
use crate::support::client::Request;
use crate::support::process::{EXECUTABLE, Process};
use crate::support::random::Random;
use crate::support::site::Site;

/// Notifications that each of some callers sends in each of the two lives of the server.
const EACH: u64 = 40;
const CALLERS: u64 = 3;
const DATABASE: &str = "seller-platform.db";
const LOG: &str = "seller-platform.db-wal";
/// One disk of so many is given to the real server.
const SERVED: u64 = 40;

/// A recorded run, and what lies beside the database.
struct Recording {
    steps: Vec<Step>,
    key: Vec<u8>,
}

/// Two lives of a server with writes from several callers: the first ends cleanly, with
/// all of the log moved into the file, the second by a kill.
fn record() -> Recording {
    let disk = Disk::new();
    let site = disk.recorded_under(Site::builder().unlimited()).start();
    let ana = site.person("ana");
    let key = fs::read(site.database().with_extension("db.key")).unwrap();
    let number = AtomicU64::new(0);
    for life in 0..2 {
        std::thread::scope(|scope| {
            for _ in 0..CALLERS {
                scope.spawn(|| {
                    for _ in 0..EACH {
                        let number = number.fetch_add(1, Ordering::Relaxed);
                        assert_eq!(notify(&site, number), Some(200));
                        disk.answered(&resource(number));
                    }
                });
            }
            scope.spawn(|| {
                for part in 0..4 {
                    // Commits of many pages, between those of few.
                    let rows: Vec<String> =
                        (0..200).map(|row| format!("S-{life}-{part}-{row},Garrafa,10")).collect();
                    let list = json!({ "csv": format!("sku,title,price\n{}", rows.join("\n")) });
                    let request = Request::new("POST", "/painel/produtos/importar").json(&list);
                    ana.send(request).expect(200);
                }
            });
        });
        if life == 0 {
            site.stop();
            site.start_again();
        }
    }
    site.kill();
    let steps = disk.recorded();
    // The site's own end has nothing to do with this.
    site.start_again();
    Recording { steps, key }
}

/// A file as the disk surely has it, and what happened to it since its last sync.
#[derive(Clone, Default)]
struct Stored {
    content: Vec<u8>,
    since: Vec<Change>,
}

/// The disk at some moment of a recording.
#[derive(Default)]
struct Moment {
    files: BTreeMap<String, Stored>,
    answered: BTreeSet<String>,
}

impl Moment {
    fn after(&mut self, step: &Step) {
        match step {
            Step::Change { file, change } => {
                self.files.entry(file.clone()).or_default().since.push(change.clone());
            }
            Step::Sync { file } => {
                let stored = self.files.entry(file.clone()).or_default();
                for change in stored.since.drain(..) {
                    change.make(&mut stored.content);
                }
            }
            Step::Remove { file } => {
                self.files.remove(file);
            }
            Step::Answered { what } => {
                self.answered.insert(what.clone());
            }
        }
    }

    /// Writes what a power cut now may leave of it.
    fn cut_off(&self, folder: &Path, random: &mut Random) {
        for (name, stored) in &self.files {
            let mut content = stored.content.clone();
            for change in left(&stored.since, random) {
                change.make(&mut content);
            }
            private(&folder.join(name), &content);
        }
    }
}

/// Writes a file as the server makes its own: nobody else may read it.
fn private(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// What of the changes since the last sync a disk may have.
fn left(since: &[Change], random: &mut Random) -> Vec<Change> {
    let kind = random.below(5);
    let mut left: Vec<Change> = match kind {
        0 => Vec::new(),
        1 => since.to_vec(),
        _ => since.iter().filter(|_| random.below(2) == 0).cloned().collect(),
    };
    if kind == 3 {
        for at in (1..left.len()).rev() {
            left.swap(at, usize::try_from(random.below(at as u64 + 1)).unwrap());
        }
    }
    if kind >= 3 {
        for change in &mut left {
            if random.below(3) == 0 {
                *change = change.torn(1 + usize::try_from(random.below(8)).unwrap());
            }
        }
    }
    left
}

/// What SQLite finds on such a disk; an error when it cannot be read, or is damaged.
fn found(folder: &Path) -> rusqlite::Result<BTreeSet<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let database = Connection::open_with_flags(folder.join(DATABASE), flags)?;
    let sound: String = database.query_row("PRAGMA quick_check", [], |row| row.get(0))?;
    if sound != "ok" {
        return Err(rusqlite::Error::InvalidQuery);
    }
    let mut statement = database.prepare("SELECT resource FROM ml_notification")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Starts the real server on such a disk: it is ready, and says nothing of a loss.
#[track_caller]
fn serves(folder: &Path, key: &[u8]) {
    private(&folder.join("seller-platform.db.key"), key);
    private(&folder.join("seller-platform.db.lock"), b"1\n");
    let mut serve = Command::new(EXECUTABLE);
    serve.env_clear().current_dir(folder).args(["serve", "--listen", "127.0.0.1:0"]);
    let mut process = Process::start(&mut serve);
    let mut client = crate::support::client::Client::default();
    let ready = client.send(process.address, &Request::new("GET", "/readyz")).unwrap();
    assert_eq!(ready.status, 200, "{ready}\n{}", process.log());
    assert!(process.stop(Duration::from_secs(30)).success(), "{}", process.log());
}

/// Makes `disks` disks of a recording; how many lost something that was answered, how
/// many cannot be read, and how many the server was started on.
fn replay(recording: &Recording, disks: u64, seed: u64, serve: bool) -> (u64, u64, u64) {
    let mut random = Random::new(seed);
    let is_answer = |step: &Step| matches!(step, Step::Answered { .. });
    let first = recording.steps.iter().position(is_answer).expect("an answer");
    let span = (recording.steps.len() - first) as u64;
    let mut cuts: Vec<usize> =
        (0..disks).map(|_| first + usize::try_from(random.below(span)).unwrap()).collect();
    cuts.sort_unstable();
    let (mut lost, mut unreadable, mut served) = (0, 0, 0);
    let mut moment = Moment::default();
    let mut steps = recording.steps.iter().enumerate().peekable();
    for (disk, cut) in (0..).zip(cuts) {
        while let Some((_, step)) = steps.next_if(|(at, _)| *at <= cut) {
            moment.after(step);
        }
        let folder = tempfile::tempdir().unwrap();
        moment.cut_off(folder.path(), &mut random);
        if serve && disk % SERVED == 0 {
            serves(folder.path(), &recording.key);
            served += 1;
        }
        match found(folder.path()) {
            Ok(found) => lost += u64::from(!moment.answered.is_subset(&found)),
            Err(_) => unreadable += 1,
        }
    }
    (lost, unreadable, served)
}

#[test]
fn what_was_answered_survives_a_power_cut_at_any_moment() {
    let recording = record();
    let (rounds, disks) = (times(1, 20), times(300, 1_000));
    let mut started = 0;
    for seed in 1..=rounds {
        let (lost, unreadable, served) = replay(&recording, disks, seed, true);
        assert_eq!(
            (lost, unreadable),
            (0, 0),
            "disks with a loss, and unreadable ones, seed {seed}"
        );
        started += served;
    }
    // Without the syncs of the log the same replay must see losses, else it sees nothing.
    let mut blind = recording;
    blind.steps.retain(|step| !matches!(step, Step::Sync { file } if file == LOG));
    let (lost, unreadable, _) = replay(&blind, 100, 1, false);
    let lost = lost + unreadable;
    assert!(lost > 20, "{lost} of 100 disks without syncs lost something");
    let states = rounds * disks;
    figure(
        "F02",
        &format!(
            "{states} disks, 0 lost, 0 unreadable, {started} started on; without syncs {lost} of 100 lost"
        ),
    );
}
