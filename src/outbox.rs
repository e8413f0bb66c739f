//! Messages that leave the platform, queued in the transaction that causes them.
//!
//! A message without its cause cannot exist, nor a cause without its message;
//! its key makes a repeated cause say nothing twice. Texts are filled in and
//! addresses looked up when a message leaves.

use crate::base::clock::Instant;
use crate::base::ids::UserId;
use crate::base::retention::{MESSAGE_BODIES, MESSAGE_COUNTS};
use crate::db::{ReadTx, Result, WriteTx};

/// Ways out of the platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Chat,
    Email,
    Telegram,
    Push,
}

impl Channel {
    /// All channels.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Email, Self::Telegram, Self::Push];

    /// The channel of a name in the database and in addresses.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.name() == name)
    }

    /// The name in the database and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Email => "email",
            Self::Telegram => "telegram",
            Self::Push => "push",
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
    /// A meet begins soon.
    MeetReminder,
    /// A student has been away.
    Inactivity,
    /// A buyer asked something at a listing.
    Question,
    /// Something of the platform needs an administrator.
    Alert,
    /// Somebody of the staff tries a channel out.
    Test,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Welcome,
        Self::PasswordLink,
        Self::LatePayment,
        Self::MeetReminder,
        Self::Inactivity,
        Self::Question,
        Self::Alert,
        Self::Test,
    ];

    /// Kinds that people may do without.
    pub const OPTIONAL: [Self; 3] = [Self::MeetReminder, Self::Inactivity, Self::Question];

    /// Whether people may do without it.
    pub fn is_optional(self) -> bool {
        Self::OPTIONAL.contains(&self)
    }

    /// The kind of a name in the database.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Welcome => "boas_vindas",
            Self::PasswordLink => "link_de_senha",
            Self::LatePayment => "pagamento_atrasado",
            Self::MeetReminder => "lembrete_encontro",
            Self::Inactivity => "inatividade",
            Self::Question => "pergunta",
            Self::Alert => "alerta",
            Self::Test => "teste",
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
    enqueue_for(tx, new, tx.now())
}

/// The same for a message that leaves no earlier than an instant.
pub fn enqueue_for(tx: &WriteTx<'_>, new: &NewMessage<'_>, run_at: Instant) -> Result<bool> {
    Ok(queue(tx, new, run_at)?.is_some())
}

/// Queues a message that leaves no earlier than an instant; gives back its
/// number, or `None` when its key was used.
pub fn queue(tx: &WriteTx<'_>, new: &NewMessage<'_>, run_at: Instant) -> Result<Option<i64>> {
    tx.maybe(
        "INSERT INTO outbox (channel, user_id, kind, params, dedup_key, state, created_at, run_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
         ON CONFLICT (dedup_key) DO NOTHING
         RETURNING message_id",
        rusqlite::params![
            new.channel.name(),
            new.user,
            new.kind.name(),
            new.params.to_string(),
            new.key,
            state::WAITING,
            tx.now().0,
            run_at.0,
            new.expires_at.map(|at| at.0),
        ]
    )
}

/// Whether a message of a kind to a person waits in a channel.
pub fn waits(tx: &ReadTx<'_>, user: UserId, channel: Channel, kind: Kind) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM outbox
             WHERE user_id = ?1 AND channel = ?2 AND state = 0 AND +kind = ?3)",
        (user, channel.name(), kind.name()),
    )
}

/// Drops every waiting message to a person, with the reason; gives back how many.
pub fn drop_waiting(tx: &WriteTx<'_>, user: UserId, reason: &str) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = ?4 WHERE user_id = ?1 AND +state = 0",
        (user, state::DROPPED, tx.now().0, reason),
    )
}

/// Drops a person's waiting messages that carry an earlier link to choose a
/// password; gives back how many.
pub fn drop_links(tx: &WriteTx<'_>, user: UserId) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = 'um link mais novo tomou o lugar'
         WHERE user_id = ?1 AND +state = 0 AND +kind IN (?4, ?5)",
        (user, state::DROPPED, tx.now().0, Kind::Welcome.name(), Kind::PasswordLink.name()),
    )
}

/// Empties messages that were done with long ago of what filled their texts,
/// at most `most` of them; gives back how many. The rest of them stays until
/// it is archived, and their keys with it.
pub fn forget_bodies(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET params = '{}' WHERE message_id IN (
             SELECT message_id FROM outbox WHERE done_at < ?1 AND params <> '{}' LIMIT ?2)",
        (MESSAGE_BODIES.before(tx.now()).0, i64::try_from(most).unwrap_or(1)),
    )
}

/// Removes what was counted long ago, at most `most` rows; gives back how many.
pub fn forget_counts(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM outbox_done_count WHERE (quarter, channel, state) IN (
             SELECT quarter, channel, state FROM outbox_done_count WHERE quarter < ?1 LIMIT ?2)",
        (MESSAGE_COUNTS.before(tx.now()).0 / 900, i64::try_from(most).unwrap_or(1)),
    )
}

/// A message as staff sees it.
pub struct Queued {
    channel: String,
    kind: String,
    pub state: i64,
    pub created_at: Instant,
    /// Why it waits or what became of it.
    pub outcome: Option<String>,
}

impl Queued {
    /// What it is about, in words.
    pub fn title(&self) -> &str {
        kind_words(&self.kind)
    }

    /// The way it takes, in words.
    pub fn channel_words(&self) -> &str {
        channel_words(&self.channel)
    }
}

/// What people call a kind of message.
pub fn kind_words(kind: &str) -> &str {
    match kind {
        "boas_vindas" => "Boas-vindas",
        "link_de_senha" => "Link de senha",
        "pagamento_atrasado" => "Pagamento atrasado",
        "lembrete_encontro" => "Lembrete de encontro",
        "inatividade" => "Alerta de inatividade",
        "pergunta" => "Pergunta de comprador",
        "alerta" => "Alerta à administração",
        "teste" => "Teste de canal",
        other => other,
    }
}

/// What people call a channel.
pub fn channel_words(channel: &str) -> &str {
    match channel {
        "chat" => "Chat",
        "email" => "E-mail",
        "telegram" => "Telegram",
        "push" => "Navegador",
        other => other,
    }
}

/// The newest messages to a person.
pub fn newest_to(tx: &ReadTx<'_>, user: UserId, limit: u32) -> Result<Vec<Queued>> {
    tx.all(
        "SELECT channel, kind, state, created_at, outcome FROM outbox
         WHERE user_id = ?1
         ORDER BY message_id DESC
         LIMIT ?2",
        (user, limit),
        |row| {
            Ok(Queued {
                channel: row.get(0)?,
                kind: row.get(1)?,
                state: row.get(2)?,
                created_at: row.get(3)?,
                outcome: row.get(4)?,
            })
        },
    )
}

/// Has a message that was given up tried again from the start; false when it
/// was not given up, is worth nothing any more, or what it says is forgotten.
pub fn try_again(tx: &WriteTx<'_>, message: i64) -> Result<bool> {
    let queued = tx.execute(
        "UPDATE outbox SET state = 0, run_at = ?3, done_at = NULL, outcome = NULL, attempts = 0, lease = NULL
         WHERE message_id = ?1 AND state = ?2 AND (expires_at IS NULL OR expires_at > ?3)
             AND done_at >= ?4",
        (
            message,
            state::GIVEN_UP,
            tx.now().0,
            MESSAGE_BODIES.before(tx.now()).0,
        ),
    )?;
    Ok(queued == 1)
}

/// Drops one waiting message; false when it does not wait.
pub fn cancel(tx: &WriteTx<'_>, message: i64, reason: &str) -> Result<bool> {
    let dropped = tx.execute(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = ?4 WHERE message_id = ?1 AND state = 0",
        (message, state::DROPPED, tx.now().0, reason),
    )?;
    Ok(dropped == 1)
}

/// Drops waiting messages whose keys begin so, at most `most` of them; gives
/// back how many.
pub fn drop_keyed(tx: &WriteTx<'_>, beginning: &str, reason: &str, most: usize) -> Result<usize> {
    tx.execute(
        "UPDATE outbox SET state = ?3, done_at = ?4, outcome = ?5 WHERE message_id IN (
             SELECT message_id FROM outbox
             WHERE dedup_key >= ?1 AND dedup_key < ?2 AND +state = 0 LIMIT ?6)",
        (
            beginning,
            format!("{beginning}\u{10ffff}"),
            state::DROPPED,
            tx.now().0,
            reason,
            i64::try_from(most).unwrap_or(1),
        ),
    )
}
