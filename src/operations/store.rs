//! Figures for the operator, from the database.

use crate::accounts::person::{Group, PersonStatus};
use crate::base::{Day, Instant};
use crate::checkout;
use crate::db::{ReadTx, Result};
use crate::marketplace::inbox::hook::NotificationState;
use crate::outbox;
use crate::row;

/// Numbers of marketplace notifications by state.
pub struct InboxFigures {
    pub waiting: i64,
    pub failed: i64,
    pub for_later: i64,
}

/// Counts the notifications in the inbox.
pub fn inbox(tx: &ReadTx<'_>) -> Result<InboxFigures> {
    let count = |state| {
        tx.value(
            "SELECT coalesce(sum(notifications), 0) FROM ml_notification_count WHERE state = ?1",
            [state],
        )
    };
    Ok(InboxFigures {
        waiting: count(NotificationState::Waiting)?,
        failed: count(NotificationState::Failed)?,
        for_later: count(NotificationState::Kept)?,
    })
}

/// Messages that wait to be sent.
pub fn outbox_waiting(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value(
        "SELECT coalesce(sum(messages), 0) FROM outbox_count WHERE state = ?1",
        [outbox::MessageState::Waiting],
    )
}

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
    /// Messages whose delivery was given up since an instant.
    pub given_up: i64,
}

/// Most rejected accounts that are counted.
pub const MOST_REFUSED: i64 = 1_000;

/// Reads the counts; messages are counted since `since`.
pub fn waiting(tx: &ReadTx<'_>, since: Instant) -> Result<Waiting> {
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
        given_up: tx.value(
            "SELECT coalesce(sum(messages), 0) FROM outbox_done_count WHERE quarter >= ?1 AND state = ?2",
            (since.0 / 900, outbox::MessageState::GivenUp)
        )?,
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

/// Reads it.
pub fn upkeep(tx: &ReadTx<'_>) -> Result<Upkeep> {
    Ok(Upkeep {
        oldest: tx.value("SELECT min(updated_at) FROM setting", [])?,
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
