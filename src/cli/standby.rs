//! `standby`: a copy on a second machine that follows, and says how far it is.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Method, Response, StatusCode};
use parking_lot::Mutex;
use rusqlite::OpenFlags;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::replica::{counted, refuse_wrong_key, tools};
use super::serve::{StopSignals, listen_at};
use super::values::parse_listen;
use super::{Context, log, seal, tell};
use crate::base::files::beside;
use crate::base::{Clock, Instant, Stop, secrets, worker};
use crate::db::{LockFile, backup};
use crate::http::body::Body;
use crate::http::server::{self, Limits};
use crate::replica::epoch::{self, Turn};
use crate::replica::follow::{self, Follower};
use crate::replica::{Replica, tool};

/// Connections, altogether and of one address: probes come one by one.
const CONNECTIONS: (usize, usize) = (64, 16);
/// Signs of life within the time after which the supervisor gives up.
const LOOKS: u32 = 4;

/// What `standby` is told.
#[derive(clap::Args)]
pub struct Standby {
    /// Address to listen on for probes, as of `serve`.
    #[arg(long, value_name = "ADDR", value_parser = parse_listen)]
    pub listen: Option<String>,
    /// After a takeover: sets the database of this machine aside, and follows the other.
    #[arg(long)]
    rejoin: bool,
}

pub fn run(context: &Context, wanted: &Standby) -> anyhow::Result<()> {
    log::start(&context.config().log, &context.clock);
    let (replica, tool) = tools(context)?;
    require_key(context)?;
    let listen = context.config().server.listen;
    let listener = listen_at(listen, wanted.rejoin)?;
    replica.refuse_while_placed()?;
    // Before the lock is taken, in the way of a server that starts.
    if replica.database.exists() && !wanted.rejoin {
        bail!(
            "{} is there, and a standby keeps its copy in its place; `standby --rejoin` sets it aside after a takeover",
            replica.database.display()
        );
    }
    let (lock, _) = LockFile::take(&replica.database)?;
    if replica.database.exists() {
        make_room(context, &replica, &tool)?;
    }
    let bound = listener.local_addr()?;
    lock.note_address(bound)
        .and_then(|()| lock.note_standby())
        .context("cannot write the lock file")?;
    let follower = Arc::new(Follower::new(replica, context.clock.clone()));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let outcome = runtime.block_on(serve(context, &follower, listener, bound));
    drop(lock);
    outcome
}

/// Refuses to start without any key: that of the other machine is brought here once.
fn require_key(context: &Context) -> anyhow::Result<()> {
    let config = context.config();
    let file = secrets::key_file_of(&config.database.path);
    if config.security.secret_key.is_empty() && !file.exists() {
        bail!(
            "{} is not there; bring it from the other machine, once and by hand",
            seal::source(context)
        );
    }
    Ok(())
}

/// Sets the database of a server that was taken over from aside.
fn make_room(context: &Context, replica: &Replica, tool: &tool::Tool) -> anyhow::Result<()> {
    let database = &replica.database;
    let shown = database.display();
    let own = epoch::of_file(database)?;
    let newest = epoch::newest(tool, replica, 1, tool::LOOK)?;
    let is_ours = own.as_ref().is_some_and(|own| epoch::is_ours(database, own));
    let own_commits = counted(database)?.0;
    // What the next server went on from; later ones have commits of its own too.
    let next = match &own {
        Some(own) => epoch::note(tool, replica, own.number + 1, tool::LOOK)?,
        None => None,
    };
    let was_there = own.is_some();
    match epoch::judge(own, newest.clone(), is_ours, Clock::System.now()) {
        Turn::Lost(_) | Turn::Held(_) => {}
        Turn::Ours(_) | Turn::Free(_) => bail!(
            "no other server took over from this one: `seller-platform takeover` on the other machine comes first"
        ),
    }
    let aside = backup::dated(database, ".before-restore-", "", context.clock.now());
    fold(database)?;
    std::fs::rename(database, &aside).with_context(|| format!("cannot set {shown} aside"))?;
    let _ = std::fs::remove_dir_all(&replica.folder);
    let begun = next.or(newest).map_or(0, |next| next.commits);
    let aside = aside.display();
    tell(format_args!("The database of this server is now {aside}."));
    let rest = own_commits - begun;
    if !was_there {
        tell("It never was at the replica: nothing of it is in the other's database.");
    } else if rest <= 0 {
        tell("Nothing is missing: the other server went on from all that this one answered.");
    } else {
        tell(format_args!(
            "{rest} commits that this server answered are not in the other's database, only in that file. Commands read it, to compare: seller-platform --db {aside} user list"
        ));
    }
    Ok(())
}

/// Moves what is in the log into the file.
fn fold(database: &std::path::Path) -> anyhow::Result<()> {
    let connection =
        rusqlite::Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    connection.close().map_err(|(_, error)| error)?;
    if busy != 0 {
        bail!("another program has {} open; end it first", database.display());
    }
    for end in ["-wal", "-shm", ".commits"] {
        let _ = std::fs::remove_file(beside(database, end));
    }
    Ok(())
}

async fn serve(
    context: &Context,
    follower: &Arc<Follower>,
    listener: TcpListener,
    bound: SocketAddr,
) -> anyhow::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (halt, halting) = watch::channel(false);
    let limits = Limits {
        connections: CONNECTIONS.0,
        per_address: CONNECTIONS.1,
        trusted: context.config().server.trusted_proxies.clone(),
    };
    let refuse = Arc::new(|_: SocketAddr, _: &_| {
        answer(StatusCode::BAD_REQUEST, &json!({ "ok": false, "status": "standby" }))
    });
    let shown = Arc::clone(follower);
    let service = move |_: SocketAddr, request: http::Request<hyper::body::Incoming>| {
        let reply = reply(&shown, request.method(), request.uri().path());
        async move { reply }
    };
    let serving = tokio::spawn(server::serve(listener, None, limits, refuse, service, halting));
    let mut signals = StopSignals::new()?;
    let (stop, ended) = (Stop::default(), Arc::new(tokio::sync::Notify::new()));
    let refusal = Arc::<Mutex<Option<anyhow::Error>>>::default();
    let thread = {
        let (follower, ended, refusal) =
            (Arc::clone(follower), Arc::clone(&ended), Arc::clone(&refusal));
        let judged = Context { loaded: context.loaded.clone(), clock: context.clock.clone() };
        let announced = std::sync::atomic::AtomicBool::new(false);
        worker::start("standby", &stop, move |stop| {
            let judge = || {
                refuse_wrong_key(&judged, &follow::copy_of(&follower.replica))?;
                if !announced.swap(true, std::sync::atomic::Ordering::Relaxed) {
                    tell(format_args!("following {}", follower.replica.url));
                    tell(format_args!("listening on http://{bound}"));
                }
                Ok(())
            };
            if let Err(error) = follower.run(stop, judge) {
                *refusal.lock() = Some(error);
            }
            ended.notify_one();
        })?
    };
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    tokio::select! {
        () = signals.received() => {
            tracing::info!("stopping: a supervisor or `takeover` on this machine asked for it");
        }
        () = ended.notified() => {}
        () = feed_watchdog() => {}
    }
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    stop.stop();
    halt.send_replace(true);
    serving.await?;
    let _: Result<(), _> = thread.join();
    let refused = refusal.lock().take();
    refused.map_or(Ok(()), Err)
}

/// Tells the supervisor, if it asked for it, that probes would be answered. Whether the
/// copy follows is told to those: starting again would fetch everything anew.
async fn feed_watchdog() {
    let Some(patience) = sd_notify::watchdog_enabled() else {
        return std::future::pending().await;
    };
    let mut next = tokio::time::interval(patience / LOOKS);
    loop {
        next.tick().await;
        let _ = sd_notify::notify(&[sd_notify::NotifyState::Watchdog]);
    }
}

fn reply(follower: &Follower, method: &Method, path: &str) -> Response<Body> {
    let is_read = method == Method::GET || method == Method::HEAD;
    let refused = json!({ "ok": false, "status": "standby" });
    let (status, body) = match path {
        "/healthz" if is_read => (
            StatusCode::OK,
            json!({ "ok": true, "status": "standby", "version": env!("CARGO_PKG_VERSION") }),
        ),
        "/readyz" if is_read => (StatusCode::SERVICE_UNAVAILABLE, ready(follower)),
        "/healthz" | "/readyz" => (StatusCode::METHOD_NOT_ALLOWED, refused),
        _ => (StatusCode::SERVICE_UNAVAILABLE, refused),
    };
    let mut reply = answer(status, &body);
    if method == Method::HEAD {
        *reply.body_mut() = Body::empty();
    }
    reply
}

fn ready(follower: &Follower) -> Value {
    let view = follower.view();
    let message = match (&view.trouble, view.is_there) {
        (Some(fault), _) => format!("this is a standby, and its copy does not follow: {fault}"),
        (None, false) => "this is a standby, and its first copy is on its way".to_owned(),
        (None, true) => "this is a standby".to_owned(),
    };
    json!({
        "status": "standby",
        "lag_s": view.lag_s,
        "verified_at": view.verified_at.map(Instant::rfc3339),
        "ok": false,
        "message": message,
    })
}

fn answer(status: StatusCode, body: &Value) -> Response<Body> {
    let mut reply = Response::new(Body::Bytes(body.to_string().into()));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
    }
    reply
}
