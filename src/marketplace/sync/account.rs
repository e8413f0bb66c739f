//! The account itself: its name and its reputation.

use super::{Reading, Step, store};
use crate::marketplace::account::store::note_seller;
use crate::marketplace::account::tokens::{CallError, with_token};
use crate::marketplace::client::Failure;

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
            note_seller(tx, &me)?;
        }
        Ok::<_, crate::db::DbError>(())
    })?;
    Ok(Some(Step {
        is_over: true,
        position: String::new(),
        read: 1,
        expected: Some(1),
        good_until: Some(reading.began),
    }))
}
