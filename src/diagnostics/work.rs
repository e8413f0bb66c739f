//! What the service does: queues, threads, and what it does by itself.

use super::Section;
use super::facts::span;
use crate::app::App;
use crate::base::{Instant, grouped};
use crate::behind;
use crate::cron::plan::{PlannedTask, took};
use crate::marketplace::sync::missed::MissedOutcome;
use crate::operations::api::metrics::process_status;
use crate::operations::queues::Queue;
use crate::operations::rounds::Round;
use crate::operations::soundness;
use crate::operations::views::{Fact, fact};
use crate::panel::{Badge, When};
use crate::services::Services;

/// A queue whose oldest waits longer than this needs attention.
const LONG_WAIT_S: i64 = 3600;

/// The queues.
pub fn queues(app: &App, queues: &[Queue], now: Instant) -> Section {
    let mut linhas: Vec<Fact> = queues
        .iter()
        .map(|queue| {
            let age = queue.age_s(now);
            let note = match queue.oldest {
                Some(_) => format!("A mais antiga espera há {}", span(age.unsigned_abs())),
                None => String::new(),
            };
            fact(queue.title, grouped(queue.length))
                .noted(note)
                .good_if(age <= LONG_WAIT_S)
                .leads_to(queue.page)
        })
        .collect();
    linhas.push(
        fact("Requisições a registrar", grouped(app.health.requests.count_waiting()))
            .noted(match app.health.requests.dropped() {
                0 => String::new(),
                dropped => format!("{} não couberam desde o início", grouped(dropped)),
            })
            .good_if(app.health.requests.dropped() == 0),
    );
    linhas.push(missed(app.marketplace.last_missed.get()));
    Section { nome: "filas", titulo: "Filas", linhas }
}

/// Whether notifications that did not arrive are fetched late.
fn missed(last: Option<MissedOutcome>) -> Fact {
    let named = |value: &str| fact("Notificações perdidas", value);
    match last {
        None | Some(MissedOutcome::NobodyLinked) => named("Ainda não pedidas"),
        Some(MissedOutcome::Received(_)) => named("Recuperadas").good_if(true),
        Some(MissedOutcome::Unavailable) => {
            named("O marketplace não respondeu").noted("São pedidas de novo").good_if(false)
        }
        Some(MissedOutcome::Refused) => named("Não recuperadas")
            .noted("Só a conta dona do aplicativo pode pedi-las, e ela não está vinculada aqui")
            .good_if(false),
    }
}

/// Threads, and the lanes in which requests wait for one.
pub fn threads(app: &App) -> Section {
    let mut linhas = Vec::new();
    if let Some(threads) = process_status("Threads:") {
        linhas.push(fact("Threads do processo", grouped(threads)));
    }
    if let Some(kib) = process_status("RssAnon:") {
        linhas.push(fact("Memória própria", crate::panel::view::size(kib * 1024)));
    }
    linhas.extend(app.server.lanes.figures().into_iter().map(|lane| {
        let value = format!("{} de {} em uso", lane.running, lane.threads);
        let lanes = fact(lane.title, value).good_if(lane.waiting == 0);
        match lane.waiting {
            0 => lanes,
            waiting => lanes.noted(format!("{} esperam", grouped(waiting))),
        }
    }));
    Section { nome: "threads", titulo: "Threads e faixas", linhas }
}

/// Something that is done again and again.
pub struct Task {
    pub title: &'static str,
    pub last: Option<When>,
    /// `320 ms`; may be empty.
    pub took: String,
    /// When it is done next, in words.
    pub next: String,
    pub state: Badge,
    /// The last failure; may be empty.
    pub error: String,
}

/// The periodic tasks, and what else is done by itself.
pub fn tasks(app: &App, planned: Vec<PlannedTask>, now: Instant) -> Vec<Task> {
    let zone = app.zone();
    let when = |at: Instant| When::new(zone, at, now);
    let mut tasks: Vec<Task> = planned
        .into_iter()
        .map(|PlannedTask { task, state, next }| Task {
            title: task.title,
            last: state.started_at.map(when),
            took: state.ms.map(took).unwrap_or_default(),
            next: match next {
                Some(next) => soon(app, next, now),
                None if state.paused_at.is_some() => "Pausada".to_owned(),
                None => "Quando alguém pedir".to_owned(),
            },
            state: match (state.paused_at, state.failures, state.started_at) {
                (Some(_), ..) => Badge::Paused,
                (_, 1.., _) => Badge::Broken,
                (_, _, None) => Badge::Pending,
                _ => Badge::Healthy,
            },
            error: match (state.error, state.failed_at) {
                (Some(error), Some(at)) if state.failures > 0 => {
                    format!("Falhou em {}: {error}", zone.page(at))
                }
                _ => String::new(),
            },
        })
        .collect();
    let rounds = &app.health.rounds;
    let light = i64::try_from(soundness::SHORTEST.as_secs()).unwrap_or(0);
    let own: [(&str, &Round, i64); 4] = [
        ("Verificação leve do banco", &rounds.light_check, light),
        ("Verificação completa do banco", &rounds.whole_check, soundness::WHOLE_EVERY_S),
        ("Contadores e registros em disco", &rounds.counters, 1),
        ("Remoção do que venceu", &rounds.tidying, behind::TIDY_EVERY_S),
    ];
    tasks.extend(own.map(|(title, round, every)| {
        let last = round.last();
        let from = last.as_ref().map_or(app.started_at, |last| last.at);
        Task {
            title,
            took: last.as_ref().map(|last| took(last.ms)).unwrap_or_default(),
            next: soon(app, from.plus(every), now),
            state: match &last {
                None => Badge::Pending,
                Some(last) if last.failed => Badge::Broken,
                Some(_) => Badge::Healthy,
            },
            error: String::new(),
            last: last.map(|last| when(last.at)),
        }
    }));
    tasks.push(Task {
        title: "Checkpoint do log de escrita",
        last: app
            .db
            .since_checkpoint()
            .map(|ago| when(now.minus(i64::try_from(ago.as_secs()).unwrap_or(0)))),
        took: String::new(),
        next: "Quando o log cresce ou o banco descansa".to_owned(),
        state: Badge::Healthy,
        error: String::new(),
    });
    tasks
}

/// When something is due, in words.
fn soon(services: &Services, at: Instant, now: Instant) -> String {
    match at.since(now) {
        ..=0 => "A qualquer momento".to_owned(),
        ahead @ 1..60 => format!("Em {ahead} s"),
        ahead @ 60..3600 => format!("Em {} min", ahead / 60),
        _ => services.zone().page(at),
    }
}
