//! `migrate`, `backup`, `restore`.

use std::io::Write as _;
use std::path::Path;

use super::{Context, MigrateAction, say, seal};
use crate::db::restore::{require_copy, restore as put_back};
use crate::db::{backup, migrate};
use crate::panel::view::size;

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

pub fn restore(context: &Context, file: &Path) -> anyhow::Result<()> {
    require_copy(file)?;
    // Before anything is done; a copy that cannot be read is refused below.
    if let Ok(Some(why)) = seal::fits(context, file) {
        writeln!(std::io::stderr(), "warning: {why}")?;
    }
    let restored = put_back(file, &context.config().database.path, &context.clock)?;
    say(restored.lines.join("\n"))
}
