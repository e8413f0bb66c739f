//! One page that follows a request: its entry in the log, the calls to other services
//! and the messages that it caused, its errors, and what the audit log says of it.

use serde::{Deserialize, Serialize};

use super::pages::WireRequest;
use super::store::{self, RequestLogFilter};
use super::views::{FollowPage, Trail};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::log::AuditEntry;
use crate::audit::log::store as audit;
use crate::base::Zone;
use crate::db::{ReadTx, Result, RowWindow};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::journal::{self, LoggedError, OutsideCall};
use crate::outbox::{self, QueuedMessage};
use crate::panel::{PageTime, address, view};
use crate::wire;

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
#[derive(Default)]
pub struct Caused {
    pub calls: Vec<OutsideCall>,
    pub messages: Vec<QueuedMessage>,
    pub errors: Vec<LoggedError>,
    pub acts: Vec<AuditEntry>,
}

/// Finds what a request caused. Each kind is found by an index.
pub fn find(tx: &ReadTx<'_>, request_id: &str) -> Result<Caused> {
    let wanted =
        audit::AuditQuery { search: request_id.to_owned(), ..audit::AuditQuery::default() };
    let (mut acts, _) = audit::page(tx, &wanted, RowWindow::first(MOST))?;
    // The search finds beginnings of words.
    acts.retain(|act| act.request_id == request_id);
    acts.reverse();
    Ok(Caused {
        calls: journal::store::calls_of(tx, request_id, MOST)?,
        messages: outbox::caused_by(tx, request_id, MOST)?,
        errors: journal::store::errors_of(tx, request_id, MOST)?,
        acts,
    })
}

/// The address of the page about a request; empty without an id.
pub fn address_of(request_id: &str) -> String {
    if request_id.is_empty() { String::new() } else { address(PATH, &[("pedido", request_id)]) }
}

/// `GET /admin/requisicoes/rastro`: all that is known of the request with an id.
pub fn page(app: &App, person: &Person, request: &Request) -> std::result::Result<Reply, Problem> {
    let Asked { pedido } = request.query()?;
    let asked = pedido.trim();
    let fault = (asked.len() > LONGEST).then_some("Um código de requisição tem até 128 letras.");
    let is_asked = !asked.is_empty() && fault.is_none();
    if let Err(error) = app.health.requests.flush(&app.db).and_then(|()| journal::flush(app)) {
        tracing::warn!(%error, "the log of requests was not written; trying again");
    }
    let filter = RequestLogFilter { search: asked.to_owned(), ..RequestLogFilter::default() };
    let (requests, caused) = if is_asked && !asked.starts_with('/') {
        app.db.read(request.lane, |tx| {
            Ok::<_, Problem>((
                store::page(tx, &filter, RowWindow::first(MOST))?.0,
                find(tx, asked)?,
            ))
        })?
    } else {
        (Vec::new(), Caused::default())
    };
    let zone = app.zone();
    if request.wants_json() {
        return Reply::ok(&Wire {
            pedido: asked,
            requisicoes: all(requests, |one| WireRequest::of(one, zone)),
            chamadas: all(caused.calls, |call| WireCall::of(call, zone)),
            mensagens: all(caused.messages, |message| WireMessage::of(message, zone)),
            erros: all(caused.errors, |error| WireError::of(error, zone)),
            auditoria: all(caused.acts, |act| WireAct::of(act, zone)),
        });
    }
    Reply::page(&FollowPage {
        layout: layout(app, person, request),
        asked: view::Field::of(asked).fault(fault),
        is_asked,
        requests,
        trail: Trail { caused, time: PageTime::of(app, request) },
    })
}

fn all<T, W>(found: Vec<T>, wire: impl Fn(T) -> W) -> Vec<W> {
    found.into_iter().map(wire).collect()
}

#[derive(Serialize)]
struct Wire<'a> {
    pedido: &'a str,
    requisicoes: Vec<WireRequest>,
    chamadas: Vec<WireCall>,
    mensagens: Vec<WireMessage>,
    erros: Vec<WireError>,
    auditoria: Vec<WireAct>,
}

wire! {
    #[derive(Serialize)]
    struct WireCall of(call: OutsideCall, zone: Zone) {
        quando: String = zone.spaced(call.at),
        servico: String = call.service,
        chamada: String = call.what,
        status: Option<u16> = call.status,
        microssegundos: i64 = call.us,
        erro: String = call.error,
    }
}

wire! {
    #[derive(Serialize)]
    struct WireMessage of(message: QueuedMessage, zone: Zone) {
        id: String = message.id.to_string(),
        quando: String = zone.spaced(message.created_at),
        canal: String = message.channel,
        tipo: String = message.kind,
        situacao: &'static str = message.state.name(),
        resultado: Option<String> = message.outcome,
    }
}

wire! {
    #[derive(Serialize)]
    struct WireError of(error: LoggedError, zone: Zone) {
        quando: String = zone.spaced(error.at),
        mensagem: String = error.message,
        causa: String = error.cause,
    }
}

wire! {
    #[derive(Serialize)]
    struct WireAct of(act: AuditEntry, zone: Zone) {
        id: String = act.id.to_string(),
        quando: String = zone.spaced(act.at),
        acao: String = act.action,
        objeto: String = act.object_name,
        quem: String = act.actor_name,
    }
}
