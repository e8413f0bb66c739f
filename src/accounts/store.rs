//! People, their tokens and their sessions in the database.

use std::sync::Arc;

use super::Viewing;
use super::{Account, Permissions, Role};
use crate::base::{Instant, TokenHash, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::http::limit::{Class, person_prefix};
use crate::identity::token::TokenRecord;
use crate::identity::{SESSION_AGE_S, SESSION_IDLE_S};
use crate::row;

/// Counters of a person's logins.
pub const LOGIN_CLASSES: [Class; 3] = [Class::LoginAccount, Class::LoginKnown, Class::LoginGood];

/// Most open sessions of a person.
const SESSIONS: i64 = 50;

/// Most addresses stored for a person; the oldest are removed.
const GOOD_LOGINS: i64 = 20;

row! {
    /// What a login needs to know of an account.
    pub struct ForLogin {
        pub account: Account as row,
        pub password_hash: Option<String> = "u.password_hash",
        /// Whether the person has recently signed in from this address.
        pub known_address: bool = "EXISTS (SELECT 1 FROM good_login g
                             WHERE g.user_id = u.user_id AND g.address = ?2 AND g.last_at >= ?3)",
    }
}

/// The account of an e-mail address in its stored form.
pub fn for_login(
    tx: &ReadTx<'_>,
    email: &str,
    address: &str,
    since: Instant,
) -> Result<Option<ForLogin>> {
    tx.record("FROM user u WHERE u.email = ?1", (email, address, since))
}

/// The account of an e-mail address in its stored form.
pub fn by_email(tx: &ReadTx<'_>, email: &str) -> Result<Option<Account>> {
    tx.record("FROM user u WHERE u.email = ?1", [email])
}

pub fn by_id(tx: &ReadTx<'_>, user: UserId) -> Result<Option<Account>> {
    tx.record("FROM user u WHERE u.user_id = ?1", [user])
}

/// Whether an account is suspended; one that is gone counts as suspended.
pub fn is_suspended(tx: &ReadTx<'_>, user: UserId) -> Result<bool> {
    let suspended =
        tx.maybe("SELECT suspended_at IS NOT NULL FROM user WHERE user_id = ?1", [user])?;
    Ok(suspended.unwrap_or(true))
}

/// A person's password hash, if one was chosen.
pub fn password_hash(tx: &ReadTx<'_>, user: UserId) -> Result<Option<String>> {
    tx.value("SELECT password_hash FROM user WHERE user_id = ?1", [user])
}

/// A person's role; the person must be there.
pub fn role(tx: &ReadTx<'_>, user: UserId) -> Result<Role> {
    tx.value("SELECT role FROM user WHERE user_id = ?1", [user])
}

/// A person to be made.
pub struct NewUser {
    pub email: String,
    pub name: String,
    pub role: Role,
    pub password_hash: Option<String>,
}

/// Makes a person; `None` when the e-mail address is taken.
pub fn insert(tx: &WriteTx<'_>, new: &NewUser) -> Result<Option<UserId>> {
    tx.maybe(
        "INSERT INTO user (email, name, role, password_hash, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (email) DO NOTHING
         RETURNING user_id",
        (&new.email, &new.name, new.role, &new.password_hash, tx.now().0)
    )
}

/// Whether anybody can administer the installation.
pub fn has_administrator(tx: &ReadTx<'_>) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM user WHERE role = 'admin' AND suspended_at IS NULL)", [])
}

/// Administrators who may sign in, at most `most`, the first made first.
pub fn administrators(tx: &ReadTx<'_>, most: u32) -> Result<Vec<UserId>> {
    tx.values(
        "SELECT user_id FROM user WHERE role = 'admin' AND suspended_at IS NULL
         ORDER BY user_id LIMIT ?1",
        [most],
    )
}

row! {
    /// A person as a list shows one.
    pub struct Listed {
        pub account: Account as row,
        pub last_access_at: Option<Instant> = "u.last_access_at",
    }
}

/// At most `most` people after an id, by id; of one role, or of all.
pub fn list_after(
    tx: &ReadTx<'_>,
    after: UserId,
    role: Option<Role>,
    most: usize,
) -> Result<Vec<Listed>> {
    tx.records(
        "FROM user u
         WHERE u.user_id > ?1 AND (?2 IS NULL OR u.role = ?2) AND u.removed_at IS NULL
         ORDER BY u.user_id
         LIMIT ?3",
        (after, role, i64::try_from(most).unwrap_or(i64::MAX)),
    )
}

/// Letters of the longest id and of the longest e-mail address.
pub fn list_widths(tx: &ReadTx<'_>) -> Result<(usize, usize)> {
    let length = |length: Option<i64>| usize::try_from(length.unwrap_or(0)).unwrap_or(0);
    let sql = "SELECT length(max(user_id)), max(length(email)) FROM user WHERE removed_at IS NULL";
    let (id, email) = tx.one(sql, [], |row| row.try_into())?;
    Ok((length(id), length(email)))
}

/// People by role.
pub fn count_by_role(tx: &ReadTx<'_>) -> Result<Vec<(Role, u64)>> {
    let sql = "SELECT role, sum(people) FROM person_count WHERE kind < 2 GROUP BY role";
    let counts: Vec<(Role, i64)> = tx.tuples(sql, [])?;
    let count = |(role, people)| (role, u64::try_from(people).unwrap_or(0));
    Ok(counts.into_iter().map(count).collect())
}

/// What a role may do by default, by name.
pub fn permissions_of_role(tx: &ReadTx<'_>, role: Role) -> Result<Vec<String>> {
    tx.values("SELECT permission FROM role_permission WHERE role = ?1 ORDER BY permission", [role])
}

/// Whether a person has a permission: by the person's exception, otherwise by
/// role.
pub fn may(tx: &ReadTx<'_>, user: UserId, role: Role, permission: &str) -> Result<bool> {
    tx.value(
        "SELECT coalesce(
             (SELECT granted FROM user_permission WHERE user_id = ?1 AND permission = ?3),
             EXISTS (SELECT 1 FROM role_permission WHERE role = ?2 AND permission = ?3))",
        (user, role, permission),
    )
}

/// Effective permissions: those of the role, changed by the person's
/// exceptions.
pub fn permissions(tx: &ReadTx<'_>, user: UserId, role: Role) -> Result<Permissions> {
    let mut permissions = Permissions::default();
    tx.each("SELECT permission FROM role_permission WHERE role = ?1", [role], |row| {
        permissions.set(row.get_ref(0)?.as_str()?, true);
        Ok(())
    })?;
    tx.each("SELECT permission, granted FROM user_permission WHERE user_id = ?1", [user], |row| {
        permissions.set(row.get_ref(0)?.as_str()?, row.get(1)?);
        Ok(())
    })?;
    Ok(permissions)
}

row! {
    /// An extension token and its owner.
    struct TokenOfUser {
        account: Account as row,
        expires_at: Instant = "t.expires_at",
        revoked: bool = "t.revoked_at IS NOT NULL",
        used_at: Instant = "coalesce(t.last_used_at, t.created_at)",
    }
}

/// An extension token with its owner, and its last use.
pub fn extension_token(tx: &ReadTx<'_>, hash: &TokenHash) -> Result<(TokenRecord, Instant)> {
    let found = tx.record::<TokenOfUser>(
        "FROM extension_token t JOIN user u ON u.user_id = t.user_id WHERE t.token_hash = ?1",
        [hash],
    )?;
    let known = found.map(|TokenOfUser { account, expires_at, revoked, used_at }| {
        (TokenRecord::Extension { account: Arc::new(account), expires_at, revoked }, used_at)
    });
    Ok(known.unwrap_or((TokenRecord::Nothing, Instant(i64::MIN))))
}

row! {
    /// A session and its person.
    struct SessionOfUser {
        account: Account as row,
        created_at: Instant = "s.created_at",
        ended: bool = "s.ended_at IS NOT NULL",
        seen_at: Instant = "s.last_seen_at",
        student: Option<UserId> = "s.viewing_id",
        until: Option<Instant> = "s.viewing_until",
    }
}

/// A session with its person, and its last use.
pub fn session(tx: &ReadTx<'_>, hash: &TokenHash) -> Result<(TokenRecord, Instant)> {
    let found = tx.record::<SessionOfUser>(
        "FROM session s JOIN user u ON u.user_id = s.user_id WHERE s.session_hash = ?1",
        [hash],
    )?;
    let known = found.map(|found| {
        let SessionOfUser { account, created_at, ended, .. } = found;
        let viewing =
            found.student.zip(found.until).map(|(student, until)| Viewing { student, until });
        (
            TokenRecord::Session { account: Arc::new(account), created_at, ended, viewing },
            found.seen_at,
        )
    });
    Ok(known.unwrap_or((TokenRecord::Nothing, Instant(i64::MIN))))
}

/// Stores a new extension token; every earlier one of the person is revoked.
pub fn replace_extension_token(
    tx: &WriteTx<'_>,
    user: UserId,
    token: &TokenHash,
    expires_at: Instant,
) -> Result<()> {
    revoke_extension_tokens(tx, user)?;
    tx.execute(
        "INSERT INTO extension_token (token_hash, user_id, created_at, expires_at) VALUES (?1, ?2, ?3, ?4)",
        (token, user, tx.now().0, expires_at.0),
    )?;
    note_access(tx, user)
}

/// A login counts as an access, even if no request follows it.
fn note_access(tx: &WriteTx<'_>, user: UserId) -> Result<()> {
    tx.run("UPDATE user SET last_access_at = ?2 WHERE user_id = ?1", (user, tx.now().0))
}

/// Revokes every extension token of a person.
pub fn revoke_extension_tokens(tx: &WriteTx<'_>, user: UserId) -> Result<usize> {
    tx.execute(
        "UPDATE extension_token SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL",
        (user, tx.now().0),
    )
}

pub fn revoke_extension_token(tx: &WriteTx<'_>, token: &TokenHash) -> Result<()> {
    tx.run(
        "UPDATE extension_token SET revoked_at = ?2 WHERE token_hash = ?1 AND revoked_at IS NULL",
        (token, tx.now().0),
    )
}

/// A session to be opened.
pub struct NewSession {
    pub hash: TokenHash,
    pub address: String,
    pub user_agent: String,
}

/// Opens a session. Of more than fifty open sessions the oldest end.
pub fn insert_session(tx: &WriteTx<'_>, user: UserId, new: &NewSession) -> Result<()> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO session (session_hash, user_id, created_at, last_seen_at, address, user_agent, ordinal)
         VALUES (?1, ?2, ?3, ?3, ?4, ?5,
                 1 + (SELECT coalesce(max(ordinal), 0) FROM session INDEXED BY session_open
                      WHERE user_id = ?2 AND ended_at IS NULL))",
        (new.hash, user, now, &new.address, &new.user_agent),
    )?;
    note_access(tx, user)?;
    tx.run(
        "UPDATE session SET ended_at = ?2
         WHERE session_hash IN (
             SELECT session_hash FROM session INDEXED BY session_open
             WHERE user_id = ?1 AND ended_at IS NULL AND created_at > ?3 AND last_seen_at > ?4
             ORDER BY ordinal DESC, created_at DESC
             LIMIT -1 OFFSET ?5)",
        (user, now, now.minus(SESSION_AGE_S), now.minus(SESSION_IDLE_S), SESSIONS),
    )
}

/// Removes sessions and extension tokens that ended before an instant, at most
/// `most` of each; returns how many.
pub fn forget_ended(tx: &WriteTx<'_>, before: Instant, most: usize) -> Result<usize> {
    let opened = before.minus(SESSION_AGE_S);
    let most = i64::try_from(most).unwrap_or(1);
    let sessions = tx.execute(
        "DELETE FROM session WHERE session_hash IN (
             SELECT session_hash FROM session WHERE created_at < ?1 LIMIT ?2)",
        (opened.0, most),
    )?;
    let tokens = tx.execute(
        "DELETE FROM extension_token WHERE token_hash IN (
             SELECT token_hash FROM extension_token WHERE expires_at < ?1 LIMIT ?2)",
        (before.0, most),
    )?;
    Ok(sessions + tokens)
}

pub fn end_session(tx: &WriteTx<'_>, session: &TokenHash) -> Result<()> {
    tx.run(
        "UPDATE session SET ended_at = ?2 WHERE session_hash = ?1 AND ended_at IS NULL",
        (session, tx.now().0),
    )
}

/// Gives a person another e-mail address, which nobody else has.
pub fn set_email(tx: &WriteTx<'_>, user: UserId, email: &str) -> Result<()> {
    tx.run("UPDATE user SET email = ?2 WHERE user_id = ?1", (user, email))
}

/// Gives a person another chat number.
pub fn set_chat_number(tx: &WriteTx<'_>, user: UserId, number: &str) -> Result<()> {
    tx.run("UPDATE user SET chat_number = ?2 WHERE user_id = ?1", (user, number))
}

/// Sets a new password and ends every session, extension token and connected app
/// of the person.
pub fn set_password(tx: &WriteTx<'_>, user: UserId, hash: &str) -> Result<()> {
    tx.execute("UPDATE user SET password_hash = ?2 WHERE user_id = ?1", (user, hash))?;
    end_sessions(tx, user)?;
    revoke_extension_tokens(tx, user)?;
    end_grants(tx, user)?;
    Ok(())
}

/// Ends a person's connections to apps, also those whose code was not redeemed
/// yet; returns how many.
pub fn end_grants(tx: &WriteTx<'_>, user: UserId) -> Result<usize> {
    tx.execute("DELETE FROM oauth_grant WHERE user_id = ?1", [user])
}

/// Ends every session of a person; returns how many were open.
pub fn end_sessions(tx: &WriteTx<'_>, user: UserId) -> Result<usize> {
    tx.execute(
        "UPDATE session SET ended_at = ?2 WHERE user_id = ?1 AND ended_at IS NULL",
        (user, tx.now().0),
    )
}

/// Asks for a person's failed logins to be cleared, at every address. A running
/// server counts in memory and could write over what is deleted here, so a mark
/// tells the server; [`forgive_marked`] does the rest.
pub fn clear_login_failures(tx: &WriteTx<'_>, user: UserId) -> Result<()> {
    tx.run(
        "INSERT INTO rate_window (subject, started_at, length_s, count) VALUES (?1, ?2, 0, 0)
         ON CONFLICT (subject) DO UPDATE SET started_at = ?2",
        (&person_prefix(Class::LoginForgiven, user.0)[..], tx.now().0),
    )
}

/// Removes the stored counters of all marked people, and the marks; returns
/// these people.
pub fn forgive_marked(tx: &WriteTx<'_>) -> Result<Vec<UserId>> {
    let marks = [[Class::LoginForgiven as u8], [Class::LoginForgiven as u8 + 1]];
    let marked: Vec<UserId> = tx.all(
        "DELETE FROM rate_window WHERE subject >= ?1 AND subject < ?2 RETURNING subject",
        (&marks[0][..], &marks[1][..]),
        |row| {
            let subject: Vec<u8> = row.get(0)?;
            let id = subject.get(1..9).and_then(|id| id.try_into().ok());
            Ok(UserId(i64::from_be_bytes(id.unwrap_or_default())))
        },
    )?;
    for user in &marked {
        for class in LOGIN_CLASSES {
            tx.execute(
                "DELETE FROM rate_window WHERE substr(subject, 1, 9) = ?1",
                [&person_prefix(class, user.0)[..]],
            )?;
        }
    }
    Ok(marked)
}

/// Stores a successful login of a person from an address.
pub fn note_good_login(
    tx: &WriteTx<'_>,
    user: UserId,
    address: &str,
    forget_before: Instant,
) -> Result<()> {
    tx.execute(
        "INSERT INTO good_login (user_id, address, last_at) VALUES (?1, ?2, ?3)
         ON CONFLICT (user_id, address) DO UPDATE SET last_at = ?3",
        (user, address, tx.now().0),
    )?;
    tx.run(
        "DELETE FROM good_login
         WHERE user_id = ?1
           AND (last_at < ?2
                OR address NOT IN (SELECT address FROM good_login WHERE user_id = ?1
                                   ORDER BY last_at DESC, address LIMIT ?3))",
        (user, forget_before.0, GOOD_LOGINS),
    )
}

/// The newest successful logins since an instant: address and time.
pub fn good_addresses(
    tx: &ReadTx<'_>,
    since: Instant,
    most: i64,
) -> Result<Vec<(String, Instant)>> {
    tx.tuples(
        "SELECT address, last_at FROM good_login WHERE last_at >= ?1
         ORDER BY last_at DESC LIMIT ?2",
        (since, most),
    )
}

/// Stores a new set-up link by its digest; earlier ones no longer work.
pub fn insert_setup_link(tx: &WriteTx<'_>, link: &TokenHash, expires_at: Instant) -> Result<()> {
    tx.execute("DELETE FROM one_time_link WHERE purpose = 'setup'", [])?;
    tx.run(
        "INSERT INTO one_time_link (link_hash, purpose, created_at, expires_at) VALUES (?1, 'setup', ?2, ?3)",
        (link, tx.now().0, expires_at.0),
    )
}

/// When a set-up link ends; `None` when it is unknown, used or expired.
pub fn setup_link_ends(tx: &ReadTx<'_>, link: &TokenHash) -> Result<Option<Instant>> {
    tx.maybe(
        "SELECT expires_at FROM one_time_link
         WHERE link_hash = ?1 AND purpose = 'setup' AND used_at IS NULL AND expires_at > ?2",
        (link, tx.now()),
    )
}

/// Marks a set-up link as used; false when it does not work any more.
pub fn use_setup_link(tx: &WriteTx<'_>, link: &TokenHash) -> Result<bool> {
    let used = tx.execute(
        "UPDATE one_time_link SET used_at = ?2
         WHERE link_hash = ?1 AND purpose = 'setup' AND used_at IS NULL AND expires_at > ?2",
        (link, tx.now().0),
    )?;
    Ok(used == 1)
}
