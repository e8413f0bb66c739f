//! Whether the database is sound: checked at each start, then again and again in
//! the background, and told with the way on.

use std::path::Path;
use std::time::{Duration, Instant as Monotonic};

use super::way::{compared, restoring};
use crate::app::App;
use crate::base::{DAY_S, Instant, Stop};
use crate::db::{Condition, Db, Depth, Lane, Result, Trouble};
use crate::services::Services;
use crate::settings;

/// A database up to this size is checked before its first write: a tenth of a
/// second. A larger one is checked while the service runs.
const AT_ONCE: u64 = 64 << 20;
/// Shortest pause between two light checks.
pub const SHORTEST: Duration = Duration::from_secs(10);
/// A light check takes at most one part in so many of a processor.
const SHARE: u32 = 200;
/// Time between two checks of everything.
pub const WHOLE_EVERY_S: i64 = 7 * DAY_S;
/// Time until that is tried again when it failed.
const AFTER_FAILURE: Duration = Duration::from_secs(600);
/// How often it is looked whether something is due.
const LOOK: Duration = Duration::from_millis(500);

/// Why the service takes no writes.
pub struct Outage {
    /// A word for programs.
    pub word: &'static str,
    /// The reason and the way on.
    pub said: String,
    /// The same in Portuguese, for pages.
    pub dito: String,
}

/// Why the service takes no writes; `None` while it does.
pub fn outage(app: &App) -> Option<Outage> {
    if let Some(trouble) = app.db.trouble() {
        // Whoever asks need not know folders.
        let copy = copy_name(app);
        let (said, dito) = match &trouble {
            Trouble::Damaged(_) => {
                let file = copy.as_deref().unwrap_or("ARQUIVO");
                (
                    format!("{trouble}; {}", restoring(&app.config, copy.as_deref())),
                    format!(
                        "O banco de dados está danificado e nada é gravado. Pare o servidor e restaure uma cópia: seller-platform restore {file}."
                    ),
                )
            }
            Trouble::Superseded(_) => (
                trouble.to_string(),
                "Outro servidor assumiu este serviço. Este não grava mais nada e vai parar.".to_owned(),
            ),
            Trouble::Gone(_) => (
                trouble.to_string(),
                "Um arquivo do banco de dados foi removido ou trocado, e nada é gravado até o operador agir.".to_owned(),
            ),
        };
        return Some(Outage { word: trouble.name(), said, dito });
    }
    let (word, said, dito) = match app.db.condition() {
        Condition::Writable => return None,
        Condition::Full => (
            "full",
            "the disk is full; nothing can be stored until some is free",
            "O disco está cheio e nada é gravado até haver espaço.",
        ),
        Condition::ReadOnly => (
            "read-only",
            "the file system is read-only; nothing can be stored until it is mounted for writing",
            "O sistema de arquivos está somente para leitura e nada é gravado.",
        ),
        Condition::NotWritable => (
            "not writable",
            "the database takes no writes at the moment",
            "O banco de dados não aceita gravações no momento.",
        ),
    };
    Some(Outage { word, said: said.to_owned(), dito: dito.to_owned() })
}

/// What is said of answered writes that are missing, with the copy to compare with.
pub fn missing(app: &App) -> Option<String> {
    let missing = app.db.missing()?;
    Some(compared(&missing, copy_name(app).as_deref()))
}

fn copy_name(app: &App) -> Option<String> {
    let copy = app.health.way.copy()?;
    Some(Path::new(&copy).file_name()?.to_string_lossy().into_owned())
}

/// The check before the first write; false when it is left to the background.
pub fn at_start(db: &Db, was_clean: bool) -> bool {
    if let Some(trouble) = db.trouble() {
        tracing::error!("{trouble}: nothing is written until the whole database is found sound");
    }
    let size = std::fs::metadata(db.path()).map_or(0, |file| file.len());
    if size + db.wal_bytes() > AT_ONCE {
        if !was_clean {
            tracing::warn!("the last stop was not clean; checking the database in the background");
        }
        return false;
    }
    let is_checked = check(db, if db.awaits_judgement() { Depth::Whole } else { Depth::Light });
    if is_checked && !was_clean {
        tracing::warn!("the last stop was not clean; the database was checked");
    }
    is_checked
}

/// Whether the check came to an end. It tells and keeps damage by itself.
fn check(db: &Db, depth: Depth) -> bool {
    match db.check(depth) {
        Ok(None) => true,
        Ok(Some(fault)) => {
            tracing::error!(fault, "the check of the database found damage");
            true
        }
        Err(error) => {
            tracing::warn!(%error, "the database could not be checked; it is tried again");
            false
        }
    }
}

/// How far a start came.
#[derive(Clone, Copy)]
pub struct StartState {
    /// What [`at_start`] said.
    pub is_checked: bool,
    /// Whether what a start writes was written.
    pub is_begun: bool,
}

/// Checks what is due until `stop` is set. Calls `begin` when a damage that kept
/// the start from writing is over.
pub fn watch(
    app: &App,
    stop: &Stop,
    StartState { is_checked, mut is_begun }: StartState,
    begin: fn(&App),
) {
    let (mut light_due, mut whole_due) = (Monotonic::now(), Monotonic::now());
    if is_checked {
        light_due += SHORTEST;
    }
    loop {
        app.health.way.prepare(app);
        let db = &app.db;
        if !is_begun && !db.is_blocked() {
            is_begun = true;
            begin(app);
        }
        let may_be_whole = Monotonic::now() >= whole_due;
        if may_be_whole && db.awaits_judgement() {
            check(db, Depth::Whole);
            if db.awaits_judgement() {
                whole_due = Monotonic::now() + AFTER_FAILURE;
            }
        } else if may_be_whole && !db.is_blocked() && is_whole_due(app).unwrap_or(false) {
            check_whole(app);
            // It could not be done, or not be noted.
            if is_whole_due(app).unwrap_or(true) {
                whole_due = Monotonic::now() + AFTER_FAILURE;
            }
        } else if !db.is_blocked() && Monotonic::now() >= light_due {
            let began = Monotonic::now();
            let is_done = check(db, Depth::Light);
            app.health.rounds.light_check.note(app.clock.now(), began.elapsed(), is_done);
            light_due = Monotonic::now() + SHORTEST.max(began.elapsed() * SHARE);
        }
        if stop.wait(LOOK) {
            return;
        }
    }
}

fn is_whole_due(services: &Services) -> Result<bool> {
    let last = services.db.read(Lane::Slow, settings::last_whole_check)?;
    let passed = services.clock.now().since(last);
    // A clock that was set back makes it due, too.
    Ok(!(0..WHOLE_EVERY_S).contains(&passed))
}

fn check_whole(app: &App) {
    let began = Monotonic::now();
    let found = app.db.check(Depth::Whole);
    app.health.rounds.whole_check.note(app.clock.now(), began.elapsed(), matches!(found, Ok(None)));
    match found {
        Ok(None) => {
            tracing::info!("the whole database was checked and is sound");
            if let Err(error) = app.db.write(settings::note_whole_check)
                && !error.is_told()
            {
                tracing::warn!(%error, "that the database was checked was not noted");
            }
        }
        // Told when it was found.
        Ok(Some(_)) => {}
        Err(error) => {
            tracing::warn!(%error, "the whole database could not be checked; it is tried again");
        }
    }
}

/// When the whole database was last found sound.
pub fn last_whole_check(services: &Services) -> Result<Instant> {
    services.db.read(Lane::Slow, settings::last_whole_check)
}
