//! The checkup of many accounts, and the notifications about what changed.

use std::sync::Arc;

use super::checkup::{self, Finding};
use super::{notifications, store};
use crate::base::{Instant, MlUserId};
use crate::db::{DbError, Lane, WriteTx};
use crate::services::Services;

/// What a checkup found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub looked_at: usize,
    /// Accounts with which nothing is wrong.
    pub ready: usize,
}

/// Checks all accounts that were last checked at `checked_before` or earlier.
pub fn run(
    services: &Services,
    checked_before: Instant,
    is_over: &dyn Fn() -> bool,
) -> Result<Tally, DbError> {
    let mut tally = Tally::default();
    let due = services.db.read(Lane::Slow, |tx| checkup::due(tx, checked_before))?;
    let (due, mut next) = (Arc::new(due), 0);
    while next < due.len() && !is_over() {
        let due = Arc::clone(&due);
        let looks = services.db.write_piece(move |tx| {
            let mut looks = Vec::new();
            for account in &due[next..] {
                looks.push(one(tx, *account)?);
                if tx.is_spent() {
                    break;
                }
            }
            Ok::<_, DbError>(looks)
        })?;
        next += looks.len();
        for is_ready in looks.into_iter().flatten() {
            tally.looked_at += 1;
            tally.ready += usize::from(is_ready);
        }
    }
    Ok(tally)
}

/// Checks one account and notifies the team of changes. Returns whether it is
/// ready.
fn one(tx: &WriteTx<'_>, account: MlUserId) -> Result<Option<bool>, DbError> {
    let Some(account) = store::joined(tx, account)? else { return Ok(None) };
    let looked = checkup::check_account(tx, &account)?;
    let tell = |title: &str, text: &str, what: &str| {
        let cause = format!("checkup:{}:{what}:{}", account.ml_user_id, tx.now().0);
        notifications::notify_team(tx, account.client, title, text, &cause)
    };
    if !looked.new.is_empty() {
        let words = |one: &Finding| one.fault.tell(one.things);
        let told: Vec<String> = looked.new.iter().map(words).collect();
        let title = format!("{} precisa de atenção", account.nickname);
        tell(&title, &format!("{}.", told.join("; ")), "novo")?;
    }
    if looked.recovered {
        let title = format!("{} está em dia", account.nickname);
        tell(&title, "O checkup não encontrou mais pendências nesta conta.", "pronto")?;
    }
    Ok(Some(looked.is_ready))
}
