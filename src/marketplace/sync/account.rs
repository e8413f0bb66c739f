//! The account itself: its name and its reputation.

use super::{Reading, Step, store};
use crate::db::WriteTx;
use crate::marketplace::client::Failure;
use crate::marketplace::document::SellerRecord;
use crate::marketplace::tokens::{CallError, with_token};

/// Reads the account.
pub fn read(reading: &Reading<'_>) -> Result<Option<Step>, CallError> {
    let account = reading.account;
    let me = with_token(reading.app, account.ml_user_id, |caller| {
        reading.app.marketplace.client.me(caller)
    })?;
    if me.id != account.ml_user_id {
        return Err(Failure::Garbled("the token is of another account").into());
    }
    reading.app.db.write(move |tx| {
        if store::is_still(tx, &account)? {
            apply(tx, &me)?;
        }
        Ok::<_, crate::db::DbError>(())
    })?;
    Ok(Some(Step {
        is_over: true,
        position: String::new(),
        read: 1,
        expected: Some(1),
        good_until: Some(reading.began),
        news: 0,
    }))
}

/// Keeps what is new; what was not said stays.
fn apply(tx: &WriteTx<'_>, me: &SellerRecord) -> crate::db::Result<()> {
    let level = me.reputation.as_ref().map(|reputation| &reputation.level);
    tx.execute(
        "UPDATE ml_account SET nickname = coalesce(nullif(?2, ''), nickname), reputation = coalesce(?3, reputation)
         WHERE ml_user_id = ?1",
        (me.id, &me.nickname, level),
    )?;
    Ok(())
}
