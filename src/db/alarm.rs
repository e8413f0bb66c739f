//! What is wrong with the database as a file: damage, and files that went away.
//!
//! Any error of SQLite that tells of damage is noted on its thread where errors
//! become [`DbError`](super::DbError), and raised here when the read, the job or
//! the check on that thread ends. Damage is kept in a file beside the database,
//! so that the next start and commands beside a server know of it too. While
//! there is trouble, reads go on and the writer refuses jobs.
//!
//! The file of a known damage goes away when a copy is restored, or when a start
//! checks the whole database and finds it sound. Decision db-13.

use std::cell::RefCell;
use std::fmt::{self, Display};
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::files::Kind;
use crate::base::files::{beside, give_to_owner_of, remove_if_there};
use crate::base::{Clock, Instant};

/// End of the name of the file that keeps a known damage.
const DAMAGED: &str = ".damaged";
/// End of the name of the file that tells of answered writes that are missing.
const MISSING: &str = ".missing";

/// Why nothing is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The content is damaged: what was seen, with the time.
    Damaged(String),
    /// A file went away, or another one took its place.
    Gone(Kind),
    /// Another server took over: who and when.
    Superseded(String),
}

impl Trouble {
    /// A word for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Damaged(_) => "damaged",
            Self::Gone(kind) => kind.absence(),
            Self::Superseded(_) => "superseded",
        }
    }
}

impl Display for Trouble {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(seen) => write!(to, "the database is damaged ({seen})"),
            Self::Gone(kind) => to.write_str(kind.told()),
            Self::Superseded(by) => to.write_str(by),
        }
    }
}

thread_local! {
    /// The damage that SQLite met last on this thread.
    static SEEN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes on this thread that SQLite met damage.
pub fn saw_fault(error: &rusqlite::Error) {
    SEEN.with(|seen| *seen.borrow_mut() = Some(error.to_string()));
}

/// Takes what was noted on this thread.
pub fn take_fault() -> Option<String> {
    SEEN.with(|seen| seen.borrow_mut().take())
}

/// What is known to be wrong with one database.
pub struct Alarm {
    path: PathBuf,
    clock: Clock,
    is_blocked: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    damage: Option<String>,
    /// The damage is known from before this start, and was not looked for again.
    is_unjudged: bool,
    /// The damage could not be kept in its file yet.
    is_unkept: bool,
    gone: Option<Kind>,
    is_key_gone: bool,
    superseded: Option<String>,
    missing: Option<String>,
}

impl Alarm {
    /// What the files beside the database tell.
    pub fn new(path: &Path, clock: &Clock) -> Self {
        let damage = saved_damage(path);
        Self {
            path: path.to_owned(),
            clock: clock.clone(),
            is_blocked: AtomicBool::new(damage.is_some()),
            state: Mutex::new(State {
                is_unjudged: damage.is_some(),
                damage,
                missing: missing(path),
                ..State::default()
            }),
        }
    }

    /// Whether the writer refuses jobs.
    pub fn is_blocked(&self) -> bool {
        self.is_blocked.load(Ordering::Acquire)
    }

    /// Why the writer refuses jobs; `None` while it does not.
    pub fn trouble(&self) -> Option<Trouble> {
        if !self.is_blocked() {
            return None;
        }
        let state = self.state.lock();
        let key = state.is_key_gone.then_some(Kind::Key);
        if let Some(by) = &state.superseded {
            return Some(Trouble::Superseded(by.clone()));
        }
        match (&state.damage, state.gone.or(key)) {
            (Some(seen), _) => Some(Trouble::Damaged(seen.clone())),
            (None, gone) => gone.map(Trouble::Gone),
        }
    }

    /// The file that went away for good, the key aside.
    pub fn gone(&self) -> Option<Kind> {
        self.state.lock().gone
    }

    /// What is said of answered writes that are missing.
    pub fn missing(&self) -> Option<String> {
        self.state.lock().missing.clone()
    }

    /// Whether a damage from before this start is still to be judged.
    pub fn is_unjudged(&self) -> bool {
        self.state.lock().is_unjudged
    }

    /// Raises what this thread has seen since it looked last; whether it saw damage.
    pub fn note_fault(&self) -> bool {
        let seen = take_fault();
        if let Some(seen) = &seen {
            self.raise(seen);
        }
        seen.is_some()
    }

    /// The database is damaged. Logged and kept once.
    pub fn raise(&self, seen: &str) {
        let mut state = self.state.lock();
        self.is_blocked.store(true, Ordering::Release);
        if state.damage.is_some() {
            return;
        }
        let seen = line(seen, self.clock.now());
        tracing::error!(
            seen,
            "the database is damaged: reads go on, nothing is written; restore a backup with `seller-platform restore`"
        );
        state.is_unkept = keep(&self.path, DAMAGED, &seen).is_err();
        state.damage = Some(seen);
    }

    /// The whole database was found sound by a check.
    pub fn judged_sound(&self) {
        let mut state = self.state.lock();
        if !std::mem::take(&mut state.is_unjudged) {
            return;
        }
        state.damage = None;
        forget(&self.path, DAMAGED);
        tracing::warn!("the whole database was checked and is sound: the known damage is over");
        self.settle(&state);
    }

    /// The damage from before this start is still there.
    pub fn judged_damaged(&self) {
        self.state.lock().is_unjudged = false;
    }

    /// A file went away. Logged once.
    pub fn went_away(&self, kind: Kind) {
        let mut state = self.state.lock();
        self.is_blocked.store(true, Ordering::Release);
        if state.gone.replace(kind).is_none() {
            tracing::error!("{}: nothing is written", kind.told());
        }
    }

    /// Another server took over. Logged once.
    pub fn superseded(&self, by: &str) {
        let mut state = self.state.lock();
        self.is_blocked.store(true, Ordering::Release);
        if state.superseded.replace(by.to_owned()).is_none() {
            tracing::error!("{by}: nothing is written");
        }
    }

    /// Whether the key file is where it was, with the same content.
    pub fn key_is(&self, there: bool) {
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.is_key_gone, !there) != there {
            return;
        }
        if there {
            tracing::warn!("the key file is there again: the database takes writes again");
        } else {
            tracing::error!("{}: nothing is written", Kind::Key.told());
        }
        self.settle(&state);
    }

    /// Answered writes are missing. They are only told of: what is there is sound.
    pub fn misses(&self, what: &str) {
        let what = line(what, self.clock.now());
        tracing::error!(what, "answered writes may be missing; compare with the newest copy");
        let mut state = self.state.lock();
        if let Err(error) = keep(&self.path, MISSING, &what) {
            tracing::warn!(%error, "that writes are missing cannot be kept beside the database");
        }
        state.missing = Some(what);
    }

    /// Takes over what other processes have kept, or removed, beside the database.
    pub fn look_beside(&self) {
        let mut state = self.state.lock();
        state.missing = missing(&self.path);
        if state.is_unkept
            && let Some(seen) = &state.damage
        {
            state.is_unkept = keep(&self.path, DAMAGED, seen).is_err();
        }
        if state.damage.is_none()
            && let Some(seen) = saved_damage(&self.path)
        {
            tracing::error!(seen, "a command found the database damaged: nothing is written");
            state.damage = Some(seen);
            self.is_blocked.store(true, Ordering::Release);
        }
    }

    fn settle(&self, state: &State) {
        let blocked = state.damage.is_some()
            || state.gone.is_some()
            || state.is_key_gone
            || state.superseded.is_some();
        self.is_blocked.store(blocked, Ordering::Release);
    }
}

/// The known damage of the database at `path`, if there is one.
pub fn saved_damage(path: &Path) -> Option<String> {
    read(path, DAMAGED)
}

/// What is said of answered writes that are missing in the database at `path`.
pub fn missing(path: &Path) -> Option<String> {
    read(path, MISSING)
}

/// Keeps a damage that a command found, for the server and the next start.
pub fn keep_damage(path: &Path, seen: &str, now: Instant) {
    if saved_damage(path).is_none() {
        // A command of another account may not be able to write there.
        let _ = keep(path, DAMAGED, &line(seen, now));
    }
}

/// Forgets all about a database that another one replaced.
pub fn forget_all(path: &Path) {
    forget(path, DAMAGED);
    forget(path, MISSING);
}

fn line(seen: &str, now: Instant) -> String {
    let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    // What SQLite says before each fault tells nothing: there is one database.
    let seen = seen.strip_prefix("*** in database main *** ").unwrap_or(&seen);
    format!("{}: {seen}", now.rfc3339())
}

fn read(path: &Path, end: &str) -> Option<String> {
    let file = beside(path, end);
    // Needs no file handle, of which none may be left.
    if matches!(file.try_exists(), Ok(false)) {
        return None;
    }
    match std::fs::read_to_string(&file) {
        Ok(text) => Some(text.trim().to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        // That it is there says enough.
        Err(error) => Some(format!("{} cannot be read: {error}", file.display())),
    }
}

fn keep(path: &Path, end: &str, text: &str) -> std::io::Result<()> {
    let mut file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(beside(path, end))?;
    writeln!(file, "{text}")?;
    // Without the right to it, the file is of use all the same.
    let _ = give_to_owner_of(&file, path);
    file.sync_all()
}

fn forget(path: &Path, end: &str) {
    let file = beside(path, end);
    if let Err(error) = remove_if_there(&file) {
        tracing::warn!(%error, "{} cannot be removed", file.display());
    }
}
