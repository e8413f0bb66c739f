//! The inbox of purchase events in the operator's panel: what came, what it did
//! and why, and how to process an event again.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::sold::Sold;
use super::store::{self, PurchaseQuery, Stored};
use super::views::{LIST, PurchasePage, PurchasesPage};
use super::{EventState, api, apply, parse};
use crate::accounts::page_layout::layout;
use crate::accounts::students::AccountServices;
use crate::app::App;
use crate::audit::objects::PURCHASE;
use crate::audit::{self, Actor, looks};
use crate::base::{Cents, Instant, Zone, grouped};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, ListReply, PageTime, When, export};
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
    query.csv || both || !query.search.is_empty() || query.window().offset > FAR
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
        produto_nome: String = event.product_name,
        valor: Option<Cents> = event.amount,
        moeda: String = event.currency,
        aluno_nome: Option<String> = event.student,
    }
}

const fn happened(ms: i64) -> Instant {
    Instant(ms.div_euclid(1000))
}

/// `GET /admin/compras`: the list, as page, JSON or CSV.
pub fn events(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let wanted = PurchaseQuery::of(&query);
    if query.csv {
        let ids = app.db.read(request.lane, |tx| store::ids(tx, &wanted, MOST_CSV))?;
        looks::file(app, person, request, "compra.baixar_lista", "compra");
        return export::list(app, person, &LIST, ids, |app, tx, id| {
            Ok(store::one(tx, id)?.map(|(event, _)| WireEvent::of(event, app.zone())))
        });
    }
    let ((events, total), states) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((
            store::page(tx, &wanted, query.window())?,
            store::by_state(tx, wanted.kind)?,
        ))
    })?;
    if request.wants_json() {
        looks::list(app, person, request, "compra.consultar_lista", "compra");
        return ListReply::of(total, events, |event| WireEvent::of(event, app.zone()));
    }
    Reply::page(&PurchasesPage {
        layout: layout(app, person, request),
        sum: sum(total, query.is_narrowed(), &states),
        table: LIST.table(&query, LIST.heads, total).counted(|name| {
            let state = EventState::from_name(name).filter(|_| query.search.is_empty())?;
            Some(states.iter().find(|(one, _)| *one == state).map_or(0, |(_, count)| *count))
        }),
        events,
        time: PageTime::of(app, request),
        address: format!("{}/api/v1/webhook/checkout", app.server.addresses.base_url),
    })
}

/// `1.204 compras · 3 sem plano · 2 sem aluno`; of a narrowed list, only how many.
fn sum(total: u64, is_narrowed: bool, states: &[(EventState, u64)]) -> String {
    let count = match total {
        0 if !is_narrowed => {
            return "O que a plataforma de pagamento avisou e o que cada aviso fez com a conta do aluno.".to_owned();
        }
        1 => "1 evento de compra".to_owned(),
        _ => format!("{} eventos de compra", grouped(total)),
    };
    let open = [(EventState::NoPlan, "sem plano"), (EventState::NoStudent, "sem aluno")];
    let of = |(state, words): (EventState, &str)| {
        let found = states.iter().find(|(one, count)| *one == state && *count > 0)?;
        Some(format!("{} {words}", grouped(found.1)))
    };
    let open = open.into_iter().filter(|_| !is_narrowed).filter_map(of);
    std::iter::once(count).chain(open).collect::<Vec<_>>().join(" · ")
}

fn find(services: &Services, request: &Request) -> Result<(Stored, Option<String>), Problem> {
    let id = request.id()?;
    services.db.read(request.lane, |tx| store::one(tx, id))?.ok_or_else(Problem::not_found)
}

/// `GET /admin/compras/{id}`: one event with what was received.
pub fn event(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (event, body) = find(app, request)?;
    let name = event.transaction.as_deref().unwrap_or_default();
    let act = PURCHASE.act("compra.consultar", event.id, name);
    looks::look(app, person, request, &act);
    let zone = app.zone();
    let sold = body.as_deref().map(Sold::of).unwrap_or_default();
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
        received: When::new(zone, event.received_at, request.now),
        body: body.as_ref().map(pretty).transpose()?,
        buyer: event.student.clone().unwrap_or(sold.buyer),
        event,
    })
}

/// `POST /admin/compras/{id}/processar`: processes an event again, with the
/// plans that are configured now.
pub fn again(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (stored, body) = find(app, request)?;
    let gone = || {
        Problem::conflict(ForPeople(
            "O conteúdo deste evento já foi apagado, por isso ele não pode ser processado de novo.",
        ))
    };
    let body = body.ok_or_else(gone)?;
    let payload: Map<String, Value> = serde_json::from_str(&body).map_err(Problem::internal)?;
    let event = parse::event(&payload, app.zone()).map_err(Problem::invalid)?;
    let actor = Actor::person(person, request);
    let incoming = api::incoming(app, event, body, actor.clone());
    let (answer, services) = (Answer::to(request), AccountServices::of(app));
    Ok(Box::new(move |tx| {
        // Read again: the event may have been processed meanwhile.
        let (stored, _) = store::one(tx, stored.id)?.ok_or_else(Problem::not_found)?;
        let decision = apply::again(tx, &services, &incoming, &stored)?;
        let name = stored.transaction.as_deref().unwrap_or(&stored.event);
        let act = PURCHASE.act("compra.processar", stored.id, name);
        let shown = |state: EventState, outcome: &str| json!({ "resultado": state.name(), "explicacao": outcome });
        let before = shown(stored.state, &stored.outcome);
        let after = shown(decision.state, &decision.outcome);
        audit::note(tx, &actor, &act, &before, &after)?;
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
