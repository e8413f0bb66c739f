//! `migrate`, `backup`, `restore`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::values::parse_instant;
use super::{Context, MigrateAction, replica, say, seal};
use crate::base::Instant;
use crate::db::restore::{require_copy, restore as put_back};
use crate::db::{backup, migrate};
use crate::panel::view::size;
use crate::replica::{epoch, place};

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
    let file = backup::target(database, to, force, &context.clock)?;
    let report = backup::copy(database, &file, &context.clock)?;
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

/// What `restore` is told.
#[derive(clap::Args)]
pub struct Restore {
    /// The copy to put in place, as `backup` made it; the word `replica` for the one of replica.url.
    #[arg(value_name = "FILE|replica")]
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
    require_copy(file)?;
    // Before anything is done; a copy that cannot be read is refused below.
    if let Ok(Some(why)) = seal::fits(context, file) {
        writeln!(std::io::stderr(), "warning: {why}")?;
    }
    let database = &context.config().database.path;
    let own = epoch::of_file(database).ok().flatten();
    let restored = put_back(file, database, &context.clock)?;
    place::forget_progress(database);
    // The server goes on in its epoch, whatever the copy says.
    if let Some(own) = own.filter(|own| {
        let copied = epoch::of_file(database).ok().flatten();
        copied.is_none_or(|copied| copied.number < own.number)
    }) {
        epoch::keep_in_file(database, &own)?;
    }
    say(restored.lines.join("\n"))
}
