//! Litestream beside the server: begun, watched, begun again with growing pauses.
//!
//! What is missing or fails is told, and never stops the service. Only a server that
//! took over does: then nothing is written any more, and the process ends. Decision replica-2.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Monotonic};

use parking_lot::Mutex;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, getpid, kill_process};

use super::epoch::{self, Epoch, Turn};
use super::place::{self, Replica, Use, forget_described};
use super::tool::{self, Running, Tool};
use super::{Fault, Result, control};
use crate::app::App;
use crate::base::queue::CONNECTION;
use crate::base::{Clock, Stop, shortened, worker};
use crate::db::{DbError, Lane, copying};
use crate::messages::alerts::{self, Alert};
use crate::messages::choices::ChannelSet;
use crate::services::Services;

/// After so long a run the pauses begin anew.
const STEADY: Duration = Duration::from_secs(60);
/// How often Litestream is asked how far it is.
const ASK: Duration = Duration::from_secs(1);
/// How often it is looked whether another server took over.
const LOOK: Duration = Duration::from_secs(15);
/// How long such a look may take.
const LOOK_PATIENCE: Duration = Duration::from_secs(10);
/// How long Litestream may take to send the rest when the server stops.
const LAST: Duration = Duration::from_secs(10);
/// How long the one of a killed server may take to end.
const OLD_ONE: Duration = Duration::from_secs(10);
/// Bytes of write-ahead log at which Litestream is stopped, because it does not let
/// the log start again.
const MOST_LOG: u64 = 512 << 20;
/// A replica that is behind by more seconds does not follow.
const BEHIND_S: i64 = 30;
/// The program that keeps Litestream from outliving us, where systems have it.
const CATS: [&str; 2] = ["/bin/cat", "/usr/bin/cat"];

/// The worker, which is stopped after the last commit.
pub struct Worker {
    stop: Stop,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Lets Litestream send the rest, and ends it.
    pub fn stop(self) {
        self.stop.stop();
        if self.thread.join().is_err() {
            tracing::error!("the replica's worker ended in a panic");
        }
    }
}

/// Starts the worker, if a replica is configured.
pub fn start(app: &Arc<App>) -> std::io::Result<Option<Worker>> {
    let Some(replica) = Replica::of(&app.config) else {
        return Ok(None);
    };
    app.health.replica.begin(replica.url.to_string());
    let (stop, app) = (Stop::default(), Arc::clone(app));
    let thread = worker::start("replica", &stop, move |stop| work(&app, &replica, stop))?;
    Ok(Some(Worker { stop, thread }))
}

fn work(app: &App, replica: &Replica, stop: &Stop) {
    let mut failures = 0;
    while !stop.is_set() {
        let begun = Monotonic::now();
        let ended = follow(app, replica, stop);
        app.db.leave_log(goes_on(app, replica) && !is_log_long(app));
        match ended {
            Ok(()) => break,
            Err(fault) => app.health.replica.fails(fault),
        }
        if begun.elapsed() >= STEADY {
            failures = 0;
        }
        failures += 1;
        if stop.wait(CONNECTION.pause(failures)) {
            break;
        }
    }
    app.db.leave_log(false);
}

/// Whether what Litestream has not copied yet is worth some room in the log. Without
/// what it knows of the replica it begins with a whole copy.
fn goes_on(services: &Services, replica: &Replica) -> bool {
    let is_ours = |own: Epoch| epoch::is_ours(&replica.database, &own);
    place::has_progress(&replica.database)
        && own_epoch(services).is_ok_and(|own| own.is_some_and(is_ours))
}

fn is_log_long(services: &Services) -> bool {
    services.db.wal_bytes() > MOST_LOG
}

fn own_epoch(services: &Services) -> Result<Option<Epoch>> {
    services.db.read(Lane::Slow, epoch::of).map_err(|error: DbError| Fault(error.to_string()))
}

/// What a run of Litestream needs: the program, and that no other one runs here.
pub(super) fn prepare(replica: &Replica, stop: &Stop) -> Result<(Tool, Alone)> {
    replica.require_there()?;
    let tool = Tool::find(replica)?;
    replica.make_folder()?;
    let alone = Alone::take(&replica.folder.join("lock"), stop)?;
    forget_described(&replica.folder);
    Ok((tool, alone))
}

/// Runs Litestream until the stop, which is no fault.
fn follow(app: &App, replica: &Replica, stop: &Stop) -> Result<()> {
    require_space(app, replica)?;
    let (tool, alone) = prepare(replica, stop)?;
    let Some(own) = turn(app, replica, &tool)? else {
        return Ok(());
    };
    app.db.leave_log(true);
    let mut litestream = begin(replica, &tool, &own, &alone)?;
    tracing::info!(
        replica = replica.url.to_string(),
        epoch = own.number,
        version = tool.version,
        "Litestream follows the database"
    );
    let mut looked = Monotonic::now();
    while !stop.wait(ASK) {
        if litestream.running.wait(Duration::ZERO).is_some() {
            let said = litestream.said.lock().clone();
            return Err(Fault(format!("Litestream ended: {said}")));
        }
        litestream.ask(app, replica);
        if is_log_long(app) {
            let text = "the write-ahead log grew too long while Litestream copied it; it begins again with a whole copy";
            return Err(Fault(text.to_owned()));
        }
        if !app.db.has_space_to_spare() {
            drop(litestream);
            return Err(give_room(app, replica));
        }
        if looked.elapsed() >= LOOK {
            let newest = epoch::newest(&tool, replica, own.number, LOOK_PATIENCE);
            looked = Monotonic::now();
            match newest {
                Ok(Some(newest)) if epoch::is_above(&newest, &own) => {
                    lose(app, &newest);
                    // What was answered last still goes to the place of the old epoch.
                    while !stop.wait(ASK) {}
                }
                Ok(None) => epoch::missing(replica, &own).map_or(Ok(()), Err)?,
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }
    litestream.running.end(LAST);
    Ok(())
}

/// Refuses to begin while there is too little space: for a whole copy, or to go on.
fn require_space(services: &Services, replica: &Replica) -> Result<()> {
    let database = &replica.database;
    let is_enough = if place::has_progress(database) {
        services.db.has_space_to_spare()
    } else {
        let bytes = std::fs::metadata(database).map_or(0, |found| found.len());
        copying::require(bytes.saturating_add(services.db.wal_bytes()), database).is_ok()
    };
    if is_enough { Ok(()) } else { Err(give_room(services, replica)) }
}

/// Removes what Litestream keeps to send it later, before it takes the space that
/// answered writes need; the administrators are told once a day.
fn give_room(services: &Services, replica: &Replica) -> Fault {
    place::forget_progress(&replica.database);
    let channels = ChannelSet::of(&services.config);
    let cause = format!("replica:espaco:{}", services.day(services.clock.now()).iso());
    let told = services.db.write(move |tx| {
        let alert = Alert {
            title: "Falta espaço para a réplica",
            detail: "O disco está quase cheio. O que ainda não tinha sido enviado à réplica foi descartado, e ela espera até haver espaço para recomeçar com uma cópia inteira. O serviço continua; libere espaço e veja se a réplica está ao alcance.",
            page: "/admin/diagnostico",
            cause: &cause,
            without: None,
        };
        alerts::tell(tx, channels, &alert)
    });
    if let Err(error) = told
        && !error.is_told()
    {
        tracing::warn!(%error, "that the replica has no space was not told");
    }
    Fault(
        "disk space runs short, so Litestream waits until there is space for a whole copy"
            .to_owned(),
    )
}

/// The epoch in which this server writes to the replica; `None` after another server
/// took over.
fn turn(app: &App, replica: &Replica, tool: &Tool) -> Result<Option<Epoch>> {
    let own = own_epoch(app)?;
    let from = own.as_ref().map_or(1, |own| own.number);
    let is_ours = own.as_ref().is_some_and(|own| epoch::is_ours(&replica.database, own));
    let newest = match (epoch::newest(tool, replica, from, LOOK_PATIENCE), &own) {
        (Ok(newest), _) => newest,
        // Litestream tries again by itself until it is reachable.
        (Err(fault), Some(own)) if is_ours => {
            app.health.replica.fails(fault);
            return Ok(Some(own.clone()));
        }
        (Err(fault), _) => return Err(fault),
    };
    if let (None, Some(own)) = (&newest, &own)
        && let Some(fault) = epoch::missing(replica, own)
    {
        return Err(fault);
    }
    let is_strange = own.is_none();
    match epoch::judge(own, newest, is_ours, Clock::System.now()) {
        Turn::Ours(own) => {
            epoch::note_published(replica, &own)?;
            Ok(Some(own))
        }
        Turn::Free(own) => {
            // First here: a note that nobody has would keep everybody out.
            let kept = own.clone();
            app.db
                .write(move |tx| epoch::keep(tx, &kept))
                .map_err(|error: DbError| Fault(error.to_string()))?;
            epoch::make_ours(replica, &own)?;
            epoch::publish(tool, replica, &own)?;
            epoch::note_published(replica, &own)?;
            Ok(Some(own))
        }
        Turn::Held(by) => Err(Fault(epoch::held(&by))),
        Turn::Lost(by) if is_strange => Err(Fault(epoch::strange(&by))),
        Turn::Lost(by) => {
            lose(app, &by);
            Ok(None)
        }
    }
}

/// Another server took over: nothing is written any more, and the process ends.
fn lose(services: &Services, by: &Epoch) {
    services.db.supersede(&epoch::lost(by));
    // As by a supervisor: running requests finish.
    let _ = kill_process(getpid(), Signal::TERM);
}

struct Litestream {
    running: Running,
    /// What it said last.
    said: Arc<Mutex<String>>,
    _described: place::Described,
    /// While this is open, the program it waits for does not end.
    _hold: Option<File>,
}

impl Litestream {
    fn ask(&self, app: &App, replica: &Replica) {
        if let Some(at) = control::level_at(&replica.folder) {
            app.health.replica.is_level(at);
        }
        let mut said = self.said.lock();
        match app.health.replica.status() {
            Some(status) if status.lag_s <= BEHIND_S => said.clear(),
            _ if said.is_empty() => {
                let text = "nothing arrives at the replica; is it reachable?";
                app.health.replica.fails(Fault(text.to_owned()));
            }
            _ => app.health.replica.fails(Fault(format!("Litestream says: {said}"))),
        }
    }
}

fn begin(replica: &Replica, tool: &Tool, own: &Epoch, alone: &Alone) -> Result<Litestream> {
    // Litestream ends with the program that it runs, and that with our end of a pipe,
    // so it does not outlive a server that was killed.
    let pipe = replica.folder.join("alive");
    let _ = std::fs::remove_file(&pipe);
    let cat = CATS.into_iter().find(|cat| Path::new(cat).exists());
    let made = cat
        .is_some_and(|_| mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).is_ok());
    let exec = cat.filter(|_| made).map(|cat| format!("{cat} alive"));
    // Opened for both, so that it does not wait for the other end.
    let hold = exec.as_ref().and_then(|_| File::options().read(true).write(true).open(&pipe).ok());
    let described = replica.describe(&own.below(), Use::Beside, exec.as_deref())?;
    let _ = std::fs::remove_file(replica.folder.join(place::SOCKET));
    let mut command = tool.command("replicate", &described.0);
    command.current_dir(&replica.folder);
    let (running, said) = alone.start(&mut command, replica, words)?;
    Ok(Litestream { running, said, _described: described, _hold: hold })
}

/// What a line of Litestream's log says.
fn words(line: &str, replica: &Replica) -> String {
    let text = match serde_json::from_str::<serde_json::Value>(line) {
        Ok(fields) => {
            let field = |name: &str| fields[name].as_str().unwrap_or_default().to_owned();
            let (message, error) = (field("msg"), field("error"));
            if error.is_empty() { message } else { format!("{message}: {error}") }
        }
        Err(_) => line.trim_start_matches("Error: ").to_owned(),
    };
    // A secret that was cut would no longer be found.
    let line = shortened(&replica.without_secrets(&text), 300).to_owned();
    tracing::debug!(line, "Litestream");
    line
}

/// The right to run Litestream on a database. The lock belongs to an open file that
/// Litestream has too, so that it is held as long as it runs, whoever started it.
pub struct Alone(File);

impl Alone {
    /// Takes it, after ending the Litestream that a killed server left.
    pub fn take(path: &Path, stop: &Stop) -> Result<Self> {
        let open = || {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
        };
        let mut file = open().map_err(Fault::io("open the lock of Litestream"))?;
        let begun = Monotonic::now();
        while file.try_lock().is_err() {
            // What it reads of the database must not keep a stop from being clean.
            if stop.is_set() || begun.elapsed() >= OLD_ONE {
                let mut text = String::new();
                let _ = file.rewind();
                let _ = file.read_to_string(&mut text);
                let pid = text.trim().parse().ok().and_then(Pid::from_raw);
                let Some(pid) = pid else {
                    return Err(Fault("another Litestream runs on this database".to_owned()));
                };
                let _ = kill_process(pid, Signal::KILL);
            }
            if begun.elapsed() >= 2 * OLD_ONE {
                return Err(Fault("the Litestream of another server does not end".to_owned()));
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
        Ok(Self(file))
    }

    /// Starts Litestream. What it said last is kept as `words` tells it.
    pub fn start(
        &self,
        command: &mut Command,
        replica: &Replica,
        words: fn(&str, &Replica) -> String,
    ) -> Result<(Running, Arc<Mutex<String>>)> {
        let handle = self.0.try_clone().map_err(Fault::io("hand the lock to Litestream"))?;
        // A signal to all processes of a terminal is for the server: Litestream has to
        // send what is written until its end.
        command.process_group(0).stdin(handle).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(Fault::io("start Litestream"))?;
        let mut file = &self.0;
        let pid = child.id();
        // Without it only the ending of an orphan by force is lost.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{pid}"));
        let said = Arc::<Mutex<String>>::default();
        if let Some(stderr) = child.stderr.take() {
            let (said, replica) = (Arc::clone(&said), replica.clone());
            tool::listen(stderr, move |line| *said.lock() = words(line, &replica));
        }
        Ok((Running(child), said))
    }
}
