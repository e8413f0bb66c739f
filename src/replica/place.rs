//! Where the replica is, and what Litestream is told about it.
//!
//! Litestream reads its settings from a file of mode 0600 in a folder beside the
//! database, so no secret stands on a command line.

use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Fault, Result};
use crate::base::files::beside;
use crate::base::secrets;
use crate::config::{self, Config, ReplicaUrl};
use crate::db::locked;

/// End of the name of the folder beside the database.
const FOLDER: &str = "-litestream";
/// How the name of a fetched database begins.
pub const FETCHED: &str = "fetched-";
/// What Litestream knows of the replica, below the folder.
const PROGRESS: &str = "state";
/// The file whose lock is held by who puts a database in its place.
const PLACING: &str = "placing";
/// Name of the socket by which Litestream is asked how far it is.
pub const SOCKET: &str = "control.sock";

/// The configured replica of one database.
#[derive(Clone, Debug)]
pub struct Replica {
    pub settings: config::Replica,
    pub url: ReplicaUrl,
    /// The database, as an absolute path.
    pub database: PathBuf,
    /// What Litestream and we keep beside it.
    pub folder: PathBuf,
}

/// What Litestream does with a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// It follows the database as long as the server runs.
    Beside,
    /// It runs once, or only reads.
    Once,
}

impl Replica {
    /// The replica, if one is configured.
    pub fn of(config: &Config) -> Option<Self> {
        let url = config.replica.url.clone()?;
        let database = &config.database.path;
        let database = std::path::absolute(database).unwrap_or_else(|_| database.clone());
        let folder = folder_of(&database);
        Some(Self { settings: config.replica.clone(), url, database, folder })
    }

    /// The replica of another file, such as a note, in the same folder.
    pub fn for_file(&self, database: PathBuf) -> Self {
        Self { database, ..self.clone() }
    }

    /// Makes the folder beside the database.
    pub fn make_folder(&self) -> Result<()> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(Fault::io(&format!("make the folder {}", self.folder.display())))
    }

    /// Writes a file of settings for what lies at `below` the address.
    pub fn describe(&self, below: &str, purpose: Use, exec: Option<&str>) -> Result<Described> {
        self.make_folder()?;
        let hours = |hours: u32| format!("{hours}h");
        let beside = purpose == Use::Beside;
        let mut all = json!({
            "logging": { "level": "warn", "type": "json", "stderr": true },
            "snapshot": {
                "interval": hours(self.settings.snapshot_every_h),
                "retention": hours(self.settings.retention_h),
            },
            // Seconds can be told apart for an hour, then ten of them.
            "levels": [{ "interval": "10s" }, { "interval": "5m" }, { "interval": "1h" }],
            "l0-retention": "1h",
            "shutdown-sync-timeout": "5s",
            "dbs": [{
                "path": self.database,
                "meta-path": self.folder.join(if beside { PROGRESS } else { "once" }),
                "monitor-interval": "1s",
                "busy-timeout": "1s",
                "checkpoint-interval": "1m",
                "min-checkpoint-page-count": 1000,
                // It would hold writers up for as long as anybody reads.
                "truncate-page-n": 0,
                "replica": self.place(below),
            }],
        });
        if beside {
            all["socket"] = json!({ "enabled": true, "path": SOCKET, "permissions": 0o600 });
        }
        if let Some(exec) = exec {
            all["exec"] = json!(exec);
        }
        let name = format!("litestream-{}.yml", secrets::random_hex::<6>());
        let path = self.folder.join(name);
        let write = || -> std::io::Result<()> {
            let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
            // JSON is YAML too.
            file.write_all(all.to_string().as_bytes())
        };
        write().map_err(Fault::io(&format!("write {}", path.display())))?;
        Ok(Described(path))
    }

    /// What lies at `below` the address, in Litestream's words.
    fn place(&self, below: &str) -> Value {
        let settings = &self.settings;
        let join = |base: &str| match (base, below) {
            (base, "") => base.to_owned(),
            ("", below) => below.to_owned(),
            (base, below) => format!("{base}/{below}"),
        };
        let mut place = match &self.url {
            ReplicaUrl::Folder(folder) => json!({ "type": "file", "path": join(folder) }),
            ReplicaUrl::S3 { bucket, prefix } => json!({
                "type": "s3",
                "bucket": bucket,
                "path": join(prefix),
                "region": settings.region,
                "endpoint": settings.endpoint,
                "force-path-style": !settings.endpoint.is_empty(),
                "access-key-id": settings.access_key.reveal(),
                "secret-access-key": settings.secret_key.reveal(),
            }),
            ReplicaUrl::Sftp { user, host, folder } => json!({
                "type": "sftp",
                "host": host,
                "user": user,
                "password": settings.secret_key.reveal(),
                "path": join(folder),
                "key-path": settings.ssh_key.as_deref().unwrap_or(Path::new("")),
                "host-key": settings.ssh_host_key,
            }),
        };
        if let Value::Object(fields) = &mut place {
            // Empty, Litestream takes what the environment has.
            fields.retain(|_, value| value.as_str() != Some(""));
            fields.insert("sync-interval".to_owned(), json!("1s"));
        }
        place
    }

    /// Takes the right to put a database from the replica in its place.
    /// As long as it is held neither a server nor a standby starts there, which a
    /// supervisor may try at any time.
    pub fn place_alone(&self) -> Result<File> {
        self.make_folder()?;
        let mut options = File::options();
        // Root may do this in a folder of the service, which then only reads it.
        options.read(true).write(true).create(true).truncate(false).mode(0o644);
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
        let file = options.open(self.folder.join(PLACING));
        let file = file.map_err(Fault::io("open the lock of a takeover"))?;
        file.try_lock().map_err(|_| self.is_placed())?;
        Ok(file)
    }

    /// Refuses to start while a database from the replica is put in its place here.
    pub fn refuse_while_placed(&self) -> Result<()> {
        locked(&self.folder.join(PLACING)).map_or(Ok(()), |_| Err(self.is_placed()))
    }

    fn is_placed(&self) -> Fault {
        Fault(format!(
            "`takeover` or `restore replica` is at work on {}; wait until it has ended",
            self.database.display()
        ))
    }

    /// Refuses an address that is not there on this machine.
    pub fn require_there(&self) -> Result<()> {
        let ReplicaUrl::Folder(folder) = &self.url else { return Ok(()) };
        let folder = Path::new(folder);
        // A disk that is not mounted must not be taken for an empty replica.
        let above = folder.parent().unwrap_or(folder);
        if above.is_dir() {
            return Ok(());
        }
        Err(Fault(format!(
            "the folder {} of replica.url does not exist; mount it or make it",
            above.display()
        )))
    }

    /// Takes what was said of the configured secrets out of a text of Litestream.
    pub fn without_secrets(&self, text: &str) -> String {
        let secrets = [&self.settings.secret_key, &self.settings.access_key];
        let secrets = secrets.into_iter().filter(|secret| !secret.is_empty());
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret.reveal(), "***"))
    }
}

/// A file of settings, removed when the value is dropped.
pub struct Described(pub PathBuf);

impl Drop for Described {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Removes files of settings, and fetched databases, that a kill left behind; nobody may
/// be using one.
pub fn forget_described(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_settings = name.starts_with("litestream-") && name.ends_with(".yml");
        if is_settings || name.starts_with(FETCHED) {
            let _ = std::fs::remove_file(entry.path());
        } else if name.starts_with("note-") {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The folder that is kept beside a database with a replica.
pub fn folder_of(database: &Path) -> PathBuf {
    beside(database, FOLDER)
}

/// Forgets how far Litestream came: another database took the place of the one it knew.
pub fn forget_progress(database: &Path) {
    // Without it, Litestream compares and begins with a whole copy.
    let _ = std::fs::remove_dir_all(folder_of(database).join(PROGRESS));
}

/// Whether Litestream goes on with what it knows, and needs no whole copy.
pub fn has_progress(database: &Path) -> bool {
    folder_of(database).join(PROGRESS).is_dir()
}
