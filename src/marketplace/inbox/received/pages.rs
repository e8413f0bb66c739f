//! The inbox in the operator's panel, as page and as JSON.

use serde::Serialize;
use serde_json::Value;

use super::Received;
use super::store::{self, NotificationFilter};
use super::views::{ReceivedOne, ReceivedPage};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::counted;
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::inbox::outcome::words_of;
use crate::marketplace::inbox::state::NotificationState;
use crate::marketplace::kinds::COUNTED_TOPICS;
use crate::panel::{
    Answer, ListReply, Listing, PageTime, columns, export, filters, flashes, heads,
};
use crate::services::Services;
use crate::wire;

const LIST: Listing = Listing {
    path: "/admin/notificacoes",
    hint: "Recurso, número ou conta",
    filters: filters! {
        "estado": "Situação", "Todas", &NotificationState::FILTER;
        "topico": "Tópico", "Todos", &COUNTED_TOPICS;
    },
    sort_keys: &["-recebida_em"],
    heads: heads!["Recurso", "Conta", "Recebida" => "recebida_em", "Situação"],
    file: "notificacoes.csv",
    csv: columns![id recebida_em topico recurso ml_user_id conta estado tentativas resultado],
    flashes: flashes! {
        "na_fila": good "Notificação de volta à fila",
            "Ela é buscada de novo no marketplace em instantes.";
    },
};

wire! {
    #[derive(Serialize)]
    struct WireReceived of(services: &Services, one: Received) after {
        let spaced = |at| services.zone().spaced(at);
        let next_try_at = one.is_waiting().then_some(one.next_try_at);
    } {
        id: String = one.id.to_string(),
        recebida_em: String = spaced(one.at),
        topico: String = one.topic,
        recurso: String = one.resource,
        ml_user_id: String = one.account.to_string(),
        conta: Option<String> = one.nickname,
        estado: &'static str = one.state.name(),
        tentativas: i64 = one.attempts,
        proxima_tentativa_em: Option<String> = next_try_at.map(spaced),
        resultado: Option<String> = one.outcome.as_deref().map(words_of),
    }
}

/// `GET /admin/notificacoes`: the inbox, as page, JSON or CSV.
pub fn inbox(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let wanted = NotificationFilter {
        search: &query.search,
        topic: query.filter("topico"),
        state: query.filter("estado").and_then(NotificationState::from_name),
        newest_first: query.descending,
        window: query.window(),
    };
    if query.csv {
        let ids = app.db.read(request.lane, |tx| store::ids(tx, &wanted))?;
        return export::list(app, person, &LIST, ids, |app, tx, id| {
            Ok(store::notification(tx, id)?.map(|(one, _)| WireReceived::of(app, one)))
        });
    }
    let (received, total) = app.db.read(request.lane, |tx| store::page(tx, &wanted))?;
    if request.wants_json() {
        return ListReply::of(total, received, |one| WireReceived::of(app, one));
    }
    Reply::page(&ReceivedPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        sum: match total {
            0 if !query.is_narrowed() => {
                "O que o marketplace avisou que mudou, e o que foi feito com cada aviso.".to_owned()
            }
            _ => counted(total, "notificação do marketplace", "notificações do marketplace"),
        },
        table: LIST.table(&query, LIST.heads, total),
        received,
        time: PageTime::of(app, request),
    })
}

#[derive(Serialize)]
struct OneReply {
    #[serde(flatten)]
    received: WireReceived,
    corpo: String,
}

/// `GET /admin/notificacoes/{id}`: one notification with its body as received.
pub fn notification(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let found = app.db.read(request.lane, |tx| store::notification(tx, id))?;
    let (one, body) = found.ok_or_else(Problem::not_found)?;
    let raw = String::from_utf8_lossy(&body).into_owned();
    if request.wants_json() {
        return Reply::ok(&OneReply { received: WireReceived::of(app, one), corpo: raw });
    }
    let pretty = serde_json::from_slice::<Value>(&body)
        .ok()
        .and_then(|value| serde_json::to_string_pretty(&value).ok());
    Reply::page(&ReceivedOne {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        one,
        time: PageTime::of(app, request),
        body: pretty.unwrap_or(raw),
    })
}

#[derive(Serialize)]
struct Noted<'a> {
    estado: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resultado: Option<&'a str>,
}

/// `POST /admin/notificacoes/{id}/reprocessar`: has it processed from the
/// start.
pub fn work_again(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let bell = app.marketplace.bell.clone();
    Ok(Box::new(move |tx| {
        let (before, _) = store::notification(tx, id)?.ok_or_else(Problem::not_found)?;
        if !store::work_again(tx, id)? {
            return Err(Problem::conflict(ForPeople("Esta notificação já está na fila.")));
        }
        let act = Act {
            action: "notificacao.reprocessar",
            object: "notificacao",
            object_id: id.to_string(),
            object_name: &format!("{} {}", before.topic, before.resource),
        };
        let was = Noted { estado: before.state.name(), resultado: before.outcome.as_deref() };
        let is = Noted { estado: NotificationState::Waiting.name(), resultado: None };
        audit::note(tx, &actor, &act, &was, &is)?;
        tx.after_commit(move || bell.ring());
        answer.done(id, LIST.path, "na_fila")
    }))
}
