//! Invitations and the shells that own what they bring, in the database.

use crate::base::{DAY_S, Instant, MlUserId, TokenHash, UserId, secrets};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::account::store as accounts;
use crate::row;

/// Life of an invitation.
pub const LIFE_S: i64 = 30 * DAY_S;

/// A client whose invitation works.
#[derive(Clone, Debug)]
pub struct Invited {
    pub client: i64,
    pub name: String,
    pub expires_at: Instant,
}
row!(Invited { client = "client_id", name, expires_at = "invite_expires_at" });

/// Somebody who follows an invitation and is at the consent page, or back.
#[derive(Clone, Debug)]
pub struct Guest {
    pub client: i64,
    pub name: String,
    /// Whose the account becomes, when nobody has linked it.
    pub shell: UserId,
}
row!(Guest { client = "c.client_id", name = "c.name", shell = "c.shell_id" });

/// Makes a client's invitation, in place of the one before; returns its code,
/// which is not kept.
pub fn renew(tx: &WriteTx<'_>, client: i64) -> Result<String> {
    let code = secrets::random_hex::<32>();
    tx.execute(
        "UPDATE agency_client SET invite_hash = ?2, invite_expires_at = ?3 WHERE client_id = ?1",
        (client, TokenHash::of(&code), tx.now().plus(LIFE_S)),
    )?;
    Ok(code)
}

/// Ends a client's invitation, also for those who are at the consent page;
/// false when there was none.
pub fn end(tx: &WriteTx<'_>, client: i64) -> Result<bool> {
    if let Some(shell) = shell_of(tx, client)? {
        accounts::forget_attempts_of(tx, shell)?;
    }
    let ended = tx.execute(
        "UPDATE agency_client SET invite_hash = NULL, invite_expires_at = NULL
         WHERE client_id = ?1 AND invite_hash IS NOT NULL",
        [client],
    )?;
    Ok(ended > 0)
}

/// The client that a code invites, while the invitation works.
pub fn invited(tx: &ReadTx<'_>, code: &TokenHash) -> Result<Option<Invited>> {
    tx.record(
        "FROM agency_client WHERE invite_hash = ?1 AND invite_expires_at > ?2",
        (code, tx.now()),
    )
}

/// Who left for the consent page under a state, when it was by an invitation.
pub fn guest(tx: &ReadTx<'_>, state: &TokenHash) -> Result<Option<Guest>> {
    tx.record(
        "FROM ml_link_attempt t JOIN agency_client c ON c.shell_id = t.user_id WHERE t.state_hash = ?1",
        [state],
    )
}

/// What a client is called.
pub fn name_of(tx: &ReadTx<'_>, client: i64) -> Result<Option<String>> {
    tx.maybe("SELECT name FROM agency_client WHERE client_id = ?1", [client])
}

/// Who owns what a client's invitations brought.
pub fn shell_of(tx: &ReadTx<'_>, client: i64) -> Result<Option<UserId>> {
    let shell: Option<Option<UserId>> =
        tx.maybe("SELECT shell_id FROM agency_client WHERE client_id = ?1", [client])?;
    Ok(shell.flatten())
}

/// The same, made when it is the first time.
pub fn own_shell(tx: &WriteTx<'_>, invited: &Invited) -> Result<UserId> {
    if let Some(shell) = shell_of(tx, invited.client)? {
        return Ok(shell);
    }
    // Nobody can have or ask for an address without an @, and nobody signs in
    // who is suspended; removed, it is in no list of people.
    let shell: UserId = tx.value(
        "INSERT INTO user (email, name, role, created_at, suspended_at, removed_at)
         VALUES ('agencia:' || ?1, ?2, 'free', ?3, ?3, ?3)
         RETURNING user_id",
        (invited.client, &invited.name, tx.now()),
    )?;
    tx.execute(
        "UPDATE agency_client SET shell_id = ?2 WHERE client_id = ?1",
        (invited.client, shell),
    )?;
    Ok(shell)
}

/// What an account is called: its nickname, or its number before that is read.
pub fn nickname(tx: &ReadTx<'_>, account: MlUserId) -> Result<String> {
    let nickname: Option<String> =
        tx.maybe("SELECT nickname FROM ml_account WHERE ml_user_id = ?1", [account])?;
    Ok(nickname.unwrap_or_else(|| account.to_string()))
}
