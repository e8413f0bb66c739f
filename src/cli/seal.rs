//! Which key sealed the database, and what to do when the present key is another
//! one.
//!
//! The database contains a mark: a value that only its key opens. In a database
//! from before the mark, all sealed values are tried. A sealed value that does
//! not open is never replaced. Only `serve --new-key` gives such values up, after
//! it has listed them.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};

use super::{Context, agrees, secret, tell_people};
use crate::accounts::links;
use crate::base::{Sealer, Secret, secrets};
use crate::db::{Db, DbError, ReadTx, WriteTx, backup, read_without_traces};
use crate::marketplace::account::store as marketplace;
use crate::marketplace::account::tokens;
use crate::messages::push::store as devices;
use crate::messages::telegram;
use crate::partner::webhooks;
use crate::settings;

/// Name of the setting with the mark.
const MARK: &str = "key_check";
/// Names of the other settings that are sealed.
const SEALED: [&str; 4] = [secret::CRON, secret::CHECKOUT, secret::PUSH_KEY, telegram::SECRET];
/// Most names that a list shows; further ones are only counted.
const NAMED: usize = 20;

const WAYS: &str = "put the right key back, restore a copy that belongs to the key at hand \
    (`seller-platform restore FILE`), or start with `seller-platform serve --new-key`, \
    which lists what will be lost and asks";

/// Whether the present key fits the database.
pub enum KeyStatus {
    /// Nothing is sealed yet.
    Fresh,
    /// It opens the sealed values.
    Right,
    /// There is none, or it is another; the text says which.
    Wrong(String),
}

enum PresentKey {
    Key(Sealer),
    /// No key file.
    None,
    /// A key file without a valid key.
    NoKey,
}

impl PresentKey {
    /// The key; a random one, which opens nothing, if there is none.
    fn sealer(&self) -> std::borrow::Cow<'_, Sealer> {
        match self {
            Self::Key(sealer) => std::borrow::Cow::Borrowed(sealer),
            Self::None | Self::NoKey => std::borrow::Cow::Owned(Sealer::new(secrets::random())),
        }
    }
}

/// Where the key comes from, for people.
pub fn source(context: &Context) -> String {
    if is_configured(context) {
        return "security.secret_key".to_owned();
    }
    format!("the key file {}", key_file(context).display())
}

fn is_configured(context: &Context) -> bool {
    !context.config().security.secret_key.is_empty()
}

fn key_file(context: &Context) -> PathBuf {
    let path = secrets::key_file_of(&context.config().database.path);
    std::path::absolute(&path).unwrap_or(path)
}

fn present_key(context: &Context) -> anyhow::Result<PresentKey> {
    let configured = &context.config().security.secret_key;
    if !configured.is_empty() {
        let sealer = Sealer::from_configured(configured);
        return sealer
            .map(PresentKey::Key)
            .map_err(|problem| anyhow!("security.secret_key {problem}"));
    }
    match secrets::key_from_file(&key_file(context)) {
        Ok(Some(key)) => Ok(PresentKey::Key(Sealer::new(key))),
        Ok(None) => Ok(PresentKey::None),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Ok(PresentKey::NoKey),
        // An error of the system, not the refusal of a file that others can read.
        Err(error) if error.raw_os_error().is_some() => {
            let source = source(context);
            bail!(
                "cannot read {source}: {error}; run this as the user that the database belongs to"
            )
        }
        Err(error) => Err(error).with_context(|| format!("cannot use {}", source(context))),
    }
}

/// Whether the present key fits the database. Changes neither.
pub fn key_status(context: &Context) -> anyhow::Result<KeyStatus> {
    let key = present_key(context)?;
    let path = &context.config().database.path;
    let opened = if path.exists() { context.look(|tx| opens(tx, &key.sealer()))? } else { None };
    let (database, source) = (path.display(), source(context));
    Ok(match (opened, &key) {
        (None, PresentKey::NoKey) => {
            bail!("{source} is not 64 hexadecimal digits; put the right one back, or remove it")
        }
        (None, _) => KeyStatus::Fresh,
        (Some(true), _) => KeyStatus::Right,
        (Some(false), PresentKey::None) => KeyStatus::Wrong(format!(
            "the secrets in {database} open only with their key, and {source} is not there"
        )),
        (Some(false), PresentKey::NoKey) => KeyStatus::Wrong(format!(
            "the secrets in {database} open only with their key, and {source} is not 64 hexadecimal digits"
        )),
        (Some(false), PresentKey::Key(_)) => {
            let hint = if fits_the_file(context) {
                format!(" (the key file {} opens them)", key_file(context).display())
            } else {
                String::new()
            };
            KeyStatus::Wrong(format!(
                "the secrets in {database} are sealed with another key than {source}{hint}"
            ))
        }
    })
}

/// Whether the key file would fit although another key is configured.
fn fits_the_file(context: &Context) -> bool {
    let key = secrets::key_from_file(&key_file(context)).ok().flatten();
    is_configured(context)
        && key.is_some_and(|key| {
            let opened = context.look(|tx| opens(tx, &Sealer::new(key)));
            matches!(opened, Ok(Some(true)))
        })
}

/// Why the present key does not fit a copy that is to be restored; `None` if it
/// fits.
pub fn fits(context: &Context, copy: &Path) -> anyhow::Result<Option<String>> {
    let key = present_key(context)?;
    let opened = read_without_traces(copy, context.clock.now(), |tx| opens(tx, &key.sealer()))?;
    let (copy, source) = (copy.display(), source(context));
    Ok((opened == Some(false)).then(|| match key {
        PresentKey::Key(_) => format!(
            "{copy} was sealed with another key than {source}; put its key there before the start, `serve` refuses otherwise"
        ),
        PresentKey::None | PresentKey::NoKey => format!(
            "{copy} opens only with its key, which is not at hand; put it into {source} before the start, `serve` refuses otherwise"
        ),
    }))
}

/// Whether a key opens the sealed values; `None` when there are none.
fn opens(tx: &ReadTx<'_>, sealer: &Sealer) -> Result<Option<bool>, DbError> {
    // An empty file has no tables.
    if !has(tx, "setting", "value")? {
        return Ok(None);
    }
    let opened = |name| match settings::secret(tx, sealer, name) {
        Ok(kept) => Ok(kept.map(|_| true)),
        Err(DbError::Sealed(_)) => Ok(Some(false)),
        Err(error) => Err(error),
    };
    if let Some(right) = opened(MARK)? {
        return Ok(Some(right));
    }
    let mut found = vec![tokens::all_open(tx, sealer)?];
    if has(tx, "one_time_link", "code")? {
        found.push(links::all_open(tx, sealer)?);
    }
    if has(tx, "webhook_endpoint", "secret")? {
        found.push(webhooks::all_open(tx, sealer)?);
    }
    for name in SEALED {
        found.push(opened(name)?);
    }
    Ok(found.into_iter().flatten().reduce(|all, one| all && one))
}

fn has(tx: &ReadTx<'_>, table: &str, column: &str) -> Result<bool, DbError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)";
    tx.value(sql, (table, column))
}

/// Fails when the key is missing or is another one.
pub fn require_right(context: &Context) -> anyhow::Result<()> {
    match key_status(context)? {
        KeyStatus::Fresh | KeyStatus::Right => Ok(()),
        KeyStatus::Wrong(why) => Err(refusal(&why)),
    }
}

/// What is wrong with the key, and what can be done.
pub fn refusal(why: &str) -> anyhow::Error {
    anyhow!("{why}: {WAYS}")
}

/// What the operator said about a new key.
#[derive(Clone, Copy, Default)]
pub struct NewKey {
    /// `--new-key`
    pub wanted: bool,
    /// `--yes`
    pub agreed: bool,
}

/// Called before a server opens the database: refuses a missing or wrong key, or
/// asks the operator to agree to a new one. True when a new one is to be made.
pub fn confirm_new_key(context: &Context, new_key: NewKey) -> anyhow::Result<bool> {
    match key_status(context)? {
        KeyStatus::Right if new_key.wanted => {
            let source = source(context);
            tell_people(format_args!("--new-key does nothing: {source} opens the database"));
            Ok(false)
        }
        KeyStatus::Fresh | KeyStatus::Right => Ok(false),
        KeyStatus::Wrong(why) if !new_key.wanted => Err(refusal(&why)),
        KeyStatus::Wrong(why) => {
            let lost = context.look(losses)?;
            tell_people(format_args!("{why}.\nWith a new key this is lost for good:"));
            for line in lost {
                tell_people(format_args!("- {line}"));
            }
            ask(new_key.agreed)?;
            Ok(true)
        }
    }
}

fn ask(agreed: bool) -> anyhow::Result<()> {
    const KEPT: &str = "nothing was changed";
    if agreed {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() {
        bail!("{KEPT}: without a terminal say `serve --new-key --yes`");
    }
    if !agrees("Make a new key and lose this?")? {
        bail!("{KEPT}: {WAYS}");
    }
    Ok(())
}

/// What is lost with a new key, one line each.
fn losses(tx: &ReadTx<'_>) -> Result<Vec<String>, DbError> {
    let mut lost = Vec::new();
    let accounts = tokens::linked(tx)?;
    if !accounts.is_empty() {
        let more = accounts.len().saturating_sub(NAMED);
        let names = accounts[..accounts.len() - more].join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lost.push(format!(
            "linked accounts: {}, which their owners must link again: {names}{more}",
            accounts.len()
        ));
    }
    for (name, what) in [
        (secret::CRON, "the generated cron secret: `secret show cron` prints the new one"),
        (
            secret::CHECKOUT,
            "the generated checkout token: `secret show checkout` prints the new one",
        ),
        (telegram::SECRET, "the secret of Telegram's updates: registered anew by itself"),
    ] {
        if settings::value(tx, name)?.is_some() {
            lost.push(what.to_owned());
        }
    }
    if settings::value(tx, secret::PUSH_KEY)?.is_some() {
        let reached = devices::count(tx)?;
        lost.push(format!("the push key: browsers to be switched on again: {reached}"));
    }
    if has(tx, "one_time_link", "code")? {
        let waiting = links::count_sealed(tx)?;
        if waiting > 0 {
            lost.push(format!("links to choose a password in messages that wait: {waiting}"));
        }
    }
    if has(tx, "webhook_endpoint", "secret")? {
        let endpoints = webhooks::count_sealed(tx)?;
        if endpoints > 0 {
            lost.push(format!("secrets of webhooks, which are switched off: {endpoints}"));
        }
    }
    if has(tx, "erasure", "person")? {
        let erased = tx.count("SELECT count(*) FROM erasure", [])?;
        if erased > 0 {
            lost.push(format!(
                "notes of who was erased: {erased}, which recognise nobody any more; delete copies of before"
            ));
        }
    }
    lost.push("links out of reminders in e-mails that were sent".to_owned());
    Ok(lost)
}

/// The key that a server works with; called once it holds the database. It is the
/// present key, a first one, or a new one if [`confirm_new_key`] said so. Marks the database.
pub fn load_or_create_key(context: &Context, db: &Db, is_new: bool) -> anyhow::Result<Sealer> {
    let sealer = match present_key(context)? {
        PresentKey::Key(sealer) if !is_new || is_configured(context) => sealer,
        PresentKey::Key(_) | PresentKey::NoKey => {
            put_aside(&key_file(context), context)?;
            make(context)?
        }
        PresentKey::None => make(context)?,
    };
    let used = sealer.clone();
    let marked = db.write(move |tx| {
        if is_new {
            forget(tx)?;
        }
        mark(tx, &used)
    });
    match marked {
        // It is marked at the first start that can write.
        Err(DbError::Refused) if !is_new => {}
        marked => marked.context("cannot mark the database with its key")?,
    }
    if !is_configured(context) {
        db.hold_key(&key_file(context));
    }
    if is_new {
        tracing::warn!("what was sealed with the lost key is given up; the database has a new key");
    }
    Ok(sealer)
}

/// The key for a command that needs it. Makes a first one if there is none.
pub fn key(context: &Context) -> anyhow::Result<Sealer> {
    require_right(context)?;
    match present_key(context)? {
        PresentKey::Key(sealer) => Ok(sealer),
        PresentKey::None | PresentKey::NoKey => make(context),
    }
}

fn make(context: &Context) -> anyhow::Result<Sealer> {
    let path = key_file(context);
    let key = secrets::make_key_file(&path, &context.config().database.path)
        .with_context(|| format!("cannot make the key file {}", path.display()))?;
    Ok(Sealer::new(key))
}

/// Renames a key file that does not fit instead of removing it: it may belong to
/// another database.
fn put_aside(path: &Path, context: &Context) -> anyhow::Result<()> {
    let aside = backup::dated(path, ".replaced-", "", context.clock.now());
    std::fs::rename(path, &aside)
        .with_context(|| format!("cannot rename the key file {}", path.display()))?;
    let aside = aside.display();
    tell_people(format_args!("the key file that does not fit is now {aside}"));
    Ok(())
}

/// Marks the database with its key, unless it is marked; another key is an error.
pub fn mark(tx: &WriteTx<'_>, sealer: &Sealer) -> Result<(), DbError> {
    if opens(tx, sealer)? == Some(false) {
        return Err(secrets::SealError.into());
    }
    if settings::value(tx, MARK)?.is_none() {
        settings::keep_secret(tx, sealer, MARK, &Secret::new("seller-platform"))?;
    }
    Ok(())
}

/// Gives up everything that is sealed.
fn forget(tx: &WriteTx<'_>) -> Result<(), DbError> {
    for name in SEALED.into_iter().chain([MARK]) {
        settings::forget(tx, name)?;
    }
    tokens::forget_all(tx)?;
    marketplace::forget_attempts(tx)?;
    links::forget_sealed(tx)?;
    devices::forget_all(tx)?;
    webhooks::give_up_secrets(tx)?;
    Ok(())
}
