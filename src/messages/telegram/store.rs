//! Linked chats and codes in the database.

use crate::base::{Instant, TokenHash, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::{row, settings};

/// Name of the setting with the ids of the last updates.
const HANDLED: &str = "telegram_updates";

row! {
    /// A linked chat.
    #[derive(Clone, Debug)]
    pub struct Chat {
        /// Telegram's id of the chat.
        pub id: i64 = "chat_id",
        /// The person's name at Telegram; may be empty.
        pub name: String,
        pub linked_at: Instant,
        /// Since when the bot is blocked in this chat.
        pub blocked_at: Option<Instant>,
    }
}

/// The chat that a person has linked.
pub fn chat(tx: &ReadTx<'_>, user: UserId) -> Result<Option<Chat>> {
    tx.record("FROM telegram_chat WHERE user_id = ?1", [user])
}

/// Who has linked a chat.
pub fn owner(tx: &ReadTx<'_>, chat: i64) -> Result<Option<UserId>> {
    tx.maybe("SELECT user_id FROM telegram_chat WHERE chat_id = ?1", [chat])
}

/// Links a chat to a person, replacing an earlier one. Nobody else may have the
/// chat.
pub fn link(tx: &WriteTx<'_>, user: UserId, chat: i64, name: &str) -> Result<()> {
    tx.run(
        "INSERT INTO telegram_chat (user_id, chat_id, name, linked_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (user_id) DO UPDATE
         SET chat_id = ?2, name = ?3, linked_at = ?4, blocked_at = NULL",
        (user, chat, name, tx.now().0),
    )
}

/// Forgets the chat of a person; false when there is none.
pub fn unlink_person(tx: &WriteTx<'_>, user: UserId) -> Result<bool> {
    let gone = tx.execute("DELETE FROM telegram_chat WHERE user_id = ?1", [user])?;
    Ok(gone == 1)
}

/// Stores the digest of a person's code, replacing an earlier one.
pub fn set_code(tx: &WriteTx<'_>, user: UserId, hash: &TokenHash, until: Instant) -> Result<()> {
    tx.run(
        "INSERT INTO telegram_code (user_id, hash, expires_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_id) DO UPDATE SET hash = ?2, expires_at = ?3",
        (user, hash, until.0),
    )
}

row! {
    pub struct CodeOwner {
        pub user: UserId = "c.user_id",
        pub name: String = "u.name",
    }
}

/// The owner of the valid code with a digest; `None` when that person is
/// suspended.
pub fn by_code(tx: &ReadTx<'_>, hash: &TokenHash) -> Result<Option<CodeOwner>> {
    tx.record(
        "FROM telegram_code c JOIN user u ON u.user_id = c.user_id
         WHERE c.hash = ?1 AND c.expires_at > ?2 AND u.suspended_at IS NULL",
        (hash, tx.now().0),
    )
}

/// Forgets a person's code.
pub fn forget_code(tx: &WriteTx<'_>, user: UserId) -> Result<()> {
    tx.run("DELETE FROM telegram_code WHERE user_id = ?1", [user])
}

/// Ids of the last updates that were applied, in that order.
pub fn handled(tx: &ReadTx<'_>) -> Result<Vec<i64>> {
    let kept =
        String::from_utf8(settings::value(tx, HANDLED)?.unwrap_or_default()).unwrap_or_default();
    Ok(kept.split(',').filter_map(|number| number.parse().ok()).collect())
}

/// Stores the ids of the last updates.
pub fn keep_handled(tx: &WriteTx<'_>, numbers: &[i64]) -> Result<()> {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    settings::keep(tx, HANDLED, numbers.join(",").as_bytes())
}

/// Unlinks a chat from a person; false when the person has another one now.
pub fn unlink(tx: &WriteTx<'_>, user: UserId, chat: i64) -> Result<bool> {
    let gone =
        tx.execute("DELETE FROM telegram_chat WHERE user_id = ?1 AND chat_id = ?2", (user, chat))?;
    Ok(gone == 1)
}

/// Notes whether the bot is blocked in a chat; false when nobody linked it.
pub fn set_blocked(tx: &WriteTx<'_>, chat: i64, blocked: bool) -> Result<bool> {
    let noted = tx.execute(
        "UPDATE telegram_chat SET blocked_at = CASE WHEN ?2 THEN coalesce(blocked_at, ?3) END
         WHERE chat_id = ?1",
        (chat, blocked, tx.now().0),
    )?;
    Ok(noted == 1)
}

/// Stores the new id of a person's chat, unless that id is already linked.
pub fn moved(tx: &WriteTx<'_>, user: UserId, chat: i64, new: i64) -> Result<bool> {
    let noted = tx.execute(
        "UPDATE OR IGNORE telegram_chat SET chat_id = ?3 WHERE user_id = ?1 AND chat_id = ?2",
        (user, chat, new),
    )?;
    Ok(noted == 1)
}
