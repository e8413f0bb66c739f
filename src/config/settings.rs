//! The layers of the configuration, laid over one another.
//!
//! The shipped file is the only list of keys and defaults. Each further layer
//! may replace a value of that list. Every value keeps the place it came from,
//! which errors and `config show` print. `values.rs` reads the values as types.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write as _};
use std::path::Path;

use serde::Deserialize as _;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Value};

use super::Overrides;
use super::error::{ConfigError, Origin};

const ENV_PREFIX: &str = "SELLER_PLATFORM__";
/// Beginning of variables that were probably meant for this program.
const ENV_STEM: &str = "SELLER_PLATFORM_";
/// Values that no error and no output may show.
pub(super) const SECRETS: [&str; 11] = [
    "security.secret_key",
    "cron.secret",
    "marketplace.client_secret",
    "checkout.tokens",
    "chat.api_key",
    "chat.app_secret",
    "chat.verify_token",
    "telegram.bot_token",
    "email.smtp_url",
    "replica.access_key",
    "replica.secret_key",
];
/// Values that are relative to the folder of the file they stand in.
const PATHS: [&str; 5] =
    ["database.path", "server.acme_root", "server.tls_cert", "server.tls_key", "replica.ssh_key"];
/// Tables whose keys the operator names.
const FREE_TABLES: [&str; 2] = ["checkout.plans", "marketplace.reputation_discount"];

pub(super) type Result<T> = std::result::Result<T, ConfigError>;
type KeyPath = Vec<String>;

#[derive(Clone)]
pub(super) struct Setting {
    pub(super) path: KeyPath,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// Every value in force with its origin, in the order of the shipped file.
#[derive(Clone)]
pub struct Settings {
    tables: Vec<KeyPath>,
    pub(super) all: Vec<Setting>,
}

/// A setting as the operator may see it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ShownSetting {
    /// Such as `server.listen`.
    pub key: String,
    /// As TOML; secrets are masked.
    pub value: String,
    /// Where it came from.
    pub origin: String,
    /// Whether it was set at all.
    pub is_set: bool,
}

/// As shown to the operator: debug output must not contain secrets either.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show())
    }
}

/// What a path is in the shipped file.
enum PathKind {
    Table,
    Setting(usize),
    FreeEntry,
    Unknown,
}

impl Settings {
    /// The defaults: the shipped file with its settings un-commented.
    pub(super) fn defaults(shipped: &str) -> Result<Self> {
        let text = uncommented(shipped);
        let mut settings = Self { tables: Vec::new(), all: Vec::new() };
        for entry in entries_of_file(Path::new("default"), &text)? {
            match entry.value {
                None => settings.tables.push(entry.path),
                Some(value) => {
                    settings.all.push(Setting { path: entry.path, value, origin: Origin::Default });
                }
            }
        }
        Ok(settings)
    }

    /// Lays a configuration file over the present values, without its faulty ones.
    pub(super) fn lay_file(&mut self, file: &Path, text: &str, faults: &mut Vec<ConfigError>) {
        let entries = match entries_of_file(file, text) {
            Ok(entries) => entries,
            Err(fault) => return faults.push(fault),
        };
        let mut wrong: Vec<KeyPath> = Vec::new();
        for entry in entries {
            // The keys in a faulty table were reported with the table.
            if wrong.iter().any(|table| entry.path.starts_with(table)) {
                continue;
            }
            let origin = Origin::File(file.to_owned(), line_at(text, entry.offset));
            let value = entry.value.map(|value| rebased(&entry.path, value, file, &origin));
            let path = entry.path.clone();
            if let Err(fault) = value.transpose().and_then(|value| self.set(path, value, origin)) {
                faults.push(fault);
                wrong.push(entry.path);
            }
        }
    }

    /// Lays this program's environment variables over the present values,
    /// without the faulty ones.
    ///
    /// The plain variable of a secret replaces its `…_FILE` variable.
    pub(super) fn lay_environment(
        &mut self,
        variables: impl Iterator<Item = (OsString, OsString)>,
        faults: &mut Vec<ConfigError>,
    ) {
        let mut ours: Vec<_> = variables
            .filter_map(|(name, text)| {
                let name = name.to_string_lossy().into_owned();
                let path = name.strip_prefix(ENV_PREFIX)?;
                let path: KeyPath = path.split("__").map(str::to_lowercase).collect();
                let secret = secret_of_file_variable(&path);
                Some((secret.is_none(), name, secret.unwrap_or(path), text))
            })
            .collect();
        ours.sort();
        for (plain, name, path, text) in ours {
            let origin = Origin::Environment(name);
            let laid = if plain {
                self.lay_variable(path, &text, origin)
            } else {
                read(Path::new(&text), &origin)
                    .and_then(|text| self.lay_variable(path, OsStr::new(text.trim()), origin))
            };
            faults.extend(laid.err());
        }
    }

    /// Warnings about variables whose names begin like ours but are not read,
    /// each with the right spelling if there is one. Values are not shown.
    pub(super) fn not_read<'n>(&self, names: impl Iterator<Item = &'n OsString>) -> Vec<String> {
        let mut lines: Vec<String> = names
            .filter_map(|name| {
                let name = name.to_string_lossy();
                let rest = name.strip_prefix(ENV_STEM).filter(|_| !name.starts_with(ENV_PREFIX))?;
                let what = match self.variable_like(rest) {
                    Some(meant) => format!("write {meant}"),
                    None => format!("a setting is written {ENV_PREFIX}<SECTION>__<KEY>"),
                };
                Some(format!("the variable {name} is not read; {what}"))
            })
            .collect();
        lines.sort();
        lines
    }

    /// The variable of the key whose name differs only in its underscores.
    fn variable_like(&self, name: &str) -> Option<String> {
        let letters = |name: &str| {
            let parts = name.split('_').filter(|part| !part.is_empty());
            parts.map(str::to_lowercase).collect::<Vec<_>>()
        };
        let wanted = letters(name);
        let keys = self.all.iter().map(|setting| setting.path.join("__"));
        let tables = FREE_TABLES.iter().map(|table| table.replace('.', "__"));
        let files = SECRETS.iter().map(|secret| secret.replace('.', "__") + "_file");
        let found = keys.chain(tables).chain(files).find(|key| letters(key) == wanted);
        found.map(|key| format!("{ENV_PREFIX}{}", key.to_uppercase()))
    }

    /// Replaces a bad value with its default; false when the bad value is the
    /// default itself, or belongs to no key.
    pub(super) fn put_back(&mut self, fault: &ConfigError, defaults: &Self) -> bool {
        let ConfigError::BadValue { key, origin, .. } = fault else {
            return false;
        };
        let is_it = |setting: &Setting| dotted(&setting.path) == *key;
        let Some(index) = self.all.iter().position(is_it) else {
            return false;
        };
        match defaults.all.iter().find(|setting| is_it(setting)) {
            Some(default) => self.all[index] = default.clone(),
            None => drop(self.all.remove(index)),
        }
        *origin != Origin::Default
    }

    /// Lays the command line's flags over the present values.
    pub(super) fn lay_flags(&mut self, flags: &Overrides, faults: &mut Vec<ConfigError>) {
        if let Some(path) = &flags.database {
            let key = key_path("database.path");
            faults.extend(self.lay_variable(key, path.as_os_str(), Origin::Flag("--db")).err());
        }
        if let Some(listen) = &flags.listen {
            let key = key_path("server.listen");
            let laid = self.lay_variable(key, OsStr::new(listen), Origin::Flag("--listen"));
            faults.extend(laid.err());
        }
    }

    /// Where the value of a key such as `server.listen` came from.
    #[cfg(test)]
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        let path = key_path(key);
        self.all.iter().find(|setting| setting.path == path).map(|setting| &setting.origin)
    }

    /// All values, each with its origin, secrets as `***`.
    pub fn rows(&self) -> Vec<ShownSetting> {
        let rows = self.all.iter().map(|setting| ShownSetting {
            key: dotted(&setting.path),
            value: masked(&setting.path, &setting.value).to_string(),
            origin: setting.origin.to_string(),
            is_set: setting.origin != Origin::Default,
        });
        rows.collect()
    }

    /// All values as TOML, each with its origin, secrets as `***`.
    pub fn show(&self) -> String {
        let mut toml = String::new();
        for table in &self.tables {
            let mut members = self.members(table).peekable();
            if members.peek().is_none() {
                continue;
            }
            let gap = if toml.is_empty() { "" } else { "\n" };
            let _ = writeln!(toml, "{gap}[{}]", dotted(table));
            for setting in members {
                let name = dotted(&setting.path[table.len()..]);
                let value = masked(&setting.path, &setting.value);
                let _ = writeln!(toml, "{name} = {value} # from {}", setting.origin);
            }
        }
        toml
    }

    fn set(&mut self, path: KeyPath, value: Option<Value>, origin: Origin) -> Result<()> {
        match (self.kind(&path), value) {
            (PathKind::Table, None) => Ok(()),
            (PathKind::Setting(index), Some(value)) => {
                self.all[index] = Setting { path, value, origin };
                Ok(())
            }
            (PathKind::FreeEntry, Some(value)) => {
                self.all.push(Setting { path, value, origin });
                Ok(())
            }
            (PathKind::Table, Some(value)) => {
                let problem = format!("is a section with {}", self.known_in(&path));
                Err(bad(&path, &value, &origin, problem))
            }
            (PathKind::Setting(_) | PathKind::FreeEntry, None) => {
                let table = Value::Table(toml::Table::new());
                Err(bad(&path, &table, &origin, "must be a value, not a table"))
            }
            (PathKind::Unknown, value) => Err(self.unknown(&path, value.as_ref(), origin)),
        }
    }

    fn lay_variable(&mut self, path: KeyPath, text: &OsStr, origin: Origin) -> Result<()> {
        let Some(text) = text.to_str() else {
            let shown = Value::String(text.to_string_lossy().into_owned());
            return Err(bad(&path, &shown, &origin, "must be UTF-8"));
        };
        let as_text = Value::String(text.to_owned());
        match self.kind(&path) {
            PathKind::Setting(index) => {
                let value = typed_like(&self.all[index].value, text)
                    .map_err(|problem| bad(&path, &as_text, &origin, problem))?;
                self.set(path, Some(value), origin)
            }
            PathKind::Table if is_one_of(&FREE_TABLES, &path) => {
                let entries = entries_of_inline_table(&path, text)
                    .ok_or_else(|| bad(&path, &as_text, &origin, INLINE_TABLE))?;
                for entry in entries {
                    self.set(entry.path, entry.value, origin.clone())?;
                }
                Ok(())
            }
            // Names of variables have no upper and lower case here, offer codes do.
            PathKind::FreeEntry => {
                let table = parent(&path);
                Err(bad(table, &as_text, &origin, INLINE_TABLE))
            }
            PathKind::Table | PathKind::Unknown => self.set(path, Some(as_text), origin),
        }
    }

    fn kind(&self, path: &[String]) -> PathKind {
        if self.tables.iter().any(|table| table == path) {
            return PathKind::Table;
        }
        if let Some(index) = self.all.iter().position(|setting| setting.path == path) {
            return PathKind::Setting(index);
        }
        match path.split_last() {
            Some((_, parent)) if is_one_of(&FREE_TABLES, parent) => PathKind::FreeEntry,
            _ => PathKind::Unknown,
        }
    }

    /// The values that stand directly in a table.
    pub(super) fn members<'a>(&'a self, table: &'a [String]) -> impl Iterator<Item = &'a Setting> {
        self.all.iter().filter(move |setting| parent(&setting.path) == table)
    }

    fn known_in(&self, table: &[String]) -> String {
        let tables = self.tables.iter().filter(|path| parent(path) == table);
        let names: Vec<_> = self
            .members(table)
            .map(|setting| &setting.path)
            .chain(tables)
            .map(|path| dotted(&path[table.len()..]))
            .collect();
        names.join(", ")
    }

    fn unknown(&self, path: &[String], value: Option<&Value>, origin: Origin) -> ConfigError {
        let section = (1..path.len())
            .rev()
            .map(|length| &path[..length])
            .find(|table| self.tables.iter().any(|known| known == table));
        let is_variable = matches!(origin, Origin::Environment(_));
        let meant = is_variable.then(|| self.variable_like(&path.join("_"))).flatten();
        let known = match (meant, section) {
            (Some(meant), _) => format!("write {meant}"),
            (None, Some(table)) => format!("[{}] has {}", dotted(table), self.known_in(table)),
            (None, None) => format!("the sections are {}", self.known_in(&[])),
        };
        ConfigError::UnknownKey {
            key: dotted(path),
            value: match value {
                None => "{…}".to_owned(),
                // A secret under a misspelt key is still a secret.
                Some(value) if may_be_secret(path) => hidden(value).to_string(),
                Some(value) => value.to_string(),
            },
            origin,
            known,
        }
    }
}

/// Whether an unknown key may be a misspelt secret: it stands in a section
/// that holds one, or in none that we know.
fn may_be_secret(path: &[String]) -> bool {
    const PLAIN: [&str; 11] = [
        "server", "database", "limits", "partner", "content", "program", "messages", "drop",
        "agents", "tax", "log",
    ];
    path.len() < 2 || !PLAIN.contains(&path[0].as_str())
}

const INLINE_TABLE: &str = "must be an inline table, such as { \"name\" = \"value\" }";

/// One key of a TOML text; a table has no value of its own.
struct TomlKey {
    path: KeyPath,
    offset: usize,
    value: Option<Value>,
}

/// Reads a file of the configuration; `origin` is what named the file.
pub(super) fn read(path: &Path, origin: &Origin) -> Result<String> {
    std::fs::read_to_string(path).map_err(|cause| ConfigError::Unreadable {
        path: path.display().to_string(),
        origin: origin.clone(),
        cause,
    })
}

fn entries_of_file(file: &Path, text: &str) -> Result<Vec<TomlKey>> {
    let syntax = |offset, problem| ConfigError::Syntax {
        origin: Origin::File(file.to_owned(), line_at(text, offset)),
        problem,
    };
    let document = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        syntax(offset, error.message().replace('\n', ", "))
    })?;
    let mut entries = Vec::new();
    collect(document.into_inner(), &[], &mut entries)
        .map_err(|offset| syntax(offset, "the number is too large".to_owned()))?;
    entries.sort_by_key(|entry| entry.offset);
    Ok(entries)
}

fn entries_of_inline_table(path: &[String], text: &str) -> Option<Vec<TomlKey>> {
    let DeValue::Table(table) = DeValue::parse(text).ok()?.into_inner() else {
        return None;
    };
    let mut entries = Vec::new();
    collect(table, path, &mut entries).ok()?;
    Some(entries)
}

/// Lists a table's keys, a table before its members; the error is the offset
/// of a key whose value is a number that no type holds.
fn collect(
    table: DeTable<'_>,
    parent: &[String],
    entries: &mut Vec<TomlKey>,
) -> std::result::Result<(), usize> {
    for (key, value) in table {
        let offset = key.span().start;
        let mut path = parent.to_vec();
        path.push(key.into_inner().into_owned());
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(members) => {
                entries.push(TomlKey { path: path.clone(), offset, value: None });
                collect(members, &path, entries)?;
            }
            value => {
                let value = ValueDeserializer::from(Spanned::new(span, value));
                let value = Value::deserialize(value).map_err(|_| offset)?;
                entries.push(TomlKey { path, offset, value: Some(value) });
            }
        }
    }
    Ok(())
}

/// The shipped file with `#key = value` made `key = value`; prose has a blank
/// after its `#`.
fn uncommented(shipped: &str) -> String {
    let lines = shipped.lines().map(|line| match line.strip_prefix('#') {
        Some(setting) if setting.starts_with(|c: char| c.is_ascii_alphanumeric()) => setting,
        _ => line,
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Reads a variable's text as the type that the default has.
fn typed_like(default: &Value, text: &str) -> std::result::Result<Value, &'static str> {
    match default {
        Value::Integer(_) => text.parse().map(Value::Integer).map_err(|_| "must be a whole number"),
        Value::Float(_) => text.parse().map(Value::Float).map_err(|_| "must be a number"),
        Value::Boolean(_) => text.parse().map(Value::Boolean).map_err(|_| "must be true or false"),
        Value::Array(_) if text.starts_with('[') => {
            text.parse().map_err(|_| "must be a list, such as a,b or [\"a\", \"b\"]")
        }
        Value::Array(_) => {
            let items = text.split(',').map(str::trim);
            let items = items.filter(|item| !item.is_empty()).map(Value::from);
            Ok(Value::Array(items.collect()))
        }
        _ => Ok(Value::String(text.to_owned())),
    }
}

/// A path of the file made relative to the file's folder.
fn rebased(path: &[String], value: Value, file: &Path, origin: &Origin) -> Result<Value> {
    let (Value::String(text), Some(folder)) = (&value, file.parent()) else {
        return Ok(value);
    };
    if text.is_empty() || !is_one_of(&PATHS, path) {
        return Ok(value);
    }
    match folder.join(text).into_os_string().into_string() {
        Ok(text) => Ok(Value::String(text)),
        Err(_) => Err(bad(path, &value, origin, "must lie in a folder with a UTF-8 name")),
    }
}

/// The secret whose file a variable names, as in `CRON__SECRET_FILE`.
fn secret_of_file_variable(path: &[String]) -> Option<KeyPath> {
    let (name, section) = path.split_last()?;
    let mut secret = section.to_vec();
    secret.push(name.strip_suffix("_file")?.to_owned());
    is_one_of(&SECRETS, &secret).then_some(secret)
}

pub(super) fn bad(
    path: &[String],
    value: &Value,
    origin: &Origin,
    problem: impl Into<String>,
) -> ConfigError {
    ConfigError::BadValue {
        key: dotted(path),
        value: masked(path, value).to_string(),
        origin: origin.clone(),
        problem: problem.into(),
    }
}

fn masked(path: &[String], value: &Value) -> Value {
    if is_one_of(&SECRETS, path) { hidden(value) } else { value.clone() }
}

/// The value as `***`; an empty text or list reveals nothing and stays.
fn hidden(value: &Value) -> Value {
    match value {
        Value::String(text) if text.is_empty() => value.clone(),
        Value::Array(items) => Value::Array(items.iter().map(hidden).collect()),
        _ => Value::from("***"),
    }
}

fn is_one_of(keys: &[&str], path: &[String]) -> bool {
    let key = dotted(path);
    keys.contains(&key.as_str())
}

pub(super) fn key_path(key: &str) -> KeyPath {
    key.split('.').map(str::to_owned).collect()
}

fn dotted(path: &[String]) -> String {
    let names: Vec<_> = path.iter().map(|name| bare_or_quoted(name)).collect();
    names.join(".")
}

fn bare_or_quoted(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) {
        name.to_owned()
    } else {
        // JSON and TOML share their escapes.
        serde_json::Value::from(name).to_string()
    }
}

fn parent(path: &[String]) -> &[String] {
    path.split_last().map_or(&[], |(_, parent)| parent)
}

fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}
