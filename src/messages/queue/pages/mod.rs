//! The queue in the operator's panel, as page and as JSON.

pub mod repair;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::store;
use super::views::{Delivery, MessagePage, MessageRow, QueuePage};
use super::{FAILED_LATELY, Message, is_configured, reason, words};
use crate::accounts::page_layout::layout;
use crate::accounts::person::Group;
use crate::app::{App, Visit};
use crate::audit::{self, Actor, looks, objects};
use crate::base::{Day, Instant, counted, grouped};
use crate::db::{Result as DbResult, WriteTx};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::delivery::letter;
use crate::messages::tabs;
use crate::outbox::{self, Channel, MessageKind, MessageState, Receipt, channel_words};
use crate::panel::chart::{BarChart, BarWords};
use crate::panel::{
    Answer, ListQuery, ListReply, Listing, Notice, Tone, When, columns, export, filters, flashes,
    heads, view,
};
use crate::services::Services;
use crate::wire;
use repair::Kind;

/// The list's address.
pub const PATH: &str = "/admin/mensagens";

/// The states, those first that are looked for.
const STATES: [(&str, &str); 5] = [
    (FAILED_LATELY, "Falharam em 7 dias"),
    (MessageState::Waiting.name(), "Pendentes"),
    (MessageState::Sent.name(), "Enviadas"),
    (MessageState::GivenUp.name(), "Falharam"),
    (MessageState::Dropped.name(), "Descartadas"),
];

const LIST: Listing = Listing {
    path: PATH,
    hint: "E-mail do destinatário",
    filters: filters! {
        "estado": "Situação", "Todas", &STATES;
        "canal": "Canal", "Todos", &Channel::FILTER;
        "tipo": "Tipo", "Todos", &MessageKind::FILTER;
    },
    sort_keys: &["-criada_em"],
    heads: heads!["Destinatário", "Tipo", "Canal", "Situação", "Criada" => "criada_em"],
    file: "mensagens.csv",
    csv: columns![
        id tipo canal destinatario_id=destinatario.id destinatario_nome=destinatario.nome
        destinatario_email=destinatario.email estado motivo criada_em vence_em concluida_em
    ],
    flashes: flashes! {
        "cancelada": good "Mensagem cancelada",
            "Ela não será enviada. O registro fica aqui por 90 dias.";
        "teste": good "Teste na fila", "Atualize esta página para ver o que aconteceu com ele.";
        "corrigida": good "Endereço corrigido, mensagem de volta à fila",
            "Ela sai assim que chegar a vez dela.";
        "na_fila": good "Mensagem de volta à fila", "Ela sai assim que chegar a vez dela.";
    },
};

/// Days of the chart, today among them.
const CHART_DAYS: u16 = 30;
const CHART: BarWords = BarWords {
    title: "Mensagens enviadas por dia, últimos 30 dias",
    unit: "Total",
    value: grouped::<i64>,
    mark: grouped::<i64>,
};

wire! {
    #[derive(Serialize)]
    struct WireMessage of(services: &Services, message: Message, now: Instant) after {
        let reason = reason(&services.config, &message, now);
        let spaced = |at| services.zone().spaced(at);
        let run_at = message.done_at.map_or(message.run_at, |at| at.min(message.run_at));
    } {
        id: String = message.id.to_string(),
        tipo: String = message.kind,
        canal: String = message.channel,
        destinatario: WireRecipient = WireRecipient {
            id: message.user.to_string(),
            nome: message.name,
            email: message.email,
        },
        estado: &'static str = message.state.name(),
        motivo: String = reason,
        criada_em: String = spaced(message.created_at),
        envia_depois_de: String = spaced(run_at),
        vence_em: Option<String> = message.expires_at.map(spaced),
        concluida_em: Option<String> = message.done_at.map(spaced),
        tentativas: i64 = message.attempts,
        resposta: Option<String> = message.provider,
        entrega: Option<&'static str> =
            Some(message.receipt.name()).filter(|_| message.receipt > Receipt::Nothing),
        entrega_em: Option<String> = message.receipt_at.map(spaced),
    }
}

#[derive(Serialize)]
struct WireRecipient {
    id: String,
    nome: String,
    email: String,
}

fn row(services: &Services, message: Message, now: Instant) -> MessageRow {
    MessageRow {
        reason: reason(&services.config, &message, now),
        created: When::new(services.zone(), message.created_at, now),
        message,
    }
}

/// `GET /admin/mensagens`: the queue, as page, JSON or CSV.
pub fn queue(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let now = request.now;
    if query.csv {
        let ids = app.db.read(request.lane, |tx| store::ids(tx, &query))?;
        looks::file(app, person, request, "mensagem.baixar_lista", "mensagem");
        return export::list(app, person, &LIST, ids, move |app, tx, id| {
            Ok(store::message(tx, id)?.map(|(message, _)| WireMessage::of(app, message, now)))
        });
    }
    let first = app.day(now).plus(1 - i64::from(CHART_DAYS));
    let is_whole = !request.wants_json() && query.page == 1 && !query.is_narrowed();
    let ((messages, total), waiting, sent, states, lately) = app.db.read(request.lane, |tx| {
        let sent = if is_whole {
            store::sent_by_day(tx, app.zone(), first, CHART_DAYS.into())?
        } else {
            Vec::new()
        };
        let states = store::by_state(tx, &query)?;
        let (waiting, lately) = (store::waiting(tx)?, store::failed_lately(tx, &query)?);
        Ok::<_, Problem>((store::page(tx, &query)?, waiting, sent, states, lately))
    })?;
    if request.wants_json() {
        looks::list(app, person, request, "mensagem.consultar_lista", "mensagem");
        return ListReply::of(total, messages, |message| WireMessage::of(app, message, now));
    }
    Reply::page(&QueuePage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        tabs: tabs(PATH),
        blocked: blocked(app, &waiting),
        chart: chart(first, sent),
        sum: sum(total, &query, count_of(&states, MessageState::Waiting), lately),
        table: LIST.table(&query, LIST.heads, total).counted(|name| match name {
            _ if !query.search.is_empty() => None,
            FAILED_LATELY => Some(lately),
            _ => MessageState::from_name(name).map(|state| count_of(&states, state)),
        }),
        messages: messages.into_iter().map(|one| row(app, one, now)).collect(),
    })
}

fn count_of(states: &[(MessageState, u64)], state: MessageState) -> u64 {
    states.iter().find(|(one, _)| *one == state).map_or(0, |(_, count)| *count)
}

/// Sent messages by day, without the channels that sent nothing.
fn chart(first: Day, sent: Vec<(Channel, Vec<i64>)>) -> Option<BarChart> {
    let series = sent.into_iter();
    let series: Vec<_> = series
        .filter(|(_, days)| days.iter().any(|count| *count > 0))
        .map(|(channel, days)| (channel_words(channel.name()).to_owned(), days))
        .collect();
    BarChart::stacked(CHART, first, &series)
}

/// A notice about channels that have waiting messages but are not configured.
fn blocked(app: &App, waiting: &[(String, u64)]) -> Option<Notice> {
    let closed: Vec<&str> = waiting
        .iter()
        .filter(|(channel, _)| !is_configured(&app.config, channel))
        .map(|(channel, _)| channel_words(channel))
        .collect();
    if closed.is_empty() {
        return down(app);
    }
    let title = format!("Canal não configurado: {}", closed.join(", "));
    let text = "As mensagens ficam guardadas aqui e saem quando o canal for configurado, se ainda estiverem no prazo.";
    Some(Notice::new(Tone::Warn, title, text))
}

/// A notice about the first channel that is down.
fn down(app: &App) -> Option<Notice> {
    let mut outlets = app.messages.delivery.outlets.iter();
    let (channel, error) = outlets.find_map(|one| Some((one.channel, one.gate.error()?)))?;
    let title = format!("Canal fora do ar: {}", channel_words(channel.name()));
    let text = match words::of(channel, &error) {
        Some(one) => {
            format!("{} {} As mensagens esperam; tentamos a cada minuto.", one.what, one.remedy)
        }
        None => format!(
            "{error}. As mensagens esperam e saem quando ele voltar; tentamos a cada minuto."
        ),
    };
    Some(Notice::new(Tone::Bad, title, text))
}

#[derive(Serialize)]
struct MessageReply {
    #[serde(flatten)]
    message: WireMessage,
    parametros: Map<String, Value>,
}

/// `GET /admin/mensagens/{id}`: one message. Names of links are hidden.
pub fn message(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    one((app, person, request), None)
}

/// One message; `address` is what was typed to correct its address.
pub(super) fn one(
    (app, person, request): Visit<'_>,
    address: Option<view::Field>,
) -> Result<Reply, Problem> {
    let id = request.id()?;
    let found = app.db.read(request.lane, |tx| store::message(tx, id))?;
    let (message, stored) = found.ok_or_else(Problem::not_found)?;
    let params = shown(&stored);
    looks::record(app, person, request, "mensagem.consultar", "mensagem", id);
    if request.wants_json() {
        return Reply::ok(&MessageReply {
            message: WireMessage::of(app, message, request.now),
            parametros: params,
        });
    }
    let page = |at| app.zone().page(at);
    let can_go_again = message.can_go_again(request.now);
    Reply::page(&MessagePage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        person: format!("{}/{}", Group::of(message.role).path(), message.user),
        not_before: if message.waits() && message.run_at > request.now {
            page(message.run_at)
        } else {
            String::new()
        },
        until: message.expires_at.map(page).unwrap_or_default(),
        done: message.done_at.map(|at| When::new(app.zone(), at, request.now)),
        delivery: message.is_told_of(&app.config).then(|| Delivery {
            receipt: message.receipt,
            at: message.receipt_at.map(|at| When::new(app.zone(), at, request.now)),
            is_heard: app.config.chat.hears_receipts(),
        }),
        text: letter::shown(app, &message.kind, message.user, &message.name, params)?,
        can_go_again,
        repair: Kind::of(&message)
            .filter(|_| can_go_again)
            .map(|kind| (kind, address.unwrap_or_else(|| view::Field::of(message.address())))),
        row: row(app, message, request.now),
    })
}

/// Parameters as operators may see them.
fn shown(params: &str) -> Map<String, Value> {
    let mut params: Map<String, Value> = serde_json::from_str(params).unwrap_or_default();
    if let Some(link) = params.get_mut("link") {
        *link = letter::HIDDEN.into();
    }
    params
}

/// Notes what an operator did to a message.
pub(super) fn note(
    tx: &WriteTx<'_>,
    actor: &Actor,
    action: &'static str,
    message: &Message,
    states: [MessageState; 2],
) -> DbResult<()> {
    let name = format!("{} para {}", message.kind_words(), message.name);
    let act = objects::MESSAGE.act(action, message.id, &name);
    let [before, after] = states.map(|state| json!({ "estado": state.name() }));
    audit::note(tx, actor, &act, &before, &after)
}

/// `POST /admin/mensagens/{id}/cancelar`: drops a message that still waits.
pub fn cancel(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let (message, _) = store::message(tx, id)?.ok_or_else(Problem::not_found)?;
        let outcome = format!("cancelada por {}", actor.name);
        if !outbox::cancel(tx, id, &outcome)? {
            return Err(Problem::conflict(ForPeople(
                "Esta mensagem não está mais na fila: já saiu, ou foi cancelada.",
            )));
        }
        let states = [MessageState::Waiting, MessageState::Dropped];
        note(tx, &actor, "mensagem.cancelar", &message, states)?;
        answer.done(id, LIST.path, "cancelada")
    }))
}

/// `POST /admin/mensagens/{id}/reenviar`: queues a message again that was given
/// up.
pub fn try_again(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let (message, _) = store::message(tx, id)?.ok_or_else(Problem::not_found)?;
        if !outbox::try_again(tx, id)? {
            return Err(not_again());
        }
        let states = [MessageState::GivenUp, MessageState::Waiting];
        note(tx, &actor, "mensagem.reenviar", &message, states)?;
        let page = format!("{}/{id}", LIST.path);
        answer.done(id, &page, "na_fila")
    }))
}

pub(super) fn not_again() -> Problem {
    Problem::conflict(ForPeople(
        "Só se envia de novo uma mensagem que falhou e ainda está no prazo.",
    ))
}

/// `1.204 mensagens · 3 na fila · 12 falharam em 7 dias`; of a search, only how many.
fn sum(total: u64, query: &ListQuery, waiting: u64, lately: u64) -> String {
    let mut parts = vec![match total {
        0 if !query.is_narrowed() => {
            return "O que sai da plataforma para as pessoas: na fila, enviado e descartado."
                .to_owned();
        }
        _ => counted(total, "mensagem", "mensagens"),
    }];
    if query.search.is_empty() && query.filter("estado").is_none() {
        if waiting > 0 {
            parts.push(format!("{} na fila", grouped(waiting)));
        }
        if lately > 0 {
            parts.push(counted(lately, "falhou em 7 dias", "falharam em 7 dias"));
        }
    }
    parts.join(" · ")
}
