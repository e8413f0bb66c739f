//! Template data of the pages of the periodic tasks.

use askama::Template;

use super::archive::BatchRow;
use super::plan::took;
use super::report::in_words;
use super::store::{Noted, RunOutcome, TaskState, WORRYING};
use super::{Failure, TASKS, Task};
use crate::base::retention::Keep;
use crate::base::{Zone, counted, grouped};
use crate::panel::view::size;
use crate::panel::{Badge, Layout, Notice, PageTime, Paging, Table, When};

/// `GET /admin/cron`: the tasks and the history of their runs.
#[derive(Template)]
#[template(path = "cron.html", config = "assets/askama.toml")]
pub struct CronPage {
    pub layout: Layout,
    /// Warnings: the tick is off, a task keeps failing.
    pub attention: Vec<Notice>,
    /// How the tasks are doing.
    pub sum: String,
    pub tasks: Vec<(&'static Task, TaskState)>,
    /// Filters and paging of the history.
    pub table: Table,
    pub lines: Vec<RunLine>,
    /// Whether there were runs, all without anything to do.
    pub only_idle: bool,
    pub time: PageTime,
}

/// A row of the history.
pub struct RunLine {
    pub run: Noted,
    /// Runs between it and the row above that found nothing to do.
    pub idle_before: i64,
}

impl RunLine {
    /// `37 execuções sem nada a fazer`; empty without any.
    fn idle_words(&self) -> String {
        match self.idle_before {
            0 => String::new(),
            many => counted(many, "execução sem nada a fazer", "execuções sem nada a fazer"),
        }
    }
}

impl TaskState {
    /// In order, failing, paused.
    pub const fn badge(&self) -> Badge {
        match (self.paused_at, self.failures, self.started_at) {
            (Some(_), ..) => Badge::Paused,
            (_, WORRYING.., _) => Badge::Broken,
            (_, 1.., _) => Badge::Attention,
            (.., None) => Badge::Pending,
            (.., Some(_)) => Badge::Healthy,
        }
    }

    fn took(&self) -> String {
        self.ms.map(took).unwrap_or_default()
    }

    /// The last failure and when that was; may be empty.
    pub fn last_failure(&self, zone: &Zone) -> String {
        match (&self.error, self.failed_at) {
            (Some(error), Some(at)) => format!("Última falha em {}: {error}", zone.page(at)),
            _ => String::new(),
        }
    }
}

impl Noted {
    fn began(&self, zone: &Zone) -> String {
        zone.page(self.started_at)
    }

    fn took(&self) -> String {
        took(self.ms)
    }

    fn origin(&self) -> &'static str {
        match &*self.origin {
            "painel" => "Painel",
            "endereco" => "Endereço do cron",
            _ => "Relógio interno",
        }
    }

    const fn badge(&self) -> Badge {
        match self.outcome {
            RunOutcome::Done => Badge::ImportDone,
            RunOutcome::Failed => Badge::Failed,
            RunOutcome::Nothing => Badge::NoEffect,
        }
    }

    /// What it did, in a line; may be empty.
    fn effects(&self) -> String {
        let did = in_words(&self.counts).into_iter();
        let did = did.map(|(words, count)| format!("{words}: {count}"));
        let failed = self.errors.iter().map(|failure| format!("Falhou: {}", failure.title()));
        failed.chain(did).collect::<Vec<_>>().join(" · ")
    }
}

impl Failure {
    fn title(&self) -> &str {
        match TASKS.iter().find(|task| task.name == self.tarefa) {
            Some(task) => task.title,
            None if self.tarefa == "historico" => "Histórico do cron",
            None => &self.tarefa,
        }
    }
}

/// `GET /admin/cron/{id}`: one run.
#[derive(Template)]
#[template(path = "cron_run.html", config = "assets/askama.toml")]
pub struct RunPage {
    pub layout: Layout,
    pub run: Noted,
    pub began: When,
    pub ended: String,
    pub zone: Zone,
}

/// `GET /admin/cron/arquivo`: packed days of logs.
#[derive(Template)]
#[template(path = "archive.html", config = "assets/askama.toml")]
pub struct ArchivePage {
    pub layout: Layout,
    pub table: Table,
    pub batches: Vec<BatchRow>,
    /// How long each kind of record is kept.
    pub kept: &'static [Keep],
}

impl BatchRow {
    /// `20/11/2026`, with its part when the day has several.
    fn day_and_part(&self) -> String {
        let day = self.day.date().strftime("%d/%m/%Y");
        if self.part == 1 { day.to_string() } else { format!("{day}, parte {}", self.part) }
    }

    fn count(&self) -> String {
        grouped(self.entries)
    }

    fn size(&self) -> String {
        size(u64::try_from(self.packed_bytes).unwrap_or(0))
    }
}

/// `GET /admin/cron/arquivo/{id}`: one packed day.
#[derive(Template)]
#[template(path = "archive_batch.html", config = "assets/askama.toml")]
pub struct BatchPage {
    pub layout: Layout,
    /// A warning when the batch is damaged.
    pub damaged: Option<Notice>,
    pub batch: BatchRow,
    /// When it was packed.
    pub packed: String,
    /// Entries of this page, one JSON object a line.
    pub lines: String,
    /// Position of this page among the entries.
    pub paging: Paging,
}
