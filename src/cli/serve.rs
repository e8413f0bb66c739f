//! `serve`: prepares all that the first request needs, and writes all data to
//! disk after the last one.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::seal::{self, NewKey};
use super::trial::{self, TestShops};
use super::{Context, hint, installed, log, secret, tell, tell_people, watchdog};
use crate::accounts;
use crate::accounts::setup;
use crate::accounts::views::DemoLogin;
use crate::app::{App, Parts};
use crate::base::{Stop, worker};
use crate::behind;
use crate::catalog;
use crate::copies;
use crate::cron;
use crate::db::{Db, Lane, Trouble, migrate};
use crate::edge;
use crate::edge::lanes;
use crate::effects::EFFECTS;
use crate::http::server::{self, Limits};
use crate::https;
use crate::live;
use crate::marketplace;
use crate::messages::{announcements, delivery, telegram};
use crate::operations::soundness::{self, StartState};
use crate::partner::webhooks;
use crate::people::import;
use crate::privacy;
use crate::program::{lowered, recount};
use crate::replica;
use crate::routes;

/// Connections for slow reads. One caller has two at most (`lanes.rs`).
const SLOW_READERS: usize = 4;
/// Threads beside those of the lanes, such as for files that are being sent.
const SPARE_THREADS: usize = 8;

pub fn run(context: Context, new_key: NewKey) -> anyhow::Result<()> {
    log::start(&context.config().log, &context.clock);
    let file = installed::shown(context.loaded.file.as_deref());
    let server = Server::prepare(context, Vec::new(), new_key)?;
    tracing::info!(version = super::VERSION, configuration = file, "prepared");
    server.announce_setup()?;
    server.run(|_| Ok(()))
}

/// A server that is ready to accept connections.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    stop: Stop,
    workers: Vec<JoinHandle<()>>,
    replica: Option<replica::worker::Worker>,
    test_shops: Arc<TestShops>,
}

impl Server {
    /// Binds the address, opens the database and starts the workers.
    pub fn prepare(
        context: Context,
        demo: Vec<DemoLogin>,
        new_key: NewKey,
    ) -> anyhow::Result<Self> {
        let listen = context.config().server.listen;
        // First, because a port in use must leave the database untouched.
        let listener = listen_at(listen, new_key.wanted)?;
        let bound = listener.local_addr()?;
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        let options =
            crate::db::Options { slow_readers: SLOW_READERS, ..context.options(workers + 2) };
        migrate::undo_unfinished(&options.path)?;
        let is_new = seal::confirm_new_key(&context, new_key)?;
        super::replica::refuse_superseded(&context)?;
        let (db, opened) = Db::open_exclusive(&options)?;
        let is_checked = soundness::at_start(&db, opened.was_clean);
        db.note_address(bound).context("cannot write the lock file")?;
        for line in &opened.migrated {
            tracing::info!(step = line, "migrated the database");
        }
        let sealer = seal::load_or_create_key(&context, &db, is_new)?;
        let Context { mut loaded, clock } = context;
        let https = https::prepare(&mut loaded.config);
        let settings = loaded.origins.rows();
        let (config, routes) = (loaded.config, routes::all());
        let effects = EFFECTS;
        let parts = Parts { config, clock, db, sealer, bound, https, routes, effects, demo };
        let app = App::new(parts).map_err(|problem| anyhow!(problem))?;
        app.server.settings.get_or_init(|| settings);
        let is_begun = match first_writes(&app) {
            // The service reads. The rest is made up for once a check finds it sound.
            Err(_) if app.db.is_blocked() => false,
            done => done.map(|()| true)?,
        };
        let stop = Stop::default();
        let workers = start_workers(&app, &stop, StartState { is_checked, is_begun })?;
        let replica = replica::worker::start(&app)?;
        let test_shops = trial::prepare(&app);
        Ok(Self { app, listener, stop, workers, replica, test_shops })
    }

    /// The address actually bound.
    pub fn address(&self) -> anyhow::Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    /// The running service.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// While there is no administrator, every start prints a new setup link on
    /// standard error. The log only names the command that makes one.
    fn announce_setup(&self) -> anyhow::Result<()> {
        if self.app.db.read(Lane::Slow, accounts::store::has_administrator)? {
            return Ok(());
        }
        if self.app.db.is_blocked() {
            return Ok(());
        }
        if let Some(code) = self.app.db.write(setup::new_link)? {
            let link = setup::address(&self.app.server.addresses.base_url, &code);
            tell_people(format_args!("make the first administrator, within 30 minutes: {link}"));
            tracing::info!(
                "there is no administrator yet; `seller-platform setup-link` gives a fresh link"
            );
        }
        Ok(())
    }

    /// Serves until the process is asked to stop. `ready` is called once
    /// connections are accepted.
    pub fn run(
        self,
        ready: impl FnOnce(&Arc<App>) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let address = self.address()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            // Test shops have lanes of their own, so that they delay nobody.
            .max_blocking_threads(2 * lanes::THREADS + SPARE_THREADS)
            .thread_name("http")
            .build()?;
        let Self { app, listener, stop, workers, replica, test_shops } = self;
        runtime.block_on(accept(&app, listener, address, ready))?;
        // Slow work that is still running has had ten seconds to finish.
        runtime.shutdown_timeout(Duration::from_secs(1));
        if let Err(error) = test_shops.finish() {
            tracing::warn!("{error:#}");
        }
        finish(&app, &stop, workers, replica)
    }
}

async fn accept(
    app: &Arc<App>,
    listener: TcpListener,
    address: SocketAddr,
    ready: impl FnOnce(&Arc<App>) -> anyhow::Result<()> + Send + 'static,
) -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (stop, stopping) = watch::channel(false);
    let limits = Limits {
        connections: app.config.server.max_connections,
        per_address: app.config.server.max_connections_per_address,
        trusted: app.config.server.trusted_proxies.clone(),
    };
    let refuse = {
        let app = Arc::clone(app);
        Arc::new(move |peer, refusal: &_| edge::refuse(&app, peer, refusal))
    };
    let service = {
        let app = Arc::clone(app);
        move |peer, request| edge::answer(&app, peer, request)
    };
    let door = app.server.https.as_ref().and_then(|https| https.tls.door());
    tokio::spawn(live::teller::work(Arc::clone(app), stopping.clone()));
    let serving = tokio::spawn(server::serve(listener, door, limits, refuse, service, stopping));
    // Signals are handled before the address is printed: once it is known, a
    // stop may be requested.
    let mut signals = StopSignals::new()?;
    tell(format_args!("listening on http://{address}"));
    // Does nothing without a supervisor that asked for it.
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    let shared = Arc::clone(app);
    let mut getting_ready = tokio::task::spawn_blocking(move || ready(&shared));
    tokio::select! {
        outcome = &mut getting_ready => {
            outcome??;
            signals.received().await;
        }
        // After a request to stop, the server need not get ready first.
        () = signals.received() => {}
    }
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    tracing::info!("stopping: no new connections, running requests finish");
    stop.send_replace(true);
    serving.await?;
    Ok(())
}

/// Listens at the configured address. A run by hand that is to do something first (`is_run`)
/// may be refused a port that the service is given, and takes a free one of this machine.
pub fn listen_at(listen: SocketAddr, is_run: bool) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(listen).or_else(|error| {
        let refusal = cannot_listen(listen, &error, "server.listen");
        if !is_run || error.kind() != ErrorKind::PermissionDenied {
            return Err(refusal);
        }
        hint(format_args!("{listen} is left to the service; this run has a port of its own"));
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|_| refusal)
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Why an address cannot be listened on, and what to do. `setting` names the
/// setting or flag for another address.
pub fn cannot_listen(listen: SocketAddr, error: &io::Error, setting: &str) -> anyhow::Error {
    let reason = match error.kind() {
        ErrorKind::AddrInUse => {
            format!("it is in use; stop what uses it, or set {setting}")
        }
        ErrorKind::AddrNotAvailable => format!(
            "this machine does not have that address; set {setting} to one that it has, or to 0.0.0.0 for all of them"
        ),
        ErrorKind::PermissionDenied => format!(
            "the system does not allow it (ports below 1024 need CAP_NET_BIND_SERVICE); set {setting} to a higher port"
        ),
        _ => format!("{error}; set {setting} to another address"),
    };
    anyhow!("cannot listen on {listen}: {reason}")
}

/// The signals that ask the process to stop. Once this value exists, they no
/// longer end the process by themselves.
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

/// From now on a write over a limit on the size of files is an error like that of a
/// full disk, and does not end the process.
pub fn survive_limits() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    // The handler stays for good, whoever listens.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(|_| ())
}

impl StopSignals {
    /// Begins to handle the signals; needs the async runtime.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Resolves when the process was asked to stop.
    pub async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Makes up for [`first_writes`] when a known damage turned out to be over.
fn write_first_late(app: &App) {
    if let Err(error) = first_writes(app) {
        tracing::error!("the start is not complete; start the server again: {error:#}");
    }
}

/// What is stored before the first request.
fn first_writes(app: &App) -> anyhow::Result<()> {
    behind::load(app)?;
    // Before anybody is answered: a copy of before may have brought people back.
    privacy::erase::at_start(app)?;
    app.db.write(delivery::store::recover)?;
    app.db.write_pieces(marketplace::sync::store::plan_new_areas)?;
    // What an import had settled is whole before anybody looks.
    if let Err(error) = catalog::import::apply::resume(&app.db) {
        tracing::warn!(%error, "an interrupted import of products was not finished");
    }
    secret::ensure(&app.config, &app.db, &app.sealer)?;
    if !app.config.push.subject.is_empty() {
        let keys = secret::push_keys(&app.db, &app.sealer)?;
        app.messages.push_keys.get_or_init(|| keys);
    }
    Ok(())
}

fn start_workers(
    app: &Arc<App>,
    stop: &Stop,
    state: StartState,
) -> anyhow::Result<Vec<JoinHandle<()>>> {
    let mut workers = marketplace::start_workers(app, stop)?;
    workers.extend(delivery::start_workers(app, stop)?);
    workers.extend(telegram::start_workers(app, stop)?);
    workers.push(webhooks::start_worker(app, stop)?);
    workers.push(recount::start_worker(app, stop)?);
    workers.extend(watchdog::start_worker(app, stop)?);
    workers.push(lowered::start_worker(app, stop)?);
    workers.push(import::apply::start_worker(app, stop)?);
    workers.push(announcements::sending::start_worker(app, stop)?);
    workers.push(copies::work::start_worker(app, stop)?);
    let counting = Arc::clone(app);
    let counts = move |stop: &Stop| behind::run(&counting, stop);
    workers.push(worker::start("write-behind", stop, counts)?);
    if app.config.cron.enabled {
        let ticking = Arc::clone(app);
        let ticks = move |stop: &Stop| cron::tick::work(&ticking, stop);
        workers.push(worker::start("cron", stop, ticks)?);
    }
    workers.extend(https::worker::start_worker(app, stop)?);
    let checked = Arc::clone(app);
    let checks = move |stop: &Stop| soundness::watch(&checked, stop, state, write_first_late);
    workers.push(worker::start("soundness", stop, checks)?);
    Ok(workers)
}

/// Writes everything that is still in memory to disk and closes the database.
fn finish(
    app: &Arc<App>,
    stop: &Stop,
    workers: Vec<JoinHandle<()>>,
    replica: Option<replica::worker::Worker>,
) -> anyhow::Result<()> {
    stop.stop();
    app.marketplace.stop();
    app.work.recount.stop();
    app.db.stop_checks();
    app.health.copies.stop();
    app.work.milestone_bell.stop();
    app.work.imports.stop();
    app.work.announcements.stop();
    for worker in workers {
        if worker.join().is_err() {
            tracing::error!("a worker ended in a panic");
        }
    }
    match behind::flush(app) {
        Err(error) if error.is_told() && app.db.is_blocked() => {
            tracing::warn!("the last counters were not written");
        }
        flushed => flushed.context("cannot write the last counters")?,
    }
    if let Some(replica) = replica {
        replica.stop();
    }
    let trouble = app.db.trouble();
    match (app.db.clone().close(), trouble) {
        (Ok(()), Some(Trouble::Superseded(by))) => bail!("{by}"),
        (Err(_), Some(trouble)) => bail!("cannot close the database cleanly: {trouble}"),
        (closed, _) => closed.context("cannot close the database cleanly")?,
    }
    tracing::info!("stopped");
    Ok(())
}
