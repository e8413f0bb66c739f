//! What happened at the marketplace, told to the owner of the account.
//!
//! Told in the transaction that notes it, under a cause that is told once, so
//! the same state again says nothing twice.

use super::orders::Books;
use crate::changes::{self, Topic};
use crate::db::{ReadTx, Result, WriteTx};
use crate::ids::{MlUserId, UserId};
use crate::messages::{self, Kind, NewNotification};

/// Something that happened to an account.
pub struct News<'n> {
    pub kind: Kind,
    pub title: &'n str,
    /// What it is about; the account's name is added.
    pub about: &'n str,
    pub account: MlUserId,
    /// Such as the order id.
    pub reference: &'n str,
    /// What it is told for, once; such as `venda:2000001`.
    pub cause: &'n str,
}

/// Tells the owner, unless the cause was told before.
pub fn tell(tx: &WriteTx<'_>, books: &Books, owner: UserId, news: &News<'_>) -> Result<()> {
    let store = nickname_of(tx, owner, news.account)?;
    let told = NewNotification {
        kind: news.kind,
        title: news.title,
        message: &format!("{} na {store}", news.about),
        ml_user_id: Some(news.account),
        reference: Some(news.reference),
        cause: news.cause,
    };
    if messages::store::notify(tx, owner, &told)? {
        changes::stamp(tx, &books.given, owner, Topic::Notifications)?;
    }
    Ok(())
}

/// The name of an account, or its number.
fn nickname_of(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> Result<String> {
    let nickname = tx.optional(
        "SELECT nickname FROM ml_account WHERE ml_user_id = ?1 AND owner_id = ?2",
        (account, owner),
        |row| row.get::<_, String>(0),
    )?;
    Ok(nickname.unwrap_or_else(|| account.to_string()))
}
