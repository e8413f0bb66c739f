//! Tokens of linked accounts: sealed at rest, refreshed by one thread at a
//! time.
//!
//! A refresh token works once, so refreshing is single-flight per account:
//! under the account's lock the stored pair is read again, and a new pair is
//! committed before it is used. A rejected refresh is final only when no newer
//! pair was stored meanwhile. Then the account is marked, its owner is notified
//! once, and no call is made for the account until it is linked again. Decision marketplace-12.

use std::time::Duration;

use crate::app::App;
use crate::base::secrets::{SealContext, SealError};
use crate::base::{Instant, MlUserId, Sealer, Secret, UserId};
use crate::db::{DbError, Lane, ReadTx, WriteTx};
use crate::events::{self, DisconnectedStore};
use crate::marketplace::client::{Caller, Failure, TokenPair};
use crate::messages::{self, News, NotificationKind};
use crate::row;
use crate::services::Services;

/// An access token is refreshed this many seconds before it expires.
const MARGIN_S: i64 = 60;
/// How often a new pair is written to a busy database, and the pause between
/// tries.
const SAVE_TRIES: u32 = 30;
const SAVE_PAUSE: Duration = Duration::from_millis(200);

const REFUSED: &str = "O marketplace não aceita mais esta autorização. Vincule a conta de novo.";
const NOT_OFFLINE: &str = "A autorização venceu e não permite renovação. Vincule a conta de novo.";
const NEW_KEY: &str = "A plataforma trocou a chave que protege os acessos, e este se perdeu. Vincule a conta de novo.";

/// Why a call was not made, or how it failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Nobody has linked the account.
    #[error("the account is not linked")]
    NotLinked,
    /// The account's authorisation is lost until the account is linked again.
    #[error("the account must be linked again")]
    LinkLost,
    #[error(transparent)]
    Failed(#[from] Failure),
    #[error(transparent)]
    Db(#[from] DbError),
}

impl CallError {
    /// Seconds after which the person may try again, where that is known.
    pub const fn retry_after_s(&self) -> Option<i64> {
        match self {
            Self::Failed(Failure::Away { retry_after_s }) => Some(*retry_after_s),
            _ => None,
        }
    }
}

row! {
    struct Sealed {
        owner: UserId = "owner_id",
        access: Option<Vec<u8>> = "access_token",
        refresh: Option<Vec<u8>> = "refresh_token",
        expires_at: Instant = "token_expires_at",
        token_ok: bool,
    }
}

/// Calls the marketplace with an account's access token. A token that is about
/// to expire is refreshed first. When the marketplace rejects the token, it is
/// refreshed and the call is made once more.
pub fn with_token<T>(
    app: &App,
    account: MlUserId,
    call: impl Fn(&Caller<'_>) -> Result<T, Failure>,
) -> Result<T, CallError> {
    calling(app, None, account, call)
}

/// The same for a person who waits for the result. It uses only the tokens of
/// their own link, never those of another person who linked the account since.
/// While the marketplace is away no call is made.
pub fn with_own_token<T>(
    app: &App,
    owner: UserId,
    account: MlUserId,
    call: impl Fn(&Caller<'_>) -> Result<T, Failure>,
) -> Result<T, CallError> {
    calling(app, Some(owner), account, call)
}

fn calling<T>(
    app: &App,
    owner: Option<UserId>,
    account: MlUserId,
    call: impl Fn(&Caller<'_>) -> Result<T, Failure>,
) -> Result<T, CallError> {
    let is_theirs = |sealed: &Sealed| owner.is_none_or(|owner| owner == sealed.owner);
    let mut sealed = usable_tokens(app, account)?;
    if owner.is_some() {
        app.marketplace.client.may_call()?;
    }
    if is_theirs(&sealed) && sealed.expires_at.minus(MARGIN_S) <= app.clock.now() {
        sealed = refresh(app, account, &sealed)?;
    }
    let attempt = |sealed: &Sealed| {
        if !is_theirs(sealed) {
            return Err(CallError::NotLinked);
        }
        let access = open_access(app, account, sealed)?;
        call(&Caller { ml_user_id: account, access: &access }).map_err(CallError::Failed)
    };
    match attempt(&sealed) {
        Err(CallError::Failed(Failure::Expired)) => attempt(&refresh(app, account, &sealed)?),
        other => other,
    }
}

/// The current access token of a person's account; `None` when the account is
/// not theirs or has no valid token.
pub fn access_of(
    services: &Services,
    owner: UserId,
    account: MlUserId,
) -> Result<Option<Secret>, DbError> {
    let sealed = services.db.read(Lane::Brief, |tx| stored(tx, account))?;
    let sealed = sealed.filter(|sealed| {
        sealed.owner == owner && sealed.token_ok && sealed.expires_at > services.clock.now()
    });
    let access = sealed.and_then(|sealed| sealed.access);
    Ok(access.map(|access| open(&services.sealer, account, "access_token", &access)).transpose()?)
}

fn usable_tokens(services: &Services, account: MlUserId) -> Result<Sealed, CallError> {
    let sealed =
        services.db.read(Lane::Brief, |tx| stored(tx, account))?.ok_or(CallError::NotLinked)?;
    if sealed.token_ok && sealed.access.is_some() { Ok(sealed) } else { Err(CallError::LinkLost) }
}

fn open_access(
    services: &Services,
    account: MlUserId,
    sealed: &Sealed,
) -> Result<Secret, CallError> {
    let access = sealed.access.as_deref().ok_or(CallError::LinkLost)?;
    Ok(open(&services.sealer, account, "access_token", access).map_err(DbError::from)?)
}

/// A newer pair than `seen`: one that another thread stored, or one fetched
/// now.
fn refresh(app: &App, account: MlUserId, seen: &Sealed) -> Result<Sealed, CallError> {
    let _only_one = app.marketplace.refreshing.wait(account);
    let sealed = usable_tokens(app, account)?;
    if sealed.access != seen.access {
        return Ok(sealed);
    }
    let Some(refresh) = &sealed.refresh else {
        return Err(mark_link_lost(app, account, &sealed, NOT_OFFLINE)?);
    };
    let token = open(&app.sealer, account, "refresh_token", refresh).map_err(DbError::from)?;
    match app.marketplace.client.refresh(&token) {
        Ok(pair) if pair.ml_user_id != account => Err(Failure::Garbled("user_id").into()),
        Ok(pair) => {
            save(app, account, &sealed, &pair)?;
            usable_tokens(app, account)
        }
        Err(Failure::Refused { code, .. })
            if matches!(&*code, "invalid_grant" | "unauthorized_client") =>
        {
            tracing::warn!(
                ml_user_id = account.0,
                code,
                "the marketplace refused to refresh an account's tokens"
            );
            Err(mark_link_lost(app, account, &sealed, REFUSED)?)
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Replaces the stored pair `before` with a new one. Nothing changes when the
/// account was linked again or unlinked meanwhile. A pair that is not stored is
/// lost, and the link with it, so the write is retried while the database is
/// busy.
fn save(app: &App, account: MlUserId, before: &Sealed, pair: &TokenPair) -> Result<(), DbError> {
    let (access, refresh) = seal_pair(&app.sealer, account, pair);
    let expires_at = app.clock.now().plus(pair.expires_in_s);
    let mut tries = 1;
    loop {
        let row = (account, before.access.clone(), access.clone(), refresh.clone(), expires_at);
        let saved = app.db.write(move |tx| {
            tx.execute(
                "UPDATE ml_account SET access_token = ?3, refresh_token = ?4, token_expires_at = ?5
                 WHERE ml_user_id = ?1 AND access_token = ?2",
                row,
            )
        });
        match saved {
            Err(DbError::Busy | DbError::Full) if tries < SAVE_TRIES => {
                tries += 1;
                app.marketplace.bell.wait(SAVE_PAUSE);
            }
            saved => return saved.map(|_| ()),
        }
    }
}

/// Marks the link of an account as lost and notifies its owner, unless the
/// stored tokens are not those of `seen` any more. Returns the error for the
/// caller.
fn mark_link_lost(
    services: &Services,
    account: MlUserId,
    seen: &Sealed,
    error: &'static str,
) -> Result<CallError, CallError> {
    let (access, owner, expires_at) = (seen.access.clone(), seen.owner, seen.expires_at);
    services.db.write(move |tx| {
        let nickname = tx.maybe::<String>(
            "UPDATE ml_account SET token_ok = 0, error = ?3, access_token = NULL, refresh_token = NULL
             WHERE ml_user_id = ?1 AND access_token = ?2
             RETURNING nickname",
            (account, access, error)
        )?;
        let Some(nickname) = nickname else { return Ok(CallError::LinkLost) };
        tell(tx, owner, &Lost { account, nickname: &nickname, expires_at, error })?;
        Ok(CallError::LinkLost)
    })
}

/// The names of all linked accounts that have tokens.
pub fn linked(tx: &ReadTx<'_>) -> Result<Vec<String>, DbError> {
    tx.values(
        "SELECT nickname FROM ml_account
         WHERE access_token IS NOT NULL OR refresh_token IS NOT NULL
         ORDER BY nickname",
        [],
    )
}

/// Whether a key opens the tokens of all accounts; `None` when there are none.
pub fn all_open(tx: &ReadTx<'_>, sealer: &Sealer) -> Result<Option<bool>, DbError> {
    let mut all = None;
    tx.each("SELECT ml_user_id, access_token, refresh_token FROM ml_account", [], |row| {
        let account = row.get(0)?;
        for (at, column) in [(1, "access_token"), (2, "refresh_token")] {
            if let Some(boxed) = row.get::<_, Option<Vec<u8>>>(at)? {
                let opens = open(sealer, account, column, &boxed).is_ok();
                all = Some(opens && all.unwrap_or(true));
            }
        }
        Ok(())
    })?;
    Ok(all)
}

/// Deletes the tokens of all accounts, because the installation gets a new key,
/// and notifies their owners.
pub fn forget_all(tx: &WriteTx<'_>) -> Result<(), DbError> {
    let lost: Vec<(MlUserId, UserId, String, Instant)> = tx.tuples(
        "UPDATE ml_account SET token_ok = 0, error = ?1, access_token = NULL, refresh_token = NULL
         WHERE access_token IS NOT NULL OR refresh_token IS NOT NULL
         RETURNING ml_user_id, owner_id, nickname, token_expires_at",
        [NEW_KEY],
    )?;
    for (account, owner, nickname, expires_at) in lost {
        tell(tx, owner, &Lost { account, nickname: &nickname, expires_at, error: NEW_KEY })?;
    }
    Ok(())
}

struct Lost<'l> {
    account: MlUserId,
    nickname: &'l str,
    expires_at: Instant,
    error: &'static str,
}

fn tell(tx: &WriteTx<'_>, owner: UserId, lost: &Lost<'_>) -> Result<(), DbError> {
    let store = DisconnectedStore {
        ml_user_id: lost.account,
        nickname: lost.nickname,
        reason: "refused",
        error: Some(lost.error),
    };
    events::raise_disconnected(tx, owner, &store)?;
    let cause = format!("ml_token:{}:{}", lost.account, lost.expires_at.0);
    let news = News {
        title: "Vínculo perdido",
        text: &format!("{}: {}", lost.nickname, lost.error),
        account: Some(lost.account),
        ..News::notice(NotificationKind::Sistema, &cause)
    };
    messages::tell(tx, owner, news).map(drop)
}

/// A pair sealed for its account: access token, refresh token.
pub fn seal_pair(
    sealer: &Sealer,
    account: MlUserId,
    pair: &TokenPair,
) -> (Vec<u8>, Option<Vec<u8>>) {
    let row = account.to_string();
    let seal =
        |column, secret: &Secret| sealer.seal(secret.reveal().as_bytes(), place(column, &row));
    (
        seal("access_token", &pair.access),
        pair.refresh.as_ref().map(|refresh| seal("refresh_token", refresh)),
    )
}

fn open(
    sealer: &Sealer,
    account: MlUserId,
    column: &str,
    boxed: &[u8],
) -> Result<Secret, SealError> {
    sealer.open_text(boxed, place(column, &account.to_string()))
}

const fn place<'p>(column: &'p str, row: &'p str) -> SealContext<'p> {
    SealContext { table: "ml_account", column, row }
}

fn stored(tx: &ReadTx<'_>, account: MlUserId) -> Result<Option<Sealed>, DbError> {
    tx.record("FROM ml_account WHERE ml_user_id = ?1", [account])
}
