//! What people see and change of their own account, in the database.

use serde::Serialize;

use super::Role;
use super::person::Group;
use crate::audit::{self, Actor};
use crate::base::{Instant, TokenHash, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::identity::{SESSION_AGE_S, SESSION_IDLE_S};
use crate::row;

/// The chat number of a person, when one is known.
pub fn chat_number(tx: &ReadTx<'_>, user: UserId) -> Result<Option<String>> {
    tx.value("SELECT chat_number FROM user WHERE user_id = ?1", [user])
}

/// What people change of their own account, in the audit log.
#[derive(PartialEq, Eq, Serialize)]
struct Contact<'c> {
    nome: &'c str,
    chat_number: Option<&'c str>,
}

/// Changes name and chat number of the person who acts.
pub fn rename(
    tx: &WriteTx<'_>,
    actor: &Actor,
    user: UserId,
    name: &str,
    chat_number: Option<&str>,
) -> Result<()> {
    let before: Option<(String, Option<String>, Role)> =
        tx.tuple("SELECT name, chat_number, role FROM user WHERE user_id = ?1", [user])?;
    let Some((old_name, old_number, role)) = before else { return Ok(()) };
    let was = Contact { nome: &old_name, chat_number: old_number.as_deref() };
    let is = Contact { nome: name, chat_number };
    if was == is {
        return Ok(());
    }
    let object = Group::of(role).object();
    audit::note(tx, actor, &object.act(object.changed, user, &old_name), &was, &is)?;
    tx.run(
        "UPDATE user SET name = ?2, chat_number = ?3 WHERE user_id = ?1",
        (user, name, chat_number),
    )
}

row! {
    #[derive(Clone, Debug)]
    pub struct OpenSession {
        pub hash: TokenHash = "session_hash" => TokenHash,
        pub created_at: Instant,
        pub last_seen_at: Instant,
        /// Where it was opened.
        pub address: String,
        pub user_agent: String,
    }
}

/// The last use of the present session may not be stored yet.
const OPEN: &str = "user_id = ?1 AND created_at > ?2 AND ended_at IS NULL
    AND (last_seen_at > ?3 OR session_hash = ?4)";

/// An open session was opened and last used after these instants.
fn horizons(now: Instant) -> (Instant, Instant) {
    (now.minus(SESSION_AGE_S), now.minus(SESSION_IDLE_S))
}

/// The sessions of a person that are open, the newest first, at most `most` of
/// them; and how many there are. The present one is among them.
pub fn open_sessions(
    tx: &ReadTx<'_>,
    user: UserId,
    present: &TokenHash,
    most: u32,
) -> Result<(Vec<OpenSession>, u64)> {
    let (opened, seen) = horizons(tx.now());
    let total = tx.count(
        &format!("SELECT count(*) FROM session WHERE {OPEN}"),
        (user, opened, seen, present),
    )?;
    let order = "ORDER BY created_at DESC, session_hash LIMIT ?5";
    let sessions = tx.records(
        &format!("FROM session WHERE {OPEN} {order}"),
        (user, opened, seen, present, most),
    )?;
    Ok((sessions, total))
}

/// Ends one session of a person; false when the person has no such open one.
pub fn end_session(tx: &WriteTx<'_>, user: UserId, session: &TokenHash) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE session SET ended_at = ?3 WHERE session_hash = ?2 AND user_id = ?1 AND ended_at IS NULL",
        (user, session, tx.now()),
    )?;
    Ok(ended == 1)
}

/// Ends every session of a person but one; returns their number.
pub fn end_other_sessions(tx: &WriteTx<'_>, user: UserId, kept: &TokenHash) -> Result<usize> {
    tx.execute(
        "UPDATE session SET ended_at = ?3 WHERE user_id = ?1 AND session_hash <> ?2 AND ended_at IS NULL",
        (user, kept, tx.now()),
    )
}

row! {
    /// The valid token of the browser extension.
    #[derive(Clone, Copy, Debug)]
    pub struct ValidToken {
        pub since: Instant = "created_at",
        pub until: Instant = "expires_at",
        pub used_at: Option<Instant> = "last_used_at",
    }
}

/// The extension token of a person, while there is a valid one.
pub fn extension_token(tx: &ReadTx<'_>, user: UserId) -> Result<Option<ValidToken>> {
    tx.record(
        "FROM extension_token WHERE user_id = ?1 AND revoked_at IS NULL AND expires_at > ?2",
        (user, tx.now()),
    )
}
