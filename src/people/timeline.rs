//! What happened to a person, in words: purchases, messages, sales by day, lessons,
//! logins and what staff did, in one list by time, page by page.

use crate::accounts::person::Group;
use crate::audit::ActorKind;
use crate::audit::log::{AuditEntry, summary};
use crate::base::{Cents, DAY_S, Day, Instant, UserId, grouped};
use crate::checkout::EventKind;
use crate::db::{ReadTx, Result};
use crate::outbox::{MessageState, channel_words, kind_words};
use crate::panel::{Happened, PageTime, Tone};
use crate::row;

/// Events of a page, and how many of each kind are read for it.
const PAGE: usize = 30;
const EACH: u32 = 60;

/// A page of the timeline, newest first.
pub struct Timeline {
    pub events: Vec<Happened>,
    /// Where the next page begins; `None` on the last.
    pub older: Option<Instant>,
}

/// An event before it is shown.
struct Event {
    at: Instant,
    tone: Tone,
    text: String,
    detail: String,
    href: String,
}

/// The page of what happened before an instant.
pub fn page(
    tx: &ReadTx<'_>,
    user: UserId,
    group: Group,
    time: PageTime,
    before: Option<Instant>,
) -> Result<Timeline> {
    let end = time.now.plus(1);
    let before = before.map_or(end, |before| before.clamp(Instant(0), end));
    let mut events = Vec::new();
    if group == Group::Students {
        events.extend(purchases(tx, user, before)?);
        events.extend(sales(tx, user, time, before)?);
        events.extend(lessons(tx, user, before)?);
    }
    events.extend(messages(tx, user, before)?);
    events.extend(logins(tx, user, before)?);
    events.extend(acts(tx, user, group, time, before)?);
    events.sort_by_key(|event| std::cmp::Reverse(event.at));
    // What happened in the second of the last one belongs to the same page.
    let last = events.get(PAGE - 1).map(|event| event.at);
    let shown = last
        .map_or(events.len(), |last| events.iter().take_while(|event| event.at >= last).count());
    let older = (shown < events.len()).then_some(last).flatten();
    events.truncate(shown);
    let show = |event: Event| Happened {
        tone: event.tone,
        when: time.when(&event.at),
        text: event.text,
        detail: event.detail,
        href: event.href,
    };
    Ok(Timeline { events: events.into_iter().map(show).collect(), older })
}

row! {
    struct Purchase {
        id: i64 = "event_id",
        at: Instant = "received_at",
        kind: EventKind,
        outcome: String,
        price: Option<Cents> = "amount_cents",
    }
}

fn purchases(tx: &ReadTx<'_>, user: UserId, before: Instant) -> Result<Vec<Event>> {
    let rows: Vec<Purchase> = tx.records(
        "FROM checkout_event INDEXED BY checkout_event_by_user
         WHERE user_id = ?1 AND received_at < ?2 ORDER BY event_id DESC LIMIT ?3",
        (user, before, EACH),
    )?;
    let tone = |kind: EventKind| match kind {
        EventKind::Approved | EventKind::Complete => Tone::Good,
        kind if kind.is_reversal() => Tone::Bad,
        EventKind::Protest
        | EventKind::PartRefund
        | EventKind::Delayed
        | EventKind::Expired
        | EventKind::Cancellation => Tone::Warn,
        _ => Tone::Info,
    };
    let event = |one: Purchase| Event {
        at: one.at,
        tone: tone(one.kind),
        text: match one.price.filter(|_| one.kind.is_payment()) {
            Some(price) => format!("{}: {}", one.kind.title(), price.page()),
            None => one.kind.title().to_owned(),
        },
        detail: one.outcome,
        href: format!("/admin/compras/{}", one.id),
    };
    Ok(rows.into_iter().map(event).collect())
}

/// One event for each day with sales, at its end; today's is as new as the page.
fn sales(tx: &ReadTx<'_>, user: UserId, time: PageTime, before: Instant) -> Result<Vec<Event>> {
    let days: Vec<(Day, i64, Cents)> = tx.tuples(
        "SELECT day, sum(orders), sum(gross_cents) FROM sales_day
         WHERE owner_id = ?1 AND day <= ?2 AND orders > 0
         GROUP BY day ORDER BY day DESC LIMIT ?3",
        (user, time.zone.day(before.minus(1)).0, EACH),
    )?;
    let event = |(day, orders, gross): (Day, i64, Cents)| Event {
        at: time.zone.start_of(day.plus(1)).minus(1).min(time.now),
        tone: Tone::Good,
        text: match orders {
            1 => format!("1 venda: {}", gross.page()),
            orders => format!("{} vendas: {}", grouped(orders), gross.page()),
        },
        detail: String::new(),
        href: String::new(),
    };
    let events = days.into_iter().map(event).filter(|event| event.at < before);
    Ok(events.collect())
}

fn lessons(tx: &ReadTx<'_>, user: UserId, before: Instant) -> Result<Vec<Event>> {
    let rows: Vec<(Instant, String, String)> = tx.tuples(
        "SELECT d.done_at, l.title, c.title FROM lesson_done d
         JOIN lesson l ON l.lesson_id = d.lesson_id JOIN course c ON c.course_id = l.course_id
         WHERE d.user_id = ?1 AND d.done_at < ?2 ORDER BY d.done_at DESC LIMIT ?3",
        (user, before, EACH),
    )?;
    let event = |(at, title, course): (Instant, String, String)| Event {
        at,
        tone: Tone::Info,
        text: format!("Aula feita: {title}"),
        detail: course,
        href: String::new(),
    };
    Ok(rows.into_iter().map(event).collect())
}

row! {
    struct Message {
        id: i64 = "message_id",
        channel: String,
        kind: String,
        state: MessageState,
        at: Instant = "created_at",
        outcome: Option<String>,
    }
}

fn messages(tx: &ReadTx<'_>, user: UserId, before: Instant) -> Result<Vec<Event>> {
    let mut events = Vec::new();
    // The index has state and channel before the message id.
    for state in MessageState::ALL {
        for channel in crate::outbox::Channel::ALL {
            let rows: Vec<Message> = tx.records(
                "FROM outbox INDEXED BY outbox_of_person
                 WHERE user_id = ?1 AND state = ?2 AND channel = ?3 AND created_at < ?4
                 ORDER BY message_id DESC LIMIT ?5",
                (user, state, channel, before, EACH),
            )?;
            events.extend(rows);
        }
    }
    let event = |one: Message| {
        let badge = crate::messages::queue::badge(one.state);
        let why = one.outcome.filter(|why| !why.is_empty() && one.state != MessageState::Sent);
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        Event {
            at: one.at,
            tone: badge.tone(),
            text: kind_words(&one.kind).to_owned(),
            detail: format!("{} · {}{why}", channel_words(&one.channel), badge.word()),
            href: format!("/admin/mensagens/{}", one.id),
        }
    };
    Ok(events.into_iter().map(event).collect())
}

fn logins(tx: &ReadTx<'_>, user: UserId, before: Instant) -> Result<Vec<Event>> {
    let rows: Vec<(Instant, String, String)> = tx.tuples(
        "SELECT created_at, user_agent, address FROM session INDEXED BY session_by_user
         WHERE user_id = ?1 AND created_at < ?2 ORDER BY created_at DESC LIMIT ?3",
        (user, before, EACH),
    )?;
    let event = |(at, agent, address): (Instant, String, String)| Event {
        at,
        tone: Tone::Info,
        text: "Entrou".to_owned(),
        detail: format!("{} · {address}", crate::profile::devices::in_words(&agent)),
        href: String::new(),
    };
    Ok(rows.into_iter().map(event).collect())
}

/// What staff and the service did; what a purchase did stands with it.
fn acts(
    tx: &ReadTx<'_>,
    user: UserId,
    group: Group,
    time: PageTime,
    before: Instant,
) -> Result<Vec<Event>> {
    let rows: Vec<AuditEntry> = tx.records(
        "FROM audit a INDEXED BY audit_by_object
         WHERE a.object_kind = ?1 AND a.object_id = ?2 AND a.at < ?3 AND a.actor_kind <> ?4
             AND a.action NOT IN ('aluno.consultar', 'equipe.consultar')
         ORDER BY a.audit_id DESC LIMIT ?5",
        (group.object().name, user.to_string(), before, ActorKind::Purchase, EACH),
    )?;
    let event = |entry: AuditEntry| Event {
        at: entry.at,
        tone: match &*entry.action {
            "aluno.suspender" | "equipe.suspender" => Tone::Warn,
            "aluno.reativar" | "equipe.reativar" => Tone::Good,
            _ => Tone::Info,
        },
        text: entry.title(),
        detail: match summary(&entry, time.zone) {
            changed if changed.is_empty() => entry.actor_name.clone(),
            changed => format!("{changed} · {}", entry.actor_name),
        },
        href: format!("/admin/auditoria/{}", entry.id),
    };
    Ok(rows.into_iter().map(event).collect())
}

row! {
    /// What a student has learnt of a course.
    pub struct Progress {
        pub title: String = "c.title",
        pub lessons: i64 = "(SELECT count(*) FROM lesson l WHERE l.course_id = c.course_id)",
        pub done: i64 = "(SELECT count(*) FROM lesson l JOIN lesson_done d ON d.lesson_id = l.lesson_id
            AND d.user_id = ?1 WHERE l.course_id = c.course_id)",
    }
}

/// The published courses with what a student has done of each.
pub fn progress(tx: &ReadTx<'_>, user: UserId) -> Result<Vec<Progress>> {
    tx.records(
        "FROM course c WHERE c.published = 1 AND ?1 > 0 ORDER BY c.position, c.course_id",
        [user],
    )
}

/// Points, streak and last check-in of a student in the program.
pub struct Program {
    pub xp: i64,
    pub streak: i64,
    pub checkins: i64,
    pub last: Option<Day>,
}

/// Reads it; `None` for somebody who never took part.
pub fn program(tx: &ReadTx<'_>, user: UserId) -> Result<Option<Program>> {
    tx.optional(
        "SELECT xp, streak, checkins, last_checkin FROM program_student WHERE student_id = ?1",
        [user],
        |row| {
            Ok(Program {
                xp: row.get(0)?,
                streak: row.get(1)?,
                checkins: row.get(2)?,
                last: row.get(3)?,
            })
        },
    )
}

/// Orders and gross of a student's last thirty days.
pub fn sold(tx: &ReadTx<'_>, user: UserId, time: PageTime) -> Result<(i64, Cents)> {
    let first = time.zone.day(time.now.minus(29 * DAY_S)).0;
    let found: Option<(i64, Cents)> = tx.tuple(
        "SELECT coalesce(sum(orders), 0), coalesce(sum(gross_cents), 0) FROM sales_day
         WHERE owner_id = ?1 AND day >= ?2",
        (user, first),
    )?;
    Ok(found.unwrap_or_default())
}
