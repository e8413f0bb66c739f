//! Template data of the pages of the periodic tasks.

use askama::Template;

use crate::panel::{Badge, Layout, Notice, Paging, Table, When};

/// `GET /admin/cron`: the tasks and the history of their runs.
#[derive(Template)]
#[template(path = "cron.html", config = "assets/askama.toml")]
pub struct CronPage {
    pub layout: Layout,
    /// Warnings: the tick is off, a task keeps failing.
    pub attention: Vec<Notice>,
    pub tasks: Vec<TaskRow>,
    /// Filters and paging of the history.
    pub table: Table,
    pub runs: Vec<RunRow>,
}

pub struct TaskRow {
    /// Its name in addresses.
    pub name: &'static str,
    /// What it does.
    pub title: &'static str,
    /// How often it runs.
    pub every: &'static str,
    /// When it last began; `None` before its first run.
    pub last: Option<When>,
    /// `320 ms`: how long it took then; may be empty.
    pub took: String,
    /// In order, failing, paused.
    pub state: Badge,
    /// The last failure and when that was; may be empty.
    pub error: String,
    pub paused: bool,
}

/// A run in the history.
pub struct RunRow {
    pub id: String,
    /// `20/11/2026 09:00`: when it began.
    pub at: String,
    /// The same, relative.
    pub began: When,
    /// Who started it.
    pub origin: &'static str,
    /// How long it took.
    pub took: String,
    /// Its result.
    pub state: Badge,
    /// What it did, in a line; may be empty.
    pub effects: String,
}

/// `GET /admin/cron/{id}`: one run.
#[derive(Template)]
#[template(path = "cron_run.html", config = "assets/askama.toml")]
pub struct RunPage {
    pub layout: Layout,
    pub row: RunRow,
    pub ended: String,
    /// What it did: words and numbers.
    pub counts: Vec<(&'static str, String)>,
    /// Tasks that failed: title and what went wrong.
    pub errors: Vec<(String, String)>,
}

/// `GET /admin/cron/arquivo`: packed days of logs.
#[derive(Template)]
#[template(path = "archive.html", config = "assets/askama.toml")]
pub struct ArchivePage {
    pub layout: Layout,
    pub table: Table,
    pub batches: Vec<BatchLine>,
    /// How long each kind of record is kept.
    pub kept: Vec<KeptLine>,
}

/// How long one kind of record is kept.
pub struct KeptLine {
    pub what: &'static str,
    pub days: i64,
    /// What is done with it then.
    pub then: &'static str,
}

/// A batch in the list.
pub struct BatchLine {
    pub id: String,
    /// `20/11/2026`, with its part when the day has several.
    pub day: String,
    pub log: String,
    /// How many entries.
    pub entries: String,
    /// Compressed size.
    pub size: String,
}

/// `GET /admin/cron/arquivo/{id}`: one packed day.
#[derive(Template)]
#[template(path = "archive_batch.html", config = "assets/askama.toml")]
pub struct BatchPage {
    pub layout: Layout,
    /// A warning when the batch is damaged.
    pub damaged: Option<Notice>,
    pub batch: BatchLine,
    /// When it was packed.
    pub packed: String,
    /// Entries of this page, one JSON object a line.
    pub lines: String,
    /// Position of this page among the entries.
    pub paging: Paging,
}
