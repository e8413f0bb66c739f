//! One endpoint: its page, its JSON, and changing it.

use std::sync::Arc;

use serde::Serialize;

use super::log::SPAN;
use super::{FORM, base, ticks, without_query};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::Actor;
use crate::base::{UserId, Zone, grouped};
use crate::db::{ReadTx, RowWindow};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Flash, FormView, Tick, When, flashes, form};
use crate::partner::webhooks::keeper::Keeper;
use crate::partner::webhooks::store::{Counts, Delivery};
use crate::partner::webhooks::views::{DeliveryRow, EndpointPage, EndpointRow};
use crate::partner::webhooks::{Endpoint, EndpointState, Events, pages, store};
use crate::partner::{self, store as partners};
use crate::wire;

/// Newest deliveries on the page of an endpoint.
const NEWEST: u32 = 10;

/// What needs a plan was asked for without one.
pub(in crate::partner::webhooks) const WITHOUT_PLAN: Flash = Flash::bad(
    "sem_plano",
    "Falta um plano da API",
    "Nada mudou. Peça à administração que ative um plano para a sua conta.",
);

pub(in crate::partner::webhooks) const FLASHES: &[Flash] = flashes! {
    "alterado": good "Webhook alterado", "Vale desde já para o próximo evento.";
    "ligado": good "Webhook ligado", "O que esperava por ele sai agora.";
    "desligado": good "Webhook desligado",
        "Nenhum evento novo é guardado para ele. O que já esperava sai quando você o ligar.";
    "teste": good "Teste a caminho", "Atualize a página em alguns segundos para ver a resposta.";
    (WITHOUT_PLAN);
    "teste_desligado": bad "O webhook está desligado", "Ligue-o antes de testar.";
    "reenviado": good "Entrega de volta à fila", "Ela sai de novo, com o mesmo id.";
    "na_fila": info "Esta entrega já está na fila", "Ela ainda vai ser tentada.";
    "reenviadas": good "Entregas de volta à fila",
        "As do período que já tinham terminado saem de novo, com os mesmos ids.";
    "nada": info "Nada para reenviar", "Nenhuma entrega terminou nesse período.";
    "em_parte": warn "Uma parte voltou à fila",
        "São 10.000 entregas por vez. Reenvie o resto a partir da última.";
};

wire! {
    /// An endpoint as its owner's programs read it.
    #[derive(Serialize)]
    pub struct WireEndpoint of(endpoint: Endpoint, zone: Zone) after {
        let spaced = |at| zone.spaced(at);
    } {
        id: String = endpoint.id.to_string(),
        url: String = endpoint.entry.url,
        eventos: Events = endpoint.entry.eventos,
        /// `ligado`, `desligado`, `encerrado` or `desistimos`.
        situacao: &'static str = endpoint.state.name(),
        criado_em: String = spaced(endpoint.created_at),
        desligado_em: Option<String> = endpoint.off_at.map(spaced),
        /// First failure since the last success.
        falhando_desde: Option<String> = endpoint.failing_since.map(spaced),
        erro: Option<String> = endpoint.error,
        entregue_em: Option<String> = endpoint.delivered_at.map(spaced),
        /// Until when the secret before signs as well.
        segredo_anterior_ate: Option<String> = endpoint.old_until.map(spaced),
        /// Events that found no place in a full queue.
        perdidos: i64 = endpoint.lost,
    }
}

#[derive(Serialize)]
struct EndpointReply {
    #[serde(flatten)]
    endpoint: WireEndpoint,
    pendentes: i64,
    entregues: i64,
    falharam: i64,
}

/// The caller's endpoint in the request's path.
pub(in crate::partner::webhooks) fn find(
    app: &App,
    person: &Person,
    request: &Request,
) -> Result<Endpoint, Problem> {
    let (id, user) = (request.id()?, person.account.user_id);
    let found = app.db.read(request.lane, |tx| store::one(tx, user, id))?;
    found.ok_or_else(Problem::not_found)
}

/// An endpoint with the data of its page.
struct Found {
    endpoint: Endpoint,
    counts: Counts,
    newest: Vec<Delivery>,
    has_plan: bool,
}

impl Found {
    fn read((app, person, request): Visit<'_>) -> Result<Self, Problem> {
        let (id, user) = (request.id()?, person.account.user_id);
        app.db.read(request.lane, |tx| {
            let endpoint = store::one(tx, user, id)?.ok_or_else(Problem::not_found)?;
            let wanted = store::DeliveryQuery {
                endpoint: id,
                state: None,
                kind: None,
                newest_first: true,
                window: RowWindow::first(NEWEST),
            };
            let (newest, _) = store::deliveries(tx, &wanted)?;
            let has_plan = partners::has_plan(tx, user, app.zone())?;
            Ok(Self { endpoint, counts: store::counts(tx, id)?, newest, has_plan })
        })
    }
}

/// `GET …/webhooks/{id}`: one endpoint, as page or JSON.
pub fn one(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let visit = (app, person, request);
    let found = Found::read(visit)?;
    if request.wants_json() {
        let Counts { waiting, delivered, given_up } = found.counts;
        return Reply::ok(&EndpointReply {
            endpoint: WireEndpoint::of(found.endpoint, app.zone()),
            pendentes: waiting,
            entregues: delivered,
            falharam: given_up,
        });
    }
    Reply::page(&page(visit, &found, None, None))
}

/// The page with the form of the period as it was sent.
pub(in crate::partner::webhooks) fn with_span(
    visit: Visit<'_>,
    span: FormView,
) -> Result<Reply, Problem> {
    Reply::page(&page(visit, &Found::read(visit)?, None, Some(span)))
}

/// The page; a form that was sent is shown as it was sent.
fn page(
    (app, person, request): Visit<'_>,
    found: &Found,
    sent: Option<(FormView, Vec<Tick>)>,
    span: Option<FormView>,
) -> EndpointPage {
    let (zone, now) = (app.zone(), request.now);
    let Found { endpoint, counts, newest, has_plan } = found;
    let entry = &endpoint.entry;
    let (form, ticks) = sent.unwrap_or_else(|| {
        (FORM.show(Some(entry), zone), ticks(person, |kind| entry.eventos.has(kind)))
    });
    let old_until = endpoint.old_until.filter(|until| now < *until);
    EndpointPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        base: base(person),
        title: without_query(&entry.url).to_owned(),
        row: EndpointRow::of(endpoint, zone, now),
        is_on: endpoint.state == EndpointState::On,
        has_plan: *has_plan,
        created: When::new(zone, endpoint.created_at, now),
        old_until: old_until.map(|at| zone.page(at)).unwrap_or_default(),
        lost: if endpoint.lost > 0 { grouped(endpoint.lost) } else { String::new() },
        waiting: grouped(counts.waiting),
        delivered: grouped(counts.delivered),
        given_up: grouped(counts.given_up),
        newest: newest.iter().map(|one| DeliveryRow::of(one, zone, now)).collect(),
        form,
        ticks,
        span: span.unwrap_or_else(|| SPAN.show(None, zone).unfocused()),
    }
}

/// What the write job of a change needs.
pub(in crate::partner::webhooks) struct Change {
    pub(in crate::partner::webhooks) user: UserId,
    pub(in crate::partner::webhooks) answer: Answer,
    pub(in crate::partner::webhooks) base: &'static str,
    pub(in crate::partner::webhooks) keeper: Keeper,
    zone: Zone,
}

impl Change {
    pub(in crate::partner::webhooks) fn of((app, person, request): Visit<'_>) -> Self {
        let user = person.account.user_id;
        Self {
            user,
            answer: Answer::to(request),
            base: base(person),
            keeper: Keeper {
                user,
                sealer: Arc::clone(&app.sealer),
                actor: Actor::person(person, request),
            },
            zone: app.zone(),
        }
    }

    /// Refuses what needs a plan, when the account has none in force.
    pub(in crate::partner::webhooks) fn require_plan(
        &self,
        tx: &ReadTx<'_>,
    ) -> Result<(), Problem> {
        let has_plan = partners::has_plan(tx, self.user, self.zone)?;
        if has_plan { Ok(()) } else { Err(partner::no_plan()) }
    }

    /// Path of an endpoint's page.
    pub(in crate::partner::webhooks) fn page(&self, id: i64) -> String {
        format!("{}/{id}", self.base)
    }
}

/// `POST …/webhooks/{id}`: changes an endpoint's address and event types.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let before = find(app, person, request)?;
    let entry = match pages::read(visit, Some(&before.entry)) {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let again = pages::again(visit, faults);
                Reply::page(&page(visit, &Found::read(visit)?, Some(again), None))
            });
        }
    };
    let change = Change::of(visit);
    Ok(Box::new(move |tx| {
        let id = before.id;
        change.keeper.change(tx, id, &entry)?;
        change.answer.done(id, &change.page(id), "alterado")
    }))
}
