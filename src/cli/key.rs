//! `key create`, `key list` and `key revoke`.

use anyhow::{anyhow, bail};
use clap::Subcommand;
use ipnet::IpNet;

use super::values::{parse_day, parse_token_name, scopes};
use super::{Context, say};
use crate::audit::objects::KEY;
use crate::audit::{self, Actor, ActorKind};
use crate::base::{Day, Instant, Zone};
use crate::db::{DbError, Lane};
use crate::keys::{
    self, ApiKey, KeyEntry, KeyState, MOST_CALLS, MOST_KEYS, MOST_NETWORKS, Scope, Words, store,
};
use crate::noun::Noun as _;

const COMMAND: &str = "key";

#[derive(Subcommand)]
pub enum KeyCommand {
    /// Makes a key and prints it, this once.
    Create {
        /// What it is for.
        #[arg(long, value_parser = parse_token_name)]
        name: String,
        /// What it opens; several with commas, or given several times.
        #[arg(long, required = true, value_delimiter = ',', value_parser = scopes())]
        scope: Vec<Scope>,
        /// An address or block it may be used from; several with commas, or given several times.
        #[arg(long, value_name = "CIDR", value_delimiter = ',', value_parser = crate::keys::network)]
        ip: Vec<IpNet>,
        /// Calls a window, instead of the usual limit.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_CALLS)))]
        rate_limit: Option<u32>,
        /// Last day it works, YYYY-MM-DD.
        #[arg(long, value_name = "DATE", value_parser = parse_day)]
        expires: Option<Day>,
    },
    /// Lists all keys, the newest first.
    List,
    /// Ends a key at once.
    Revoke {
        /// Its number in `key list`.
        id: i64,
    },
}

pub fn run(context: &Context, command: KeyCommand) -> anyhow::Result<()> {
    match command {
        KeyCommand::Create { name, scope, ip, rate_limit, expires } => {
            let entry = KeyEntry {
                name,
                scopes: Words(each_once(scope)),
                networks: Words(each_once(ip)),
                rate_limit,
                expires_at: expires.map(|day| end_of(context, day)).transpose()?,
            };
            create(context, entry)
        }
        KeyCommand::List => list(context),
        KeyCommand::Revoke { id } => revoke(context, id),
    }
}

fn each_once<T: PartialEq>(given: Vec<T>) -> Vec<T> {
    let mut kept = Vec::with_capacity(given.len());
    for one in given {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

/// The end of a key's last day, which must be in the future.
fn end_of(context: &Context, day: Day) -> anyhow::Result<Instant> {
    let end = keys::end_of(day, context.config().server.timezone);
    if end <= context.clock.now() {
        bail!("--expires {} is over already; choose today or later", day.iso());
    }
    Ok(end)
}

fn create(context: &Context, entry: KeyEntry) -> anyhow::Result<()> {
    if entry.networks.0.len() > MOST_NETWORKS {
        bail!("a key names at most {MOST_NETWORKS} addresses; write them as blocks");
    }
    let key = keys::new_key();
    let kept = key.clone();
    let made = context.database()?.write(move |tx| {
        let Some(id) = store::insert(tx, &kept, &entry)? else {
            return Ok::<_, DbError>(false);
        };
        let actor = Actor::local(ActorKind::Command, COMMAND);
        audit::note(tx, &actor, &KEY.act("chave.criar", id, &entry.name), (), &entry)?;
        Ok(true)
    })?;
    if !made {
        bail!("there are {MOST_KEYS} keys in force already; revoke some first");
    }
    say(key)
}

fn revoke(context: &Context, id: i64) -> anyhow::Result<()> {
    let revoked = context.database()?.write(move |tx| {
        let Some(key) = ApiKey::one(tx, id)? else {
            return Ok::<_, DbError>(None);
        };
        let now = store::revoke(tx, id)?;
        if now {
            let actor = Actor::local(ActorKind::Command, COMMAND);
            let act = KEY.act("chave.revogar", id, &key.entry.name);
            audit::note(tx, &actor, &act, &key.entry, ())?;
        }
        Ok(Some((key.entry.name, now)))
    })?;
    let (name, now) =
        revoked.ok_or_else(|| anyhow!("there is no key {id}; `key list` shows all of them"))?;
    if now {
        say(format_args!("key {id} ({name}) no longer works"))
    } else {
        say(format_args!("key {id} ({name}) was revoked before"))
    }
}

fn list(context: &Context) -> anyhow::Result<()> {
    let (keys, now) =
        context.database()?.read(Lane::Slow, |tx| Ok::<_, DbError>((store::all(tx)?, tx.now())))?;
    if keys.is_empty() {
        return say("no keys yet; `key create` makes one");
    }
    let zone = context.config().server.timezone;
    let header =
        ["ID", "KEY", "STATE", "SCOPES", "ADDRESSES", "LIMIT", "UNTIL", "LAST USE", "NAME"]
            .map(str::to_owned);
    let rows: Vec<[String; 9]> =
        std::iter::once(header).chain(keys.iter().map(|key| row(key, now, zone))).collect();
    let widths: [usize; 9] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    });
    for row in &rows {
        let cells = row.iter().zip(widths);
        let line: Vec<String> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        say(line.join("  ").trim_end())?;
    }
    Ok(())
}

fn row(key: &ApiKey, now: Instant, zone: Zone) -> [String; 9] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let state = match key.state(now) {
        KeyState::Active => "active",
        KeyState::Leaving => "leaving",
        KeyState::Expired => "expired",
        KeyState::Revoked => "revoked",
    };
    let (scopes, networks) = (key.entry.scopes.texts(), key.entry.networks.texts());
    let networks = (!networks.is_empty()).then(|| networks.join(","));
    let last = key.last_use.as_ref().map(|last| {
        let (at, address, route) = (zone.spaced(last.at), &last.address, &last.route);
        format!("{at} {address} {route}")
    });
    [
        key.id.to_string(),
        format!("{}…", key.prefix),
        state.to_owned(),
        scopes.join(","),
        networks.unwrap_or_else(|| "any".to_owned()),
        or_dash(key.entry.rate_limit.map(|limit| limit.to_string())),
        or_dash(key.end().map(|end| zone.spaced(end))),
        or_dash(last),
        key.entry.name.clone(),
    ]
}
