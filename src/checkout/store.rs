//! Purchase events in the database.

use rusqlite::{Params, Row};

use super::purchase_state::Fact;
use super::reduced::reduced;
use super::sold::Sold;
use super::{Event, EventKind, EventState};
use crate::base::{Cents, Instant, UserId};
use crate::db::{Filters, ReadTx, Record as _, Result, RowWindow, WriteTx};
use crate::panel::ListQuery;
use crate::row;

/// What was decided about an event.
#[derive(Clone, Debug)]
pub struct Decision {
    pub state: EventState,
    /// What it did and why, in words.
    pub outcome: String,
    /// The student for whom it counts.
    pub user: Option<UserId>,
}

/// Whether an event was stored before.
pub fn is_known(tx: &ReadTx<'_>, dedup_key: &[u8; 16]) -> Result<bool> {
    tx.value("SELECT EXISTS (SELECT 1 FROM checkout_event WHERE dedup_key = ?1)", [dedup_key])
}

/// Whether a purchase is of somebody whose address was removed from it.
pub fn is_nameless(tx: &ReadTx<'_>, transaction: &str) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM checkout_event
                        WHERE purchase = ?1 AND state <> 3 AND +email = '' AND user_id IS NULL)",
        [transaction],
    )
}

/// An event that is to be stored.
pub struct New<'n> {
    pub dedup_key: [u8; 16],
    pub event: &'n Event,
    pub fact: &'n Fact,
    pub body: &'n str,
}

/// Stores an event with what was decided about it.
pub fn insert(tx: &WriteTx<'_>, new: &New<'_>, decision: &Decision) -> Result<()> {
    let New { event, fact, .. } = new;
    let email = event.email.as_deref().unwrap_or_default();
    let own: bool = tx.value(
        "SELECT EXISTS (SELECT 1 FROM user WHERE user_id = ?1 AND email = ?2)",
        (decision.user, email),
    )?;
    let (now, apart, sold) = (tx.now(), !own, Sold::of(new.body));
    let id = tx.put(
        "INSERT INTO checkout_event",
        *fact,
        &[
            ("received_at", &now),
            ("dedup_key", &new.dedup_key),
            ("event", &event.name),
            ("state", &decision.state),
            ("outcome", &decision.outcome),
            ("user_id", &decision.user),
            ("email", &email),
            ("apart", &apart),
            ("product_name", &sold.product),
            ("amount_cents", &sold.amount),
            ("currency", &sold.currency),
        ],
    )?;
    tx.execute(
        "INSERT INTO checkout_body (event_id, received_at, body) VALUES (?1, ?2, ?3)",
        (id, now, new.body),
    )?;
    count(tx, fact.kind, decision.state, 1)
}

/// Writes what was decided about a stored event when it was processed again.
pub fn update(tx: &WriteTx<'_>, before: &Stored, fact: &Fact, decision: &Decision) -> Result<()> {
    tx.change(
        "checkout_event",
        fact,
        &[
            ("state", &decision.state),
            ("outcome", &decision.outcome),
            ("user_id", &decision.user),
            ("apart", &true),
        ],
        &[("event_id", &before.id)],
    )?;
    count(tx, before.kind, before.state, -1)?;
    count(tx, fact.kind, decision.state, 1)
}

fn count(tx: &WriteTx<'_>, kind: EventKind, state: EventState, by: i64) -> Result<()> {
    tx.execute(
        "INSERT INTO checkout_count (kind, state, events) VALUES (?1, ?2, ?3)
         ON CONFLICT (kind, state) DO UPDATE SET events = events + ?3",
        (kind, state, by),
    )?;
    Ok(())
}

/// The id of an event, and its fact.
pub type StoredFact = (i64, Fact);

/// The facts of the events that a condition finds.
fn facts_where(tx: &ReadTx<'_>, condition: &str, params: impl Params) -> Result<Vec<StoredFact>> {
    let columns = Fact::COLUMNS;
    let sql = format!("SELECT {columns}, event_id FROM checkout_event WHERE {condition}");
    tx.all(&sql, params, |row| {
        let mut at = 0;
        let fact = Fact::read_at(row, &mut at)?;
        Ok((row.get(at)?, fact))
    })
}

/// The facts of all events that count for a student.
pub fn facts(tx: &ReadTx<'_>, user: UserId) -> Result<Vec<StoredFact>> {
    facts_where(tx, "user_id = ?1", [user])
}

/// The student to whom a transaction belongs, `preferred` if to several.
pub fn owner(
    tx: &ReadTx<'_>,
    transaction: &str,
    preferred: Option<UserId>,
) -> Result<Option<UserId>> {
    tx.maybe(
        "SELECT user_id FROM checkout_event
         WHERE purchase = ?1 AND user_id IS NOT NULL AND state <> 3
         ORDER BY user_id IS ?2 DESC, event_id
         LIMIT 1",
        (transaction, preferred),
    )
}

/// Events of an address in a state. The `+` keeps the query planner from reading all
/// events of that state.
const OF_EMAIL: &str = "email = ?1 AND email <> '' AND state <> 3 AND apart = 1 AND +state = ?2";

/// Lets events count for a student: those that waited for a student with this
/// e-mail address or transaction. Returns their facts.
pub fn adopt(
    tx: &WriteTx<'_>,
    user: UserId,
    email: &str,
    transaction: Option<&str>,
) -> Result<Vec<StoredFact>> {
    let state = EventState::NoStudent;
    let mut adopted = facts_where(tx, OF_EMAIL, (email, state))?;
    let of_transaction = "purchase = ?1 AND state <> 3 AND +state = ?2 AND email <> ?3";
    adopted.extend(facts_where(tx, of_transaction, (transaction, state, email))?);
    for one in &adopted {
        let outcome = "Chegou antes da conta existir e passou a contar quando ela apareceu.";
        let_count(tx, one, user, (EventState::NoStudent, outcome))?;
    }
    Ok(adopted)
}

/// Events of an e-mail address that were not applied because they had no plan.
pub fn without_plan(tx: &ReadTx<'_>, email: &str) -> Result<Vec<StoredFact>> {
    facts_where(tx, OF_EMAIL, (email, EventState::NoPlan))
}

/// Events of a transaction that were not applied because they had no plan. New
/// payments are not included: they are found by their e-mail address.
pub fn without_plan_of(tx: &ReadTx<'_>, transaction: &str) -> Result<Vec<StoredFact>> {
    let wanted = (transaction, EventState::NoPlan, EventKind::Approved);
    facts_where(tx, "purchase = ?1 AND state <> 3 AND +state = ?2 AND +kind <> ?3", wanted)
}

/// Lets an event that was not applied for lack of a plan count for a student.
pub fn let_follow(tx: &WriteTx<'_>, event: &StoredFact, user: UserId) -> Result<()> {
    let outcome = "Não tem plano configurado e passou a contar com a compra a que pertence.";
    let_count(tx, event, user, (EventState::NoPlan, outcome))
}

/// Lets an event with the state `before` count for a student.
fn let_count(
    tx: &WriteTx<'_>,
    (id, fact): &StoredFact,
    user: UserId,
    (before, outcome): (EventState, &str),
) -> Result<()> {
    tx.execute(
        "UPDATE checkout_event SET user_id = ?2, state = ?3, outcome = ?4 WHERE event_id = ?1",
        (id, user, EventState::Applied, outcome),
    )?;
    count(tx, fact.kind, before, -1)?;
    count(tx, fact.kind, EventState::Applied, 1)
}

row! {
    /// An event as the inbox shows it, of `checkout_event AS newest`.
    #[derive(Clone, Debug)]
    pub struct Stored {
        pub id: i64 = "event_id",
        pub received_at: Instant,
        pub event: String,
        pub kind: EventKind,
        pub state: EventState,
        pub outcome: String,
        pub user: Option<UserId> = "user_id",
        pub email: String,
        pub transaction: Option<String> = "purchase",
        pub subscriber: Option<String>,
        pub product: Option<String>,
        pub happened_ms: i64,
        /// Empty when the platform did not say it.
        pub product_name: String,
        pub amount: Option<Cents> = "amount_cents",
        pub currency: String,
        /// Name of the student for whom it counts.
        pub student: Option<String> = "(SELECT u.name FROM user u WHERE u.user_id = newest.user_id AND u.removed_at IS NULL)",
    }
}

/// Number of events by result, of one kind of event or of all.
pub fn by_state(tx: &ReadTx<'_>, kind: Option<EventKind>) -> Result<Vec<(EventState, u64)>> {
    let found: Vec<(EventState, i64)> = tx.tuples(
        "SELECT state, sum(events) FROM checkout_count WHERE (?1 IS NULL OR kind = ?1) GROUP BY state",
        [kind],
    )?;
    Ok(found.into_iter().map(|(state, count)| (state, u64::try_from(count).unwrap_or(0))).collect())
}

/// One event, and its body while that is kept.
pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<(Stored, Option<String>)>> {
    let sql = format!(
        "SELECT {}, (SELECT body FROM checkout_body WHERE event_id = ?1)
         FROM checkout_event AS newest WHERE event_id = ?1",
        Stored::COLUMNS
    );
    tx.optional(&sql, [id], |row| {
        let mut at = 0;
        Ok((Stored::read_at(row, &mut at)?, row.get(at)?))
    })
}

/// Search and filters of the inbox.
#[derive(Clone, Debug, Default)]
pub struct PurchaseQuery {
    /// Start of an e-mail address or of a transaction; empty for all. Events in
    /// the state `Kept` are found only among the newest 20,000.
    pub search: String,
    pub kind: Option<EventKind>,
    pub state: Option<EventState>,
}

impl PurchaseQuery {
    pub fn of(query: &ListQuery) -> Self {
        Self {
            search: query.search.clone(),
            kind: query.filter("evento").and_then(EventKind::from_name),
            state: query.filter("resultado").and_then(EventState::from_name),
        }
    }
}

/// The events whose e-mail address or transaction begins with the search. Those
/// in the state `Kept` are found only among the newest.
const FOUND: &str = "event_id IN (
    SELECT event_id FROM checkout_event
    WHERE email >= :email AND email < :email_end AND email <> '' AND state <> 3 AND apart = 1
    UNION
    SELECT event_id FROM checkout_event
    WHERE user_id IN (SELECT user_id FROM user WHERE email >= :email AND email < :email_end)
      AND email <> '' AND state <> 3 AND apart = 0
    UNION
    SELECT event_id FROM checkout_event
    WHERE purchase >= :typed AND purchase < :typed_end AND state <> 3
    UNION
    SELECT event_id FROM checkout_event
    WHERE purchase >= :upper AND purchase < :upper_end AND state <> 3
    UNION
    SELECT event_id FROM checkout_event
    WHERE state = 3
      AND event_id > (SELECT coalesce(max(event_id), 0) - 20000 FROM checkout_event)
      AND (email >= :email AND email < :email_end AND email <> ''
           OR purchase >= :typed AND purchase < :typed_end
           OR purchase >= :upper AND purchase < :upper_end))";

/// One page of events, newest first, with the number of all that match.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &PurchaseQuery,
    window: RowWindow,
) -> Result<(Vec<Stored>, u64)> {
    select(tx, wanted, window, Stored::COLUMNS, Stored::read)
}

/// Ids of the newest events that match, at most `most`.
pub fn ids(tx: &ReadTx<'_>, wanted: &PurchaseQuery, most: u32) -> Result<Vec<i64>> {
    select(tx, wanted, RowWindow::first(most), "event_id", |row| row.get(0)).map(|(ids, _)| ids)
}

fn select<T>(
    tx: &ReadTx<'_>,
    wanted: &PurchaseQuery,
    RowWindow { limit, offset }: RowWindow,
    columns: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<(Vec<T>, u64)> {
    let lower = wanted.search.to_lowercase();
    let upper = wanted.search.to_uppercase();
    let starts = |text: &str| (text.to_owned(), format!("{text}\u{10ffff}"));
    let (email, typed, upper) = (starts(&lower), starts(&wanted.search), starts(&upper));
    let mut filters = Filters::new("true", &[]);
    filters.and_if("kind = :kind", ":kind", &wanted.kind);
    filters.and_if("state = :state", ":state", &wanted.state);
    let total = if wanted.search.is_empty() {
        let sql =
            format!("SELECT coalesce(sum(events), 0) FROM checkout_count WHERE {}", filters.sql());
        tx.count(&sql, filters.values())?
    } else {
        filters.and(
            FOUND,
            &[
                (":email", &email.0),
                (":email_end", &email.1),
                (":typed", &typed.0),
                (":typed_end", &typed.1),
                (":upper", &upper.0),
                (":upper_end", &upper.1),
            ],
        );
        let sql = format!("SELECT count(*) FROM checkout_event WHERE {}", filters.sql());
        tx.count(&sql, filters.values())?
    };
    if total == 0 {
        return Ok((Vec::new(), 0));
    }
    let sql = format!(
        "SELECT {columns} FROM checkout_event AS newest WHERE {}
         ORDER BY event_id DESC LIMIT :limit OFFSET :offset",
        filters.sql()
    );
    filters.bind(&[(":limit", &limit), (":offset", &offset)]);
    Ok((tx.all(&sql, filters.values(), read)?, total))
}

/// Removes bodies received before an instant, the oldest first and at most
/// `most`; returns how many. Of these events, those in the state `Kept` also
/// lose their e-mail address.
pub fn forget_bodies(tx: &WriteTx<'_>, before: Instant, most: usize) -> Result<usize> {
    let forgotten: Vec<i64> = tx.values(
        "DELETE FROM checkout_body
         WHERE received_at < ?1
           AND event_id IN (SELECT event_id FROM checkout_body ORDER BY event_id LIMIT ?2)
         RETURNING event_id",
        (before, i64::try_from(most).unwrap_or(1)),
    )?;
    for event in &forgotten {
        tx.execute(
            "UPDATE checkout_event SET email = '' WHERE event_id = ?1 AND +state = ?2",
            (event, EventState::Kept),
        )?;
    }
    Ok(forgotten.len())
}

/// Removes the data of a deleted student from at most `most` events: e-mail
/// addresses and bodies go, the events stay. Returns how many were changed.
pub fn forget_person(tx: &WriteTx<'_>, user: UserId, email: &str, most: usize) -> Result<usize> {
    let named = named(tx, user, email, most)?;
    for event in &named {
        tx.execute("DELETE FROM checkout_body WHERE event_id = ?1", [event])?;
        tx.execute("UPDATE checkout_event SET email = '' WHERE event_id = ?1", [event])?;
    }
    Ok(named.len())
}

/// The same of a person who is erased, whose purchases keep their amounts for
/// the books: of the bodies stays what names nobody.
pub fn reduce_person(tx: &WriteTx<'_>, user: UserId, email: &str, most: usize) -> Result<usize> {
    let named = named(tx, user, email, most)?;
    for event in &named {
        let body: Option<String> =
            tx.maybe("SELECT body FROM checkout_body WHERE event_id = ?1", [event])?;
        if let Some(body) = body {
            tx.execute(
                "UPDATE checkout_body SET body = ?2 WHERE event_id = ?1",
                (event, reduced(&body)),
            )?;
        }
        tx.execute(
            "UPDATE checkout_event SET email = '', subscriber = NULL WHERE event_id = ?1",
            [event],
        )?;
    }
    Ok(named.len())
}

/// At most `most` events that still have the address of a person: their own, and those
/// with this address that are nobody's. Others may have bought with it before.
fn named(tx: &ReadTx<'_>, user: UserId, email: &str, most: usize) -> Result<Vec<i64>> {
    tx.values(
        "SELECT event_id FROM checkout_event WHERE user_id = ?1 AND email <> ''
         UNION
         SELECT event_id FROM checkout_event
         WHERE email = ?2 AND email <> '' AND state <> 3 AND apart = 1 AND user_id IS NULL
         UNION
         SELECT event_id FROM checkout_event
         WHERE state = 3 AND email = ?2 AND user_id IS NULL
             AND event_id > (SELECT coalesce(max(event_id), 0) - 20000 FROM checkout_event)
         LIMIT ?3",
        (user, email, i64::try_from(most).unwrap_or(1)),
    )
}
