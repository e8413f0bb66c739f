//! Figures for the operator, from the database.

use crate::accounts::Role;
use crate::accounts::person::{Group, PersonStatus};
use crate::base::{Cents, Day, Instant, UserId, Zone};
use crate::checkout;
use crate::content::plans::store as plans;
use crate::db::{ReadTx, Result};
use crate::outbox;
use crate::panel::Badge;
use crate::{row, settings};

/// Counts of what needs action by a person.
pub struct Waiting {
    /// Students whose renewal is unpaid and who may still sign in.
    pub late: i64,
    /// Students with a payment that its buyer disputes.
    pub disputed: i64,
    /// Purchases whose product is not mapped to a plan.
    pub without_plan: i64,
    /// Linked accounts with a rejected token; at most [`MOST_REFUSED`] are counted.
    pub refused_accounts: i64,
    /// Linked accounts whose access ends within hours, because nothing renews it; as many
    /// are counted.
    pub unrenewed_accounts: i64,
    /// Messages that failed lately.
    pub given_up: i64,
}

/// Most rejected accounts that are counted.
pub const MOST_REFUSED: i64 = 1_000;

/// Reads the counts.
pub fn waiting(tx: &ReadTx<'_>) -> Result<Waiting> {
    let count = |sql: &str, value: i64| tx.value(sql, [value]);
    let students = |condition: &str, value: u8| {
        tx.value(
            &format!(
                "SELECT coalesce(sum(people), 0) FROM person_count WHERE kind = ?1 AND {condition} = ?2"
            ),
            (Group::Students, value),
        )
    };
    Ok(Waiting {
        late: students("standing", PersonStatus::Late.number())?,
        disputed: students("disputed", 1)?,
        without_plan: count(
            "SELECT coalesce(sum(events), 0) FROM checkout_count WHERE state = ?1",
            checkout::EventState::NoPlan.number().into(),
        )?,
        refused_accounts: count(
            "SELECT count(*) FROM (SELECT 1 FROM ml_account WHERE token_ok = 0 LIMIT ?1)",
            MOST_REFUSED,
        )?,
        unrenewed_accounts: count(
            "SELECT count(*) FROM (
                 SELECT 1 FROM ml_account
                 WHERE token_ok = 1 AND access_token IS NOT NULL AND refresh_token IS NULL LIMIT ?1)",
            MOST_REFUSED,
        )?,
        given_up: outbox::failed_lately(tx, None, None)?,
    })
}

/// After this many failures in a row, a periodic task is reported.
const WORRYING: i64 = 3;

/// Titles of the periodic tasks that keep failing and are not paused.
pub fn failing_tasks(tx: &ReadTx<'_>) -> Result<Vec<String>> {
    tx.values(
        "SELECT title FROM cron_task WHERE failures >= ?1 AND paused_at IS NULL ORDER BY title",
        [WORRYING],
    )
}

/// When the periodic tasks last ran; 0 before the first run.
pub fn last_tick(tx: &ReadTx<'_>) -> Result<Instant> {
    tx.value("SELECT coalesce(max(started_at), 0) FROM cron_task", [])
}

/// What `check` looks at to tell how an installation is doing.
pub struct Upkeep {
    /// When the platform first ran, as far as its settings tell.
    pub oldest: Option<Instant>,
    /// When the newest row was written.
    pub newest: Instant,
    /// When the periodic tasks last ran; 0 before the first run.
    pub last_tick: Instant,
    /// Periodic tasks whose last run failed and that are not paused.
    pub failing: Vec<FailingTask>,
}

row! {
    /// A periodic task whose last run failed.
    pub struct FailingTask {
        pub title: String,
        /// Failures in a row.
        pub failures: i64,
        /// The last failure.
        pub error: String = "coalesce(error, '')",
        pub failed_at: Instant = "coalesce(failed_at, 0)",
    }
}

pub fn upkeep(tx: &ReadTx<'_>) -> Result<Upkeep> {
    Ok(Upkeep {
        oldest: settings::first_start(tx)?,
        newest: tx.value(
            "SELECT max(coalesce((SELECT max(at) FROM audit), 0),
                        coalesce((SELECT max(entry_id) / 1000000 FROM request_log), 0),
                        coalesce((SELECT max(started_at) FROM cron_task), 0))",
            [],
        )?,
        last_tick: last_tick(tx)?,
        failing: tx.records(
            "FROM cron_task WHERE failures > 0 AND paused_at IS NULL ORDER BY title",
            [],
        )?,
    })
}

/// Sum of a daily counter since a civil day.
pub fn counted_since(tx: &ReadTx<'_>, name: &str, first: Day) -> Result<i64> {
    tx.value(
        "SELECT coalesce(sum(count), 0) FROM daily_count WHERE name = ?1 AND day >= ?2",
        (name, first.0),
    )
}

/// What a new platform has of what it needs.
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct SetUp {
    /// A message has left by e-mail, or the last test of it was good.
    pub email: bool,
    pub plan: bool,
    pub course: bool,
    pub student: bool,
}

pub fn set_up(tx: &ReadTx<'_>) -> Result<SetUp> {
    let tested: Option<String> = tx.maybe(
        "SELECT coalesce(after, '') FROM audit
         WHERE object_kind = 'canal' AND object_id = 'email' AND action = 'canal.testar'
         ORDER BY audit_id DESC LIMIT 1",
        [],
    )?;
    let sent: i64 = tx.value(
        "SELECT coalesce(sum(messages), 0) FROM outbox_count WHERE channel = 'email' AND state = ?1",
        [outbox::MessageState::Sent],
    )?;
    let good = tested.is_some_and(|after| after.contains(Badge::Healthy.word()));
    Ok(SetUp {
        email: good || sent > 0,
        plan: plans::has_active(tx)?,
        course: plans::has_course(tx)?,
        student: tx.value(
            "SELECT EXISTS (SELECT 1 FROM person_count WHERE kind = ?1 AND people > 0)",
            [Group::Students],
        )?,
    })
}

row! {
    /// A student whose renewal is unpaid and whose paid time is over.
    pub struct Overdue {
        pub id: UserId = "user_id",
        pub name: String,
        pub role: Role,
        pub paid_until: Option<Instant>,
        /// Since when nothing is paid.
        pub until: Instant = "coalesce(paid_until, late_since)",
        /// What the last purchase cost.
        pub price: Option<Cents> = "(SELECT amount_cents FROM checkout_event e
            WHERE e.user_id = user.user_id AND e.amount_cents IS NOT NULL AND e.currency IN ('', 'BRL')
            ORDER BY e.event_id DESC LIMIT 1)",
    }
}

const IS_OVERDUE: &str = "FROM user INDEXED BY user_overdue
     WHERE late_since IS NOT NULL AND suspended_at IS NULL AND coalesce(paid_until, late_since) <= ?1
         AND role NOT IN ('drop', 'admin')";

/// Those, the longest unpaid first, and how many there are.
pub fn overdue(tx: &ReadTx<'_>, now: Instant, most: u32) -> Result<(Vec<Overdue>, i64)> {
    let order = "ORDER BY coalesce(paid_until, late_since), user_id LIMIT ?2";
    let rows = tx.records(&format!("{IS_OVERDUE} {order}"), (now, most))?;
    Ok((rows, tx.value(&format!("SELECT count(*) {IS_OVERDUE}"), [now])?))
}

row! {
    /// A message that was given up.
    pub struct FailedMessage {
        pub id: i64 = "o.message_id",
        pub channel: String = "o.channel",
        pub outcome: String = "coalesce(o.outcome, '')",
        pub name: String = "u.name",
    }
}

/// Most failed messages that are looked at for their reasons.
const MOST_FAILED: u32 = 500;

/// The messages that failed lately, the last first.
pub fn failed(tx: &ReadTx<'_>) -> Result<Vec<FailedMessage>> {
    tx.records(
        "FROM outbox o INDEXED BY outbox_failed CROSS JOIN user u ON u.user_id = o.user_id
         WHERE o.state = 3 AND o.done_at >= ?1
         ORDER BY o.done_at DESC LIMIT ?2",
        (outbox::failed_since(tx.now()), MOST_FAILED),
    )
}

/// Confirmed payments of a day for one plan of the account.
pub struct Payments {
    pub day: Day,
    /// `None` for what stands for no plan.
    pub role: Option<Role>,
    pub sum: Cents,
    /// How many have no amount in reais.
    pub untold: i64,
}

/// How many of something a day.
pub type Days = Vec<(Day, i64)>;

/// What happened since the first of two spans of thirty days.
pub struct MonthFigures {
    pub payments: Vec<Payments>,
    /// Students that were made.
    pub came: Days,
    /// Subscriptions that were cancelled.
    pub left: Days,
    /// Messages that were given up.
    pub failed: Days,
    /// Linked accounts of the marketplace.
    pub linked: i64,
}

/// Reads it, from the day on. Instants are added up by the quarter of an hour, of which
/// no two days share one. An approval sent again under another id is of the same
/// transaction and counts once, when it was first; one whose money went back since, by a
/// refund or a chargeback, does not count.
pub fn month(tx: &ReadTx<'_>, zone: Zone, first: Day) -> Result<MonthFigures> {
    let since = zone.start_of(first);
    let since_ms = since.0.saturating_mul(1000);
    let day = |quarter: i64| zone.day(Instant(quarter * 900));
    let days = |counts: Vec<(i64, i64)>| -> Days {
        counts.into_iter().map(|(quarter, count)| (day(quarter), count)).collect()
    };
    let payments: Vec<(i64, Option<Role>, Cents, i64)> = tx.tuples(
        "SELECT first_ms / 900000 AS quarter, role, coalesce(sum(reais), 0), sum(reais IS NULL)
         FROM (SELECT min(happened_ms) AS first_ms, role,
                      iif(currency IN ('', 'BRL'), amount_cents, NULL) AS reais
               FROM checkout_event INDEXED BY checkout_event_paid
               WHERE kind = 1 AND state <> 3 AND happened_ms >= ?1
                   AND (purchase IS NULL OR purchase NOT IN (
                       SELECT purchase FROM checkout_event INDEXED BY checkout_event_back
                       WHERE kind IN (3, 4) AND state <> 3 AND purchase IS NOT NULL AND happened_ms >= ?1))
               GROUP BY coalesce(purchase, event_id)) AS paid
         GROUP BY quarter, role",
        [since_ms],
    )?;
    let payments = payments.into_iter().map(|(quarter, role, sum, untold)| {
        let day = day(quarter);
        Payments { day, role, sum, untold }
    });
    Ok(MonthFigures {
        payments: payments.collect(),
        came: days(tx.tuples(
            "SELECT created_at / 900 AS quarter, count(*) FROM user INDEXED BY user_by_creation
             WHERE kind = ?1 AND created_at >= ?2 GROUP BY quarter",
            (Group::Students, since),
        )?),
        left: days(tx.tuples(
            "SELECT happened_ms / 900000 AS quarter, count(*)
             FROM checkout_event INDEXED BY checkout_event_left
             WHERE kind = 9 AND state <> 3 AND happened_ms >= ?1 GROUP BY quarter",
            [since_ms],
        )?),
        failed: days(tx.tuples(
            "SELECT quarter, sum(messages) FROM outbox_done_count
             WHERE quarter >= ?1 AND state = ?2 GROUP BY quarter",
            (since.0 / 900, outbox::MessageState::GivenUp),
        )?),
        linked: tx.value(
            "SELECT coalesce(sum(count), 0) FROM total WHERE name = 'linked_accounts'",
            [],
        )?,
    })
}
