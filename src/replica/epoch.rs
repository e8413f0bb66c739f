//! Epochs: which server may write.
//!
//! The database holds its epoch, and the replica has a note of each epoch: a database
//! of one row at `epochs/N`, copied there by Litestream like everything else. `takeover`
//! writes the next note; a server that finds a note above its own epoch stops. What is
//! written in an epoch lies below a prefix of its own, so that two servers never write
//! to the same place. The first epoch lies at the address itself. Decision replica-5.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use super::place::{Replica, folder_of};
use super::tool::{LOOK, Tool};
use super::{Fault, Result};
use crate::base::files::Scratch;
use crate::base::{Instant, secrets, shortened};
use crate::config::ReplicaUrl;
use crate::db::{self, DbError, ReadTx, WriteTx};
use crate::settings;

/// The row of `setting`.
const ROW: &str = "replica_epoch";
/// The file that says which epoch this folder's server began, and where.
const HOLDER: &str = "epoch";
/// Characters of the id of an epoch that people are shown.
const MARK: usize = 6;
/// More epochs than there can be are a mistake.
const MOST: u64 = 100_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    pub number: u64,
    /// Tells epochs of the same number apart.
    pub id: String,
    /// The machine that began it.
    pub by: String,
    /// When it began, in seconds since 1970.
    pub at: i64,
    /// Commits of the database that it went on from.
    #[serde(default)]
    pub commits: i64,
}

impl Epoch {
    /// The epoch that this machine begins.
    pub fn begin(number: u64, commits: i64, now: Instant) -> Self {
        Self { number, id: secrets::random_hex::<8>(), by: host(), at: now.0, commits }
    }

    /// Where below the address of the replica its database lies.
    pub fn below(&self) -> String {
        if self.number == 1 { String::new() } else { format!("epoch-{}-{}", self.number, self.id) }
    }

    /// What tells it from others whose machines have the same name.
    pub fn mark(&self) -> &str {
        self.id.get(..MARK).unwrap_or(&self.id)
    }

    /// Who began it and when.
    pub fn told(&self) -> String {
        let at = Instant(self.at).rfc3339();
        format!("{} since {at} (epoch {}, {})", self.by, self.number, self.mark())
    }
}

fn host() -> String {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy();
    let name = shortened(name.trim(), 100);
    if name.is_empty() { "a server without a name".to_owned() } else { name.to_owned() }
}

/// The epoch of the database; `None` where no replica was ever used.
pub fn of(tx: &ReadTx<'_>) -> db::Result<Option<Epoch>> {
    if !tx.value("SELECT EXISTS (SELECT 1 FROM pragma_table_info('setting'))", [])? {
        // An empty file has no tables.
        return Ok(None);
    }
    Ok(settings::value(tx, ROW)?.and_then(|value| serde_json::from_slice(&value).ok()))
}

/// How many commits a database has, and when the last one was.
pub fn commits(tx: &ReadTx<'_>) -> db::Result<(i64, Instant)> {
    let read = |column: &str| -> db::Result<i64> {
        let sql = format!("SELECT CAST({column} AS INTEGER) FROM setting WHERE name = 'commits'");
        Ok(tx.values(&sql, [])?.first().copied().unwrap_or(0))
    };
    Ok((read("value")?, Instant(read("updated_at")?)))
}

/// The epoch of the database file at `path`, which nobody need have open.
pub fn of_file(path: &Path) -> Result<Option<Epoch>> {
    if !path.exists() {
        return Ok(None);
    }
    db::read_without_traces(path, Instant(0), of).map_err(|error| Fault(error.to_string()))
}

/// Writes the epoch into the database.
pub fn keep(tx: &WriteTx<'_>, epoch: &Epoch) -> std::result::Result<(), DbError> {
    let value = serde_json::to_vec(epoch).unwrap_or_default();
    settings::keep(tx, ROW, &value)
}

/// Writes the epoch into a database that nobody has open.
pub fn keep_in_file(path: &Path, epoch: &Epoch) -> Result<()> {
    let write = || -> rusqlite::Result<()> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        connection.execute_batch("PRAGMA synchronous = FULL")?;
        let value = serde_json::to_vec(epoch).unwrap_or_default();
        let sql = "INSERT OR REPLACE INTO setting (name, value, updated_at) VALUES (?1, ?2, ?3)";
        connection.execute(sql, (ROW, value, epoch.at))?;
        connection.close().map_err(|(_, error)| error)
    };
    write()
        .map_err(|error| Fault(format!("cannot write the epoch into {}: {error}", path.display())))
}

/// Whether the server of this folder began the epoch.
pub fn is_ours(database: &Path, epoch: &Epoch) -> bool {
    began(database).is_some_and(|(id, _)| id == epoch.id)
}

/// The epoch that the server of this folder began, and the address of its note once that
/// is written.
fn began(database: &Path) -> Option<(String, Option<String>)> {
    let text = std::fs::read_to_string(folder_of(database).join(HOLDER)).ok()?;
    let mut lines = text.lines().map(str::to_owned);
    Some((lines.next()?, lines.next()))
}

/// Notes that the server of this folder began the epoch.
pub fn make_ours(replica: &Replica, epoch: &Epoch) -> Result<()> {
    note_ours(replica, &format!("{}\n", epoch.id))
}

/// Notes that the replica has the note of that epoch, so that one without is another place.
pub fn note_published(replica: &Replica, epoch: &Epoch) -> Result<()> {
    note_ours(replica, &format!("{}\n{}\n", epoch.id, replica.url))
}

fn note_ours(replica: &Replica, text: &str) -> Result<()> {
    replica.make_folder()?;
    let (path, partial) =
        (replica.folder.join(HOLDER), replica.folder.join(format!("{HOLDER}.partial")));
    let write = || -> std::io::Result<()> {
        // Root may do this in a folder of the service: no link there is followed.
        let _ = std::fs::remove_file(&partial);
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&partial, &path)
    };
    write().map_err(Fault::io("note the epoch"))
}

/// Why a replica without the note of our epoch is not taken for an empty one: the note
/// was written to this very folder, so another disk lies there now, or none.
pub fn missing(replica: &Replica, own: &Epoch) -> Option<Fault> {
    let is_folder = !matches!(replica.url, ReplicaUrl::S3 { .. });
    let noted = (own.id.clone(), Some(replica.url.to_string()));
    (is_folder && began(&replica.database) == Some(noted)).then(|| {
        Fault(format!(
            "{} holds none of the epochs of this server; is it mounted? If it was emptied on purpose, stop the server and remove {}",
            replica.url,
            replica.folder.display()
        ))
    })
}

fn note_place(number: u64) -> String {
    format!("epochs/{number}")
}

/// The note of an epoch at the replica, if it is there.
pub fn note(
    tool: &Tool,
    replica: &Replica,
    number: u64,
    patience: Duration,
) -> Result<Option<Epoch>> {
    replica.require_there()?;
    let folder = scratch(replica)?;
    let file = folder.0.join("note.db");
    // Litestream wants the name of a database, which need not be there.
    let named = replica.for_file(replica.folder.join("note.db"));
    if !tool.fetch(&named, &note_place(number), None, &file, patience)? {
        return Ok(None);
    }
    let read = || -> rusqlite::Result<String> {
        Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_WRITE)?.query_row(
            "SELECT text FROM note",
            [],
            |row| row.get(0),
        )
    };
    let text = read()
        .map_err(|error| Fault(format!("the note of epoch {number} cannot be read: {error}")))?;
    let epoch = serde_json::from_str(&text).map_err(|error| {
        Fault(format!("the note of epoch {number} is of another form: {error}"))
    })?;
    Ok(Some(epoch))
}

/// The newest epoch at the replica, looked for from a number on.
pub fn newest(
    tool: &Tool,
    replica: &Replica,
    from: u64,
    patience: Duration,
) -> Result<Option<Epoch>> {
    Ok(all(tool, replica, from, patience)?.pop())
}

/// The epochs at the replica from a number on, the first one first.
pub fn all(tool: &Tool, replica: &Replica, from: u64, patience: Duration) -> Result<Vec<Epoch>> {
    (from.max(1)..MOST)
        .map_while(|number| note(tool, replica, number, patience).transpose())
        .collect()
}

/// Writes the note of an epoch to the replica, unless another machine was first, and
/// looks whether it stands. Of two machines that do so in the same moment one is told
/// now or by its server's next look.
pub fn publish(tool: &Tool, replica: &Replica, epoch: &Epoch) -> Result<()> {
    replica.require_there()?;
    let is_first = |found: &Epoch| {
        let other =
            || format!("another machine was first: the replica belongs to {}", found.told());
        (found.id == epoch.id).then_some(()).ok_or_else(|| Fault(other()))
    };
    if let Some(found) = note(tool, replica, epoch.number, LOOK)? {
        return is_first(&found);
    }
    let folder = scratch(replica)?;
    let file = folder.0.join("note.db");
    let write = || -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let connection = Connection::open_with_flags(&file, flags)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE note (text TEXT)")?;
        let text = serde_json::to_string(epoch).unwrap_or_default();
        connection.execute("INSERT INTO note VALUES (?1)", [text])?;
        Ok(())
    };
    write().map_err(|error| Fault(format!("cannot write the note of an epoch: {error}")))?;
    let named = Replica { folder: folder.0.clone(), ..replica.for_file(file) };
    tool.publish(&named, &note_place(epoch.number))?;
    match note(tool, replica, epoch.number, LOOK)? {
        Some(found) => is_first(&found),
        None => Err(Fault("the replica does not keep what is written to it".to_owned())),
    }
}

fn scratch(replica: &Replica) -> Result<Scratch> {
    replica.make_folder()?;
    let folder = replica.folder.join(format!("note-{}", secrets::random_hex::<6>()));
    Scratch::make(folder).map_err(Fault::io("make a folder for a note"))
}

/// Whether another epoch than our own means that another server took over.
pub fn is_above(newest: &Epoch, own: &Epoch) -> bool {
    newest.number > own.number || newest.number == own.number && newest.id != own.id
}

/// What becomes of a server, by its own epoch and the newest at the replica.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// The replica is ours.
    Ours(Epoch),
    /// Nobody wrote to the replica yet, or it is another place: the note is to be written.
    Free(Epoch),
    /// The database came from the replica, whose server may still run.
    Held(Epoch),
    /// Another server took over, or the replica is of another database.
    Lost(Epoch),
}

/// Judges whose turn it is. `is_ours` tells whether this folder's server began its epoch.
pub fn judge(own: Option<Epoch>, newest: Option<Epoch>, is_ours: bool, now: Instant) -> Turn {
    match (own, newest) {
        (None, None) => Turn::Free(Epoch::begin(1, 0, now)),
        (Some(own), None) => Turn::Free(own),
        (None, Some(newest)) => Turn::Lost(newest),
        (Some(own), Some(newest)) if newest.number < own.number => Turn::Free(own),
        (Some(own), Some(newest)) if is_above(&newest, &own) => Turn::Lost(newest),
        (Some(own), Some(_)) if is_ours => Turn::Ours(own),
        (Some(own), Some(_)) => Turn::Held(own),
    }
}

/// Why a server ends or does not start.
pub fn lost(by: &Epoch) -> String {
    format!(
        "another server took over: the replica belongs to {}; `seller-platform standby --rejoin` makes this one its standby",
        by.told()
    )
}

/// Why a server with a database that never was at the replica does not use it.
pub fn strange(by: &Epoch) -> String {
    format!(
        "the replica belongs to {}, and the database of this server never was there: `seller-platform takeover` brings that one here, `seller-platform standby` follows it, or set another replica.url",
        by.told()
    )
}

/// Why a server does not write to the replica.
pub fn held(by: &Epoch) -> String {
    format!(
        "this database came from the replica, which belongs to {}; nothing is written to it from here: `seller-platform takeover` makes this the server that writes",
        by.told()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn epoch(number: u64, id: &str) -> Epoch {
        Epoch { number, id: id.to_owned(), by: "loja".to_owned(), at: 0, commits: 0 }
    }

    #[test]
    fn whose_turn_it_is_follows_from_both_epochs() {
        let judge = |own, newest, ours| judge(own, newest, ours, Instant(7));
        assert!(matches!(judge(None, None, false), Turn::Free(Epoch { number: 1, at: 7, .. })));
        let (one, two) = (epoch(1, "a"), epoch(2, "b"));
        assert_eq!(judge(Some(one.clone()), None, true), Turn::Free(one.clone()));
        assert_eq!(judge(None, Some(one.clone()), false), Turn::Lost(one.clone()));
        assert_eq!(judge(Some(one.clone()), Some(two.clone()), true), Turn::Lost(two.clone()));
        assert_eq!(judge(Some(two.clone()), Some(one.clone()), true), Turn::Free(two.clone()));
        assert_eq!(judge(Some(one.clone()), Some(epoch(1, "z")), true), Turn::Lost(epoch(1, "z")));
        assert_eq!(judge(Some(one.clone()), Some(one.clone()), true), Turn::Ours(one.clone()));
        assert_eq!(judge(Some(one.clone()), Some(one.clone()), false), Turn::Held(one));
    }

    /// The first write may fail, and is then tried again.
    #[test]
    fn a_note_is_missed_only_where_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = fixture::config(&[("REPLICA__URL", "file:///nowhere/shop")]);
        config.database.path = folder.path().join("seller.db");
        let replica = Replica::of(&config).unwrap();
        let own = epoch(1, "a");
        assert_eq!(missing(&replica, &own), None);
        make_ours(&replica, &own).unwrap();
        assert!(is_ours(&replica.database, &own));
        assert_eq!(missing(&replica, &own), None);
        note_published(&replica, &own).unwrap();
        assert!(is_ours(&replica.database, &own) && missing(&replica, &own).is_some());
        let moved = Replica { url: ReplicaUrl::Folder("/elsewhere".to_owned()), ..replica };
        assert_eq!(missing(&moved, &own), None);
    }

    #[test]
    fn each_epoch_has_a_place_of_its_own() {
        assert_eq!(epoch(1, "a").below(), "");
        assert_eq!(epoch(3, "c").below(), "epoch-3-c");
    }
}
