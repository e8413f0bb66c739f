//! The log of each account's events, for programs that pull them, and the ids of events.
//!
//! Every event of an account with a plan is kept, whether an endpoint wants it or not, with
//! the body that webhooks send. The numbers of an account have no gap, and the oldest are
//! removed first, so an id tells whether anything after it is missing. An account's
//! newest event stays, so that no number is given twice. Decision webhooks-10.

use serde_json::value::RawValue;

use super::MessageId;
use super::objects::Event;
use crate::base::retention::EVENTS;
use crate::base::text::{from_hex, hex};
use crate::base::{Sealer, UserId, secrets};
use crate::db::{ReadTx, Result, WriteTx};
use crate::events::EventType;
use crate::row;

/// Most events that are kept of an account.
pub const MOST_EVENTS: i64 = 200_000;

/// Bytes of an id: the number, some at random, and the signature of both.
const NUMBER: usize = 6;
const SIGNED: usize = 10;

impl MessageId {
    /// The id of an account's event. The random part tells it from an event with the same
    /// number of before a copy was restored.
    fn numbered(sealer: &Sealer, user: UserId, number: i64) -> Self {
        let (count, chance): (_, [u8; SIGNED - NUMBER]) = (number.to_be_bytes(), secrets::random());
        let mut bytes = [0; 16];
        bytes[..NUMBER].copy_from_slice(&count[count.len() - NUMBER..]);
        bytes[NUMBER..SIGNED].copy_from_slice(&chance);
        let id = Self(bytes);
        id.with_signature(sealer, user)
    }

    fn with_signature(mut self, sealer: &Sealer, user: UserId) -> Self {
        let digest = sealer.noted(&["event", &user.0.to_string(), &hex(&self.0[..SIGNED])]);
        let rest = self.0.len() - SIGNED;
        self.0[SIGNED..].copy_from_slice(&digest[..rest]);
        self
    }

    /// Reads the id of an event of an account; `None` for what is no such id.
    pub fn read(sealer: &Sealer, user: UserId, text: &str) -> Option<Self> {
        let id = Self(from_hex(text.strip_prefix("msg_")?)?.try_into().ok()?);
        (id.with_signature(sealer, user) == id).then_some(id)
    }

    /// The number of the event.
    fn number(self) -> i64 {
        self.0[..NUMBER].iter().fold(0, |number, byte| number << 8 | i64::from(*byte))
    }
}

/// Appends an event under the next number of its account; `body` makes its body. Returns id
/// and body; `None` when there is nothing to tell.
pub fn append(
    tx: &WriteTx<'_>,
    sealer: &Sealer,
    event: &Event,
    body: impl FnOnce(MessageId) -> Result<Option<String>>,
) -> Result<Option<(MessageId, String)>> {
    let user = event.user;
    let newest: i64 =
        tx.value("SELECT coalesce(max(number), 0) FROM partner_event WHERE user_id = ?1", [user])?;
    let number = newest + 1;
    let message = MessageId::numbered(sealer, user, number);
    let Some(body) = body(message)? else { return Ok(None) };
    tx.run(
        "INSERT INTO partner_event (user_id, number, message, kind, at, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        (user, number, message.0, event.kind, event.at, &body),
    )?;
    if number > MOST_EVENTS {
        tx.run(
            "DELETE FROM partner_event WHERE user_id = ?1 AND number <= ?2",
            (user, number - MOST_EVENTS),
        )?;
    }
    Ok(Some((message, body)))
}

row! {
    /// An event of the log.
    pub struct LoggedEvent {
        pub message: MessageId => MessageId,
        pub body: Box<RawValue> = "body" => |text: String| RawValue::from_string(text).unwrap_or_default(),
    }
}

/// Where to begin.
#[derive(Clone, Copy)]
pub enum Position {
    /// At the oldest event that is kept.
    Oldest,
    /// After the newest one.
    Newest,
    /// After an event.
    After(MessageId),
}

/// Events in their order, and where to go on.
pub struct Stretch {
    pub events: Vec<LoggedEvent>,
    /// The event after which to go on; `None` before the first one.
    pub last: Option<MessageId>,
    pub has_more: bool,
}

/// Events of an account, of some types or of all; `None` when some after the given one are
/// no longer kept.
pub fn stretch(
    tx: &ReadTx<'_>,
    user: UserId,
    from: Position,
    kinds: &[EventType],
    limit: usize,
) -> Result<Option<Stretch>> {
    let end = |order: &str| -> Result<Option<(i64, [u8; 16])>> {
        let sql = format!(
            "SELECT number, message FROM partner_event WHERE user_id = ?1 ORDER BY number {order} LIMIT 1"
        );
        tx.tuple(&sql, [user])
    };
    let newest = end("DESC")?;
    let (last_number, last) =
        newest.map_or((0, None), |(number, id)| (number, Some(MessageId(id))));
    let nothing = |last| Ok(Some(Stretch { events: Vec::new(), last, has_more: false }));
    let after = match from {
        Position::Newest => return nothing(last),
        Position::Oldest => 0,
        Position::After(id) if Some(id) == last => return nothing(last),
        Position::After(id) if is_reached(tx, user, id, last_number, end("ASC")?)? => id.number(),
        Position::After(_) => return Ok(None),
    };
    let mut events = after_number(tx, user, after, kinds, limit + 1)?;
    let has_more = events.len() > limit;
    events.truncate(limit);
    let last = if has_more { events.last().map(|event| event.message) } else { last };
    Ok(Some(Stretch { events, last, has_more }))
}

/// Whether all events after one are kept: it is kept itself, or the one that follows it is
/// the oldest. One that is newer than all, or another one with its number, is of before a
/// copy was restored.
fn is_reached(
    tx: &ReadTx<'_>,
    user: UserId,
    id: MessageId,
    newest: i64,
    oldest: Option<(i64, [u8; 16])>,
) -> Result<bool> {
    let number = id.number();
    let Some((oldest, _)) = oldest.filter(|_| number <= newest) else { return Ok(false) };
    if number < oldest {
        return Ok(number + 1 == oldest);
    }
    let kept: Option<[u8; 16]> = tx.maybe(
        "SELECT message FROM partner_event WHERE user_id = ?1 AND number = ?2",
        (user, number),
    )?;
    Ok(kept == Some(id.0))
}

/// The next events after a number: a range of the table, or merged from those of each type.
fn after_number(
    tx: &ReadTx<'_>,
    user: UserId,
    after: i64,
    kinds: &[EventType],
    most: usize,
) -> Result<Vec<LoggedEvent>> {
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    if kinds.is_empty() {
        return tx.records(
            "FROM partner_event WHERE user_id = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
            (user, after, limit),
        );
    }
    let mut numbers: Vec<i64> = Vec::new();
    for kind in kinds {
        numbers.extend(tx.values::<i64>(
            "SELECT number FROM partner_event INDEXED BY partner_event_by_kind
             WHERE user_id = ?1 AND kind = ?2 AND number > ?3 ORDER BY number LIMIT ?4",
            (user, kind, after, limit),
        )?);
    }
    numbers.sort_unstable();
    numbers.truncate(most);
    let mut events = Vec::with_capacity(numbers.len());
    for number in numbers {
        events.extend(tx.record::<LoggedEvent>(
            "FROM partner_event WHERE user_id = ?1 AND number = ?2",
            (user, number),
        )?);
    }
    Ok(events)
}

/// Removes events after the retention period, at most `most`; returns how many. The newest
/// of an account stays.
pub fn forget_events(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM partner_event WHERE (user_id, number) IN (
             SELECT user_id, number FROM partner_event e
             WHERE at < ?1
                 AND EXISTS (SELECT 1 FROM partner_event newer
                             WHERE newer.user_id = e.user_id AND newer.number > e.number)
             ORDER BY at LIMIT ?2)",
        (EVENTS.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{DAY_S, Instant};
    use crate::db::Lane;
    use crate::fixture::{NOW, TestDir};

    const ANA: UserId = UserId(1);

    #[test]
    fn an_id_whose_successors_are_gone_is_too_old_and_the_newest_stays() {
        let (dir, sealer) = (TestDir::new(), Sealer::new([7; 32]));
        let db = dir.database();
        let signer = sealer.clone();
        let old = NOW.minus(31 * DAY_S);
        let ids = db.write(move |tx| {
            tx.run(
                "INSERT INTO user (user_id, email, name, role, created_at)
                 VALUES (1, 'ana@example.com', 'Ana', 'pro', 1)",
                [],
            )?;
            let told = |at: Instant| {
                let (kind, object) = (EventType::OrderPaid, 1);
                let event = Event { user: ANA, kind, object, movement: None, at, data: None };
                let kept = append(tx, &signer, &event, |id| Ok(Some(format!("\"{id}\""))))?;
                Ok::<_, crate::db::DbError>(kept.expect("a body").0)
            };
            [old, old, NOW, NOW].into_iter().map(told).collect::<Result<Vec<_>>>()
        });
        let ids = ids.unwrap();
        let after = |id: MessageId| {
            let read = |tx: &ReadTx<'_>| stretch(tx, ANA, Position::After(id), &[], 10);
            let read = db.read(Lane::Slow, read).unwrap();
            read.map(|read| read.events.len())
        };
        assert_eq!([after(ids[0]), after(ids[3])], [Some(3), Some(0)]);
        assert_eq!(db.write(|tx| forget_events(tx, 10)).unwrap(), 2);
        let left: Vec<_> = ids.iter().map(|id| after(*id)).collect();
        assert_eq!(left, [None, Some(2), Some(1), Some(0)], "nothing is missing after the second");
        let unknown = MessageId::numbered(&sealer, ANA, 3);
        assert_eq!(after(unknown), None, "another event had that number");
        assert_eq!(after(MessageId::numbered(&sealer, ANA, 5)), None, "it is not here yet");
        db.write(|tx| tx.run("UPDATE partner_event SET at = 1", [])).unwrap();
        assert_eq!(db.write(|tx| forget_events(tx, 10)).unwrap(), 1);
        assert_eq!((after(ids[2]), after(ids[3])), (Some(1), Some(0)), "the newest stays");
    }

    #[test]
    fn an_id_is_an_accounts_own_and_not_made_up() {
        let sealer = Sealer::new([7; 32]);
        let id = MessageId::numbered(&sealer, UserId(1), 70_000);
        assert_eq!(id.number(), 70_000);
        let text = id.to_string();
        assert_eq!(MessageId::read(&sealer, UserId(1), &text), Some(id));
        assert_eq!(MessageId::read(&sealer, UserId(2), &text), None);
        assert_ne!(MessageId::numbered(&sealer, UserId(1), 70_000), id);
        for at in 4..text.len() {
            let letter = if &text[at..=at] == "0" { "1" } else { "0" };
            let changed = format!("{}{letter}{}", &text[..at], &text[at + 1..]);
            assert_eq!(MessageId::read(&sealer, UserId(1), &changed), None, "{changed}");
        }
        for made_up in ["", "7", "msg_", &text[4..], &text[..text.len() - 1]] {
            assert_eq!(MessageId::read(&sealer, UserId(1), made_up), None, "{made_up}");
        }
    }
}
