//! The result of a run: counts under the names that programs know, and failures.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Ran, Run};
use crate::db::DbError;
use crate::marketplace::sync::Counts;
use crate::services::Services;

/// The counts of a run. Zeros stand for tasks that did nothing.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// People reminded of a meet.
    meets_notif: usize,
    /// People alerted because they were away.
    inativos: usize,
    /// People reminded of the day's check-in.
    alertas_20h: usize,
    /// Streaks that ended because a day was missed.
    furados: usize,
    /// Messages that left.
    chat_enviados: usize,
    /// Messages that could not be sent.
    chat_erros: usize,
    /// Messages dropped because nobody can receive them any more.
    chat_ignorados: usize,
    ml_sync: SyncCounts,
    agencia_sync: AgencyCounts,
    checkup_agencia: CheckupCounts,
    log_archival: Archival,
    /// Students whose access ended; for the history alone.
    #[serde(skip)]
    suspended: usize,
}

/// The marketplace sales sync.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "CronSalesSync")]
struct SyncCounts {
    contas: usize,
    vendas_novas: usize,
    erros: usize,
}

/// The agency snapshot sync.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "CronAgencySync")]
struct AgencyCounts {
    sincronizados: usize,
    erros: usize,
}

/// The checkup of the agency's accounts.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "CronCheckup")]
struct CheckupCounts {
    verificados: usize,
    prontos: usize,
    pendentes: usize,
}

/// The log archival: `{"skipped":true}` when nothing was archived.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CronArchival")]
#[serde(untagged)]
enum Archival {
    Skipped { skipped: bool },
    Done { arquivados: usize, lotes: usize },
}

impl Default for Archival {
    fn default() -> Self {
        Self::Skipped { skipped: true }
    }
}

impl Report {
    /// Adds people who were reminded of a meet.
    pub const fn add_meets(&mut self, people: usize) {
        self.meets_notif += people;
    }

    /// Adds people who were alerted.
    pub const fn add_inactive(&mut self, people: usize) {
        self.inativos += people;
    }

    /// Adds people who were reminded of the day's check-in.
    pub const fn add_reminded(&mut self, people: usize) {
        self.alertas_20h += people;
    }

    /// Adds streaks that ended.
    pub const fn add_missed(&mut self, streaks: usize) {
        self.furados += streaks;
    }

    /// Adds students whose access ended.
    pub const fn add_suspended(&mut self, people: usize) {
        self.suspended += people;
    }

    /// Adds the counts of reading the marketplace.
    pub const fn add_sync(&mut self, counts: Counts) {
        self.ml_sync.contas += counts.accounts;
        self.ml_sync.vendas_novas += counts.sales;
        self.ml_sync.erros += counts.errors;
    }

    /// Adds the counts of reading the agency's clients.
    pub const fn add_agency(&mut self, synced: usize, errors: usize) {
        self.agencia_sync.sincronizados += synced;
        self.agencia_sync.erros += errors;
    }

    /// Adds accounts of the agency that were checked, and how many are ready.
    pub const fn add_checkup(&mut self, looked_at: usize, ready: usize) {
        self.checkup_agencia.verificados += looked_at;
        self.checkup_agencia.prontos += ready;
        self.checkup_agencia.pendentes += looked_at - ready;
    }

    /// Adds messages that were sent, that failed and that were dropped.
    pub const fn add_messages(&mut self, sent: usize, failed: usize, dropped: usize) {
        self.chat_enviados += sent;
        self.chat_erros += failed;
        self.chat_ignorados += dropped;
    }

    /// Adds archived entries, and the number of their batches.
    pub const fn add_archived(&mut self, entries: usize, batches: usize) {
        let (before, parts) = match self.log_archival {
            Archival::Skipped { .. } => (0, 0),
            Archival::Done { arquivados, lotes } => (arquivados, lotes),
        };
        if batches > 0 {
            self.log_archival =
                Archival::Done { arquivados: before + entries, lotes: parts + batches };
        }
    }

    /// The counts without zeros, as a flat object.
    pub fn effects(&self) -> Map<String, Value> {
        let mut effects = Map::new();
        if let Ok(Value::Object(fields)) = serde_json::to_value(self) {
            for (name, value) in fields {
                match value {
                    Value::Object(parts) => effects.extend(
                        parts.into_iter().map(|(part, value)| (format!("{name}.{part}"), value)),
                    ),
                    value => {
                        effects.insert(name, value);
                    }
                }
            }
        }
        effects.insert("suspensos".to_owned(), self.suspended.into());
        effects.retain(|_, value| value.as_u64().is_some_and(|count| count > 0));
        effects
    }
}

/// Labels for the counts of a run, in the order of the answer.
const WORDS: [(&str, &str); 18] = [
    ("meets_notif", "Pessoas lembradas de um encontro"),
    ("inativos", "Alertas de inatividade"),
    ("alertas_20h", "Lembretes do check-in"),
    ("furados", "Sequências encerradas"),
    ("chat_enviados", "Mensagens enviadas"),
    ("chat_erros", "Mensagens que falharam"),
    ("chat_ignorados", "Mensagens descartadas"),
    ("ml_sync.contas", "Contas sincronizadas"),
    ("ml_sync.vendas_novas", "Vendas novas"),
    ("ml_sync.erros", "Contas com erro"),
    ("agencia_sync.sincronizados", "Clientes da agência sincronizados"),
    ("agencia_sync.erros", "Clientes da agência com erro"),
    ("checkup_agencia.verificados", "Contas da agência verificadas"),
    ("checkup_agencia.prontos", "Contas da agência prontas"),
    ("checkup_agencia.pendentes", "Contas da agência com pendências"),
    ("log_archival.arquivados", "Registros arquivados"),
    ("log_archival.lotes", "Lotes de arquivo"),
    ("suspensos", "Acessos encerrados"),
];

/// Stored counts with their labels, in the order of the answer.
pub fn in_words(counts: &Map<String, Value>) -> Vec<(&'static str, u64)> {
    let count = |name: &str| counts.get(name).and_then(Value::as_u64);
    WORDS.iter().filter_map(|(name, words)| Some((*words, count(name)?))).collect()
}

/// A task that failed.
#[derive(Clone, Debug, Serialize, serde::Deserialize, JsonSchema)]
#[schemars(rename = "CronFailure")]
pub struct Failure {
    /// The task's name.
    pub tarefa: String,
    /// What went wrong.
    pub mensagem: String,
}

impl Failure {
    /// The failure of a task, when it failed.
    pub fn of(ran: &Ran) -> Option<Self> {
        Some(Self { tarefa: ran.task.name.to_owned(), mensagem: ran.error.clone()? })
    }

    /// The history could not be read or written.
    pub fn ours(error: &DbError) -> Self {
        Self { tarefa: "historico".to_owned(), mensagem: error.to_string() }
    }
}

/// The answer of a run.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CronRun")]
pub struct Answer<'r> {
    /// Whether every task that ran did its work.
    ok: bool,
    /// When the run began, `YYYY-MM-DD HH:MM:SS`.
    ts: String,
    #[serde(flatten)]
    report: &'r Report,
    /// Tasks that failed.
    erros: &'r [Failure],
    /// How long it took, in milliseconds.
    ms: i64,
}

impl<'r> Answer<'r> {
    /// The answer for a run.
    pub fn of(services: &Services, run: &'r Run) -> Self {
        Self {
            ok: run.failures.is_empty(),
            ts: services.zone().spaced(run.started_at),
            report: &run.report,
            erros: &run.failures,
            ms: run.ms,
        }
    }
}
