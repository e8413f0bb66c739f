//! The result of a run: counts under the names that programs know, and failures.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Ran, Run};
use crate::base::grouped;
use crate::db::DbError;
use crate::services::Services;

/// The counts of a run. Zeros stand for tasks that did nothing.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// People reminded of a meet.
    pub meets_notif: usize,
    /// People alerted because they were away.
    pub inativos: usize,
    /// People reminded of the day's check-in.
    pub alertas_20h: usize,
    /// Streaks that ended because a day was missed.
    pub furados: usize,
    /// Messages that left.
    pub chat_enviados: usize,
    /// Messages that could not be sent.
    pub chat_erros: usize,
    /// Messages dropped because nobody can receive them any more.
    pub chat_ignorados: usize,
    pub ml_sync: SyncCounts,
    pub agencia_sync: AgencyCounts,
    pub checkup_agencia: CheckupCounts,
    log_archival: Archival,
    /// Students whose access ended; for the history alone.
    #[serde(skip)]
    pub suspended: usize,
}

/// The marketplace sales sync.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "CronSalesSync")]
pub struct SyncCounts {
    pub contas: usize,
    pub vendas_novas: usize,
    pub erros: usize,
}

/// The agency snapshot sync.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "CronAgencySync")]
pub struct AgencyCounts {
    pub sincronizados: usize,
    pub erros: usize,
}

/// The checkup of the agency's accounts.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "CronCheckup")]
pub struct CheckupCounts {
    pub verificados: usize,
    pub prontos: usize,
    pub pendentes: usize,
}

/// The log archival: `{"skipped":true}` when nothing was archived.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
    /// Adds a batch of archived entries.
    pub const fn add_archived(&mut self, entries: usize) {
        let (before, batches) = match self.log_archival {
            Archival::Skipped { .. } => (0, 0),
            Archival::Done { arquivados, lotes } => (arquivados, lotes),
        };
        self.log_archival = Archival::Done { arquivados: before + entries, lotes: batches + 1 };
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
pub fn in_words(counts: &Map<String, Value>) -> Vec<(&'static str, String)> {
    let count = |name: &str| counts.get(name).and_then(Value::as_u64).map(grouped);
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
