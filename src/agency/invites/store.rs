//! Invitations, and the shells that own the accounts they link, in the
//! database.

use crate::base::{DAY_S, Instant, MlUserId, TokenHash, UserId, secrets};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::account::store as accounts;
use crate::row;

/// Lifetime of an invitation.
pub const LIFE_S: i64 = 30 * DAY_S;

row! {
    /// A client whose invitation works.
    #[derive(Clone, Debug)]
    pub struct Invited {
        pub client: i64 = "client_id",
        pub name: String,
        pub expires_at: Instant = "invite_expires_at",
    }
}

row! {
    /// A visitor of an invitation who was sent to the consent page.
    #[derive(Clone, Debug)]
    pub struct Guest {
        pub client: i64 = "c.client_id",
        pub name: String = "c.name",
        /// Owner of the account when nobody has linked it yet.
        pub shell: UserId = "c.shell_id",
    }
}

/// Replaces a client's invitation, and ends the visits that began with the
/// former one. Returns the new code, of which only the digest is stored.
pub fn renew(tx: &WriteTx<'_>, client: i64) -> Result<String> {
    end_visits(tx, client)?;
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
    end_visits(tx, client)?;
    let ended = tx.execute(
        "UPDATE agency_client SET invite_hash = NULL, invite_expires_at = NULL
         WHERE client_id = ?1 AND invite_hash IS NOT NULL",
        [client],
    )?;
    Ok(ended > 0)
}

/// Ends the visits to the consent page by a client's invitation.
fn end_visits(tx: &WriteTx<'_>, client: i64) -> Result<()> {
    match shell_of(tx, client)? {
        Some(shell) => accounts::forget_attempts_of(tx, shell),
        None => Ok(()),
    }
}

/// The client that a code invites, while the invitation works.
pub fn invited(tx: &ReadTx<'_>, code: &TokenHash) -> Result<Option<Invited>> {
    tx.record(
        "FROM agency_client WHERE invite_hash = ?1 AND invite_expires_at > ?2",
        (code, tx.now()),
    )
}

/// The guest who was sent to the consent page with this state; `None` for a
/// student.
pub fn guest(tx: &ReadTx<'_>, state: &TokenHash) -> Result<Option<Guest>> {
    tx.record(
        "FROM ml_link_attempt t JOIN agency_client c ON c.shell_id = t.user_id WHERE t.state_hash = ?1",
        [state],
    )
}

pub fn name_of(tx: &ReadTx<'_>, client: i64) -> Result<Option<String>> {
    tx.maybe("SELECT name FROM agency_client WHERE client_id = ?1", [client])
}

/// The shell of a client; `None` before its first invitation was used.
pub fn shell_of(tx: &ReadTx<'_>, client: i64) -> Result<Option<UserId>> {
    let shell: Option<Option<UserId>> =
        tx.maybe("SELECT shell_id FROM agency_client WHERE client_id = ?1", [client])?;
    Ok(shell.flatten())
}

/// The shell of a client, made at its first use.
pub fn own_shell(tx: &WriteTx<'_>, invited: &Invited) -> Result<UserId> {
    if let Some(shell) = shell_of(tx, invited.client)? {
        return Ok(shell);
    }
    // Nobody can sign in as the shell: no person can have an e-mail address
    // without an @, and the row is suspended. It also counts as removed, so no
    // list of people shows it.
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

/// An account's nickname, or its number before the nickname was read.
pub fn nickname(tx: &ReadTx<'_>, account: MlUserId) -> Result<String> {
    let nickname: Option<String> =
        tx.maybe("SELECT nickname FROM ml_account WHERE ml_user_id = ?1", [account])?;
    Ok(nickname.unwrap_or_else(|| account.to_string()))
}
