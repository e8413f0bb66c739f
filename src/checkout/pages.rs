//! The inbox of purchase events in the operator's panel: what came, what it did
//! and why, and how to process an event again.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::store::{self, PurchaseQuery, Stored};
use super::views::{LIST, PurchasePage, PurchaseRow, PurchasesPage};
use super::{EventKind, EventState, apply, hook, parse};
use crate::accounts::page_layout::layout;
use crate::accounts::students::AccountServices;
use crate::app::App;
use crate::audit::{self, Act, Actor, looks, objects};
use crate::base::{Instant, Zone};
use crate::edge::route::Job;
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Badge, ListQuery, ListReply, When, export};
use crate::services::Services;
use crate::wire;

/// Newest events that one CSV file holds.
const MOST_CSV: u32 = 100_000;
/// Offsets above this are read on the slow pool.
const FAR: u32 = 10_000;

/// Whether a list is read on the slow pool: its cost grows with the data.
pub fn is_costly(request: &Request) -> bool {
    let Ok(query) = LIST.read(request) else {
        return false;
    };
    let filters = ["resultado", "evento"].map(|name| query.filter(name));
    let both = filters.iter().all(Option::is_some);
    query.csv || both || !query.search.is_empty() || query.window().1 > FAR
}

fn wanted(query: &ListQuery) -> PurchaseQuery {
    let kind = query.filter("evento");
    let state = query.filter("resultado");
    PurchaseQuery {
        search: query.search.clone(),
        kind: kind.and_then(EventKind::from_name),
        state: state.and_then(EventState::from_name),
    }
}

wire! {
    /// An event on the wire of the panel.
    #[derive(Serialize)]
    struct WireEvent of(event: Stored, zone: Zone) {
        id: String = event.id.to_string(),
        evento: String = event.event,
        transacao: Option<String> = event.transaction,
        assinatura: Option<String> = event.subscriber,
        produto: Option<String> = event.product,
        email: Option<String> = Some(event.email).filter(|email| !email.is_empty()),
        resultado: &'static str = event.state.name(),
        explicacao: String = event.outcome,
        aluno_id: Option<String> = event.user.map(|user| user.to_string()),
        recebido_em: String = zone.spaced(event.received_at),
        aconteceu_em: String = zone.spaced(happened(event.happened_ms)),
    }
}

const fn happened(ms: i64) -> Instant {
    Instant(ms.div_euclid(1000))
}

/// `GET /admin/compras`: the list, as page, JSON or CSV.
pub fn events(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let wanted = wanted(&query);
    if query.csv {
        let ids = app.db.read(request.lane, |tx| store::ids(tx, &wanted, MOST_CSV))?;
        looks::file(app, (person, request), "compra.baixar_lista", "compra");
        return export::list(app, person, &LIST, ids, |app, tx, id| {
            Ok(store::one(tx, id)?.map(|(event, _)| WireEvent::of(event, app.zone())))
        });
    }
    let (limit, offset) = query.window();
    let (events, total) =
        app.db.read(request.lane, |tx| store::page(tx, &wanted, limit, offset))?;
    if request.wants_json() {
        looks::list(app, (person, request), "compra.consultar_lista", "compra");
        let events = events.into_iter();
        let events = events.map(|event| WireEvent::of(event, app.zone()));
        return ListReply::reply(total, events.collect());
    }
    Reply::page(&PurchasesPage {
        layout: layout(app, person, request),
        table: LIST.table(&query, LIST.heads, total),
        events: events.iter().map(|event| row(event, app.zone(), request.now)).collect(),
        address: format!("{}/api/v1/webhook/checkout", app.server.addresses.base_url),
    })
}

fn row(event: &Stored, zone: Zone, now: Instant) -> PurchaseRow {
    let what = match event.kind {
        EventKind::Other => event.event.clone(),
        kind => kind.title().to_owned(),
    };
    PurchaseRow {
        id: event.id,
        what,
        transaction: event.transaction.clone().unwrap_or_default(),
        email: event.email.clone(),
        when: When::new(zone, event.received_at, now),
        state: badge(event.state),
    }
}

const fn badge(state: EventState) -> Badge {
    match state {
        EventState::Applied => Badge::Applied,
        EventState::NoEffect => Badge::NoEffect,
        EventState::Kept => Badge::Kept,
        EventState::NoPlan => Badge::NoPlan,
        EventState::NoStudent => Badge::NoStudent,
        EventState::NotStudent => Badge::NotStudent,
    }
}

fn find(services: &Services, request: &Request) -> Result<(Stored, Option<String>), Problem> {
    let id = request.id()?;
    services.db.read(request.lane, |tx| store::one(tx, id))?.ok_or_else(Problem::not_found)
}

/// `GET /admin/compras/{id}`: one event with what was received.
pub fn event(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (event, body) = find(app, request)?;
    let act = Act {
        action: "compra.consultar",
        object: "compra",
        object_id: event.id.to_string(),
        object_name: event.transaction.as_deref().unwrap_or_default(),
    };
    looks::look(app, (person, request), &act);
    let zone = app.zone();
    let body: Option<Value> = body.and_then(|body| serde_json::from_str(&body).ok());
    if request.wants_json() {
        let mut shown =
            serde_json::to_value(WireEvent::of(event, zone)).map_err(Problem::internal)?;
        shown["corpo"] = body.unwrap_or_default();
        return Reply::json(&shown);
    }
    let pretty = |body: &Value| serde_json::to_string_pretty(body).map_err(Problem::internal);
    Reply::page(&PurchasePage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        happened: When::new(zone, happened(event.happened_ms), request.now),
        student: event.user.map(|user| format!("{}/{user}", objects::STUDENT.list)),
        body: body.as_ref().map(pretty).transpose()?,
        event: row(&event, zone, request.now),
        name: event.event,
        outcome: event.outcome,
        subscriber: event.subscriber.unwrap_or_default(),
        product: event.product.unwrap_or_default(),
    })
}

/// `POST /admin/compras/{id}/processar`: processes an event again, with the
/// plans that are configured now.
pub fn again(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (stored, body) = find(app, request)?;
    let gone = || {
        Problem::new(
            Code::Conflict,
            "o conteúdo deste evento já foi apagado, por isso ele não pode ser processado de novo",
        )
    };
    let body = body.ok_or_else(gone)?;
    let payload: Map<String, Value> = serde_json::from_str(&body).map_err(Problem::internal)?;
    let event = parse::event(&payload, app.zone()).map_err(Problem::invalid)?;
    let actor = Actor::person(person, request);
    let incoming = hook::incoming(app, event, body, actor.clone());
    let (answer, services) = (Answer::to(request), AccountServices::of(app));
    Ok(Box::new(move |tx| {
        // Read again: the event may have been processed meanwhile.
        let (stored, _) = store::one(tx, stored.id)?.ok_or_else(Problem::not_found)?;
        let decision = apply::again(tx, &services, &incoming, &stored)?;
        let act = Act {
            action: "compra.processar",
            object: "compra",
            object_id: stored.id.to_string(),
            object_name: stored.transaction.as_deref().unwrap_or(&stored.event),
        };
        let shown = |state: EventState, outcome: &str| json!({ "resultado": state.name(), "explicacao": outcome });
        let before = shown(stored.state, &stored.outcome);
        let after = shown(decision.state, &decision.outcome);
        audit::note(tx, &actor, &act, Some(&before), Some(&after))?;
        let word = match decision.state {
            EventState::Applied => "processado",
            EventState::NoEffect => "sem-efeito",
            _ => "sem-acao",
        };
        let page = format!("{}/{}", LIST.path, stored.id);
        let members = [
            ("id", stored.id.to_string().into()),
            ("resultado", decision.state.name().into()),
            ("explicacao", decision.outcome.into()),
        ];
        answer.with(&page, word, &members)
    }))
}
