//! The operator's home and the supplier's.

use std::time::SystemTime;

use super::store::{self, InboxFigures};
use super::views::{HealthRow, OperatorHome, RoleCount};
use crate::accounts::Role;
use crate::accounts::frame::layout;
use crate::accounts::store as accounts;
use crate::accounts::views::SupplierHome;
use crate::app::App;
use crate::clock::{DAY_S, Instant};
use crate::config::SignatureMode;
use crate::guard::Person;
use crate::http::view::{self, Badge, Notice, Tone};
use crate::http::{Problem, Reply, Request};
use crate::messages::{queue, store as messages};
use crate::partner::{shown::shown, store as partner};
use crate::text::grouped;

/// Days over which refused signatures are counted.
const SIGNATURE_DAYS: i64 = 7;
/// A log above this size is worth a look.
const LARGE_LOG: u64 = 64_000_000;

struct Figures {
    people: Vec<(Role, u64)>,
    inbox: InboxFigures,
    refused: i64,
    /// Messages that wait, by channel.
    queued: Vec<(String, u64)>,
    /// Periodic tasks that keep failing.
    failing: Vec<String>,
    /// Notifications that the operator who asks has not read.
    unread: i64,
}

/// `GET /admin`: is everything well?
pub fn admin_home(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let first = app.day(request.now).plus(1 - SIGNATURE_DAYS);
    let figures = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>(Figures {
            people: accounts::count_by_role(tx)?,
            inbox: store::inbox(tx)?,
            refused: store::counted_since(tx, "refused_signatures", first)?,
            queued: queue::store::waiting(tx)?,
            failing: store::failing_tasks(tx)?,
            unread: messages::unread_count(tx, person.account.user_id)?,
        })
    })?;
    let health = health_rows(app, &figures);
    let problems = problems(app, &figures);
    let verdict = verdict(&health, &problems);
    let total = figures.people.iter().map(|(_, count)| count).sum();
    let count_of = |role| {
        figures.people.iter().find(|(known, _)| *known == role).map_or(0, |(_, count)| *count)
    };
    Reply::page(&OperatorHome {
        layout: layout(app, person, request),
        verdict,
        problems,
        health,
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

fn health_rows(app: &App, figures: &Figures) -> Vec<HealthRow> {
    let log = app.db.wal_bytes();
    let bytes = std::fs::metadata(app.db.path()).map_or(0, |metadata| metadata.len());
    let row = |label, value, note: &str, state| HealthRow {
        label,
        value,
        note: note.to_owned(),
        state,
        href: "",
    };
    let soundness = if app.soundness.is_damaged() { Badge::Broken } else { Badge::Healthy };
    let (backup, note, backup_state) = last_backup(app);
    let mut rows = vec![
        row("Banco de dados", view::size(bytes), "", soundness),
        row(
            "Log de escrita",
            view::size(log),
            "Volta a encolher sozinho.",
            if log > LARGE_LOG { Badge::Attention } else { Badge::Healthy },
        ),
        row("Último backup", backup, note, backup_state),
        row("Fila de escrita", grouped(app.db.queue_depth() as u64), "", Badge::Healthy),
    ];
    rows.push(queued_messages(app, figures));
    rows.push(HealthRow {
        label: "Avisos não lidos",
        value: count(figures.unread),
        note: String::new(),
        state: if figures.unread > 0 { Badge::Attention } else { Badge::Healthy },
        href: "/admin/avisos",
    });
    rows.extend(inbox_rows(figures));
    rows
}

/// How the inbox of marketplace notifications stands.
fn inbox_rows(figures: &Figures) -> [HealthRow; 4] {
    let row = |label, number, worrying: i64| HealthRow {
        label,
        value: count(number),
        note: String::new(),
        state: if number > worrying { Badge::Attention } else { Badge::Healthy },
        href: "",
    };
    let inbox = &figures.inbox;
    [
        row("Notificações na fila", inbox.waiting, 1_000)
            .leads_to("/admin/notificacoes?estado=pendente"),
        row("Notificações guardadas para depois", inbox.for_later, i64::MAX)
            .leads_to("/admin/notificacoes?estado=guardada"),
        row("Notificações que falharam", inbox.failed, 0)
            .leads_to("/admin/notificacoes?estado=falhou"),
        row("Assinaturas recusadas em 7 dias", figures.refused, 0),
    ]
}

/// Messages that wait, and whether they wait for a channel to be configured.
fn queued_messages(app: &App, figures: &Figures) -> HealthRow {
    let blocked =
        figures.queued.iter().any(|(channel, _)| !queue::is_configured(&app.config, channel));
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

fn count(number: i64) -> String {
    grouped(u64::try_from(number).unwrap_or(0))
}

/// The newest copy in the folder for scheduled backups.
fn last_backup(app: &App) -> (String, &'static str, Badge) {
    let Some(folder) = &app.config.database.backup_dir else {
        let advice = "Configure database.backup_dir, ou rode seller-platform backup ARQUIVO.";
        return ("Nenhum agendado".to_owned(), advice, Badge::Off);
    };
    let copies = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let made = |entry: std::fs::DirEntry| {
        let is_copy = entry.path().extension().is_some_and(|extension| extension == "db");
        is_copy.then(|| entry.metadata().ok()?.modified().ok()).flatten()
    };
    let newest =
        copies.filter_map(made).max().and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    let Some(newest) = newest.and_then(|since| i64::try_from(since.as_secs()).ok()).map(Instant)
    else {
        return (
            "Nenhum ainda".to_owned(),
            "Rode seller-platform backup ARQUIVO.",
            Badge::Attention,
        );
    };
    let old = app.clock.now().since(newest) > 2 * DAY_S;
    (app.zone().page(newest), "", if old { Badge::Attention } else { Badge::Healthy })
}

fn problems(app: &App, figures: &Figures) -> Vec<Notice> {
    let mut problems = Vec::new();
    if app.soundness.is_damaged() {
        problems.push(Notice::new(
            Tone::Bad,
            "O banco de dados está danificado",
            "Pare o servidor e restaure o último backup com seller-platform restore ARQUIVO.",
        ));
    }
    if app.config.marketplace.client_id.is_empty() {
        problems.push(Notice::new(
            Tone::Info,
            "O marketplace não está configurado",
            "Preencha marketplace.client_id e marketplace.client_secret para que as pessoas possam vincular contas.",
        ));
    }
    if figures.refused > 0 {
        problems.push(Notice::new(
            Tone::Warn,
            "Notificações foram recusadas pela assinatura",
            "O marketplace real não assina notificações: use marketplace.signature = \"optional\".",
        ));
    }
    for task in &figures.failing {
        problems.push(Notice::new(
            Tone::Warn,
            format!("Tarefa com falha: {task}"),
            "Ela falhou várias vezes seguidas. O último erro está na página Cron.",
        ));
    }
    problems
}

fn verdict(health: &[HealthRow], problems: &[Notice]) -> Notice {
    let broken = health.iter().any(|row| row.state == Badge::Broken);
    let attention = health.iter().any(|row| row.state == Badge::Attention)
        || problems.iter().any(|problem| problem.tone == Tone::Warn);
    match (broken, attention) {
        (true, _) => {
            Notice::new(Tone::Bad, "O serviço precisa de você agora", "Veja abaixo o que fazer.")
        }
        (false, true) => Notice::new(
            Tone::Warn,
            "Funcionando, com algo para olhar",
            "Veja os pontos marcados abaixo.",
        ),
        (false, false) => Notice::new(Tone::Good, "Tudo em ordem", "Nada espera por você."),
    }
}

/// `GET /fornecedor`: the supplier's home.
pub fn supplier_home(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let owner = person.account.user_id;
    let today = app.day(request.now);
    let (plan, used) = app.db.read(request.lane, |tx| {
        let used =
            partner::calls_between(tx, owner, today.month_start(), today.next_month_start())?;
        Ok::<_, Problem>((partner::plan(tx, owner)?, used))
    })?;
    let api_plan = plan.map(|plan| shown(&app.config.partner.plans, plan, used, today));
    Reply::page(&SupplierHome {
        layout: layout(app, person, request),
        greeting: view::greeting(app.zone(), request.now, &person.account.name),
        today: view::day_in_words(app.zone(), request.now),
        api_plan,
    })
}
