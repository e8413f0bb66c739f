//! `migrate`, `backup`, `restore`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::{Context, MigrateAction, say, seal};
use crate::db::restore::{require_copy, restore as put_back};
use crate::db::{access, backup, migrate};
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

/// The newest file beside the database or among its backups that `backup` made.
pub fn newest_copy(context_path: &Path, backup_dir: Option<&Path>) -> Option<PathBuf> {
    let folders = [Some(access::folder_of(context_path)), backup_dir];
    let entries = folders.into_iter().flatten().filter_map(|folder| std::fs::read_dir(folder).ok());
    let files = entries.flatten().flatten().map(|entry| entry.path());
    // Only complete copies have their manifest beside them.
    let copies = files.filter(|file| {
        let mut manifest = file.as_os_str().to_owned();
        manifest.push(".json");
        file != context_path && Path::new(&manifest).is_file()
    });
    copies.max_by_key(|file| std::fs::metadata(file).and_then(|found| found.modified()).ok())
}
