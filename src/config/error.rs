//! What is wrong with a configuration, and where a value came from.
//!
//! Every message names the key, the value and the place. Secrets are masked, and
//! so is the value of an unknown key that may be a misspelt secret.

use std::fmt;
use std::path::PathBuf;

/// The place a value came from.
/// Ordered as faults are listed: a file from top to bottom, then the rest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// It was not set.
    Default,
    /// A line of a configuration file, counted from 1.
    File(PathBuf, usize),
    Environment(String),
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => f.write_str(name),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// One reason why the configuration cannot be used. Secrets are masked in it.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read {path} (from {origin}): {cause}{}", advice(.cause))]
    Unreadable { path: String, origin: Origin, cause: std::io::Error },
    #[error("{origin}: not valid TOML: {problem}")]
    Syntax { origin: Origin, problem: String },
    #[error("unknown key {key} = {value} (from {origin}); {known}")]
    UnknownKey { key: String, value: String, origin: Origin, known: String },
    #[error("{key} = {value} (from {origin}): {problem}")]
    BadValue { key: String, value: String, origin: Origin, problem: String },
}

/// What to do about a file that exists and may not be read.
fn advice(cause: &std::io::Error) -> &'static str {
    match cause.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "; run this as the service's account, or name another file with --config"
        }
        _ => "",
    }
}

impl ConfigError {
    /// The place that the fault came from.
    pub(super) fn origin(&self) -> &Origin {
        match self {
            Self::Unreadable { origin, .. }
            | Self::Syntax { origin, .. }
            | Self::UnknownKey { origin, .. }
            | Self::BadValue { origin, .. } => origin,
        }
    }
}

/// Everything that is wrong with a configuration; at least one fault.
#[derive(Debug)]
pub struct Faults(pub(super) Vec<ConfigError>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &*self.0 {
            return only.fmt(f);
        }
        write!(f, "{} faults in the configuration:", self.0.len())?;
        self.0.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

impl std::error::Error for Faults {}
