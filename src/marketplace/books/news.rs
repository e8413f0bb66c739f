//! Telling the owner of an account what happened at the marketplace.

use crate::base::{MlUserId, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::BookWrite;
use crate::messages::{self, News};

/// Tells the owner of an account, with the account's name at the end of the
/// notice and as `store` among the values of the message.
pub fn tell(
    (tx, _, owner): BookWrite<'_, '_>,
    account: MlUserId,
    mut news: News<'_>,
) -> Result<()> {
    let store = nickname_of(tx, owner, account)?;
    let text = format!("{} na {store}", news.text);
    news.params["store"] = store.into();
    messages::tell(tx, owner, News { text: &text, account: Some(account), ..news })?;
    Ok(())
}

/// The name of an account, or its number.
fn nickname_of(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<String> {
    let nickname = tx.maybe::<String>(
        "SELECT nickname FROM ml_account WHERE ml_user_id = ?1 AND owner_id = ?2",
        (account, owner),
    )?;
    Ok(nickname.unwrap_or_else(|| account.to_string()))
}
