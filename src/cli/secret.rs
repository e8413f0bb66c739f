//! `secret show`: the secrets that other programs present to us.

use anyhow::{Context as _, bail};

use super::{Context, say};
use crate::config::Config;
use crate::db::{Db, DbError, Lane};
use crate::messages::push::{store as devices, vapid};
use crate::operations::store;
use crate::secrets::{self, Sealer, Secret};

/// Secrets that are configured, or generated at the first start.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Name {
    Cron,
    Checkout,
}

impl Name {
    const fn setting(self) -> &'static str {
        match self {
            Self::Cron => "cron_secret",
            Self::Checkout => "checkout_token",
        }
    }

    fn configured(self, config: &Config) -> Option<Secret> {
        match self {
            Self::Cron => Some(config.cron.secret.clone()).filter(|secret| !secret.is_empty()),
            Self::Checkout => config.checkout.tokens.first().cloned(),
        }
    }
}

pub fn show(context: &Context, name: Name) -> anyhow::Result<()> {
    if let Some(secret) = name.configured(context.config()) {
        return say(secret.reveal());
    }
    let db = context.database()?;
    let setting = name.setting();
    let kept = db.read(Lane::Slow, |tx| store::has_secret(tx, setting))?;
    let foreign = "the stored secret does not open with this key; give the server's security.secret_key or key file";
    if kept && !context.has_key() {
        bail!(foreign);
    }
    let sealer = std::sync::Arc::new(context.sealer()?);
    if kept && db.read(Lane::Slow, |tx| store::secret(tx, &sealer, setting))?.is_none() {
        bail!(foreign);
    }
    say(generated(&db, sealer, name).context("cannot read the secret")?.reveal())
}

/// Makes the secrets that are neither configured nor kept yet. One that no
/// longer opens, because the key is another, is made anew.
pub fn ensure(config: &Config, db: &Db, sealer: &std::sync::Arc<Sealer>) -> Result<(), DbError> {
    for name in [Name::Cron, Name::Checkout] {
        if name.configured(config).is_none() {
            generated(db, std::sync::Arc::clone(sealer), name)?;
        }
    }
    Ok(())
}

/// What our key for push services is kept under.
pub const PUSH_KEY: &str = "push_key";

/// The key pair for push services, made when there is none or when it no
/// longer opens. Browsers are bound to the key that they were given, so with a
/// new one all of them are forgotten.
pub fn push_keys(db: &Db, sealer: &std::sync::Arc<Sealer>) -> Result<vapid::Keys, DbError> {
    let kept = db.read(Lane::Slow, |tx| store::secret(tx, sealer, PUSH_KEY))?;
    if let Some(keys) = kept.and_then(|kept| vapid::Keys::from_kept(&kept)) {
        return Ok(keys);
    }
    let sealer = std::sync::Arc::clone(sealer);
    db.write::<_, DbError>(move |tx| {
        let (kept, keys) = vapid::Keys::generate();
        store::keep_secret(tx, &sealer, PUSH_KEY, &kept)?;
        let forgotten = devices::forget_all(tx)?;
        if forgotten > 0 {
            tracing::warn!(
                forgotten,
                "the key for push services is new; people have to switch messages in their browsers on again"
            );
        }
        Ok(keys)
    })
}

fn generated(db: &Db, sealer: std::sync::Arc<Sealer>, name: Name) -> Result<Secret, DbError> {
    let kept = db.read(Lane::Slow, |tx| store::secret(tx, &sealer, name.setting()))?;
    if let Some(secret) = kept {
        return Ok(secret);
    }
    db.write(move |tx| {
        // Another process may have been faster.
        if let Some(secret) = store::secret(tx, &sealer, name.setting())? {
            return Ok(secret);
        }
        let secret = Secret::new(secrets::random_hex::<32>());
        store::keep_secret(tx, &sealer, name.setting(), &secret)?;
        Ok(secret)
    })
}
