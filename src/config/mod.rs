//! The configuration: flags over environment over file over defaults.
//!
//! The shipped `seller-platform.toml` is the only list of keys and defaults;
//! the layers over it are in `settings.rs`, the sections as types in
//! `sections.rs` and `outside.rs`. [`load`] is called once at start, and [`Config`] is passed
//! down by reference. Nothing else reads the environment.

mod error;
mod outside;
mod replica_url;
mod rules;
mod sections;
mod settings;
#[cfg(test)]
mod tests;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub use error::{ConfigError, Faults, Origin};
pub use outside::*;
pub use replica_url::ReplicaUrl;
pub use rules::parse_listen;
pub use sections::*;
pub use settings::{Settings, ShownSetting};

/// The file that is read when none is named, if it exists.
const DEFAULT_FILE: &str = "seller-platform.toml";
const SHIPPED: &str = include_str!("../../seller-platform.toml");
/// What is wrong with a folder of copies in which the database lies itself.
const MIXED: &str = "is the folder of the database itself; name another one for its copies, such as the folder `backups` in it";

/// The address of the real marketplace: that of the shipped file.
static REAL_API: LazyLock<Option<String>> = LazyLock::new(|| {
    let shipped = Settings::defaults(SHIPPED).ok()?;
    shipped.parsed("marketplace.api_base", rules::web_address).ok()
});

impl Marketplace {
    /// Whether every notification would be refused: they must be signed, and the real
    /// marketplace signs none.
    pub fn refuses_all_notifications(&self) -> bool {
        self.signature == SignatureMode::Required
            && REAL_API.as_ref().is_some_and(|real| *real == self.api_base)
    }
}

/// What the command line sets.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--db`: `database.path`.
    pub database: Option<PathBuf>,
    /// `--listen`: `server.listen`.
    pub listen: Option<String>,
    /// The file of an installed service, which is read when no file is named and
    /// there is none in the working directory.
    pub installed: Option<PathBuf>,
}

/// A configuration and where its values came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The values, checked.
    pub config: Config,
    /// The values as they were given, with their origins.
    pub origins: Settings,
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// Variables that look like ours and are not read: one line each.
    pub warnings: Vec<String>,
}

/// Reads and checks the configuration.
///
/// A `file` that was named must exist; without one, `seller-platform.toml` in
/// the working directory is read when it exists, else that of the installed service. The error contains all faults;
/// each names the key, the value (masked if it is a secret) and the place it
/// came from.
pub fn load(
    file: Option<&Path>,
    env: impl Iterator<Item = (OsString, OsString)>,
    flags: &Overrides,
) -> Result<Loaded, Faults> {
    let mut faults = Vec::new();
    let read = match file {
        Some(path) => {
            settings::read(path, &Origin::Flag("--config")).map(|text| Some((path, text)))
        }
        None => match (read_if_there(Path::new(DEFAULT_FILE)), &flags.installed) {
            (Ok(None), Some(installed)) => read_if_there(installed),
            (read, _) => read,
        },
    };
    let read = read.unwrap_or_else(|fault| {
        faults.push(fault);
        None
    });
    let file = read.as_ref().map(|(path, text)| (*path, text.as_str()));
    assemble(file, env, flags, faults)
}

/// The process's environment, for [`load`].
pub fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

fn read_if_there(path: &Path) -> Result<Option<(&Path, String)>, ConfigError> {
    match settings::read(path, &Origin::Default) {
        Ok(text) => Ok(Some((path, text))),
        Err(ConfigError::Unreadable { cause, .. })
            if cause.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Lays the layers over one another; `faults` are those found so far.
fn assemble(
    file: Option<(&Path, &str)>,
    env: impl Iterator<Item = (OsString, OsString)>,
    flags: &Overrides,
    mut faults: Vec<ConfigError>,
) -> Result<Loaded, Faults> {
    let defaults = Settings::defaults(SHIPPED).map_err(|fault| Faults(vec![fault]))?;
    let mut settings = defaults.clone();
    if let Some((path, text)) = file {
        settings.lay_file(path, text, &mut faults);
    }
    let variables: Vec<_> = env.collect();
    let warnings = settings.not_read(variables.iter().map(|(name, _)| name));
    settings.lay_environment(variables.into_iter(), &mut faults);
    settings.lay_flags(flags, &mut faults);
    // Reading stops at the first bad value. With the default in its place, the
    // next round finds the next bad value.
    let config = loop {
        match Config::read(&settings) {
            Ok(config) => break Some(config),
            Err(fault) => {
                let goes_on = settings.put_back(&fault, &defaults);
                faults.push(fault);
                if !goes_on {
                    break None;
                }
            }
        }
    };
    match config {
        Some(mut config) if faults.is_empty() => {
            config.database.settle();
            let is_mixed = config.database.is_mixed();
            let judge = |_: &str| if is_mixed { Err(MIXED) } else { Ok(()) };
            let judged = settings.parsed("database.backup_dir", judge);
            judged.map_err(|fault| Faults(vec![fault]))?;
            let file = file.map(|(path, _)| path.to_owned());
            Ok(Loaded { config, origins: settings, file, warnings })
        }
        _ => {
            faults.sort_by(|one, other| one.origin().cmp(other.origin()));
            Err(Faults(faults))
        }
    }
}
