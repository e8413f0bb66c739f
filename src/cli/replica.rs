//! What commands have to do with the replica: `restore replica`, `takeover`, and the
//! start of a server that another one has taken over from.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Monotonic};

use anyhow::{Context as _, anyhow, bail};
use rustix::fs::{AtFlags, CWD, Gid, Uid, chownat};
use rustix::process::{Pid, Signal, kill_process};

use super::{Context, say, seal};
use crate::base::files::beside;
use crate::base::{Clock, Instant, secrets};
use crate::db::restore::{Restored, restore as put_back};
use crate::db::{access, holder, is_served, read_without_traces};
use crate::replica::epoch::{self, Epoch, Turn};
use crate::replica::tool::{FETCH, LOOK, Tool};
use crate::replica::{Replica, follow, place};

/// How long a start waits for the replica to say who writes to it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a standby may take to be level with the replica before a takeover.
const LEVEL: Duration = Duration::from_secs(10);
/// How long it may take to end.
const END: Duration = Duration::from_secs(20);

/// The configured replica and Litestream.
pub fn tools(context: &Context) -> anyhow::Result<(Replica, Tool)> {
    let replica = Replica::of(context.config())
        .ok_or_else(|| anyhow!("no replica is configured; set replica.url"))?;
    let tool = Tool::find(&replica)?;
    replica.require_there()?;
    Ok((replica, tool))
}

/// Refuses to start a server after another one took over. A replica that cannot be asked
/// keeps nobody from starting.
pub fn refuse_superseded(context: &Context) -> anyhow::Result<()> {
    let Some(replica) = Replica::of(context.config()) else {
        return Ok(());
    };
    replica.refuse_while_placed()?;
    let own = epoch::of_file(&replica.database)?;
    let from = own.as_ref().map_or(1, |own| own.number);
    let newest =
        Tool::find(&replica).and_then(|tool| epoch::newest(&tool, &replica, from, PATIENCE));
    let is_strange = own.is_none();
    match newest.map(|newest| epoch::judge(own, newest, true, Clock::System.now())) {
        Ok(Turn::Lost(by)) if is_strange => bail!("{}", epoch::strange(&by)),
        Ok(Turn::Lost(by)) => bail!("{}", epoch::lost(&by)),
        Ok(_) => {}
        Err(fault) => {
            tracing::warn!("whether another server took over is not known: {fault}");
        }
    }
    Ok(())
}

/// `restore replica`: the database as the replica has it, or had it at an instant.
pub fn restore(context: &Context, at: Option<Instant>) -> anyhow::Result<()> {
    placing(context, |replica, tool| restore_from(context, replica, tool, at))
}

/// Puts a database in its place while nobody else does, and gives the service what root made.
fn placing(
    context: &Context,
    put: impl FnOnce(&Replica, &Tool) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (replica, tool) = tools(context)?;
    let _placing = replica.place_alone()?;
    let done = put(&replica, &tool);
    let given = give_to_service(&replica);
    done.and(given)
}

fn restore_from(
    context: &Context,
    replica: &Replica,
    tool: &Tool,
    at: Option<Instant>,
) -> anyhow::Result<()> {
    if is_served(&replica.database) {
        bail!("a server or a standby has {} open; stop it first", replica.database.display());
    }
    let epochs = epoch::all(tool, replica, 1, LOOK)?;
    let newest = epochs.last().cloned().ok_or_else(|| nothing(replica))?;
    let fetched = Fetched::new(replica)?;
    let found = fetch(tool, replica, &epochs, &fetched.0, at)?;
    refuse_wrong_key(context, &fetched.0)?;
    let (_, last) = counted(&fetched.0)?;
    let restored = put_back(&fetched.0, &replica.database, &context.clock)?;
    place::forget_progress(&replica.database);
    // Otherwise a server would take a restored past for that of a server which was taken
    // over from.
    epoch::keep_in_file(&replica.database, &newest)?;
    say(format_args!(
        "fetched from {} (epoch {}); the newest write in it is from {}.",
        replica.url,
        found.number,
        last.rfc3339()
    ))?;
    say(told(&restored, &fetched.0, replica))
}

/// What was done, for people. What was fetched has no manifest, and its file is gone.
fn told(restored: &Restored, fetched: &Path, replica: &Replica) -> String {
    let (file, place) = (fetched.display().to_string(), replica.url.to_string());
    let lines = restored.lines.iter().filter(|line| !line.contains("manifest"));
    lines.map(|line| line.replace(&file, &place)).collect::<Vec<_>>().join("\n")
}

/// Fetches the database of the newest epoch that has it.
fn fetch(
    tool: &Tool,
    replica: &Replica,
    epochs: &[Epoch],
    to: &Path,
    at: Option<Instant>,
) -> anyhow::Result<Epoch> {
    for epoch in epochs.iter().rev() {
        if at.is_some_and(|at| at.0 < epoch.at) && epoch.number > 1 {
            continue;
        }
        // A fault is no reason to take what an older epoch has: that is another state.
        if tool.fetch(replica, &epoch.below(), at, to, FETCH)? {
            return Ok(epoch.clone());
        }
    }
    let Some(at) = at else {
        return Err(nothing(replica));
    };
    let reach = |epoch: &Epoch| tool.reaches_back_to(replica, &epoch.below()).ok().flatten();
    let first = epochs.iter().filter_map(reach).min();
    let first =
        first.map(|first| format!("; the first instant that it has is {}", first.rfc3339()));
    bail!("the replica does not reach back to {}{}", at.rfc3339(), first.unwrap_or_default())
}

fn nothing(replica: &Replica) -> anyhow::Error {
    anyhow!("{} holds no database yet; look at the server that is to write to it", replica.url)
}

/// A file for what is fetched, removed when the value is dropped.
struct Fetched(PathBuf);

impl Fetched {
    fn new(replica: &Replica) -> anyhow::Result<Self> {
        replica.make_folder()?;
        // Nobody else fetches or serves here now.
        place::forget_described(&replica.folder);
        Ok(Self(replica.folder.join(format!(
            "{}{}.db",
            place::FETCHED,
            secrets::random_hex::<6>()
        ))))
    }
}

impl Drop for Fetched {
    fn drop(&mut self) {
        for end in ["", ".tmp", "-txid", "-wal", "-shm"] {
            let _ = std::fs::remove_file(beside(&self.0, end));
        }
    }
}

/// Refuses a copy that was sealed with another key than the one at hand.
pub fn refuse_wrong_key(context: &Context, copy: &Path) -> anyhow::Result<()> {
    match seal::fits(context, copy)? {
        None => Ok(()),
        Some(_) => bail!(
            "the replica's database was sealed with another key than {}; bring its key from the other machine, once and by hand",
            seal::source(context)
        ),
    }
}

/// Commits in a file, and when the last one was.
pub fn counted(file: &Path) -> anyhow::Result<(i64, Instant)> {
    Ok(read_without_traces(file, Instant(0), epoch::commits)?)
}

/// `takeover`: this machine goes on from what the replica holds.
pub fn takeover(context: &Context) -> anyhow::Result<()> {
    placing(context, |replica, tool| take_over(context, replica, tool))
}

fn take_over(context: &Context, replica: &Replica, tool: &Tool) -> anyhow::Result<()> {
    let database = &replica.database;
    let epochs = epoch::all(tool, replica, 1, LOOK)?;
    let newest = epochs.last().cloned().ok_or_else(|| nothing(replica))?;
    let own = epoch::of_file(database)?;
    if own.as_ref() == Some(&newest) && epoch::is_ours(database, &newest) {
        bail!("this server already writes to the replica (epoch {})", newest.number);
    }
    let copy = stop_standby(tool, replica, &epochs)?;
    let fetched = Fetched::new(replica)?;
    let source = if let Some(copy) = &copy {
        copy
    } else {
        fetch(tool, replica, &epochs, &fetched.0, None)?;
        &fetched.0
    };
    refuse_wrong_key(context, source)?;
    let (commits, last) = counted(source)?;
    // A database that came from the replica and went on by itself has more.
    let is_ahead = own.as_ref() == Some(&newest) && counted(database)?.0 >= commits;
    let (commits, last) = if is_ahead { counted(database)? } else { (commits, last) };
    if is_ahead {
        say(format_args!("{} has all that the replica has, and stays.", database.display()))?;
    } else {
        let restored = put_back(source, database, &context.clock)?;
        say(told(&restored, source, replica))?;
    }
    place::forget_progress(database);
    let next = Epoch::begin(newest.number + 1, commits, Clock::System.now());
    epoch::publish(tool, replica, &next)
        .context("the database is in place, but the epoch was not raised; run `seller-platform takeover` again")?;
    epoch::keep_in_file(database, &next)?;
    epoch::note_published(replica, &next)?;
    follow::forget_copy(replica);
    let before = format!("{} ({})", newest.by, newest.mark());
    say(format_args!(
        "epoch {} begins here, as {} ({}); the server of epoch {}, {before}, ends within a minute if it still runs.",
        next.number,
        next.by,
        next.mark(),
        newest.number
    ))?;
    say(format_args!(
        "The newest write that is here is from {} (commit {commits}). What {before} answered after it is not here; `standby --rejoin` there names it.",
        last.rfc3339()
    ))?;
    say("Start the server now: seller-platform serve")
}

/// Gives what root made to the account that the folder of the database belongs to, which
/// is that of the service.
fn give_to_service(replica: &Replica) -> anyhow::Result<()> {
    let folder = std::fs::metadata(access::folder_of(&replica.database))?;
    if !rustix::process::geteuid().is_root() || folder.uid() == 0 {
        return Ok(());
    }
    let inside = std::fs::read_dir(&replica.folder)?.flatten().map(|entry| entry.path());
    let all = [replica.database.clone(), replica.folder.clone()].into_iter().chain(inside);
    // What failed may have made no database.
    let all = all.filter(|path| path.symlink_metadata().is_ok());
    let (owner, group) = (Uid::from_raw(folder.uid()), Gid::from_raw(folder.gid()));
    for path in all {
        // The service may have put links there, to files that are not its own.
        chownat(CWD, &path, Some(owner), Some(group), AtFlags::SYMLINK_NOFOLLOW)
            .with_context(|| format!("cannot change the owner of {}", path.display()))?;
    }
    Ok(())
}

/// Ends the standby of this machine. Returns its copy when that is level with the replica.
fn stop_standby(
    tool: &Tool,
    replica: &Replica,
    epochs: &[Epoch],
) -> anyhow::Result<Option<PathBuf>> {
    let database = &replica.database;
    let Some(found) = holder(database) else {
        return Ok(None);
    };
    if !found.is_standby {
        bail!("a server has {} open; stop it first", database.display());
    }
    let begun = Monotonic::now();
    let mut is_level = false;
    while let Some(epoch) = epochs.last().filter(|_| !is_level && begun.elapsed() < LEVEL) {
        let newest = tool.newest(replica, &epoch.below())?;
        is_level = newest > 0 && follow::position(replica).is_some_and(|here| here >= newest);
        if !is_level {
            std::thread::park_timeout(Duration::from_millis(300));
        }
    }
    let pid = i32::try_from(found.pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        kill_process(pid, Signal::TERM).context("cannot end the standby of this machine")?;
    }
    while is_served(database) {
        if begun.elapsed() > LEVEL + LOOK + END {
            bail!("the standby of this machine (process {}) does not end", found.pid);
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
    say(format_args!("The standby of this machine (process {}) has ended.", found.pid))?;
    let copy = follow::copy_of(replica);
    Ok(Some(copy).filter(|copy| is_level && copy.exists()))
}
