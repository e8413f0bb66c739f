//! A checkup of many accounts, and who is told what it changed.

use super::checkup::{self, Finding};
use super::{store, told};
use crate::app::App;
use crate::base::{Instant, MlUserId};
use crate::db::{DbError, Lane, WriteTx};

/// Accounts of one job of the writer.
const PIECE: u32 = 25;

/// What a checkup found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub looked_at: usize,
    /// Accounts with which nothing is wrong.
    pub ready: usize,
}

/// Looks over all accounts that were not since `checked_before`.
pub fn run(
    app: &App,
    checked_before: Instant,
    is_over: &dyn Fn() -> bool,
) -> Result<Tally, DbError> {
    let mut tally = Tally::default();
    while !is_over() {
        let piece = app.db.read(Lane::Slow, |tx| checkup::due(tx, checked_before, PIECE))?;
        if piece.is_empty() {
            break;
        }
        let (looked_at, ready) = app.db.write(move |tx| {
            let (mut looked_at, mut ready) = (0, 0);
            for account in piece {
                if let Some(is_ready) = one(tx, account)? {
                    looked_at += 1;
                    ready += usize::from(is_ready);
                }
            }
            Ok::<_, DbError>((looked_at, ready))
        })?;
        tally.looked_at += looked_at;
        tally.ready += ready;
        // An account that left meanwhile is not found again.
        if looked_at == 0 {
            break;
        }
    }
    Ok(tally)
}

/// Looks over one account and tells the team what changed; whether it is ready.
pub fn one(tx: &WriteTx<'_>, account: MlUserId) -> Result<Option<bool>, DbError> {
    let Some(account) = store::joined(tx, account)? else { return Ok(None) };
    let looked = checkup::look(tx, &account)?;
    let page = format!("{}/{}", super::CLIENTS, account.client);
    let tell = |title: &str, text: &str, what: &str| {
        let cause = format!("checkup:{}:{what}:{}", account.ml_user_id, tx.now().0);
        told::team(tx, account.client, (title, text), &page, &cause)
    };
    if !looked.new.is_empty() {
        let words = |one: &Finding| one.fault.told(one.things);
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
