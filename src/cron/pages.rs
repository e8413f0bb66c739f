//! The periodic tasks in the operator's panel: their state and history, a run
//! at once, a pause.

use serde::Serialize;
use serde_json::{Map, Value};

use super::report::{Answer as RunAnswer, in_words};
use super::store::{self, Noted, RunOutcome, TaskState};
use super::views::{CronPage, RunPage, RunRow, TaskRow};
use super::{Failure, Origin, TASKS, Task, api, run};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::{Instant, grouped};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::csv::CsvFile;
use crate::panel::{Answer, Badge, Filter, Flash, Head, Listing, Notice, Tone, When, export};
use crate::services::Services;

const LIST: Listing = Listing {
    path: "/admin/cron",
    hint: "",
    filters: &[Filter {
        name: "resultado",
        label: "Resultado",
        all: "Todos",
        values: &[
            ("com-efeito", "Com efeito"),
            ("sem-efeito", "Sem efeito"),
            ("falhou", "Falharam"),
        ],
    }],
    sort_keys: &["-inicio"],
    heads: &[
        Head::sorts("Execução", "inicio"),
        Head::plain("Quem pediu"),
        Head::plain("Duração").numeric(),
        Head::plain("Resultado"),
    ],
    flashes: &[
        Flash::good("rodou", "Execução concluída", "Abaixo está o que ela fez."),
        Flash::bad(
            "falhou",
            "Execução concluída com falha",
            "As outras tarefas rodaram. Veja abaixo o que deu errado.",
        ),
        Flash::warn(
            "cheio",
            "Já há execuções na fila",
            "Várias esperam a vez. Tente de novo em alguns segundos.",
        ),
        Flash::good(
            "pausada",
            "Tarefa pausada",
            "Ela fica de fora de todas as execuções até você retomar.",
        ),
        Flash::good("retomada", "Tarefa retomada", "Ela volta a rodar na próxima execução."),
    ],
    ..Listing::NONE
};

/// Most runs of a CSV file: enough for 90 days at one run a minute.
const MOST_IN_CSV: u32 = 150_000;

const fn badge(number: RunOutcome) -> Badge {
    match number {
        RunOutcome::Done => Badge::ImportDone,
        RunOutcome::Failed => Badge::Failed,
        RunOutcome::Nothing => Badge::NoEffect,
    }
}

fn origin_words(name: &str) -> &'static str {
    match name {
        "painel" => "Painel",
        "endereco" => "Endereço do cron",
        _ => "Relógio interno",
    }
}

/// `320 ms` or `1,2 s`.
fn took(ms: i64) -> String {
    if ms < 1_000 {
        return format!("{ms} ms");
    }
    format!("{},{} s", ms / 1_000, ms % 1_000 / 100)
}

#[derive(Serialize)]
struct WireTask {
    nome: &'static str,
    titulo: &'static str,
    frequencia: &'static str,
    ultimo_inicio: Option<String>,
    ultimo_fim: Option<String>,
    ms: Option<i64>,
    falhas_seguidas: i64,
    ultimo_erro: Option<String>,
    ultima_falha_em: Option<String>,
    pausada_em: Option<String>,
}

fn wire_task(services: &Services, task: &Task, state: Option<&TaskState>) -> WireTask {
    let spaced = |at: Option<Instant>| at.map(|at| services.zone().spaced(at));
    WireTask {
        nome: task.name,
        titulo: task.title,
        frequencia: task.every.name(),
        ultimo_inicio: spaced(state.and_then(|state| state.started_at)),
        ultimo_fim: spaced(state.and_then(|state| state.ended_at)),
        ms: state.and_then(|state| state.ms),
        falhas_seguidas: state.map_or(0, |state| state.failures),
        ultimo_erro: state.and_then(|state| state.error.clone()),
        ultima_falha_em: spaced(state.and_then(|state| state.failed_at)),
        pausada_em: spaced(state.and_then(|state| state.paused_at)),
    }
}

fn task_row(services: &Services, task: &Task, state: Option<&TaskState>, now: Instant) -> TaskRow {
    let failures = state.map_or(0, |state| state.failures);
    let paused = state.is_some_and(|state| state.paused_at.is_some());
    let last = state.and_then(|state| state.started_at);
    let error = state.and_then(|state| Some((state.error.clone()?, state.failed_at?)));
    TaskRow {
        name: task.name,
        title: task.title,
        every: task.every.words(),
        last: last.map(|at| When::new(services.zone(), at, now)),
        took: state.and_then(|state| state.ms).map(took).unwrap_or_default(),
        state: if paused {
            Badge::Paused
        } else if failures >= store::WORRYING {
            Badge::Broken
        } else if failures > 0 {
            Badge::Attention
        } else if last.is_none() {
            Badge::Pending
        } else {
            Badge::Healthy
        },
        error: error.map_or_else(String::new, |(error, at)| {
            format!("Última falha em {}: {error}", services.zone().page(at))
        }),
        paused,
    }
}

#[derive(Serialize)]
struct WireRun {
    id: String,
    inicio: String,
    fim: String,
    ms: i64,
    origem: String,
    resultado: &'static str,
    contagens: Map<String, Value>,
    erros: Vec<Failure>,
}

fn wire_run(services: &Services, run: Noted) -> WireRun {
    WireRun {
        id: run.id.to_string(),
        inicio: services.zone().spaced(run.started_at),
        fim: services.zone().spaced(run.ended_at),
        ms: run.ms,
        origem: run.origin,
        resultado: run.outcome.name(),
        contagens: run.counts,
        erros: run.errors,
    }
}

fn run_row(services: &Services, run: &Noted, now: Instant) -> RunRow {
    let did = in_words(&run.counts)
        .into_iter()
        .map(|(words, count)| format!("{words}: {}", grouped(count)));
    let failed = run.errors.iter().map(|failure| format!("Falhou: {}", title_of(&failure.tarefa)));
    RunRow {
        id: run.id.to_string(),
        at: services.zone().page(run.started_at),
        began: When::new(services.zone(), run.started_at, now),
        origin: origin_words(&run.origin),
        took: took(run.ms),
        state: badge(run.outcome),
        effects: failed.chain(did).collect::<Vec<_>>().join(" · "),
    }
}

fn title_of(name: &str) -> String {
    match TASKS.iter().find(|task| task.name == name) {
        Some(task) => task.title.to_owned(),
        None if name == "historico" => "Histórico do cron".to_owned(),
        None => name.to_owned(),
    }
}

#[derive(Serialize)]
struct ListReply {
    ok: bool,
    ligado: bool,
    intervalo_s: u64,
    tarefas: Vec<WireTask>,
    total: u64,
    dados: Vec<WireRun>,
}

/// `GET /admin/cron`: tasks and history, as page, JSON or CSV.
pub fn overview(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let outcome = query.filter("resultado").and_then(RunOutcome::from_name);
    if query.csv {
        let ids = app
            .db
            .read(request.lane, |tx| store::ids(tx, outcome, query.descending, (MOST_IN_CSV, 0)))?;
        return csv(app, person, ids);
    }
    let window = query.window();
    let (states, (runs, total)) = app.db.read(request.lane, |tx| {
        let runs = store::page(tx, outcome, query.descending, window)?;
        Ok::<_, Problem>((store::tasks(tx)?, runs))
    })?;
    let of = |task: &Task| states.iter().find(|state| state.name == task.name);
    if request.wants_json() {
        return Reply::json(&ListReply {
            ok: true,
            ligado: app.config.cron.enabled,
            intervalo_s: app.config.cron.interval_s,
            tarefas: TASKS.iter().map(|task| wire_task(app, task, of(task))).collect(),
            total,
            dados: runs.into_iter().map(|run| wire_run(app, run)).collect(),
        });
    }
    let now = request.now;
    let tasks: Vec<_> = TASKS.iter().map(|task| task_row(app, task, of(task), now)).collect();
    Reply::page(&CronPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        attention: attention(app, &tasks),
        tasks,
        table: LIST.table(&query, LIST.heads, total),
        runs: runs.iter().map(|run| run_row(app, run, now)).collect(),
    })
}

fn attention(services: &Services, tasks: &[TaskRow]) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !services.config.cron.enabled {
        let text = "As tarefas só rodam quando alguém chama /api/v1/cron com o segredo, ou aqui. Para rodarem sozinhas, ponha cron.enabled = true no arquivo de configuração e reinicie o serviço.";
        notices.push(Notice::new(Tone::Warn, "O relógio interno está desligado", text));
    }
    for task in tasks.iter().filter(|task| task.state == Badge::Broken) {
        let title = format!("Tarefa com falha: {}", task.title);
        notices.push(Notice::new(Tone::Bad, title, task.error.clone()));
    }
    notices
}

fn csv(app: &App, person: &Person, ids: Vec<i64>) -> Result<Reply, Problem> {
    let header = ["id", "inicio", "fim", "ms", "origem", "resultado", "contagens", "erros"];
    let file = CsvFile::new("cron.csv", &header)?;
    export::send(app, person, file, ids, |app, tx, id, file| {
        let Some(run) = store::one(tx, id)? else {
            return Ok(());
        };
        let run = wire_run(app, run);
        file.row([
            &*run.id,
            &run.inicio,
            &run.fim,
            &run.ms.to_string(),
            &run.origem,
            run.resultado,
            &Value::Object(run.contagens).to_string(),
            &serde_json::to_string(&run.erros).map_err(Problem::internal)?,
        ])
    })
}

#[derive(Serialize)]
struct RunReply {
    ok: bool,
    #[serde(flatten)]
    run: WireRun,
}

/// `GET /admin/cron/{id}`: one run with its counts and failures.
pub fn one(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let found = app.db.read(request.lane, |tx| store::one(tx, id))?;
    let run = found.ok_or_else(Problem::not_found)?;
    if request.wants_json() {
        return Reply::json(&RunReply { ok: true, run: wire_run(app, run) });
    }
    let counts = in_words(&run.counts).into_iter();
    let errors = run.errors.iter();
    Reply::page(&RunPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        row: run_row(app, &run, request.now),
        ended: app.zone().page(run.ended_at),
        counts: counts.map(|(words, count)| (words, grouped(count))).collect(),
        errors: errors
            .map(|failure| (title_of(&failure.tarefa), failure.mensagem.clone()))
            .collect(),
    })
}

/// `POST /admin/cron/rodar`: a run at once.
pub fn run_now(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let actor = Actor::person(person, request);
    app.db.write(move |tx| {
        let act = act("cron.rodar", "", "Todas as tarefas");
        audit::note(tx, &actor, &act, None::<&()>, None::<&()>)
    })?;
    let Some(run) = run(app, Origin::Panel, None) else {
        return Answer::to(request).refused(api::too_many(), LIST.path, "cheio");
    };
    if request.wants_json() {
        return Reply::json(&RunAnswer::of(app, &run));
    }
    let page = run.id.map_or_else(|| LIST.path.to_owned(), |id| format!("{}/{id}", LIST.path));
    let word = if run.failures.is_empty() { "rodou" } else { "falhou" };
    Reply::back(&page, word)
}

fn act<'a>(action: &'static str, id: &str, name: &'a str) -> Act<'a> {
    Act { action, object: "tarefa", object_id: id.to_owned(), object_name: name }
}

#[derive(Serialize)]
struct Shown {
    pausada: bool,
}

/// `POST /admin/cron/tarefas/{nome}/pausar`: runs skip the task from now on.
pub fn pause(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    set_paused(person, request, true)
}

/// `POST /admin/cron/tarefas/{nome}/retomar`: lets a task run again.
pub fn resume(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    set_paused(person, request, false)
}

fn set_paused(person: &Person, request: &Request, paused: bool) -> Result<Job, Problem> {
    let name = request.variable("nome");
    let task = TASKS.iter().find(|task| task.name == name);
    let task = task.ok_or_else(Problem::not_found)?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        if store::set_paused(tx, task, paused)? {
            let action = if paused { "cron.pausar" } else { "cron.retomar" };
            let (before, after) = (Shown { pausada: !paused }, Shown { pausada: paused });
            let act = act(action, task.name, task.title);
            audit::note(tx, &actor, &act, Some(&before), Some(&after))?;
        }
        let word = if paused { "pausada" } else { "retomada" };
        answer.done(task.name, LIST.path, word)
    }))
}
