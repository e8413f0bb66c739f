//! Clients, requests, grants and access tokens in the database. Secrets are
//! stored as digests only.

use super::{ACCESS_S, CODE_S, IDLE_S, LONGEST_S, MOST_GRANTS, MOST_TOKENS, REQUEST_S};
use crate::base::retention::{APPS, NEW_APPS};
use crate::base::{Instant, TokenHash, UserId, Zone};
use crate::config::Config;
use crate::db::{Json, ReadTx, Result, WriteTx};
use crate::identity::token::TokenRecord;
use crate::partner::{new_token, store as partners};
use crate::row;

row! {
    #[derive(Clone, Debug)]
    pub struct Client {
        pub no: i64 = "client_no",
        pub id: String = "client_id",
        pub name: String,
        /// Addresses that people may be redirected to.
        pub redirects: Json<Vec<String>>,
        /// Until when its document is not fetched again; `None` for a registered
        /// client.
        pub fresh_until: Option<Instant>,
    }
}

pub fn client(tx: &ReadTx<'_>, id: &str) -> Result<Option<Client>> {
    tx.record("FROM oauth_client WHERE client_id = ?1", [id])
}

/// Most clients that nobody connected yet, and most requests that wait for a
/// decision, of strangers and of known people each. Beyond it the oldest gives
/// way, so that nobody is refused because of others.
const MOST_UNUSED: i64 = 5_000;
const MOST_WAITING: [i64; 2] = [3_000, 20_000];

pub struct NewClient {
    pub id: String,
    pub name: String,
    pub redirects: Json<Vec<String>>,
    /// As in [`Client`].
    pub fresh_until: Option<Instant>,
    /// Whether it comes from a person with a session, or from an address with a
    /// recent successful login.
    pub known: bool,
}

/// Stores a client, or updates it from its document.
pub fn keep_client(tx: &WriteTx<'_>, new: &NewClient) -> Result<()> {
    let keep_until = NEW_APPS.after(tx.now());
    tx.run(
        "INSERT INTO oauth_client (client_id, name, redirects, created_at, fresh_until, keep_until, known)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (client_id) DO UPDATE
         SET name = ?2, redirects = ?3, fresh_until = ?5, keep_until = max(keep_until, ?6), known = max(known, ?7)",
        (&new.id, &new.name, &new.redirects, tx.now(), new.fresh_until, keep_until, new.known),
    )?;
    let unused = tx.count(
        "SELECT count(*) FROM oauth_client WHERE known = ?1 AND keep_until <= ?2",
        (new.known, keep_until),
    )?;
    let excess = i64::try_from(unused).unwrap_or(i64::MAX) - MOST_UNUSED;
    if excess <= 0 {
        return Ok(());
    }
    // What a person gave access to or is being asked about stays.
    tx.run(
        "DELETE FROM oauth_client WHERE client_no IN (
             SELECT client_no FROM oauth_client c
             WHERE known = ?1 AND keep_until <= ?2 AND client_id <> ?3
               AND NOT EXISTS (SELECT 1 FROM oauth_grant g WHERE g.client_no = c.client_no)
               AND NOT EXISTS (SELECT 1 FROM oauth_request r
                               WHERE r.client_no = c.client_no AND r.known = 1)
             ORDER BY keep_until, client_no LIMIT ?4)",
        (new.known, keep_until, &new.id, excess),
    )
}

row! {
    /// A program's request that waits for the person's decision.
    #[derive(Clone, Debug)]
    pub struct Pending {
        pub client_no: i64 = "r.client_no",
        pub redirect_uri: String = "r.redirect_uri",
        pub state: Option<Vec<u8>> = "r.state",
        pub challenge: [u8; 32] = "r.challenge",
        pub may_write: bool = "r.may_write",
    }
}

/// Stores a request for ten minutes. False when its client was removed meanwhile.
/// `known` says whether it comes from a person with a session, or from an
/// address with a recent successful login.
pub fn insert_request(
    tx: &WriteTx<'_>,
    request: &TokenHash,
    pending: &Pending,
    known: bool,
) -> Result<bool> {
    let inserted = tx.execute(
        "INSERT INTO oauth_request (request_hash, client_no, redirect_uri, state, challenge, may_write, expires_at, known)
         SELECT ?1, client_no, ?3, ?4, ?5, ?6, ?7, ?8 FROM oauth_client WHERE client_no = ?2",
        (
            request,
            pending.client_no,
            &pending.redirect_uri,
            &pending.state,
            pending.challenge,
            pending.may_write,
            tx.now().plus(REQUEST_S),
            known,
        ),
    )?;
    tx.run(
        "DELETE FROM oauth_request WHERE request_hash IN (
             SELECT request_hash FROM oauth_request WHERE known = ?1
             ORDER BY expires_at DESC LIMIT -1 OFFSET ?2)",
        (known, MOST_WAITING[usize::from(known)]),
    )?;
    Ok(inserted == 1)
}

/// A request that a session opens, with its client. From now on only that
/// session can decide it, and requests of strangers do not displace it.
pub fn look_at_request(
    tx: &WriteTx<'_>,
    request: &TokenHash,
    session: &TokenHash,
) -> Result<Option<(Pending, Client)>> {
    let seen = tx.execute(
        "UPDATE oauth_request SET session_hash = ?2, known = 1 WHERE request_hash = ?1 AND expires_at > ?3",
        (request, session, tx.now()),
    )?;
    if seen == 0 {
        return Ok(None);
    }
    let pending: Option<Pending> =
        tx.record("FROM oauth_request r WHERE r.request_hash = ?1", [request])?;
    let Some(pending) = pending else { return Ok(None) };
    let client = tx.record("FROM oauth_client WHERE client_no = ?1", [pending.client_no])?;
    Ok(client.map(|client| (pending, client)))
}

/// Removes and returns a request that a session decides, so that it is decided
/// only once.
pub fn take_request(
    tx: &WriteTx<'_>,
    request: &TokenHash,
    session: &TokenHash,
) -> Result<Option<Pending>> {
    let pending = tx.record(
        "FROM oauth_request r
         WHERE r.request_hash = ?1 AND r.session_hash = ?2 AND r.expires_at > ?3",
        (request, session, tx.now()),
    )?;
    tx.execute(
        "DELETE FROM oauth_request WHERE request_hash = ?1 AND session_hash = ?2",
        (request, session),
    )?;
    Ok(pending)
}

/// Stores the access that a person gave, to be redeemed with a code; returns
/// its id and the program's name.
pub fn insert_grant(
    tx: &WriteTx<'_>,
    user: UserId,
    given: &Pending,
    code: &TokenHash,
) -> Result<(i64, String)> {
    let name: String = tx.value(
        "UPDATE oauth_client SET keep_until = max(keep_until, ?2) WHERE client_no = ?1
         RETURNING name",
        (given.client_no, NEW_APPS.after(tx.now())),
    )?;
    let grant = tx.insert(
        "INSERT INTO oauth_grant (user_id, client_no, client_name, may_write, may_change, created_at,
                                  ends_at, code_hash, redirect_uri, challenge)
         VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9)",
        (
            user,
            given.client_no,
            &name,
            given.may_write,
            tx.now(),
            tx.now().plus(CODE_S),
            code,
            &given.redirect_uri,
            given.challenge,
        ),
    )?;
    Ok((grant, name))
}

row! {
    /// A grant as the token endpoint needs it.
    pub struct Grant {
        pub id: i64 = "g.grant_id",
        pub user: UserId = "g.user_id",
        pub client_id: String = "c.client_id",
        pub client_name: String = "g.client_name",
        pub may_write: bool = "g.may_write",
        pub created_at: Instant = "g.created_at",
        pub ends_at: Instant = "g.ends_at",
        pub redirect_uri: String = "g.redirect_uri",
        pub challenge: [u8; 32] = "g.challenge",
        /// Whether its code was redeemed.
        pub is_connected: bool = "g.family_hash IS NOT NULL",
        /// Digest of its newest refresh token.
        pub refresh: Option<[u8; 32]> = "g.refresh_hash",
    }
}

const WITH_CLIENT: &str = "FROM oauth_grant g JOIN oauth_client c ON c.client_no = g.client_no";

pub fn by_code(tx: &ReadTx<'_>, code: &TokenHash) -> Result<Option<Grant>> {
    tx.record(&format!("{WITH_CLIENT} WHERE g.code_hash = ?1"), [code])
}

pub fn by_family(tx: &ReadTx<'_>, family: &TokenHash) -> Result<Option<Grant>> {
    tx.record(&format!("{WITH_CLIENT} WHERE g.family_hash = ?1"), [family])
}

pub fn by_access(tx: &ReadTx<'_>, token: &TokenHash) -> Result<Option<Grant>> {
    tx.record(
        &format!(
            "{WITH_CLIENT} JOIN oauth_token t ON t.grant_id = g.grant_id WHERE t.token_hash = ?1"
        ),
        [token],
    )
}

/// Redeems a code: the grant gets its first refresh token. False when the code
/// was redeemed before. When the account has too many connected apps, the least
/// recently used ones are ended.
pub fn connect(
    tx: &WriteTx<'_>,
    grant: &Grant,
    family: &TokenHash,
    refresh: &TokenHash,
) -> Result<bool> {
    let connected = tx.execute(
        "UPDATE oauth_grant SET family_hash = ?2, refresh_hash = ?3, ends_at = ?4
         WHERE grant_id = ?1 AND family_hash IS NULL",
        (grant.id, family, refresh, end(grant.created_at, tx.now())),
    )?;
    if connected == 0 {
        return Ok(false);
    }
    tx.execute(
        "DELETE FROM oauth_grant WHERE grant_id IN (
             SELECT grant_id FROM oauth_grant
             WHERE user_id = ?1 AND family_hash IS NOT NULL AND grant_id <> ?2
             ORDER BY coalesce(last_used_at, created_at) DESC, grant_id DESC
             LIMIT -1 OFFSET ?3)",
        (grant.user, grant.id, MOST_GRANTS - 1),
    )?;
    keep_longer(tx, grant)?;
    Ok(true)
}

/// Replaces the presented refresh token by a new one. False when the presented
/// token is no longer the newest.
pub fn rotate(
    tx: &WriteTx<'_>,
    grant: &Grant,
    presented: &TokenHash,
    next: &TokenHash,
) -> Result<bool> {
    let rotated = tx.execute(
        "UPDATE oauth_grant SET refresh_hash = ?3, ends_at = ?4
         WHERE grant_id = ?1 AND refresh_hash = ?2",
        (grant.id, presented, next, end(grant.created_at, tx.now())),
    )?;
    keep_longer(tx, grant)?;
    Ok(rotated == 1)
}

/// When a connection ends that is renewed now.
fn end(created_at: Instant, now: Instant) -> Instant {
    now.plus(IDLE_S).min(created_at.plus(LONGEST_S))
}

fn keep_longer(tx: &WriteTx<'_>, grant: &Grant) -> Result<()> {
    tx.run(
        "UPDATE oauth_client SET keep_until = ?2 WHERE client_id = ?1",
        (&grant.client_id, APPS.after(tx.now())),
    )
}

/// Creates a new access token for a connection; of too many tokens, the oldest
/// are removed.
pub fn give_access(tx: &WriteTx<'_>, grant: i64, may_write: bool) -> Result<String> {
    let token = new_token();
    tx.execute(
        "DELETE FROM oauth_token WHERE token_hash IN (
             SELECT token_hash FROM oauth_token WHERE grant_id = ?1
             ORDER BY expires_at DESC LIMIT -1 OFFSET ?2)",
        (grant, MOST_TOKENS - 1),
    )?;
    tx.execute(
        "INSERT INTO oauth_token (token_hash, grant_id, may_write, expires_at)
         SELECT ?1, grant_id, ?3, min(?4, ends_at) FROM oauth_grant WHERE grant_id = ?2",
        (TokenHash::of(&token), grant, may_write, tx.now().plus(ACCESS_S)),
    )?;
    Ok(token)
}

/// Revokes one access token.
pub fn end_access(tx: &WriteTx<'_>, token: &TokenHash) -> Result<()> {
    tx.run("DELETE FROM oauth_token WHERE token_hash = ?1", [token])
}

/// Ends a grant and removes everything that was issued from it.
pub fn end_grant(tx: &WriteTx<'_>, grant: i64) -> Result<()> {
    tx.run("DELETE FROM oauth_grant WHERE grant_id = ?1", [grant])
}

/// Ends a connected app of an account; returns its name, or `None` when there
/// is no app with this id.
pub fn disconnect(tx: &WriteTx<'_>, user: UserId, grant: i64) -> Result<Option<String>> {
    tx.maybe(
        "DELETE FROM oauth_grant WHERE grant_id = ?2 AND user_id = ?1 AND family_hash IS NOT NULL
         RETURNING client_name",
        (user, grant),
    )
}

row! {
    /// A connected app as its person sees it.
    pub struct App {
        pub id: i64 = "grant_id",
        pub name: String = "client_name",
        pub may_write: bool,
        /// Whether that was given since it also lets change the shop.
        pub may_change: bool,
        pub created_at: Instant,
        /// When it ends if it is not used until then.
        pub ends_at: Instant,
        pub last_used_at: Option<Instant>,
        /// Address that the last call came from.
        pub last_address: Option<String>,
    }
}

/// The connected apps of an account, the newest first.
pub fn apps(tx: &ReadTx<'_>, user: UserId) -> Result<Vec<App>> {
    tx.records(
        "FROM oauth_grant
         WHERE user_id = ?1 AND family_hash IS NOT NULL AND ends_at > ?2
         ORDER BY grant_id DESC LIMIT 100",
        (user, tx.now()),
    )
}

/// An access token of a connected app, with its owner, the owner's plan and the
/// connection's last use.
pub fn token(
    tx: &ReadTx<'_>,
    hash: &TokenHash,
    config: &Config,
    zone: Zone,
) -> Result<(TokenRecord, Instant)> {
    let source =
        "SELECT g.user_id, g.client_name AS name, g.created_at, g.last_used_at, 0 AS revoked, 0 AS test,
                         g.grant_id, t.may_write, t.may_write AND g.may_change AS may_change, t.expires_at
                  FROM oauth_token t JOIN oauth_grant g ON g.grant_id = t.grant_id
                  WHERE t.token_hash = ?1";
    partners::token_from(tx, source, hash, config, zone)
}

/// Removes expired rows, at most `most` per table; returns how many.
pub fn forget(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    let most = i64::try_from(most).unwrap_or(1);
    let mut removed = 0;
    for sql in [
        "DELETE FROM oauth_request WHERE request_hash IN (
             SELECT request_hash FROM oauth_request WHERE expires_at <= ?1 LIMIT ?2)",
        "DELETE FROM oauth_token WHERE token_hash IN (
             SELECT token_hash FROM oauth_token WHERE expires_at <= ?1 LIMIT ?2)",
        "DELETE FROM oauth_grant WHERE grant_id IN (
             SELECT grant_id FROM oauth_grant WHERE ends_at <= ?1 LIMIT ?2)",
        "DELETE FROM oauth_client WHERE client_no IN (
             SELECT client_no FROM oauth_client WHERE keep_until <= ?1 LIMIT ?2)",
    ] {
        removed += tx.execute(sql, (tx.now(), most))?;
    }
    Ok(removed)
}
