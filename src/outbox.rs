//! Messages that leave the platform, queued in the transaction that causes them.
//!
//! A message without its cause cannot exist, nor a cause without its message;
//! its key makes a repeated cause say nothing twice. Texts are filled in and
//! addresses looked up when a message leaves.

use crate::clock::Instant;
use crate::db::{Result, WriteTx};
use crate::ids::UserId;

/// Ways out of the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Chat,
    Email,
}

impl Channel {
    /// The name in the database and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Email => "email",
        }
    }
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Somebody is new here and chooses a password.
    Welcome,
    /// Somebody asked for a new password.
    PasswordLink,
    /// A renewal is unpaid.
    LatePayment,
}

impl Kind {
    /// The name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Welcome => "boas_vindas",
            Self::PasswordLink => "link_de_senha",
            Self::LatePayment => "pagamento_atrasado",
        }
    }
}

/// States of a message, as they are stored.
pub mod state {
    pub const WAITING: i64 = 0;
    pub const SENT: i64 = 1;
    pub const DROPPED: i64 = 2;
    pub const GIVEN_UP: i64 = 3;
}

/// A message to be queued.
pub struct NewMessage<'m> {
    pub channel: Channel,
    pub user: UserId,
    pub kind: Kind,
    /// What fills its text; never a secret.
    pub params: serde_json::Value,
    /// What it is sent for, once; such as `boas_vindas:17:chat`.
    pub key: &'m str,
    /// Worthless after.
    pub expires_at: Option<Instant>,
}

/// Queues a message unless its key was used. True when it is new.
pub fn enqueue(tx: &WriteTx<'_>, new: &NewMessage<'_>) -> Result<bool> {
    let queued = tx.execute(
        "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
         ON CONFLICT (dedup_key) DO NOTHING",
        rusqlite::params![
            new.channel.name(),
            new.user,
            new.kind.name(),
            new.params.to_string(),
            new.key,
            state::WAITING,
            tx.now().0,
            new.expires_at.map(|at| at.0),
        ],
    )?;
    Ok(queued == 1)
}

/// Drops every waiting message to a person, with the reason; gives back how many.
pub fn drop_waiting(tx: &WriteTx<'_>, user: UserId, reason: &str) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = ?4 WHERE user_id = ?1 AND state = 0",
        (user, state::DROPPED, tx.now().0, reason),
    )
}
