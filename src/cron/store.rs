//! The history of runs and the state of each task, in the database.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Failure, Ran, Run, TASKS, Task};
use crate::base::Instant;
use crate::db::{ReadTx, Result, RowWindow, WriteTx};
use crate::messages::alerts::{self, Alert};
use crate::messages::choices::ChannelSet;
use crate::row;

/// Failures in a row after which administrators are notified.
pub const WORRYING: i64 = 3;

crate::named! {
    /// The result of a run.
    pub enum RunOutcome: number {
        Nothing = 0, "sem-efeito", "Sem efeito";
        Done = 1, "com-efeito", "Com efeito";
        Failed = 2, "falhou", "Falharam";
    }
}

row! {
    /// The state of a task after its last run.
    #[derive(Clone, Debug, Default)]
    pub struct TaskState {
        pub name: String,
        pub started_at: Option<Instant>,
        pub ended_at: Option<Instant>,
        pub ms: Option<i64>,
        /// Failures in a row, up to now.
        pub failures: i64,
        /// The last failure and its time; kept when the task works again.
        pub error: Option<String>,
        pub failed_at: Option<Instant>,
        pub paused_at: Option<Instant>,
    }
}

/// Every task with its state.
pub fn tasks(tx: &ReadTx<'_>) -> Result<Vec<(&'static Task, TaskState)>> {
    let known: Vec<TaskState> = tx.records("FROM cron_task", [])?;
    let state = |task: &Task| known.iter().find(|state| state.name == task.name).cloned();
    Ok(TASKS.iter().map(|task| (task, state(task).unwrap_or_default())).collect())
}

/// Pauses or resumes a task; false when it is in that state already.
pub fn set_paused(tx: &WriteTx<'_>, task: &Task, paused: bool) -> Result<bool> {
    let at = paused.then_some(tx.now().0);
    tx.execute(
        "INSERT INTO cron_task (name, title) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        (task.name, task.title),
    )?;
    let changed = tx.execute(
        "UPDATE cron_task SET paused_at = ?2 WHERE name = ?1 AND (paused_at IS NULL) = (?2 IS NOT NULL)",
        (task.name, at),
    )?;
    Ok(changed == 1)
}

/// Stores a run and the results of its tasks; returns the run's id.
pub fn note(tx: &WriteTx<'_>, channel_set: ChannelSet, run: &Run, ran: &[Ran]) -> Result<i64> {
    for one in ran {
        note_task(tx, channel_set, one)?;
    }
    let effects = run.report.effects();
    let outcome = match (run.failures.is_empty(), effects.is_empty()) {
        (false, _) => RunOutcome::Failed,
        (true, false) => RunOutcome::Done,
        (true, true) => RunOutcome::Nothing,
    };
    tx.insert(
        "INSERT INTO cron_run (started_at, ended_at, ms, origin, outcome, counts, errors)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        (
            run.started_at.0,
            run.ended_at.0,
            run.ms,
            run.origin.name(),
            outcome,
            Value::Object(effects).to_string(),
            serde_json::to_string(&run.failures).unwrap_or_else(|_| "[]".to_owned()),
        ),
    )
}

fn note_task(tx: &WriteTx<'_>, channel_set: ChannelSet, ran: &Ran) -> Result<()> {
    let failed = ran.error.is_some();
    let failures: Option<i64> = tx.maybe(
        "INSERT INTO cron_task (name, title, started_at, ended_at, ms, failures, error, failed_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, iif(?6, ?4, NULL))
         ON CONFLICT (name) DO UPDATE SET
             title = ?2, started_at = ?3, ended_at = ?4, ms = ?5,
             failures = iif(?6, failures + 1, 0),
             error = coalesce(?7, error), failed_at = iif(?6, ?4, failed_at)
         RETURNING failures",
        rusqlite::params![
            ran.task.name,
            ran.task.title,
            ran.started_at.0,
            ran.ended_at.0,
            ran.ms,
            failed,
            ran.error,
        ],
    )?;
    if failed && failures == Some(WORRYING) {
        tell_administrators(tx, channel_set, ran)?;
    }
    Ok(())
}

/// Notifies all administrators that a task keeps failing. It is called only at
/// the third failure in a row, so they are notified once.
fn tell_administrators(tx: &WriteTx<'_>, channel_set: ChannelSet, ran: &Ran) -> Result<()> {
    let error = ran.error.as_deref().unwrap_or_default();
    let alert = Alert {
        title: &format!("Tarefa com falha: {}", ran.task.title),
        detail: &format!("Falhou {WORRYING} vezes seguidas. O último erro: {error}"),
        page: "/admin/cron",
        cause: &format!("cron:{}:{}", ran.task.name, ran.started_at.0),
        without: None,
    };
    alerts::tell(tx, channel_set, &alert)
}

row! {
    /// A stored run.
    #[derive(Clone, Debug)]
    pub struct Noted {
        pub id: i64 = "run_id",
        pub started_at: Instant,
        pub ended_at: Instant,
        pub ms: i64,
        pub origin: String,
        pub outcome: RunOutcome,
        pub counts: Map<String, Value> => read_json,
        pub errors: Vec<Failure> => read_json,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a conversion takes what was read")]
fn read_json<T: DeserializeOwned + Default>(text: String) -> T {
    serde_json::from_str(&text).unwrap_or_default()
}

/// One page of the history with the number of all runs of that outcome.
pub fn page(
    tx: &ReadTx<'_>,
    outcome: Option<RunOutcome>,
    newest_first: bool,
    window: RowWindow,
) -> Result<(Vec<Noted>, u64)> {
    let narrowed = narrowed(outcome);
    let total = tx.count(
        &format!("SELECT coalesce(sum(runs), 0) FROM cron_run_count WHERE {narrowed}"),
        [outcome],
    )?;
    let runs = ids(tx, outcome, newest_first, window)?;
    let runs = runs.into_iter().filter_map(|id| one(tx, id).transpose());
    Ok((runs.collect::<Result<_>>()?, total))
}

/// The same of runs that did something or failed.
pub fn page_of_work(
    tx: &ReadTx<'_>,
    newest_first: bool,
    RowWindow { limit, offset }: RowWindow,
) -> Result<(Vec<Noted>, u64)> {
    let total = "SELECT coalesce(sum(runs), 0) FROM cron_run_count WHERE outcome <> ?1";
    let total = tx.count(total, [RunOutcome::Nothing])?;
    // Each outcome is a walk along the index; both together are in order of time.
    let reach = RowWindow::first(limit.saturating_add(offset));
    let mut found = ids(tx, Some(RunOutcome::Done), newest_first, reach)?;
    found.extend(ids(tx, Some(RunOutcome::Failed), newest_first, reach)?);
    found.sort_unstable_by_key(|id| if newest_first { -id } else { *id });
    let page = found.into_iter().skip(offset as usize).take(limit as usize);
    let runs = page.filter_map(|id| one(tx, id).transpose());
    Ok((runs.collect::<Result<_>>()?, total))
}

/// Number of the newest run; 0 without any.
pub fn newest(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value("SELECT coalesce(max(run_id), 0) FROM cron_run", [])
}

/// The ids of the runs of a page.
pub fn ids(
    tx: &ReadTx<'_>,
    outcome: Option<RunOutcome>,
    newest_first: bool,
    RowWindow { limit, offset }: RowWindow,
) -> Result<Vec<i64>> {
    let (narrowed, order) = (narrowed(outcome), if newest_first { "DESC" } else { "ASC" });
    tx.values(
        &format!(
            "SELECT run_id FROM cron_run WHERE run_id > 0 AND {narrowed}
             ORDER BY run_id {order} LIMIT ?2 OFFSET ?3"
        ),
        (outcome, limit, offset),
    )
}

const fn narrowed(outcome: Option<RunOutcome>) -> &'static str {
    if outcome.is_some() { "outcome = ?1" } else { "?1 IS NULL" }
}

/// One run.
pub fn one(tx: &ReadTx<'_>, id: i64) -> Result<Option<Noted>> {
    tx.record("FROM cron_run WHERE run_id = ?1", [id])
}
