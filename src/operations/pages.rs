//! The operator's home.

use std::sync::Arc;

use super::https;
use super::open_items::{self, Figures, WAITING_INBOX};
use super::views::{HealthRow, OperatorHome, RoleCount};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::accounts::store as accounts;
use crate::app::App;
use crate::base::grouped;
use crate::config::SignatureMode;
use crate::copies::{self, CopiesStatus};
use crate::db::Kept;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::delivery::Outlet;
use crate::messages::queue;
use crate::outbox::{Channel, channel_words};
use crate::panel::{Badge, view};
use crate::partner::accounts::QuotaThresholds;
use crate::services::Services;

/// `GET /admin`: state of the service, open items and numbers of people.
pub fn admin_home(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let thresholds = QuotaThresholds::of(&app.config.partner.plans, app.day(request.now));
    let operator = person.account.user_id;
    let (figures, people) = app.db.read(request.lane, |tx| {
        let figures = open_items::figures(tx, operator, &thresholds, request.now)?;
        Ok::<_, Problem>((figures, accounts::count_by_role(tx)?))
    })?;
    let copies = app.health.copies.standing(app)?;
    let open = open_items::open_items(app, &figures, &copies, request.now);
    let total = people.iter().map(|(_, count)| count).sum();
    let count_of =
        |role| people.iter().find(|(known, _)| *known == role).map_or(0, |(_, count)| *count);
    Reply::page(&OperatorHome {
        layout: layout(app, person, request),
        verdict: open_items::verdict(&open),
        open,
        health: health_rows(app, &figures, &copies),
        signature_hint: app.config.marketplace.signature == SignatureMode::Required,
        people: Role::ALL
            .into_iter()
            .map(|role| RoleCount::new(role.title(), count_of(role), total))
            .collect(),
        people_total: grouped(total),
        version: env!("CARGO_PKG_VERSION"),
        uptime: view::span(request.now.since(app.started_at)),
    })
}

fn health_rows(app: &App, figures: &Figures, copies: &CopiesStatus) -> Vec<HealthRow> {
    let log = app.db.wal_bytes();
    let bytes = std::fs::metadata(app.db.path()).map_or(0, |metadata| metadata.len());
    let row = |label, value, note: &str, state| HealthRow {
        label,
        value,
        note: note.to_owned(),
        state,
        href: "",
    };
    let integrity = if app.db.is_blocked() { Badge::Broken } else { Badge::Healthy };
    let mut rows = vec![
        row("Banco de dados", view::size(bytes), "", integrity),
        row(
            "Log de escrita",
            view::size(log),
            "Volta a encolher sozinho.",
            if open_items::is_log_large(&app.config, log) {
                Badge::Attention
            } else {
                Badge::Healthy
            },
        ),
        last_copy(app, copies),
        row("Fila de escrita", grouped(app.db.queue_depth()), "", Badge::Healthy),
    ];
    rows.extend(https::row(app, app.clock.now()));
    rows.extend(replica(app));
    rows.push(channels(app));
    rows.push(queued_messages(app, figures));
    rows.push(HealthRow {
        label: "Avisos não lidos",
        value: grouped(figures.unread),
        note: String::new(),
        state: if figures.unread > 0 { Badge::Attention } else { Badge::Healthy },
        href: "/admin/avisos",
    });
    rows.extend(inbox_rows(figures));
    rows
}

/// State of the inbox of marketplace notifications.
fn inbox_rows(figures: &Figures) -> [HealthRow; 4] {
    let row = |label, number, worrying: i64| HealthRow {
        label,
        value: grouped(number),
        note: String::new(),
        state: if number > worrying { Badge::Attention } else { Badge::Healthy },
        href: "",
    };
    let inbox = &figures.inbox;
    [
        row("Notificações na fila", inbox.waiting, WAITING_INBOX)
            .leads_to("/admin/notificacoes?estado=pendente"),
        row("Notificações guardadas para depois", inbox.for_later, i64::MAX)
            .leads_to("/admin/notificacoes?estado=guardada"),
        row("Notificações que falharam", inbox.failed, 0)
            .leads_to("/admin/notificacoes?estado=falhou"),
        row("Assinaturas recusadas em 7 dias", figures.refused, 0),
    ]
}

/// Messages that wait, and whether they wait for a channel to be configured.
fn queued_messages(services: &Services, figures: &Figures) -> HealthRow {
    let blocked =
        figures.queued.iter().any(|(channel, _)| !queue::is_configured(&services.config, channel));
    let waiting: u64 = figures.queued.iter().map(|(_, count)| count).sum();
    let (note, state) =
        if blocked { ("Há um canal não configurado.", Badge::Off) } else { ("", Badge::Healthy) };
    HealthRow {
        label: "Mensagens na fila",
        value: grouped(waiting),
        note: note.to_owned(),
        state,
        href: "/admin/mensagens?estado=pendente",
    }
}

/// The newest copy of the database, and when the next one is due.
pub fn last_copy(services: &Services, copies: &CopiesStatus) -> HealthRow {
    let now = services.clock.now();
    let page = |at| services.zone().page(at);
    let is_bad = copies.failure.is_some() || copies.broken().next().is_some();
    HealthRow {
        label: "Última cópia",
        value: match copies.newest_good().and_then(Kept::made_at) {
            Some(at) => page(at),
            None if copies.has_folder => "Nenhuma ainda".to_owned(),
            None => "Sem pasta configurada".to_owned(),
        },
        note: match copies.next_due(now) {
            Some(due) if due > now => format!("A próxima: {}.", page(due)),
            Some(_) => String::new(),
            None => "Nenhuma é feita sozinha.".to_owned(),
        },
        state: match copies.every_s {
            None => Badge::Off,
            Some(_) if is_bad => Badge::Broken,
            Some(_) if copies.is_late(now) => Badge::Attention,
            Some(_) => Badge::Healthy,
        },
        href: copies::PATH,
    }
}

/// How far the replica is.
pub fn replica(app: &App) -> Option<HealthRow> {
    let standing = app.health.replica.standing()?;
    Some(HealthRow {
        label: "Réplica",
        value: format!("{} s atrás", grouped(standing.lag_s)),
        note: standing.url.clone(),
        state: if standing.trouble.is_some() { Badge::Attention } else { Badge::Healthy },
        href: "",
    })
}

/// The channels that send messages.
fn channels(app: &App) -> HealthRow {
    let on = Channel::ALL.into_iter().filter(|one| queue::is_configured(&app.config, one.name()));
    let names: Vec<&str> = on.map(|channel| channel_words(channel.name())).collect();
    let is_down = |outlet: &Arc<Outlet>| outlet.gate.error().is_some();
    let (value, state) = match &*names {
        [] => ("Nenhum".to_owned(), Badge::Off),
        names if app.messages.delivery.outlets.iter().any(is_down) => {
            (names.join(", "), Badge::Attention)
        }
        names => (names.join(", "), Badge::Healthy),
    };
    HealthRow {
        label: "Canais ligados",
        value,
        note: String::new(),
        state,
        href: "/admin/mensagens/canais",
    }
}
