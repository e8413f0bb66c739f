//! Whether the service does its work: what there is of it, how each part is
//! now, and how it was on each of the last 90 days.

mod days;

pub use days::{PartDay, Watch, forget, history};

use super::language::Said;
use crate::app::App;
use crate::base::{Instant, retention};
use crate::db::{Condition, Lane, ReadTx, Result};
use crate::messages::delivery::gate::Health;
use crate::operations::store;
use crate::panel::Tone;

/// Days that are shown, today included.
pub const DAYS: i64 = retention::STATES.days;
/// Without a run of the periodic tasks for so long, nothing runs them.
const TICK_AGE_S: i64 = 3600;

crate::named! {
    /// A part of the service that can fail by itself.
    pub enum Component: text {
        Api = "api";
        Database = "database";
        Tasks = "tasks";
        Marketplace = "marketplace";
        Messages = "messages";
    }
}

impl Component {
    /// What it is called.
    pub const fn title(self) -> Said {
        match self {
            Self::Api => Said { portuguese: "API e painel", english: "API and panel" },
            Self::Database => Said { portuguese: "Gravação de dados", english: "Storing data" },
            Self::Tasks => Said { portuguese: "Tarefas periódicas", english: "Background work" },
            Self::Marketplace => Said {
                portuguese: "Ligação com o marketplace",
                english: "Marketplace connection",
            },
            Self::Messages => {
                Said { portuguese: "Envio de mensagens", english: "Message delivery" }
            }
        }
    }

    /// What it is there for.
    pub const fn about(self) -> Said {
        match self {
            Self::Api => Said {
                portuguese: "Responde a programas e navegadores.",
                english: "Answers programs and browsers.",
            },
            Self::Database => Said {
                portuguese: "Guarda o que chega antes de responder.",
                english: "Stores what arrives before it is answered.",
            },
            Self::Tasks => Said {
                portuguese: "Lembretes, vencimentos e releituras.",
                english: "Reminders, due dates and readings again.",
            },
            Self::Marketplace => Said {
                portuguese: "Lê vendas, anúncios, perguntas e reclamações.",
                english: "Reads sales, listings, questions and claims.",
            },
            Self::Messages => Said {
                portuguese: "E-mail, Telegram, navegador e chat.",
                english: "E-mail, Telegram, browser and chat.",
            },
        }
    }
}

crate::named! {
    /// How a part is, from good to bad.
    #[derive(PartialOrd, Ord)]
    pub enum State: text {
        Operational = "operational";
        Degraded = "degraded";
        Down = "down";
    }
}

impl State {
    /// The word that people read.
    pub const fn word(self) -> Said {
        match self {
            Self::Operational => Said { portuguese: "Funcionando", english: "Operational" },
            Self::Degraded => Said { portuguese: "Com falhas", english: "Degraded" },
            Self::Down => Said { portuguese: "Fora do ar", english: "Down" },
        }
    }

    /// What it means.
    pub const fn tone(self) -> Tone {
        match self {
            Self::Operational => Tone::Good,
            Self::Degraded => Tone::Warn,
            Self::Down => Tone::Bad,
        }
    }
}

/// Each part as it is now; those that are not set up are left out.
pub fn now(app: &App, tx: &ReadTx<'_>, now: Instant) -> Result<Vec<(Component, State)>> {
    let parts = [
        // Whoever reads this was answered.
        (Component::Api, Some(State::Operational)),
        (Component::Database, Some(database(app))),
        (Component::Tasks, tasks(app, tx, now)?),
        (Component::Marketplace, marketplace(app)),
        (Component::Messages, messages(app)),
    ];
    Ok(parts.into_iter().filter_map(|(part, state)| Some((part, state?))).collect())
}

/// As `/readyz` says it.
fn database(app: &App) -> State {
    if app.soundness.is_damaged() || app.db.condition() != Condition::Writable {
        return State::Down;
    }
    State::Operational
}

fn tasks(app: &App, tx: &ReadTx<'_>, now: Instant) -> Result<Option<State>> {
    let last = store::last_tick(tx)?;
    if !app.config.cron.enabled && last == Instant(0) {
        return Ok(None);
    }
    let interval = i64::try_from(app.config.cron.interval_s).unwrap_or(i64::MAX);
    // A fresh start has its first run before it.
    let since = now.since(last.max(app.started_at));
    if since > interval.saturating_mul(3).max(TICK_AGE_S) {
        return Ok(Some(State::Down));
    }
    let fails = !store::failing_tasks(tx)?.is_empty();
    Ok(Some(if fails { State::Degraded } else { State::Operational }))
}

fn marketplace(app: &App) -> Option<State> {
    if app.config.marketplace.client_id.is_empty() {
        return None;
    }
    Some(if app.marketplace.client.is_away() { State::Down } else { State::Operational })
}

/// One way of several that is down is a degraded part.
fn messages(app: &App) -> Option<State> {
    let outlets = &app.delivery.outlets;
    let down = outlets.iter().filter(|one| one.gate.health() != Health::Good).count();
    match down {
        _ if outlets.is_empty() => None,
        0 => Some(State::Operational),
        down if down < outlets.len() => Some(State::Degraded),
        _ => Some(State::Down),
    }
}

/// Looks at every part once a minute and notes how it is; called once a second.
pub fn watch(app: &App, is_last: bool) -> Result<()> {
    let at = app.clock.now();
    if let Some(passed) = app.states.passed(at, is_last) {
        let parts = app.db.read(Lane::Slow, |tx| now(app, tx, at))?;
        app.states.note(app.day(at), &parts, passed);
    }
    app.states.flush(&app.db)
}
