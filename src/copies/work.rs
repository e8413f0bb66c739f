//! The worker: makes the copy that is due, opens the newest again at night, removes
//! those that are too many, and tries a restore when it is asked to.
//!
//! It has a thread of its own with little right to the processor. A failure is told
//! to the administrators and tried again; what is there stays as it is.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Monotonic};

use super::{Doing, Failure, PATH, STEM, drill, facts, store, too_many};
use crate::app::App;
use crate::base::{Instant, Stop, worker};
use crate::db::backup::{self, BackupError, Report};
use crate::db::copying::Making;
use crate::db::{BackupCopy, DbError, Manifest, copies_in, is_left, lead_latest_to};
use crate::messages::alerts::{self, Alert};
use crate::messages::choices::ChannelSet;
use crate::panel::view::size;
use crate::services::Services;

/// How often the time is looked at. A clock change is noticed within this time.
const LOOK: Duration = Duration::from_secs(1);
/// How often the folder is looked at while nothing is due.
const LOOK_AT_FOLDER: Duration = Duration::from_secs(60);
/// How far the right to the processor is lowered.
const NICE: i32 = 10;
/// An older manifest without its copy is left over.
const ORPHAN_AGE: Duration = Duration::from_secs(3600);

pub fn start_worker(app: &Arc<App>, stop: &Stop) -> std::io::Result<JoinHandle<()>> {
    let app = Arc::clone(app);
    worker::start("copies", stop, move |stop| work(&app, stop))
}

fn work(app: &App, stop: &Stop) {
    // On Linux this concerns the thread alone. Without it, all goes well too.
    let _ = rustix::process::nice(NICE);
    if let Some(folder) = &app.config.database.backup_dir {
        if let Err(error) = backup::make_folder(folder) {
            tracing::warn!(%error, "there is no folder for copies of the database");
        }
        backup::remove_unfinished(folder, STEM);
        drill::forget(folder);
    }
    if let Ok(failure) = app.db.read(crate::db::Lane::Slow, store::failure) {
        app.health.copies.state.lock().failure = failure;
    }
    let (mut rings, mut next) = (0, None);
    while !stop.is_set() {
        do_what_is_asked(app);
        do_what_is_due(app, &mut next);
        let over;
        (rings, over) = app.health.copies.bell.wait_ring(rings, LOOK);
        if over {
            return;
        }
    }
}

fn do_what_is_asked(app: &App) {
    let copies = &app.health.copies;
    let Some(folder) = &app.config.database.backup_dir else {
        return;
    };
    // What is taken on is shown as being done in the same moment.
    let wants_copy = {
        let mut state = copies.state.lock();
        state.doing = state.wants_copy.then_some(Doing::Copying);
        std::mem::take(&mut state.wants_copy)
    };
    if wants_copy {
        begin(app, Doing::Copying, || make(app, folder));
    }
    let wanted = {
        let mut state = copies.state.lock();
        state.doing = state.wants_drill.as_ref().map(|_| Doing::Drilling);
        state.wants_drill.take()
    };
    if let Some(name) = wanted {
        begin(app, Doing::Drilling, || {
            let done = drill::run(app, folder, &name);
            copies.state.lock().drill = Some(done);
        });
    }
}

/// Shows what is being done as long as it is done, also when it panics.
fn begin(app: &App, doing: Doing, work: impl FnOnce()) {
    struct Over<'a>(&'a App);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.health.copies.state.lock().doing = None;
        }
    }
    app.health.copies.state.lock().doing = Some(doing);
    let _over = Over(app);
    work();
}

/// When the folder is to be looked at again.
struct NextLook {
    due: Instant,
    looked: Monotonic,
    at: Instant,
}

fn do_what_is_due(app: &App, next: &mut Option<NextLook>) {
    let Some(folder) = &app.config.database.backup_dir else {
        return;
    };
    let now = app.clock.now();
    let waits = next.as_ref().is_some_and(|next| {
        next.at <= now && now < next.due && next.looked.elapsed() < LOOK_AT_FOLDER
    });
    // While nothing is written, that is told, and the file may be damaged.
    if waits || app.db.is_blocked() || app.health.copies.pauses(now) {
        return;
    }
    let Ok(seen) = app.health.copies.status(app) else {
        return;
    };
    // First: a copy that has gone bad is told of even when the next one is due.
    if let Some(copy) = seen.unchecked(app.zone(), now) {
        begin(app, Doing::Checking, || check(app, copy));
    }
    let due = seen.next_due(now);
    if due.is_some_and(|due| due <= now) {
        begin(app, Doing::Copying, || make(app, folder));
        *next = None;
    } else {
        let tomorrow = super::night_before(app.zone(), now).plus(crate::base::DAY_S);
        let due = due.map_or(tomorrow, |due| due.min(tomorrow));
        *next = Some(NextLook { due, looked: Monotonic::now(), at: now });
    }
}

/// Makes a copy, and removes those that are too many after it.
fn make(app: &App, folder: &Path) {
    match copy(app, folder) {
        Ok(report) => {
            tracing::info!(
                file = report.file,
                bytes = report.bytes,
                ms = u64::try_from(report.took.as_millis()).unwrap_or(u64::MAX),
                "made a copy of the database and checked it"
            );
            lead_latest(&folder.join(&report.file));
            remove_old(app, folder, &report);
            succeeded(app);
        }
        Err(BackupError::Stopped) => {}
        Err(error) => {
            let (title, detail) = words(&error);
            let kind = if error.is_for_want_of_space() { "espaco" } else { "falha" };
            failed(app, kind, error.to_string(), title.to_owned(), detail);
        }
    }
}

fn copy(app: &App, folder: &Path) -> Result<Report, BackupError> {
    backup::make_folder(folder)?;
    backup::remove_unfinished(folder, STEM);
    let stem = folder.join(STEM.trim_end_matches('-'));
    let to = backup::dated(&stem, "-", ".db", app.clock.now());
    let making = Making {
        clock: &app.clock,
        facts,
        stop: Some(&app.health.copies.bell),
        progress: Some(&app.health.copies.progress),
        is_gentle: true,
    };
    app.db.copy_to(&to, &making)
}

fn lead_latest(copy: &Path) {
    if let Err(error) = lead_latest_to(copy) {
        tracing::warn!(%error, "latest.db does not lead to the newest copy");
    }
}

fn remove_old(services: &Services, folder: &Path, report: &Report) {
    let kept = copies_in(folder, &services.config.database.path, services.clock.now());
    let keep = usize::try_from(services.config.database.backup_keep).unwrap_or(usize::MAX);
    let made = folder.join(&report.file);
    for copy in too_many(&kept, keep, &made, report.facts.key_id.as_deref()) {
        // The copy first: one without its manifest would never be removed.
        let removed =
            std::fs::remove_file(copy).and_then(|()| std::fs::remove_file(Manifest::path(copy)));
        match removed {
            Ok(()) => tracing::info!(file = %copy.display(), "removed an old copy"),
            Err(error) => {
                tracing::warn!(%error, file = %copy.display(), "an old copy was not removed");
            }
        }
    }
    // What a kill in between left.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_old = || {
            let written = entry.metadata().and_then(|found| found.modified()).ok();
            written.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > ORPHAN_AGE)
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_manifest = name.strip_suffix(".json").is_some_and(super::is_our_name);
        if is_manifest && !is_left(&name) && !path.with_extension("").exists() && is_old() {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Opens a copy again and compares it with its manifest.
fn check(app: &App, copy: &BackupCopy) {
    let fault = match copy.compare(Some(&app.health.copies.bell)) {
        Ok(fault) => fault,
        Err(BackupError::Stopped) => return,
        // That may pass, and says nothing of the copy.
        Err(error) => return not_checked(app, &copy.name(), &error),
    };
    let noted = Manifest::note_check(&copy.path, app.clock.now(), fault.as_deref());
    let name = copy.name();
    match (fault, noted) {
        (None, Ok(())) => tracing::info!(file = name, "a copy is as its manifest says"),
        (Some(fault), _) => {
            if let Some(folder) = copy.path.parent() {
                let kept = copies_in(folder, &app.config.database.path, app.clock.now());
                let good = kept.into_iter().filter(|one| !one.is_from_future()).find(|one| {
                    one.known_fault().is_none() && one.manifest().is_some() && one.path != copy.path
                });
                if let Some(good) = good {
                    lead_latest(&good.path);
                }
            }
            let detail = format!(
                "{name} foi aberta de novo e não é mais o que era ({fault}). Veja o disco, faça outra cópia e remova esta."
            );
            let said = format!("the copy {name} failed its check: {fault}");
            let title = "Uma cópia de segurança não confere".to_owned();
            failed(app, &format!("conferencia:{name}"), said, title, detail);
        }
        (None, Err(error)) => {
            let detail = format!("Que {name} confere não pôde ser anotado. O motivo: {error}.");
            let title = "A conferência de uma cópia falhou".to_owned();
            failed(app, "conferencia", error.to_string(), title, detail);
        }
    }
}

/// Tells that a copy could not be compared with its manifest.
fn not_checked(app: &App, name: &str, error: &BackupError) {
    let detail = format!("{name} não pôde ser aberta para conferir. O motivo: {error}.");
    let said = format!("the copy {name} could not be checked: {error}");
    let title = "A conferência de uma cópia falhou".to_owned();
    failed(app, "conferencia", said, title, detail);
}

/// What a failure means, in Portuguese: the title, and more about it.
fn words(error: &BackupError) -> (&'static str, String) {
    match error {
        BackupError::Short { folder, free, needed } => (
            "Falta espaço para a cópia de segurança",
            format!(
                "Há {} livres em {} e a cópia, com a reserva do serviço, precisa de {}. Nada foi copiado; libere espaço ou mude database.backup_dir.",
                size(*free),
                folder.display(),
                size(*needed)
            ),
        ),
        BackupError::Full(_) => (
            "Falta espaço para a cópia de segurança",
            "O disco encheu durante a cópia, e ela foi desfeita. Libere espaço ou mude database.backup_dir.".to_owned(),
        ),
        BackupError::Damaged { detail, .. } => (
            "A cópia de segurança não passou na conferência",
            format!("O que foi copiado tem um defeito ({detail}). As cópias anteriores continuam guardadas."),
        ),
        other => (
            "A cópia de segurança falhou",
            format!("As cópias anteriores continuam guardadas. O motivo: {other}."),
        ),
    }
}

/// Notes a failure, and tells the administrators once a day and cause.
fn failed(app: &App, kind: &str, said: String, title: String, detail: String) {
    tracing::warn!(problem = said, "the copies of the database need somebody");
    let now = app.clock.now();
    let failure = Failure { at: now.0, said, title, detail };
    let shown = failure.clone();
    let channels = ChannelSet::of(&app.config);
    let cause = format!("copias:{kind}:{}", app.day(now).iso());
    let told = app.db.write(move |tx| {
        store::keep_failure(tx, &failure)?;
        let alert = Alert {
            title: &failure.title,
            detail: &failure.detail,
            page: PATH,
            cause: &cause,
            without: None,
        };
        alerts::tell(tx, channels, &alert)?;
        Ok::<_, DbError>(())
    });
    if let Err(error) = told
        && !error.is_told()
    {
        tracing::warn!(%error, "the failure of a copy was not told");
    }
    // Last, so that whoever sees it here finds it told as well.
    let mut state = app.health.copies.state.lock();
    state.failure = Some(shown);
    state.failed = Some((Monotonic::now(), now));
}

fn succeeded(app: &App) {
    let had_failed = {
        let mut state = app.health.copies.state.lock();
        state.failed = None;
        state.failure.take().is_some()
    };
    if had_failed
        && let Err(error) = app.db.write(store::forget_failure)
        && !error.is_told()
    {
        tracing::warn!(%error, "that a copy was made again was not noted");
    }
}
