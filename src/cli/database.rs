//! `migrate`, `backup`, `restore`.

use std::path::Path;

use super::{Context, MigrateAction, say};
use crate::db::{backup, migrate};
use crate::http::view::size;

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

pub fn backup(context: &Context, file: &Path) -> anyhow::Result<()> {
    let report = backup::copy(&context.config().database.path, file, &context.clock)?;
    let seconds = report.took.as_secs_f64();
    // As the numbers around it: the panels' form has a comma.
    let size = size(report.bytes).replace(',', ".");
    say(format_args!("{}: {size}, verified, {seconds:.1} s", file.display()))?;
    if context.config().security.secret_key.is_empty() {
        let key = crate::secrets::key_file_of(&context.config().database.path);
        say(format_args!(
            "secrets in it open only with {}: keep a copy of that file, once",
            key.display()
        ))?;
    }
    Ok(())
}

pub fn restore(context: &Context, file: &Path) -> anyhow::Result<()> {
    let restored = backup::restore(file, &context.config().database.path, &context.clock)?;
    say(restored.lines.join("\n"))
}
