//! The restore drill: a copy is restored beside the others as after a disaster,
//! brought to this version, compared, and removed.

use std::path::Path;
use std::time::Instant as Monotonic;

use crate::app::App;
use crate::base::Instant;
use crate::base::files::Scratch;
use crate::db::copying::{self, Making};
use crate::db::restore::restore_as;
use crate::db::{Lane, contents, copies_in, migrate};
use crate::services::Services;

/// The folder in which the restore is tried; its name tells that it may go.
const FOLDER: &str = "drill.partial";
/// Most tables that are named.
const MOST_NAMED: usize = 20;

/// A restore that was tried.
#[derive(Clone, Debug)]
pub struct Drill {
    pub file: String,
    pub at: Instant,
    pub ms: u64,
    /// What was found, or why it failed.
    pub outcome: Result<Found, String>,
}

/// What a restored copy holds.
#[derive(Clone, Debug)]
pub struct Found {
    /// Version of its schema.
    pub schema: i64,
    pub tables: usize,
    pub rows: u64,
    /// Whether a manifest said the same.
    pub has_manifest: bool,
    /// Tables that have another number of rows now, those that differ most first.
    pub changed: Vec<Changed>,
    /// How many more there are.
    pub more: usize,
}

/// A table whose number of rows is another now.
#[derive(Clone, Debug)]
pub struct Changed {
    pub table: String,
    pub then: u64,
    pub now: u64,
}

/// Removes what an interrupted drill left.
pub fn forget(folder: &Path) {
    // If it cannot be removed, the next drill says so.
    let _ = std::fs::remove_dir_all(folder.join(FOLDER));
}

/// Tries a restore of the copy with a name.
pub fn run(app: &App, folder: &Path, name: &str) -> Drill {
    let (at, began) = (app.clock.now(), Monotonic::now());
    let outcome = tried(app, folder, name);
    let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match &outcome {
        Ok(found) => {
            tracing::info!(file = name, rows = found.rows, ms, "tried a restore of a copy");
        }
        Err(problem) => tracing::warn!(file = name, problem, "a restore that was tried failed"),
    }
    Drill { file: name.to_owned(), at, ms, outcome }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn tried(app: &App, folder: &Path, name: &str) -> Result<Found, String> {
    forget(folder);
    let kept = copies_in(folder, &app.config.database.path, app.clock.now());
    let copy = kept.iter().find(|copy| copy.name() == name);
    let copy = copy.ok_or_else(|| "the copy is not there any more".to_owned())?;
    let beside = folder.join(FOLDER);
    let refused = |error| format!("cannot make {}: {error}", beside.display());
    let _removed_at_last = Scratch::make(beside.clone()).map_err(refused)?;
    let file = beside.join("seller-platform.db");
    let bell = &app.health.copies.bell;
    let making = Making { stop: Some(bell), is_gentle: true, ..Making::plain(&app.clock) };
    // As much again for a migration, which may write all of it anew.
    let is_older = |schema: Option<i64>| schema.is_some_and(|schema| schema < migrate::VERSION);
    let needed = copy.bytes.saturating_mul(if is_older(copy.schema()) { 2 } else { 1 });
    copying::require(needed, &file).map_err(text)?;
    restore_as(&copy.path, &file, &making).map_err(text)?;
    let (schema, rows) = contents(&file, Some(bell)).map_err(text)?;
    if let Some(said) = copy.manifest().and_then(|manifest| manifest.rows.as_ref())
        && *said != rows
    {
        return Err("its tables have other rows than its manifest says".to_owned());
    }
    if is_older(Some(schema)) {
        copying::require(copy.bytes, &file).map_err(text)?;
        migrate::try_up(&file, bell).map_err(text)?;
    }
    let mut changed = Vec::new();
    for (table, then) in &rows {
        making.goes_on().map_err(text)?;
        if let Some(now) = present_rows(app, table)
            && now != *then
        {
            changed.push(Changed { table: table.clone(), then: *then, now });
        }
    }
    changed.sort_by_key(|one| std::cmp::Reverse(one.now.abs_diff(one.then)));
    let more = changed.len().saturating_sub(MOST_NAMED);
    changed.truncate(MOST_NAMED);
    Ok(Found {
        schema,
        tables: rows.len(),
        rows: rows.values().sum(),
        has_manifest: copy.manifest().is_some(),
        changed,
        more,
    })
}

/// Rows of a table now; `None` when there is no such table, or counting takes too long.
fn present_rows(services: &Services, table: &str) -> Option<u64> {
    let sql = format!("SELECT count(*) FROM \"{}\"", table.replace('"', "\"\""));
    let count = services.db.read(Lane::Slow, |tx| tx.value::<i64>(&sql, []));
    count.ok().and_then(|count| u64::try_from(count).ok())
}
