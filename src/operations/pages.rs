//! The operator's home.

use std::sync::Arc;

use super::month::{self, Month};
use super::open_items::{self, Figures, WAITING_INBOX};
use super::views::{Fact, OpenItem, OperatorHome, fact};
use super::{https, needs, setup, store};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::accounts::store as accounts;
use crate::app::App;
use crate::base::{Cents, grouped};
use crate::config::SignatureMode;
use crate::content::plans::store as plans;
use crate::copies::{self, CopiesStatus};
use crate::db::BackupCopy;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::delivery::Outlet;
use crate::messages::queue;
use crate::outbox::{Channel, channel_words};
use crate::panel::{Badge, Flash, PageTime, QueueItem, Tone, flashes, view};
use crate::partner::accounts::QuotaThresholds;
use crate::people::told;
use crate::services::Services;

/// Most people with an unpaid renewal that have a row of their own.
const OVERDUE: u32 = 8;

const FLASHES: &[Flash] = flashes! {
    "respondeu": good "O canal responde", "Nada foi enviado.";
    "falhou": bad "O canal não respondeu como devia", "O motivo está no passo dele.";
    "espere": info "Este canal foi testado há pouco", "Espere dez segundos.";
    "copiando": good "A cópia está sendo feita", "Leva alguns segundos; recarregue a página.";
    "esta_suspenso": warn "A pessoa está suspensa", "Reative o acesso antes.";
    "desfeito": good "Desfeito", "Está como antes.";
    "nada_a_desfazer": info "Nada foi desfeito", "Já mudou de novo desde então.";
    "tarde_demais": info "Passou o tempo de desfazer", "Mude na página da pessoa.";
};

/// `GET /admin`: state of the service, open items and numbers of people.
pub fn admin_home(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let time = PageTime::of(app, request);
    let today = app.day(request.now);
    let first = today.plus(1 - 2 * month::DAYS);
    let thresholds = QuotaThresholds::of(&app.config.partner.plans, app.day(request.now));
    let operator = person.account.user_id;
    let found = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>(Found {
            figures: open_items::figures(tx, operator, &thresholds)?,
            people: accounts::count_by_role(tx)?,
            set_up: store::set_up(tx)?,
            overdue: store::overdue(tx, request.now, OVERDUE)?,
            failed: store::failed(tx)?,
            prices: plans::prices(tx)?,
            month: store::month(tx, app.zone(), first)?,
        })
    })?;
    let Found { figures, people, overdue: (overdue, late), .. } = found;
    let copies = app.health.copies.status(app)?;
    let open = open_items::open_items(app, &figures, &copies, request.now);
    let verdict = open_items::verdict(&open);
    let hidden = u64::try_from(late).unwrap_or_default().saturating_sub(overdue.len() as u64);
    // Who is late has a row of their own, once their paid time is over.
    let all_shown = hidden == 0 && i64::try_from(overdue.len()) == Ok(figures.waiting.late);
    let is_told = |item: &OpenItem| {
        all_shown && item.href == open_items::LATE || item.href == open_items::FAILED
    };
    let (urgent, rest): (Vec<_>, Vec<_>) =
        open.into_iter().filter(|item| !is_told(item)).partition(|item| item.tone == Tone::Bad);
    let mut needs: Vec<QueueItem> = urgent.into_iter().map(needs::item).collect();
    needs.extend(needs::people(overdue, &found.prices, time));
    needs.extend(needs::failures(found.failed, figures.waiting.given_up));
    needs.extend(rest.into_iter().map(needs::item));
    let count_of =
        |role| people.iter().find(|(known, _)| *known == role).map_or(0, |(_, count)| *count);
    Reply::page(&OperatorHome {
        layout: told::telling(layout(app, person, request), FLASHES, request),
        steps: setup::steps(app, &found.set_up, &copies),
        month: Month::of(&found.month, today),
        verdict,
        needs,
        health: health_rows(app, &figures, &copies),
        signature_hint: app.config.marketplace.signature == SignatureMode::Required,
        people: Role::ALL.map(|role| (role.words(), count_of(role))).into(),
        version: env!("CARGO_PKG_VERSION"),
        uptime: view::span(request.now.since(app.started_at)),
    })
}

/// What the page reads from the database.
struct Found {
    figures: Figures,
    people: Vec<(Role, u64)>,
    set_up: store::SetUp,
    /// People whose paid time is over, and how many there are.
    overdue: (Vec<store::Overdue>, i64),
    failed: Vec<store::FailedMessage>,
    prices: Vec<(Role, Cents)>,
    month: store::MonthFigures,
}

fn health_rows(app: &App, figures: &Figures, copies: &CopiesStatus) -> Vec<Fact> {
    let log = app.db.wal_bytes();
    let bytes = std::fs::metadata(app.db.path()).map_or(0, |metadata| metadata.len());
    let integrity = if app.db.is_blocked() { Badge::Broken } else { Badge::Healthy };
    let mut rows = vec![
        fact("Banco de dados", view::size(bytes)).state(integrity),
        fact("Log de escrita", view::size(log))
            .noted("Volta a encolher sozinho.")
            .good_if(!open_items::is_log_large(&app.config, log)),
        last_copy(app, copies),
        fact("Fila de escrita", grouped(app.db.queue_depth())).state(Badge::Healthy),
    ];
    rows.extend(https::row(app, app.clock.now()));
    rows.extend(replica(app));
    rows.push(channels(app));
    rows.push(queued_messages(app, figures));
    let counted = |name, number: i64, most, page| {
        fact(name, grouped(number)).good_if(number <= most).leads_to(page)
    };
    let inbox = &figures.inbox;
    rows.extend([
        counted("Avisos não lidos", figures.unread, 0, "/admin/avisos"),
        counted(
            "Notificações na fila",
            inbox.waiting,
            WAITING_INBOX,
            "/admin/notificacoes?estado=pendente",
        ),
        counted(
            "Notificações guardadas para depois",
            inbox.for_later,
            i64::MAX,
            "/admin/notificacoes?estado=guardada",
        ),
        counted("Notificações que falharam", inbox.failed, 0, "/admin/notificacoes?estado=falhou"),
        counted("Assinaturas recusadas em 7 dias", figures.refused, 0, ""),
    ]);
    rows
}

/// Messages that wait, and whether they wait for a channel to be configured.
fn queued_messages(services: &Services, figures: &Figures) -> Fact {
    let blocked =
        figures.queued.iter().any(|(channel, _)| !queue::is_configured(&services.config, channel));
    let waiting: u64 = figures.queued.iter().map(|(_, count)| count).sum();
    let (note, state) =
        if blocked { ("Há um canal não configurado.", Badge::Off) } else { ("", Badge::Healthy) };
    fact("Mensagens na fila", grouped(waiting))
        .noted(note)
        .state(state)
        .leads_to("/admin/mensagens?estado=pendente")
}

/// The newest copy of the database, and when the next one is due.
pub fn last_copy(services: &Services, copies: &CopiesStatus) -> Fact {
    let now = services.clock.now();
    let page = |at| services.zone().page(at);
    let is_bad = copies.failure.is_some() || copies.broken().next().is_some();
    let value = match copies.newest_good().and_then(BackupCopy::made_at) {
        Some(at) => page(at),
        None if copies.has_folder => "Nenhuma ainda".to_owned(),
        None => "Sem pasta configurada".to_owned(),
    };
    let note = match copies.next_due(now) {
        Some(due) if due > now => format!("A próxima: {}.", page(due)),
        Some(_) => String::new(),
        None => "Nenhuma é feita sozinha.".to_owned(),
    };
    let state = match copies.every_s {
        None => Badge::Off,
        Some(_) if is_bad => Badge::Broken,
        Some(_) if copies.is_late(now) => Badge::Attention,
        Some(_) => Badge::Healthy,
    };
    fact("Última cópia", value).noted(note).state(state).leads_to(copies::PATH)
}

/// How far the replica is.
pub fn replica(app: &App) -> Option<Fact> {
    let status = app.health.replica.status()?;
    let behind = fact("Réplica", format!("{} s atrás", grouped(status.lag_s)));
    Some(behind.noted(&*status.url).good_if(status.trouble.is_none()))
}

fn channels(app: &App) -> Fact {
    let on = Channel::ALL.into_iter().filter(|one| queue::is_configured(&app.config, one.name()));
    let names: Vec<&str> = on.map(|channel| channel_words(channel.name())).collect();
    let is_down = |outlet: &Arc<Outlet>| outlet.gate.error().is_some();
    let row = match &*names {
        [] => fact("Canais ligados", "Nenhum").state(Badge::Off),
        names => fact("Canais ligados", names.join(", "))
            .good_if(!app.messages.delivery.outlets.iter().any(is_down)),
    };
    row.leads_to("/admin/mensagens/canais")
}
