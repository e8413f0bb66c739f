//! The diagnostics page, and the same as JSON.

use serde::Serialize;

use super::views::{ChannelCard, DiagnosticsPage, ErrorRow, TestedView};
use super::{Section, facts, work};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::base::{Instant, Zone, grouped};
use crate::config::{Gateway, ShownSetting};
use crate::cron::plan;
use crate::db::Lane;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::journal::{self, LoggedError};
use crate::operations::channel_tests::{Tested, settings_of};
use crate::operations::outside::Service;
use crate::operations::queues::{self, Queue};
use crate::operations::requests::follow;
use crate::panel::{Badge, Flash, Notice, Tone, When};
use crate::privacy::retention::RETENTION;

/// Errors that are shown.
const ERRORS: u32 = 20;

const FLASHES: &[Flash] = &[
    Flash::good("respondeu", "O canal respondeu", "O resultado está no cartão dele."),
    Flash::bad(
        "falhou",
        "O teste não deu certo",
        "O cartão do canal diz o motivo e o que conferir.",
    ),
    Flash::warn(
        "espere",
        "Este canal acabou de ser testado",
        "Espere dez segundos entre dois testes do mesmo canal.",
    ),
];

/// Everything that is shown.
struct Inside {
    sections: Vec<Section>,
    queues: [Queue; 3],
    tasks: Vec<work::Task>,
    errors: Vec<LoggedError>,
    channels: Vec<(Service, Badge, String, Option<Tested>)>,
}

fn look(app: &App, now: Instant) -> Result<Inside, Problem> {
    let (read, queues, planned, mut errors) = app.db.read(Lane::Slow, |tx| {
        Ok::<_, Problem>((
            facts::read(tx)?,
            queues::all(tx)?,
            plan::planned(app, tx)?,
            journal::store::newest_errors(tx, ERRORS)?,
        ))
    })?;
    let mut newest = journal::unwritten();
    newest.reverse();
    newest.append(&mut errors);
    newest.truncate(ERRORS as usize);
    let copies = app.health.copies.standing(app)?;
    let sections = vec![
        facts::program(app, now),
        facts::database(app, &read, now),
        facts::protection(app, &copies, now),
        facts::disks(app, &read, &copies, now),
        work::queues(app, &queues, now),
        facts::clock(app, &read, now),
        work::threads(app),
    ];
    let tasks = work::tasks(app, planned, now);
    let channels = Service::ALL.into_iter().map(|service| channel(app, service)).collect();
    Ok(Inside { sections, queues, tasks, errors: newest, channels })
}

/// A channel: its state as far as it is known, and its last test.
fn channel(app: &App, service: Service) -> (Service, Badge, String, Option<Tested>) {
    let config = &app.config;
    let is_on = match service {
        Service::Email => !config.email.smtp_url.is_empty(),
        Service::Chat => config.chat.gateway != Gateway::None,
        Service::Telegram => !config.telegram.bot_token.is_empty(),
        Service::Push => !config.push.subject.is_empty(),
        Service::Marketplace => !config.marketplace.client_id.is_empty(),
        Service::Checkout => true,
    };
    let tested = app.messages.channel_tests.last(service);
    if !is_on {
        // A test says the same.
        let about = match tested {
            Some(_) => String::new(),
            None => format!("Para ligar, preencha {}.", settings_of(service)),
        };
        return (service, Badge::Off, about, tested);
    }
    let outlet =
        app.messages.delivery.outlets.iter().find(|one| one.channel.name() == service.name());
    let error = outlet.and_then(|outlet| outlet.gate.error());
    let is_away = service == Service::Marketplace && app.marketplace.client.is_away();
    let (state, about) = match error {
        Some(error) => (Badge::Broken, error),
        None if is_away => (Badge::Broken, "As chamadas não respondem agora.".to_owned()),
        None => match &tested {
            Some(tested) => (tested.state, String::new()),
            None => (Badge::Healthy, "Ligado. Nenhuma falha vista.".to_owned()),
        },
    };
    (service, state, about, tested)
}

/// `GET /admin/diagnostico`, as page or JSON.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let now = request.now;
    let inside = look(app, now)?;
    if request.wants_json() {
        return Reply::json(&wire(app, &inside, now));
    }
    let zone = app.zone();
    let (set, defaults) = settings(app).iter().cloned().partition(|one| one.is_set);
    Reply::page(&DiagnosticsPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        verdict: verdict(&inside),
        parts: vec![
            ("canais", "Canais"),
            ("versao", "Serviço"),
            ("tarefas", "Tarefas"),
            ("erros", "Erros"),
            ("configuracao", "Configuração"),
            ("guarda", "Guarda de dados"),
        ],
        channels: inside.channels.into_iter().map(|one| card(one, zone, now)).collect(),
        sections: inside.sections,
        tasks: inside.tasks,
        errors: inside.errors.into_iter().map(|error| error_row(error, zone, now)).collect(),
        set,
        defaults,
        kept: RETENTION,
    })
}

fn settings(app: &App) -> &[ShownSetting] {
    app.server.settings.get().map_or(&[], Vec::as_slice)
}

fn card(
    (service, state, about, tested): (Service, Badge, String, Option<Tested>),
    zone: Zone,
    now: Instant,
) -> ChannelCard {
    ChannelCard {
        name: service.name(),
        title: service.words(),
        icon: match service {
            Service::Email => "mail",
            Service::Chat => "chat",
            Service::Telegram => "send",
            Service::Push => "screen",
            Service::Marketplace => "store",
            Service::Checkout => "cart",
        },
        state,
        about,
        tested: tested.map(|tested| TestedView {
            at: When::new(zone, tested.at, now),
            words: tested.words,
            detail: tested.detail,
        }),
    }
}

fn error_row(error: LoggedError, zone: Zone, now: Instant) -> ErrorRow {
    ErrorRow {
        at: When::new(zone, error.at, now),
        is_error: error.is_error,
        message: error.message,
        cause: error.cause,
        href: follow::address_of(&error.request_id),
        request_id: error.request_id,
    }
}

/// How the service is, in a sentence.
fn verdict(inside: &Inside) -> Notice {
    let rows = inside.sections.iter().flat_map(|section| &section.linhas);
    let states = rows.filter_map(|row| row.estado.map(|state| (state, row.nome.clone())));
    let tasks = inside.tasks.iter().map(|task| (task.state, task.title.to_owned()));
    let channels = inside.channels.iter().map(|one| (one.1, one.0.words().to_owned()));
    let (mut broken, mut attention) = (Vec::new(), Vec::new());
    for (state, name) in states.chain(tasks).chain(channels) {
        match state {
            Badge::Broken => broken.push(name),
            Badge::Attention => attention.push(name),
            _ => {}
        }
    }
    let named = |names: &[String]| names.join(", ");
    match (&*broken, &*attention) {
        ([], []) => Notice::new(Tone::Good, "Tudo em ordem por dentro", ""),
        ([], seen) => Notice::new(
            Tone::Warn,
            "Funcionando, com pontos de atenção",
            format!("{}.", named(seen)),
        ),
        (seen, _) => Notice::new(
            Tone::Bad,
            if seen.len() == 1 {
                "Um ponto com falha".to_owned()
            } else {
                format!("{} pontos com falha", grouped(seen.len()))
            },
            format!("{}.", named(seen)),
        ),
    }
}

#[derive(Serialize)]
struct Wire<'i> {
    ok: bool,
    versao: &'static str,
    secoes: &'i [Section],
    filas: Vec<WireQueue>,
    canais: Vec<WireChannel<'i>>,
    tarefas: Vec<WireTask<'i>>,
    erros: Vec<WireError<'i>>,
    configuracao: Vec<WireSetting<'i>>,
}

#[derive(Serialize)]
struct WireQueue {
    nome: &'static str,
    tamanho: i64,
    mais_antiga_s: i64,
}

#[derive(Serialize)]
struct WireChannel<'i> {
    canal: &'static str,
    situacao: &'static str,
    testado_em: Option<String>,
    mensagem: Option<&'i str>,
    detalhe: Option<&'i str>,
}

#[derive(Serialize)]
struct WireTask<'i> {
    titulo: &'static str,
    ultima: Option<&'i str>,
    proxima: &'i str,
    situacao: &'static str,
    erro: &'i str,
}

#[derive(Serialize)]
struct WireError<'i> {
    quando: String,
    grave: bool,
    mensagem: &'i str,
    causa: &'i str,
    pedido: &'i str,
}

#[derive(Serialize)]
struct WireSetting<'i> {
    chave: &'i str,
    valor: &'i str,
    origem: &'i str,
}

fn wire<'i>(app: &'i App, inside: &'i Inside, now: Instant) -> Wire<'i> {
    let zone = app.zone();
    Wire {
        ok: true,
        versao: env!("CARGO_PKG_VERSION"),
        secoes: &inside.sections,
        filas: inside
            .queues
            .iter()
            .map(|queue| WireQueue {
                nome: queue.name,
                tamanho: queue.length,
                mais_antiga_s: queue.age_s(now),
            })
            .collect(),
        canais: inside
            .channels
            .iter()
            .map(|(service, state, _, tested)| WireChannel {
                canal: service.name(),
                situacao: state.word(),
                testado_em: tested.as_ref().map(|tested| zone.spaced(tested.at)),
                mensagem: tested.as_ref().map(|tested| &*tested.words),
                detalhe: tested.as_ref().map(|tested| &*tested.detail),
            })
            .collect(),
        tarefas: inside
            .tasks
            .iter()
            .map(|task| WireTask {
                titulo: task.title,
                ultima: task.last.as_ref().map(|last| &*last.exact),
                proxima: &task.next,
                situacao: task.state.word(),
                erro: &task.error,
            })
            .collect(),
        erros: inside
            .errors
            .iter()
            .map(|error| WireError {
                quando: zone.spaced(error.at),
                grave: error.is_error,
                mensagem: &error.message,
                causa: &error.cause,
                pedido: &error.request_id,
            })
            .collect(),
        configuracao: settings(app)
            .iter()
            .map(|one| WireSetting { chave: &one.key, valor: &one.value, origem: &one.origin })
            .collect(),
    }
}
