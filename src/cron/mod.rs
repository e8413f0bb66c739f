//! Periodic work: a table of tasks, and the one function that runs them.
//!
//! The internal tick (`tick.rs`), `GET /api/v1/cron` (`api.rs`) and the panel
//! (`pages.rs`) all call [`run`]. Only one run executes at a time, so nothing
//! is done twice. Tasks are isolated: one that fails or panics is recorded, and
//! the others still run. A task works in pieces small enough for the writer and
//! stores its progress in the same transaction, so it can stop at any point.

pub mod api;
mod archive;
mod archived_addresses;
mod delegated;
mod inactivity;
mod mark;
mod marketplace;
mod meets;
mod packing;
pub mod pages;
pub mod plan;
mod program;
mod report;
mod rules;
mod store;
pub mod tick;
mod views;

#[cfg(test)]
mod tests;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant as Monotonic};

use crate::app::App;
use crate::base::{Instant, Stop};
use crate::db::Lane;
use crate::messages::choices::ChannelSet;

pub use report::{Failure, Report};
use rules::Every;

/// Longest time of a task in one run; the rest is done in the next run.
const BUDGET: Duration = Duration::from_secs(20);
/// Runs that may wait for their turn.
const MOST_WAITING: usize = 8;

/// A periodic task.
pub struct Task {
    /// The name in addresses, answers and the database.
    pub name: &'static str,
    /// The name shown in the panel.
    pub title: &'static str,
    pub every: Every,
    pub work: fn(&App, &TaskContext<'_>, &mut Report) -> TaskResult,
}

/// All tasks, in the order in which they run.
#[rustfmt::skip] // A table.
pub const TASKS: &[Task] = &[
    Task { name: "lembretes_encontros", title: "Lembretes de encontros", every: Every::Run, work: meets::remind },
    Task { name: "inatividade", title: "Alertas de inatividade", every: Every::Run, work: inactivity::alert },
    Task { name: "programa_lembrete", title: "Lembretes do check-in", every: Every::Run, work: program::remind },
    Task { name: "programa_sequencias", title: "Sequências interrompidas", every: Every::Run, work: program::end_streaks },
    Task { name: "programa_desafios", title: "Desafios cumpridos antes de criados", every: Every::Run, work: program::settle_challenges },
    Task { name: "pagamentos", title: "Pagamentos em atraso e assinaturas encerradas", every: Every::Run, work: delegated::end_unpaid },
    Task { name: "mensagens", title: "Mensagens pendentes", every: Every::Run, work: delegated::send_messages },
    Task { name: "ml_sync", title: "Sincronização do marketplace", every: Every::Run, work: marketplace::read },
    Task { name: "agencia_sync", title: "Contas da agência", every: Every::Run, work: delegated::read_agency },
    Task { name: "agencia_checkup", title: "Checkup das contas da agência", every: Every::Run, work: delegated::check_agency },
    Task { name: "arquivamento", title: "Arquivamento de registros", every: Every::Day, work: packing::pack },
    Task { name: "enderecos_arquivados", title: "Endereços em registros arquivados", every: Every::Day, work: archived_addresses::remove },
    Task { name: "limite_registros", title: "Registros acima do limite", every: Every::Run, work: packing::pack_overflow },
];

/// What a task returns. Its counts are in the report, also when it failed.
pub type TaskResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;

crate::named! {
    /// Who started a run.
    pub enum Origin: text {
        /// The internal tick.
        Tick = "relogio";
        /// `GET /api/v1/cron`, with the secret.
        Address = "endereco";
        /// A person in the panel.
        Panel = "painel";
    }
}

/// The context of a task in a run: its time and how the run was started.
pub struct TaskContext<'t> {
    /// When the run began.
    pub now: Instant,
    /// Whether the run was requested from outside the tick, so that its result
    /// should be current.
    pub is_asked: bool,
    began: Monotonic,
    stop: Option<&'t Stop>,
}

impl<'t> TaskContext<'t> {
    /// A context whose time begins now.
    pub fn new(now: Instant, stop: Option<&'t Stop>) -> Self {
        Self { now, is_asked: false, began: Monotonic::now(), stop }
    }

    /// Whether the task should leave the rest to the next run.
    pub fn is_time_over(&self) -> bool {
        self.began.elapsed() >= BUDGET || self.stop.is_some_and(Stop::is_set)
    }

    fn ms(&self) -> i64 {
        i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

/// The result of a task in a run.
pub struct Ran {
    pub task: &'static Task,
    pub started_at: Instant,
    pub ended_at: Instant,
    pub ms: i64,
    /// Why it failed.
    pub error: Option<String>,
}

/// A run that is over.
#[derive(Clone)]
pub struct Run {
    pub started_at: Instant,
    pub ended_at: Instant,
    pub ms: i64,
    pub origin: Origin,
    pub report: Report,
    pub failures: Vec<Failure>,
    /// Its id in the history; `None` when it could not be stored.
    pub id: Option<i64>,
}

/// Runs every task that is due and not paused, once earlier runs are over;
/// `None` when too many runs wait already.
pub fn run(app: &App, origin: Origin, stop: Option<&Stop>) -> Option<Run> {
    let _turn = app.work.cron_turns.take(MOST_WAITING)?;
    let whole = TaskContext::new(app.clock.now(), stop);
    let mut report = Report::default();
    let mut failures = Vec::new();
    let mut ran = Vec::new();
    match app.db.read(Lane::Slow, store::tasks) {
        Ok(known) => {
            for (task, state) in known {
                // A task that failed is retried in the next run, even if it is
                // due only once a day.
                let last = state.started_at.filter(|_| state.failures == 0);
                if state.paused_at.is_none() && task.every.is_due(app.zone(), last, app.clock.now())
                {
                    let is_asked = origin != Origin::Tick;
                    let now = app.clock.now();
                    let context = TaskContext { is_asked, ..TaskContext::new(now, stop) };
                    let done = run_one(app, task, &context, &mut report);
                    failures.extend(Failure::of(&done));
                    ran.push(done);
                }
            }
        }
        Err(error) => failures.push(Failure::ours(&error)),
    }
    let mut run = Run {
        started_at: whole.now,
        ended_at: app.clock.now(),
        ms: whole.ms(),
        origin,
        report,
        failures,
        id: None,
    };
    let (channel_set, row) = (ChannelSet::of(&app.config), run.clone());
    match app.db.write(move |tx| store::note(tx, channel_set, &row, &ran)) {
        Ok(id) => run.id = Some(id),
        Err(error) => {
            tracing::warn!(%error, "a run of the periodic tasks was not noted");
            run.failures.push(Failure::ours(&error));
        }
    }
    Some(run)
}

/// Runs one task and catches its failure or panic.
fn run_one(app: &App, task: &'static Task, context: &TaskContext<'_>, report: &mut Report) -> Ran {
    let result = catch_unwind(AssertUnwindSafe(|| (task.work)(app, context, report)));
    let error = match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(panic) => Some(panic_words(&*panic)),
    };
    if let Some(error) = &error {
        tracing::warn!(task = task.name, error, "a periodic task failed");
    }
    Ran { task, started_at: context.now, ended_at: app.clock.now(), ms: context.ms(), error }
}

fn panic_words(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it panicked: {}", text.unwrap_or("without a message"))
}
