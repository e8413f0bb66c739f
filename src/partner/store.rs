//! API plans and partner tokens in the database.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Plan, PlanName};
use crate::accounts::Account;
use crate::base::{Day, Instant, TokenHash, UserId, Zone};
use crate::config::Config;
use crate::db::{ReadTx, Result, WriteTx};
use crate::identity::PartnerToken;
use crate::identity::token::TokenRecord;
use crate::partner::oauth::Granted;
use crate::row;

/// Name in usage counts for operations that no longer exist.
const OTHER: &str = "other";

row! {
    /// A token of a program with its owner and the owner's plan. A query of it joins
    /// the token `t`, the user `u` and the plan `p`.
    struct TokenRow {
        account: Account as row,
        name: String = "t.name",
        created_at: Instant = "t.created_at",
        last_used_at: Option<Instant> = "t.last_used_at",
        revoked: bool = "t.revoked",
        is_test: bool = "t.test",
        grant: Option<i64> = "t.grant_id",
        may_write: bool = "t.may_write",
        may_change: bool = "t.may_change",
        expires_at: Instant = "t.expires_at",
        plan: Option<PlanName> = "p.plan",
        until: Option<Day> = "p.until_day",
    }
}

/// A partner token with its owner, the owner's plan and the token's last use.
pub fn token(
    tx: &ReadTx<'_>,
    hash: &TokenHash,
    config: &Config,
    zone: Zone,
) -> Result<(TokenRecord, Instant)> {
    let source =
        "SELECT user_id, name, created_at, last_used_at, revoked_at IS NOT NULL AS revoked, test,
                         NULL AS grant_id, 0 AS may_write, may_change, 0 AS expires_at
                  FROM partner_token WHERE token_hash = ?1";
    token_from(tx, source, hash, config, zone)
}

/// What a token of a program opens, and its last use. `source` selects the token
/// by its digest, with the columns that [`TokenRow`] reads.
pub fn token_from(
    tx: &ReadTx<'_>,
    source: &str,
    hash: &TokenHash,
    config: &Config,
    zone: Zone,
) -> Result<(TokenRecord, Instant)> {
    let found: Option<TokenRow> = tx.record(
        &format!(
            "FROM ({source}) t
             JOIN user u ON u.user_id = t.user_id
             LEFT JOIN partner_account p ON p.user_id = t.user_id"
        ),
        [hash],
    )?;
    let Some(row) = found else { return Ok((TokenRecord::Nothing, Instant(i64::MIN))) };
    let TokenRow { may_write, may_change, expires_at, .. } = row;
    let (name, created_at, is_test) = (row.name, row.created_at, row.is_test);
    let token = PartnerToken { name, created_at, may_change, is_test };
    let known = TokenRecord::Partner {
        account: Arc::new(row.account),
        token: Arc::new(token),
        revoked: row.revoked,
        plan: row.plan.map(|name| plan_of((name, row.until), config, zone)),
        granted: row.grant.map(|grant| Granted { grant, may_write, expires_at }),
    };
    Ok((known, row.last_used_at.unwrap_or(Instant(i64::MIN))))
}

/// A plan that is valid until a day.
pub fn plan_of((name, until): (PlanName, Option<Day>), config: &Config, zone: Zone) -> Plan {
    let limits = name.limits(&config.partner.plans);
    let end = |day: Day| (day, zone.start_of(day.plus(1)));
    Plan { name, quota: limits.quota, per_minute: limits.per_minute, until: until.map(end) }
}

/// An account's plan and its last day; `None` when the account has no plan.
pub fn plan(tx: &ReadTx<'_>, user: UserId) -> Result<Option<(PlanName, Option<Day>)>> {
    tx.optional("SELECT plan, until_day FROM partner_account WHERE user_id = ?1", [user], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// Whether an account has a plan in force.
pub fn has_plan(tx: &ReadTx<'_>, user: UserId, zone: Zone) -> Result<bool> {
    let is_over = |day: Day| zone.start_of(day.plus(1)) <= tx.now();
    Ok(plan(tx, user)?.is_some_and(|(_, until)| !until.is_some_and(is_over)))
}

/// Sets an account's plan, or removes it.
pub fn set_plan(
    tx: &WriteTx<'_>,
    user: UserId,
    plan: Option<PlanName>,
    until: Option<Day>,
) -> Result<()> {
    match plan {
        None => tx.execute("DELETE FROM partner_account WHERE user_id = ?1", [user])?,
        Some(plan) => tx.execute(
            "INSERT INTO partner_account (user_id, plan, until_day, updated_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (user_id) DO UPDATE SET plan = ?2, until_day = ?3, updated_at = ?4",
            (user, plan.name(), until.map(|day| day.0), tx.now().0),
        )?,
    };
    Ok(())
}

/// Digits of a token that are not shown.
const HIDDEN: usize = 40;

/// Stores the digest of a new token.
pub fn insert_token(
    tx: &WriteTx<'_>,
    user: UserId,
    token: &str,
    name: &str,
    may_change: bool,
) -> Result<i64> {
    tx.insert(
        "INSERT INTO partner_token (token_hash, user_id, name, prefix, created_at, test, may_change)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (
            TokenHash::of(token),
            user,
            name,
            &token[..token.len() - HIDDEN],
            tx.now().0,
            super::is_test_token(token),
            may_change,
        ),
    )
}

/// Lets a token of an account change the shop, or no more; false when nothing changed.
pub fn set_may_change(
    tx: &WriteTx<'_>,
    user: UserId,
    token: i64,
    may_change: bool,
) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE partner_token SET may_change = ?3
         WHERE token_id = ?2 AND user_id = ?1 AND revoked_at IS NULL AND may_change <> ?3",
        (user, token, may_change),
    )?;
    Ok(changed > 0)
}

row! {
    /// A token that is not revoked, as its owner sees it.
    pub struct OwnToken {
        pub id: i64 = "token_id",
        pub name: String,
        /// Its first characters.
        pub prefix: String,
        pub created_at: Instant,
        pub last_used_at: Option<Instant>,
        /// Address that the last call came from.
        pub last_address: Option<String>,
        /// Whether it may change the shop.
        pub may_change: bool,
        pub is_test: bool = "test",
    }
}

/// The newest tokens of an account that are not revoked.
pub fn tokens(tx: &ReadTx<'_>, user: UserId) -> Result<Vec<OwnToken>> {
    tx.records(
        "FROM partner_token WHERE user_id = ?1 AND revoked_at IS NULL
         ORDER BY token_id DESC LIMIT 100",
        [user],
    )
}

/// How many tokens of an account are not revoked.
pub fn count_tokens(tx: &ReadTx<'_>, user: UserId) -> Result<u64> {
    tx.count("SELECT count(*) FROM partner_token WHERE user_id = ?1 AND revoked_at IS NULL", [user])
}

/// Name of a token of an account, also when it is revoked.
pub fn token_name(tx: &ReadTx<'_>, user: UserId, token: i64) -> Result<Option<String>> {
    tx.maybe("SELECT name FROM partner_token WHERE token_id = ?2 AND user_id = ?1", (user, token))
}

/// Revokes a token of an account; false when it was revoked already.
pub fn revoke_token(tx: &WriteTx<'_>, user: UserId, token: i64) -> Result<bool> {
    let revoked = tx.execute(
        "UPDATE partner_token SET revoked_at = ?3
         WHERE token_id = ?2 AND user_id = ?1 AND revoked_at IS NULL",
        (user, token, tx.now()),
    )?;
    Ok(revoked > 0)
}

/// Revokes all tokens of an account; returns how many.
pub fn revoke_tokens(tx: &WriteTx<'_>, user: UserId) -> Result<usize> {
    tx.execute(
        "UPDATE partner_token SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL",
        (user, tx.now().0),
    )
}

/// Calls of an account from one civil day to another, the last one not included.
pub fn calls_between(tx: &ReadTx<'_>, user: UserId, from: Day, to: Day) -> Result<u64> {
    tx.count(
        "SELECT coalesce(sum(calls), 0) FROM partner_usage WHERE user_id = ?1 AND day >= ?2 AND day < ?3",
        (user, from, to),
    )
}

/// The same by day and operation. Operations that no longer exist are counted
/// under one name.
pub fn calls_by_day(
    tx: &ReadTx<'_>,
    user: UserId,
    from: Day,
    to: Day,
) -> Result<BTreeMap<(Day, &'static str), u64>> {
    let mut calls = BTreeMap::new();
    tx.each(
        "SELECT day, operation, calls FROM partner_usage WHERE user_id = ?1 AND day >= ?2 AND day < ?3",
        (user, from, to),
        |row| {
            let (day, operation, count): (Day, String, i64) = row.try_into()?;
            let name = super::operation_names().find(|known| *known == operation).unwrap_or(OTHER);
            *calls.entry((day, name)).or_default() += u64::try_from(count).unwrap_or(0);
            Ok(())
        },
    )?;
    Ok(calls)
}
