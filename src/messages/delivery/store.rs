//! The queue in the database, as the workers process it.

use super::chat::evolution::{UNANSWERED, UNCONNECTED};
use crate::base::queue::MESSAGE_LEASE_S;
use crate::base::{Instant, UserId, shortened};
use crate::db::{ReadTx, Result, WriteTx};
use crate::messages::choices;
use crate::outbox::{Channel, MessageState, unreachable};
use crate::row;

/// Most messages that one claim drops.
const DROPPED_AT_ONCE: usize = 50;
/// Longest reason that is noted.
const LONGEST_REASON: usize = 300;

row! {
    /// A message under a lease.
    #[derive(Clone, Debug)]
    pub struct Claimed {
        pub id: i64 = "o.message_id",
        /// Globally unique id; the same at each try.
        pub global_id: String = "o.global_id",
        pub lease: i64 = "?3",
        pub user: UserId = "o.user_id",
        pub kind: String = "o.kind",
        pub params: String = "o.params",
        /// Tries so far, this one included.
        pub attempts: i64 = "o.attempts + 1",
        pub name: String = "u.name",
        pub email: String = "u.email",
        pub chat_number: Option<String> = "coalesce(o.params ->> 'number', u.chat_number)",
        /// Whether that is a number of the message alone, such as a test has.
        pub has_own_number: bool = "o.params ->> 'number' IS NOT NULL",
        /// Id of the linked Telegram chat, unless the bot is blocked in it.
        pub telegram: Option<i64> = "(SELECT t.chat_id FROM telegram_chat t
        WHERE t.user_id = o.user_id AND t.blocked_at IS NULL)",
        /// Not sent after this.
        pub expires_at: Option<Instant> = "o.expires_at",
        /// When the recipient last used the platform.
        pub last_access_at: Option<Instant> = "u.last_access_at",
        /// Whether an earlier try was interrupted before its result was stored.
        pub repeated: bool = "o.lease IS NOT NULL",
        /// The request that caused it; empty for what the service does by itself.
        pub request_id: String = "o.request_id",
    }
}

/// Noted on a message that may have been sent before.
const REPEATED: &str = "talvez repetida: o envio anterior não chegou ao fim";

/// The result of [`claim`].
pub struct ClaimOutcome {
    pub claimed: Option<Claimed>,
    /// Messages that were dropped before one was claimed.
    pub dropped: usize,
}

/// SQL condition: the message is due, and it is the oldest unfinished one of
/// its recipient in the channel.
const DUE: &str = "o.channel = ?1 AND o.run_at <= ?2 AND o.state = 0
    AND NOT EXISTS (
        SELECT 1 FROM outbox e
        WHERE e.user_id = o.user_id AND e.channel = ?1 AND e.state = 0
            AND e.message_id < o.message_id)";

/// Whether a message of a channel is due.
pub fn is_due(tx: &ReadTx<'_>, channel: Channel, now: Instant) -> Result<bool> {
    tx.value(&format!("SELECT EXISTS (SELECT 1 FROM outbox o WHERE {DUE})"), (channel, now))
}

row! {
    struct Due {
        claimed: Claimed as row,
        suspended: bool = "u.suspended_at IS NOT NULL",
        has_devices: bool = "EXISTS (SELECT 1 FROM push_device d WHERE d.user_id = o.user_id)",
    }
}

// `?3` is the lease that the message gets.

/// Claims the message that is overdue longest and is the oldest unfinished one
/// of its recipient. Messages that cannot be sent are dropped, with the reason.
pub fn claim(tx: &WriteTx<'_>, channel: Channel, lease: i64) -> Result<ClaimOutcome> {
    let mut dropped = 0;
    let next = format!(
        "FROM outbox o CROSS JOIN user u ON u.user_id = o.user_id
         WHERE {DUE}
         ORDER BY o.run_at, o.message_id
         LIMIT 1"
    );
    while dropped < DROPPED_AT_ONCE {
        let Some(due) = tx.record::<Due>(&next, (channel, tx.now(), lease))? else { break };
        let claimed = due.claimed;
        let reason = match channel {
            _ if due.suspended => "a pessoa está suspensa",
            _ if claimed.expires_at.is_some_and(|at| at <= tx.now()) => {
                "o prazo dela passou antes do envio"
            }
            Channel::Chat if claimed.chat_number.is_none() => "a pessoa não tem número de chat",
            Channel::Chat if is_silenced(tx, &claimed)? => SILENCED,
            Channel::Telegram if claimed.telegram.is_none() => {
                "a pessoa não tem um Telegram conectado"
            }
            Channel::Push if !due.has_devices => "a pessoa não recebe avisos em nenhum navegador",
            _ => {
                tx.execute(
                    "UPDATE outbox SET lease = ?2, run_at = ?3, attempts = attempts + 1 WHERE message_id = ?1",
                    (claimed.id, lease, tx.now().plus(MESSAGE_LEASE_S)),
                )?;
                return Ok(ClaimOutcome { claimed: Some(claimed), dropped });
            }
        };
        drop_message(tx, claimed.id, reason)?;
        dropped += 1;
    }
    Ok(ClaimOutcome { claimed: None, dropped })
}

/// Why a message to a number is dropped that is not reached.
const SILENCED: &str = "o WhatsApp recusou este número três vezes seguidas; corrija o número";

fn is_silenced(tx: &ReadTx<'_>, claimed: &Claimed) -> Result<bool> {
    if claimed.has_own_number {
        return Ok(false);
    }
    Ok(unreachable::of(tx, claimed.user)?.is_some_and(|found| found.is_silenced()))
}

pub fn drop_message(tx: &WriteTx<'_>, id: i64, reason: &str) -> Result<()> {
    tx.run(
        "UPDATE outbox SET state = ?2, done_at = ?3, outcome = ?4, lease = NULL
         WHERE message_id = ?1 AND state = 0",
        (id, MessageState::Dropped, tx.now(), reason),
    )
}

/// Stores that the provider accepted a message. Nothing changes when the lease
/// is no longer valid: what another worker or a person stored meanwhile stays.
pub fn sent(tx: &WriteTx<'_>, claimed: &Claimed, provider: &str) -> Result<()> {
    tx.run(
        "UPDATE outbox SET state = ?3, done_at = ?4, provider = ?5, outcome = ?6, lease = NULL
         WHERE message_id = ?1 AND lease = ?2 AND state = 0",
        (
            claimed.id,
            claimed.lease,
            MessageState::Sent,
            tx.now(),
            shortened(provider, LONGEST_REASON),
            claimed.repeated.then_some(REPEATED),
        ),
    )
}

/// Puts a message back into the queue for `pause_s` seconds. Unless it `is_try`,
/// no try is counted.
pub fn put_back(
    tx: &WriteTx<'_>,
    claimed: &Claimed,
    error: &str,
    pause_s: i64,
    is_try: bool,
) -> Result<()> {
    tx.run(
        "UPDATE outbox SET run_at = ?3, outcome = ?4, lease = NULL, attempts = attempts - ?5
         WHERE message_id = ?1 AND lease = ?2 AND state = 0",
        (
            claimed.id,
            claimed.lease,
            tx.now().plus(pause_s),
            shortened(error, LONGEST_REASON),
            i64::from(!is_try),
        ),
    )
}

/// Gives a message up because the network does not reach its number, and counts that.
pub fn give_up_not_there(tx: &WriteTx<'_>, claimed: &Claimed, error: &str) -> Result<()> {
    let is_given_up = end(tx, claimed, error)?;
    match &claimed.chat_number {
        // Else that was told, and counted, before the answer came.
        Some(number) if is_given_up && !claimed.has_own_number => {
            unreachable::note(tx, claimed.user, number, error)
        }
        _ => Ok(()),
    }
}

/// Gives a message up because the person does not want messages by its channel, which is
/// a choice of theirs from now on.
pub fn give_up_unwanted(
    tx: &WriteTx<'_>,
    claimed: &Claimed,
    channel: Channel,
    error: &str,
) -> Result<()> {
    give_up(tx, claimed, error)?;
    if claimed.has_own_number {
        return Ok(());
    }
    choices::set(tx, claimed.user, channel.name(), false)
}

/// Gives a message up, with the reason.
pub fn give_up(tx: &WriteTx<'_>, claimed: &Claimed, error: &str) -> Result<()> {
    end(tx, claimed, error).map(drop)
}

/// The same; false when the lease is no longer valid.
fn end(tx: &WriteTx<'_>, claimed: &Claimed, error: &str) -> Result<bool> {
    let ended = tx.execute(
        "UPDATE outbox SET state = ?3, done_at = ?4, outcome = ?5, lease = NULL
         WHERE message_id = ?1 AND lease = ?2 AND state = 0",
        (
            claimed.id,
            claimed.lease,
            MessageState::GivenUp,
            tx.now(),
            shortened(error, LONGEST_REASON),
        ),
    )?;
    Ok(ended == 1)
}

/// Begins the reason of a message that waits because every recipient is
/// rejected.
const REFUSED: &str = "todos os destinatários são recusados";

/// The reason of a message that waits because every recipient is rejected.
pub fn refused_reason(said: &str) -> String {
    format!("{REFUSED}: {said}")
}

/// Puts a message back into the queue, and with it those that failed before it
/// was known that every recipient is rejected. No try is counted.
pub fn wait_refused(
    tx: &WriteTx<'_>,
    claimed: &Claimed,
    revived: &[i64],
    reason: &str,
) -> Result<()> {
    put_back(tx, claimed, reason, 0, false)?;
    for id in revived {
        tx.run(
            "UPDATE outbox SET state = 0, done_at = NULL, run_at = ?2, outcome = ?3, attempts = attempts - 1
             WHERE message_id = ?1 AND state = ?4",
            (id, tx.now(), shortened(reason, LONGEST_REASON), MessageState::GivenUp),
        )?;
    }
    Ok(())
}

row! {
    /// Messages of a channel that wait because the channel is out of order.
    #[derive(Debug)]
    pub struct RefusedMessages {
        pub count: i64 = "count(*)",
        /// What the provider said last.
        pub reason: String = "max(outcome)",
    }
}

/// The waiting messages of a channel that rejects every recipient; `None` when
/// there are none.
pub fn refused(tx: &ReadTx<'_>, channel: Channel) -> Result<Option<RefusedMessages>> {
    waiting_for(tx, channel, REFUSED)
}

/// The waiting chat messages whose gateway has lost the connection of its phone, or is not
/// answered by the network; `None` when there are none.
pub fn unconnected(tx: &ReadTx<'_>) -> Result<Option<RefusedMessages>> {
    match waiting_for(tx, Channel::Chat, UNCONNECTED)? {
        None => waiting_for(tx, Channel::Chat, UNANSWERED),
        found => Ok(found),
    }
}

/// Waiting messages of a channel whose reason begins so.
fn waiting_for(tx: &ReadTx<'_>, channel: Channel, reason: &str) -> Result<Option<RefusedMessages>> {
    // They are due last. A thousand show how it is.
    let from = "FROM (SELECT outcome FROM outbox INDEXED BY outbox_due
                      WHERE channel = ?1 AND state = 0 ORDER BY run_at DESC LIMIT 1000)
                WHERE outcome LIKE ?2 HAVING count(*) > 0";
    tx.record(from, (channel, format!("{reason}%")))
}

/// Makes messages due again that were being sent when the process ended.
pub fn recover(tx: &WriteTx<'_>) -> Result<usize> {
    tx.execute("UPDATE outbox SET run_at = ?1 WHERE lease IS NOT NULL AND +state = 0", [tx.now()])
}
