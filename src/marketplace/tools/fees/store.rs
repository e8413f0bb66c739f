//! Cached fees, and people's own tax rates.

use super::CalculatorSettings;
use crate::accounts::store as accounts;
use crate::base::ids::short_digest;
use crate::base::{Cents, MlUserId, UserId, retention};
use crate::db::{ReadTx, Result, WriteTx};
use crate::identity::Person;
use crate::marketplace::client::{FeeQuestion, Fees};

/// Most cached answers; a newer one replaces the older one in its slot.
const SLOTS: u64 = 4_096;

/// The key of a question in the cache.
pub fn key(account: MlUserId, question: &FeeQuestion) -> String {
    let FeeQuestion { price, category, logistic } = question;
    format!("{account}|{category}|{}|{logistic}", price.0)
}

fn slot(key: &str) -> i64 {
    let digest = short_digest(&[key.as_bytes()]);
    let number = u64::from_le_bytes(std::array::from_fn(|index| digest[index]));
    i64::try_from(number % SLOTS).unwrap_or(0)
}

/// The cached answer to a question, at most a day old.
pub fn cached(tx: &ReadTx<'_>, key: &str) -> Result<Option<Fees>> {
    let answer: Option<String> = tx.maybe(
        "SELECT answer FROM ml_fee WHERE slot = ?1 AND question = ?2 AND fetched_at > ?3",
        (slot(key), key, retention::FEES.before(tx.now())),
    )?;
    Ok(answer.and_then(|json| serde_json::from_str(&json).ok()))
}

/// Caches an answer of the marketplace.
pub fn keep(tx: &WriteTx<'_>, key: &str, fees: &Fees) -> Result<()> {
    let json = serde_json::to_string(fees).unwrap_or_default();
    tx.run(
        "INSERT OR REPLACE INTO ml_fee (slot, question, answer, fetched_at) VALUES (?1, ?2, ?3, ?4)",
        (slot(key), key, json, tx.now()),
    )
}

/// Deletes expired answers, at most `most`; returns how many.
pub fn forget_old(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM ml_fee WHERE slot IN (SELECT slot FROM ml_fee WHERE fetched_at <= ?1 LIMIT ?2)",
        (retention::FEES.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}

/// A person's own settings.
pub fn settings(tx: &ReadTx<'_>, person: &Person) -> Result<CalculatorSettings> {
    let (owner, role) = (person.account.user_id, person.account.role);
    let may = accounts::may(tx, owner, role, super::PERMISSION)?;
    Ok(CalculatorSettings { may, tax: own_tax(tx, owner)?, owner })
}

/// A person's own tax rate in percent, when they have set one.
pub fn own_tax(tx: &ReadTx<'_>, owner: UserId) -> Result<Option<f64>> {
    let rate: Option<i32> = tx.maybe("SELECT rate_bp FROM own_tax WHERE user_id = ?1", [owner])?;
    Ok(rate.map(|hundredths| f64::from(hundredths) / 100.0))
}

/// Sets a person's own tax rate in percent, or removes it, so that the
/// platform's is used. It is stored in hundredths.
pub fn set_tax(tx: &WriteTx<'_>, owner: UserId, percent: Option<f64>) -> Result<()> {
    match percent.and_then(Cents::from_reais) {
        Some(rate) => tx.execute(
            "INSERT INTO own_tax (user_id, rate_bp, updated_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (user_id) DO UPDATE SET rate_bp = ?2, updated_at = ?3",
            (owner, rate, tx.now()),
        )?,
        None => tx.execute("DELETE FROM own_tax WHERE user_id = ?1", [owner])?,
    };
    Ok(())
}
