//! The diagnostics page, and the same as JSON.

use serde::Serialize;

use super::views::{Channel, DiagnosticsPage};
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
use crate::operations::channel_tests::settings_of;
use crate::operations::outside::Service;
use crate::operations::queues::{self, Queue};
use crate::panel::{Badge, Flash, Notice, PageTime, Tone, flashes};
use crate::privacy::retention::RETENTION;
use crate::wire;

const ERRORS: u32 = 20;

const FLASHES: &[Flash] = flashes! {
    "respondeu": good "O canal respondeu", "O resultado está no cartão dele.";
    "falhou": bad "O teste não deu certo", "O cartão do canal diz o motivo e o que conferir.";
    "espere": warn "Este canal acabou de ser testado",
        "Espere dez segundos entre dois testes do mesmo canal.";
};

struct Inside {
    sections: Vec<Section>,
    queues: [Queue; 3],
    tasks: Vec<work::Task>,
    errors: Vec<LoggedError>,
    channels: Vec<Channel>,
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
    let copies = app.health.copies.status(app)?;
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
fn channel(app: &App, service: Service) -> Channel {
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
    let outlet =
        app.messages.delivery.outlets.iter().find(|one| one.channel.name() == service.name());
    let error = outlet.and_then(|outlet| outlet.gate.error());
    let is_away = service == Service::Marketplace && app.marketplace.client.is_away();
    let (state, about) = match (error, &tested) {
        // A test says the same.
        _ if !is_on && tested.is_some() => (Badge::Off, String::new()),
        _ if !is_on => (Badge::Off, format!("Para ligar, preencha {}.", settings_of(service))),
        (Some(error), _) => (Badge::Broken, error),
        _ if is_away => (Badge::Broken, "As chamadas não respondem agora.".to_owned()),
        (_, Some(tested)) => (tested.state, String::new()),
        (_, None) => (Badge::Healthy, "Ligado. Nenhuma falha vista.".to_owned()),
    };
    Channel { service, state, about, tested }
}

/// `GET /admin/diagnostico`, as page or JSON.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let now = request.now;
    let inside = look(app, now)?;
    if request.wants_json() {
        return Reply::ok(&wire(app, inside, now));
    }
    let (set, defaults) = settings(app).iter().cloned().partition(|one| one.is_set);
    Reply::page(&DiagnosticsPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        verdict: verdict(&inside),
        channels: inside.channels,
        sections: inside.sections,
        tasks: inside.tasks,
        errors: inside.errors,
        set,
        defaults,
        retention: RETENTION,
        time: PageTime { zone: app.zone(), now },
    })
}

fn settings(app: &App) -> &[ShownSetting] {
    app.server.settings.get().map_or(&[], Vec::as_slice)
}

/// How the service is, in a sentence.
fn verdict(inside: &Inside) -> Notice {
    let rows = inside.sections.iter().flat_map(|section| &section.linhas);
    let states = rows.filter_map(|row| row.estado.map(|state| (state, row.nome.clone())));
    let tasks = inside.tasks.iter().map(|task| (task.state, task.title.to_owned()));
    let channels = inside.channels.iter().map(|one| (one.state, one.service.words().to_owned()));
    let (mut broken, mut attention) = (Vec::new(), Vec::new());
    for (state, name) in states.chain(tasks).chain(channels) {
        match state {
            Badge::Broken => broken.push(name),
            Badge::Attention => attention.push(name),
            _ => {}
        }
    }
    match (&*broken, &*attention) {
        ([], []) => Notice::new(Tone::Good, "Tudo em ordem por dentro", ""),
        ([], seen) => {
            let text = format!("{}.", seen.join(", "));
            Notice::new(Tone::Warn, "Funcionando, com pontos de atenção", text)
        }
        (seen, _) => {
            let title = match seen.len() {
                1 => "Um ponto com falha".to_owned(),
                count => format!("{} pontos com falha", grouped(count)),
            };
            Notice::new(Tone::Bad, title, format!("{}.", seen.join(", ")))
        }
    }
}

#[derive(Serialize)]
struct Wire {
    versao: &'static str,
    secoes: Vec<Section>,
    filas: Vec<WireQueue>,
    canais: Vec<WireChannel>,
    tarefas: Vec<WireTask>,
    erros: Vec<WireError>,
    configuracao: Vec<WireSetting>,
}

wire! {
    #[derive(Serialize)]
    struct WireQueue of(queue: &Queue, now: Instant) {
        nome: &'static str = queue.name,
        tamanho: i64 = queue.length,
        mais_antiga_s: i64 = queue.age_s(now),
    }
}

wire! {
    #[derive(Serialize)]
    struct WireChannel of(channel: &Channel, zone: Zone) after {
        let tested = channel.tested.as_ref();
    } {
        canal: &'static str = channel.service.name(),
        situacao: &'static str = channel.state.word(),
        testado_em: Option<String> = tested.map(|tested| zone.spaced(tested.at)),
        mensagem: Option<String> = tested.map(|tested| tested.words.clone()),
        detalhe: Option<String> = tested.map(|tested| tested.detail.clone()),
    }
}

wire! {
    #[derive(Serialize)]
    struct WireTask of(task: work::Task) {
        titulo: &'static str = task.title,
        ultima: Option<String> = task.last.map(|last| last.exact),
        proxima: String = task.next,
        situacao: &'static str = task.state.word(),
        erro: String = task.error,
    }
}

wire! {
    #[derive(Serialize)]
    struct WireError of(error: LoggedError, zone: Zone) {
        quando: String = zone.spaced(error.at),
        grave: bool = error.is_error,
        mensagem: String = error.message,
        causa: String = error.cause,
        pedido: String = error.request_id,
    }
}

wire! {
    #[derive(Serialize)]
    struct WireSetting of(one: ShownSetting) {
        chave: String = one.key,
        valor: String = one.value,
        origem: String = one.origin,
    }
}

fn wire(app: &App, inside: Inside, now: Instant) -> Wire {
    let zone = app.zone();
    let Inside { sections, queues, tasks, errors, channels } = inside;
    Wire {
        versao: env!("CARGO_PKG_VERSION"),
        secoes: sections,
        filas: queues.iter().map(|queue| WireQueue::of(queue, now)).collect(),
        canais: channels.iter().map(|channel| WireChannel::of(channel, zone)).collect(),
        tarefas: tasks.into_iter().map(WireTask::of).collect(),
        erros: errors.into_iter().map(|error| WireError::of(error, zone)).collect(),
        configuracao: settings(app).iter().cloned().map(WireSetting::of).collect(),
    }
}
