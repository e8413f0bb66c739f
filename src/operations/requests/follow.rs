//! One page that follows a request: its entry in the log, the calls to other services
//! and the messages that it caused, its errors, and what the audit log says of it.

use serde::{Deserialize, Serialize};

use super::pages::{WireRequest, entry_row};
use super::store::{self, RequestLogFilter};
use super::views::{AuditRow, CallRow, FollowPage, MessageRow, Trail};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::log::store as audit;
use crate::base::{Instant, Zone};
use crate::db::{ReadTx, Result};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::journal::{self, LoggedError, OutsideCall};
use crate::outbox::{self, QueuedMessage};
use crate::panel::view::{self, address};
use crate::panel::{Tone, When};
use crate::services::Services;

/// The page's address.
const PATH: &str = "/admin/requisicoes/rastro";
/// Most of each kind that are shown.
const MOST: u32 = 50;
/// Longest id of a request that callers may bring.
const LONGEST: usize = 128;

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    pedido: String,
}

/// What a request caused.
pub struct Found {
    calls: Vec<OutsideCall>,
    messages: Vec<QueuedMessage>,
    errors: Vec<LoggedError>,
    acts: Vec<crate::audit::log::AuditEntry>,
}

/// Finds it. Each kind is found by an index.
pub fn find(tx: &ReadTx<'_>, request_id: &str) -> Result<Found> {
    let wanted =
        audit::AuditQuery { search: request_id.to_owned(), ..audit::AuditQuery::default() };
    let (mut acts, _) = audit::page(tx, &wanted, MOST, 0)?;
    // The search finds beginnings of words.
    acts.retain(|act| act.request_id == request_id);
    acts.reverse();
    Ok(Found {
        calls: journal::store::calls_of(tx, request_id, MOST)?,
        messages: outbox::caused_by(tx, request_id, MOST)?,
        errors: journal::store::errors_of(tx, request_id, MOST)?,
        acts,
    })
}

impl Found {
    /// As the page shows it.
    pub fn shown(&self, zone: Zone, now: Instant) -> Trail {
        let when = |at| When::new(zone, at, now);
        Trail {
            calls: self
                .calls
                .iter()
                .map(|call| CallRow {
                    service: call.service.clone(),
                    what: call.what.clone(),
                    tone: if call.error.is_empty() { Tone::Good } else { Tone::Bad },
                    outcome: match call.status {
                        Some(status) => status.to_string(),
                        None if call.error.is_empty() => "Aceita".to_owned(),
                        None => "Sem resposta".to_owned(),
                    },
                    error: call.error.clone(),
                    took: super::pages::took(call.us),
                    at: when(call.at),
                })
                .collect(),
            messages: self
                .messages
                .iter()
                .map(|message| MessageRow {
                    href: format!("/admin/mensagens/{}", message.id),
                    title: outbox::kind_words(&message.kind).to_owned(),
                    channel: outbox::channel_words(&message.channel).to_owned(),
                    state: message.state.words(),
                    outcome: message.outcome.clone().unwrap_or_default(),
                    at: when(message.created_at),
                })
                .collect(),
            errors: self
                .errors
                .iter()
                .map(|error| (error.message.clone(), error.cause.clone(), when(error.at)))
                .collect(),
            acts: self
                .acts
                .iter()
                .map(|act| AuditRow {
                    href: format!("/admin/auditoria/{}", act.id),
                    title: act.title(),
                    object: act.object_name.clone(),
                    actor: act.actor_name.clone(),
                    at: when(act.at),
                })
                .collect(),
        }
    }
}

/// The address of the page about a request; empty without an id.
pub fn address_of(request_id: &str) -> String {
    if request_id.is_empty() { String::new() } else { address(PATH, &[("pedido", request_id)]) }
}

/// `GET /admin/requisicoes/rastro`: all that is known of the request with an id.
pub fn page(app: &App, person: &Person, request: &Request) -> std::result::Result<Reply, Problem> {
    let Asked { pedido } = request.query()?;
    let asked = pedido.trim();
    let fault = (asked.len() > LONGEST).then_some("Um código de pedido tem até 128 letras.");
    let is_asked = !asked.is_empty() && fault.is_none();
    if let Err(error) = app.health.requests.flush(&app.db).and_then(|()| journal::flush(app)) {
        tracing::warn!(%error, "the log of requests was not written; trying again");
    }
    let filter = RequestLogFilter { search: asked.to_owned(), ..RequestLogFilter::default() };
    let (logged, found) = if is_asked && !asked.starts_with('/') {
        app.db.read(request.lane, |tx| {
            Ok::<_, Problem>((store::page(tx, &filter, MOST, 0)?.0, Some(find(tx, asked)?)))
        })?
    } else {
        (Vec::new(), None)
    };
    if request.wants_json() {
        return Reply::json(&wire(app, asked, logged, found.as_ref()));
    }
    let zone = app.zone();
    Reply::page(&FollowPage {
        layout: layout(app, person, request),
        asked: view::Field::of(asked).fault(fault),
        is_asked,
        requests: logged.iter().map(|one| entry_row(one, zone, request.now)).collect(),
        trail: found.map(|found| found.shown(zone, request.now)).unwrap_or_default(),
    })
}

#[derive(Serialize)]
struct Wire {
    ok: bool,
    pedido: String,
    requisicoes: Vec<WireRequest>,
    chamadas: Vec<WireCall>,
    mensagens: Vec<WireMessage>,
    erros: Vec<WireError>,
    auditoria: Vec<WireAct>,
}

#[derive(Serialize)]
struct WireCall {
    quando: String,
    servico: String,
    chamada: String,
    status: Option<u16>,
    microssegundos: i64,
    erro: String,
}

#[derive(Serialize)]
struct WireMessage {
    id: String,
    quando: String,
    canal: String,
    tipo: String,
    situacao: &'static str,
    resultado: Option<String>,
}

#[derive(Serialize)]
struct WireError {
    quando: String,
    mensagem: String,
    causa: String,
}

#[derive(Serialize)]
struct WireAct {
    id: String,
    quando: String,
    acao: String,
    objeto: String,
    quem: String,
}

fn wire(
    services: &Services,
    asked: &str,
    logged: Vec<store::Logged>,
    found: Option<&Found>,
) -> Wire {
    let zone = services.zone();
    let calls = found.map_or(&[][..], |found| &found.calls);
    let messages = found.map_or(&[][..], |found| &found.messages);
    let errors = found.map_or(&[][..], |found| &found.errors);
    let acts = found.map_or(&[][..], |found| &found.acts);
    Wire {
        ok: true,
        pedido: asked.to_owned(),
        requisicoes: logged.into_iter().map(|one| WireRequest::of(one, zone)).collect(),
        chamadas: calls
            .iter()
            .map(|call| WireCall {
                quando: zone.spaced(call.at),
                servico: call.service.clone(),
                chamada: call.what.clone(),
                status: call.status,
                microssegundos: call.us,
                erro: call.error.clone(),
            })
            .collect(),
        mensagens: messages
            .iter()
            .map(|message| WireMessage {
                id: message.id.to_string(),
                quando: zone.spaced(message.created_at),
                canal: message.channel.clone(),
                tipo: message.kind.clone(),
                situacao: message.state.name(),
                resultado: message.outcome.clone(),
            })
            .collect(),
        erros: errors
            .iter()
            .map(|error| WireError {
                quando: zone.spaced(error.at),
                mensagem: error.message.clone(),
                causa: error.cause.clone(),
            })
            .collect(),
        auditoria: acts
            .iter()
            .map(|act| WireAct {
                id: act.id.to_string(),
                quando: zone.spaced(act.at),
                acao: act.action.clone(),
                objeto: act.object_name.clone(),
                quem: act.actor_name.clone(),
            })
            .collect(),
    }
}
