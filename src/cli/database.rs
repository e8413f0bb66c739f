//! `migrate`, `backup`, `restore`.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::values::parse_instant;
use super::{Context, MigrateAction, hint, replica, say, seal, tell_people};
use crate::base::Instant;
use crate::copies;
use crate::db::copying::Making;
use crate::db::restore::{require_copy, restore as put_back};
use crate::db::{BackupCopy, access, backup, copies_in, lead_latest_to, migrate};
use crate::panel::view::size;
use crate::replica::epoch::{self, Epoch};
use crate::replica::place;
use crate::replica::tool::LOOK;

pub fn migrate(context: &Context, action: MigrateAction) -> anyhow::Result<()> {
    let path = &context.config().database.path;
    let lines = match action {
        MigrateAction::Up => migrate::up(path, &context.clock)?,
        MigrateAction::Status => migrate::status(path)?,
    };
    if lines.is_empty() {
        return say("nothing to do, the database is at this version");
    }
    say(lines.join("\n"))
}

pub fn backup(context: &Context, to: &Path, force: bool) -> anyhow::Result<()> {
    let database = &context.config().database.path;
    if is_folder_of_copies(context, to) || to.as_os_str().as_encoded_bytes().ends_with(b"/") {
        backup::make_folder(to)?;
    }
    let file = backup::target(database, to, force, &context.clock)?;
    let making = Making { facts: copies::facts, ..Making::plain(&context.clock) };
    let report = backup::make(database, &file, &making)?;
    if is_folder_of_copies(context, access::folder_of(&file)) {
        let led = lead_latest_to(&file);
        led.unwrap_or_else(|error| hint(format_args!("latest.db leads to an older copy: {error}")));
    }
    let seconds = report.took.as_secs_f64();
    // With a decimal point like the other numbers here; `size` uses a comma.
    let size = size(report.bytes).replace(',', ".");
    say(format_args!("{}: {size}, verified, {seconds:.1} s", file.display()))?;
    if context.config().security.secret_key.is_empty() {
        let key = crate::base::secrets::key_file_of(&context.config().database.path);
        say(format_args!(
            "secrets in it open only with {}: keep a copy of that file, once",
            key.display()
        ))?;
    }
    Ok(())
}

/// Whether a folder is that of the copies that the server makes by itself.
fn is_folder_of_copies(context: &Context, folder: &Path) -> bool {
    // It may be missing yet.
    let real =
        |folder: &Path| std::fs::canonicalize(folder).or_else(|_| std::path::absolute(folder)).ok();
    let copies = context.config().database.backup_dir.as_deref();
    copies.and_then(real).is_some_and(|copies| Some(copies) == real(folder))
}

/// What `restore` is told.
#[derive(clap::Args)]
pub struct Restore {
    /// The copy to put in place; of a folder, the newest that passes its check; the word `replica` for the one of replica.url.
    #[arg(value_name = "FILE|FOLDER|replica")]
    file: PathBuf,
    /// The replica as it was at an instant, such as 2026-11-20T12:00:00-03:00.
    #[arg(long, value_name = "INSTANT", value_parser = parse_instant)]
    at: Option<Instant>,
}

pub fn restore(context: &Context, wanted: &Restore) -> anyhow::Result<()> {
    let (file, at) = (&*wanted.file, wanted.at);
    // A file of that name is meant by `./replica`.
    if file == Path::new("replica") {
        return replica::restore(context, at);
    }
    if at.is_some() {
        bail!("--at goes with `restore replica`: a file holds one state only");
    }
    let lines = if file.is_dir() { restore_newest(context, file)? } else { put(context, file)? };
    say(lines.join("\n"))
}

/// Restores a copy; what was done, in lines.
fn put(context: &Context, file: &Path) -> anyhow::Result<Vec<String>> {
    // The link to the newest copy has no manifest of its own.
    let resolved = std::fs::symlink_metadata(file).is_ok_and(|found| found.is_symlink());
    let resolved = resolved.then(|| std::fs::canonicalize(file).ok()).flatten();
    let file = resolved.as_deref().unwrap_or(file);
    require_copy(file)?;
    // Before anything is done; a copy that cannot be read is refused below.
    if let Ok(Some(why)) = seal::fits(context, file) {
        tell_people(format_args!("warning: {why}"));
    }
    let database = &context.config().database.path;
    let own = own_epoch(context)?;
    let restored = put_back(file, database, &context.clock)?;
    place::forget_progress(database);
    // The server goes on in its epoch, whatever the copy says.
    if let Some(own) = own.filter(|own| {
        let copied = epoch::of_file(database).ok().flatten();
        copied.is_none_or(|copied| copied.number < own.number)
    }) {
        epoch::keep_in_file(database, &own)?;
    }
    Ok(restored.lines)
}

/// The epoch in which this server goes on: that of its database, or the one at the replica,
/// if the server of this folder began it and its database does not tell.
fn own_epoch(context: &Context) -> anyhow::Result<Option<Epoch>> {
    let database = &context.config().database.path;
    let own = epoch::of_file(database).ok().flatten();
    let is_ours = |epoch: &Epoch| epoch::is_ours(database, epoch);
    if own.as_ref().is_some_and(is_ours) || context.config().replica.url.is_none() {
        return Ok(own);
    }
    let asked = replica::tools(context)
        .and_then(|(replica, tool)| Ok(epoch::newest(&tool, &replica, 1, LOOK)?));
    match asked {
        Ok(newest) => Ok(newest.filter(is_ours).or(own)),
        Err(error) => {
            tell_people(format_args!(
                "warning: the present database does not tell the epoch of this server, and the replica cannot be asked ({error}); should `serve` refuse although no other server took over, restore this copy once more when the replica answers: `takeover` would put what the replica holds in its place"
            ));
            Ok(own)
        }
    }
}

/// A copy in a folder, with the reason why others come first; `None` for most.
struct Choice {
    copy: BackupCopy,
    behind: Option<String>,
    rank: (bool, bool),
}

/// The copies in a folder in the order in which they are tried: the newest first, those
/// from the future after all others, and last those that the key at hand does not open.
fn choices(context: &Context, folder: &Path) -> Vec<Choice> {
    let kept = copies_in(folder, &context.config().database.path, context.clock.now());
    let mut choices: Vec<_> = kept
        .into_iter()
        .map(|copy| {
            let misfit = seal::fits(context, &copy.path).ok().flatten();
            let rank = (misfit.is_some(), copy.is_from_future());
            let path = copy.path.display();
            let ahead = copy.is_from_future().then(|| {
                let at = copy.made_at().map_or_else(String::new, Instant::rfc3339);
                format!("{path} is from the future ({at}), so it may not be the newest; restore it by its name if it is")
            });
            Choice { behind: misfit.or(ahead), copy, rank }
        })
        .collect();
    choices.sort_by_key(|choice| choice.rank);
    choices
}

/// Restores the newest copy in a folder that passes its check.
fn restore_newest(context: &Context, folder: &Path) -> anyhow::Result<Vec<String>> {
    let choices = choices(context, folder);
    let mut passed_over = Vec::new();
    for choice in &choices {
        let copy = &choice.copy;
        match put(context, &copy.path) {
            Ok(lines) => {
                let folder = folder.display();
                let first = format!("{} is the newest good copy in {folder}.", copy.path.display());
                let newer = choices.iter().filter(|other| {
                    choice.behind.is_none() && other.copy.made_at() > copy.made_at()
                });
                let behind = newer.filter_map(|other| other.behind.as_deref());
                let behind = behind.map(|why| format!("Passed over: {why}"));
                return Ok([vec![first], passed_over, behind.collect(), lines].concat());
            }
            Err(error) => match error.downcast_ref() {
                Some(backup::BackupError::Unfit { .. }) => {
                    passed_over.push(format!("Passed over: {error}"));
                }
                _ => return Err(error),
            },
        }
    }
    let folder = folder.display();
    if passed_over.is_empty() {
        bail!(
            "there is no copy in {folder}; name a folder with copies, or a file that `seller-platform backup` made"
        );
    }
    bail!(
        "no copy in {folder} passes its check, and nothing was changed:\n{}",
        passed_over.join("\n")
    )
}
