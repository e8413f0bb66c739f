//! The periodic tasks in the operator's panel: their state and history, a run
//! at once, a pause.

pub mod archived;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::report::Answer as RunAnswer;
use super::store::{self, Noted, RunOutcome, TaskState};
use super::views::{CronPage, RunLine, RunPage};
use super::{Failure, Origin, TASKS, Task, api, run};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::objects::TASK;
use crate::audit::{self, Actor};
use crate::base::{Instant, Zone};
use crate::db::RowWindow;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::csv::CsvFile;
use crate::panel::{
    Answer, Badge, Listing, Notice, PageTime, Tone, When, export, filters, flashes, heads,
};
use crate::services::Services;
use crate::wire;

/// The filter's value for a page with a row for each run.
const EACH: &str = "todas";

const LIST: Listing = Listing {
    path: "/admin/cron",
    hint: "",
    filters: filters! {
        "resultado": "Resultado", "O que fizeram", &[
            ("com-efeito", "Com efeito"), ("falhou", "Falharam"), ("sem-efeito", "Sem efeito"),
            (EACH, "Todas, uma a uma"),
        ];
    },
    sort_keys: &["-inicio"],
    heads: heads!["Execução" => "inicio", "Quem pediu", "Duração" numeric, "Resultado"],
    flashes: flashes! {
        "rodou": good "Execução concluída", "Abaixo está o que ela fez.";
        "falhou": bad "Execução concluída com falha",
            "As outras tarefas rodaram. Veja abaixo o que deu errado.";
        "cheio": warn "Já há execuções na fila",
            "Várias esperam a vez. Tente de novo em alguns segundos.";
        "pausada": good "Tarefa pausada",
            "Ela fica de fora de todas as execuções até você retomar.";
        "retomada": good "Tarefa retomada", "Ela volta a rodar na próxima execução.";
    },
    ..Listing::NONE
};

/// Most runs of a CSV file: enough for 90 days at one run a minute.
const MOST_IN_CSV: u32 = 150_000;

wire! {
    #[derive(Serialize)]
    struct WireTask of(task: &Task, state: TaskState, zone: Zone) after {
        let spaced = |at: Option<Instant>| at.map(|at| zone.spaced(at));
    } {
        nome: &'static str = task.name,
        titulo: &'static str = task.title,
        frequencia: &'static str = task.every.name(),
        ultimo_inicio: Option<String> = spaced(state.started_at),
        ultimo_fim: Option<String> = spaced(state.ended_at),
        ms: Option<i64> = state.ms,
        falhas_seguidas: i64 = state.failures,
        ultimo_erro: Option<String> = state.error,
        ultima_falha_em: Option<String> = spaced(state.failed_at),
        pausada_em: Option<String> = spaced(state.paused_at),
    }
}

wire! {
    #[derive(Serialize)]
    struct WireRun of(run: Noted, zone: Zone) {
        id: String = run.id.to_string(),
        inicio: String = zone.spaced(run.started_at),
        fim: String = zone.spaced(run.ended_at),
        ms: i64 = run.ms,
        origem: String = run.origin,
        resultado: &'static str = run.outcome.name(),
        contagens: Map<String, Value> = run.counts,
        erros: Vec<Failure> = run.errors,
    }
}

#[derive(Serialize)]
struct ListReply {
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
        let ids = app.db.read(request.lane, |tx| {
            store::ids(tx, outcome, query.descending, RowWindow::first(MOST_IN_CSV))
        })?;
        return csv(app, person, ids);
    }
    let window = query.window();
    // Most runs find nothing to do: the page folds them, programs and files get each.
    let folds = !request.wants_json() && query.filter("resultado").is_none();
    let (tasks, (runs, total), newest) = app.db.read(request.lane, |tx| {
        let runs = if folds {
            store::page_of_work(tx, query.descending, window)?
        } else {
            store::page(tx, outcome, query.descending, window)?
        };
        Ok::<_, Problem>((store::tasks(tx)?, runs, store::newest(tx)?))
    })?;
    let zone = app.zone();
    if request.wants_json() {
        return Reply::ok(&ListReply {
            ligado: app.config.cron.enabled,
            intervalo_s: app.config.cron.interval_s,
            tarefas: tasks
                .into_iter()
                .map(|(task, state)| WireTask::of(task, state, zone))
                .collect(),
            total,
            dados: runs.into_iter().map(|run| WireRun::of(run, zone)).collect(),
        });
    }
    Reply::page(&CronPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        attention: attention(app, &tasks),
        sum: sum(&tasks),
        tasks,
        table: LIST.table(&query, LIST.heads, total),
        only_idle: folds && total == 0 && newest > 0,
        lines: lines(runs, folds.then_some((newest, query.descending && query.page == 1))),
        time: PageTime::of(app, request),
    })
}

/// `13 tarefas, nenhuma com falha`, `13 tarefas · 2 com falha · 1 pausada`.
fn sum(tasks: &[(&'static Task, TaskState)]) -> String {
    let with = |badge: Badge| tasks.iter().filter(|(_, state)| state.badge() == badge).count();
    let failing = with(Badge::Broken) + with(Badge::Attention);
    let paused = with(Badge::Paused);
    let mut parts = vec![format!("{} tarefas", tasks.len())];
    if failing > 0 {
        parts.push(format!("{failing} com falha"));
    }
    if paused > 0 {
        parts.push(if paused == 1 { "1 pausada".to_owned() } else { format!("{paused} pausadas") });
    }
    if parts.len() == 1 { format!("{}, nenhuma com falha", parts[0]) } else { parts.join(" · ") }
}

/// The rows of the history. With `folded`, runs between two rows that found nothing to do
/// are one line; it has the number of the newest run, and whether the first row may come
/// after such runs. Numbers are given one after the other.
fn lines(runs: Vec<Noted>, folded: Option<(i64, bool)>) -> Vec<RunLine> {
    let Some((newest, is_first)) = folded else {
        return runs.into_iter().map(|run| RunLine { run, idle_before: 0 }).collect();
    };
    let mut before = is_first.then_some(newest + 1);
    let line = |run: Noted| {
        let idle = before.map_or(0, |before: i64| (before - run.id).abs() - 1);
        before = Some(run.id);
        RunLine { run, idle_before: idle.max(0) }
    };
    runs.into_iter().map(line).collect()
}

fn attention(services: &Services, tasks: &[(&'static Task, TaskState)]) -> Vec<Notice> {
    let mut notices = Vec::new();
    if !services.config.cron.enabled {
        let text = "As tarefas só rodam quando alguém chama /api/v1/cron com o segredo, ou aqui. Para rodarem sozinhas, ponha cron.enabled = true no arquivo de configuração e reinicie o serviço.";
        notices.push(Notice::new(Tone::Warn, "O relógio interno está desligado", text));
    }
    for (task, state) in tasks.iter().filter(|(_, state)| state.badge() == Badge::Broken) {
        let title = format!("Tarefa com falha: {}", task.title);
        notices.push(Notice::new(Tone::Bad, title, state.last_failure(&services.zone())));
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
        let run = WireRun::of(run, app.zone());
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

/// `GET /admin/cron/{id}`: one run with its counts and failures.
pub fn one(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let found = app.db.read(request.lane, |tx| store::one(tx, id))?;
    let run = found.ok_or_else(Problem::not_found)?;
    if request.wants_json() {
        return Reply::ok(&WireRun::of(run, app.zone()));
    }
    Reply::page(&RunPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        began: When::new(app.zone(), run.started_at, request.now),
        ended: app.zone().page(run.ended_at),
        run,
        zone: app.zone(),
    })
}

/// `POST /admin/cron/rodar`: a run at once.
pub fn run_now(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let actor = Actor::person(person, request);
    app.db.write(move |tx| {
        audit::note(tx, &actor, &TASK.act("cron.rodar", "", "Todas as tarefas"), (), ())
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
            let (before, after) = (json!({ "pausada": !paused }), json!({ "pausada": paused }));
            audit::note(tx, &actor, &TASK.act(action, task.name, task.title), &before, &after)?;
        }
        let word = if paused { "pausada" } else { "retomada" };
        answer.done(task.name, LIST.path, word)
    }))
}
