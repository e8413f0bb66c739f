//! `secret show`: the secrets that other programs present to us.

use std::sync::Arc;

use anyhow::Context as _;

use super::{Context, say, seal};
use crate::base::{Sealer, Secret, secrets};
use crate::config::Config;
use crate::db::{Db, DbError, Lane};
use crate::messages::push::{store as devices, vapid};
use crate::settings;

/// Secrets that are configured, or generated at the first start.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Name {
    Cron,
    Checkout,
}

impl Name {
    const fn setting(self) -> &'static str {
        match self {
            Self::Cron => CRON,
            Self::Checkout => CHECKOUT,
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
    let sealer = Arc::new(seal::key(context)?);
    let db = context.database()?;
    say(generated(&db, sealer, name).context("cannot read the secret")?.reveal())
}

/// Makes the secrets that are neither configured nor kept yet.
pub fn ensure(config: &Config, db: &Db, sealer: &Arc<Sealer>) -> Result<(), DbError> {
    for name in [Name::Cron, Name::Checkout] {
        if name.configured(config).is_none() {
            generated(db, Arc::clone(sealer), name)?;
        }
    }
    Ok(())
}

/// Names of the settings with the generated secrets.
pub const CRON: &str = "cron_secret";
pub const CHECKOUT: &str = "checkout_token";
/// Name of the setting with our key for push services.
pub const PUSH_KEY: &str = "push_key";

/// The key pair for push services, made when there is none. A browser accepts only
/// the key that it subscribed with, so a new key makes us forget all browsers.
pub fn push_keys(db: &Db, sealer: &Arc<Sealer>) -> Result<vapid::Keys, DbError> {
    let kept = db.read(Lane::Slow, |tx| settings::secret(tx, sealer, PUSH_KEY))?;
    if let Some(keys) = kept.and_then(|kept| vapid::Keys::from_kept(&kept)) {
        return Ok(keys);
    }
    let sealer = Arc::clone(sealer);
    db.write::<_, DbError>(move |tx| {
        let (kept, keys) = vapid::Keys::generate();
        settings::keep_secret(tx, &sealer, PUSH_KEY, &kept)?;
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

fn generated(db: &Db, sealer: Arc<Sealer>, name: Name) -> Result<Secret, DbError> {
    let kept = db.read(Lane::Slow, |tx| settings::secret(tx, &sealer, name.setting()))?;
    if let Some(secret) = kept {
        return Ok(secret);
    }
    db.write(move |tx| {
        // Another process may have made it meanwhile.
        if let Some(secret) = settings::secret(tx, &sealer, name.setting())? {
            return Ok(secret);
        }
        seal::mark(tx, &sealer)?;
        let secret = Secret::new(secrets::random_hex::<32>());
        settings::keep_secret(tx, &sealer, name.setting(), &secret)?;
        Ok(secret)
    })
}
