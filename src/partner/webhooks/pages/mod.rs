//! `/painel/parceiro/webhooks` and `/fornecedor/parceiro/webhooks`: the
//! endpoints of an account, listed and made, as page and as JSON.

pub(in crate::partner) mod acts;
pub(in crate::partner) mod endpoint;
pub(in crate::partner) mod log;

use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use super::sign::SigningSecret;
use super::views::{EndpointRow, SecretPage, WebhooksPage};
use super::{Endpoint, EndpointEntry, Events, MOST_ENDPOINTS, address, store};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::edge::route::Job;
use crate::events::{Audience, EventType};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Flash, Form, FormView, ListReply, Sent, Tick, flashes, form};
use crate::partner::store as partners;
use endpoint::{Change, WITHOUT_PLAN, WireEndpoint};

/// Path of a person's endpoints.
pub(super) fn base(person: &Person) -> &'static str {
    base_of(person.account.role)
}

/// Path of the endpoints of a person with a role.
pub(super) const fn base_of(role: Role) -> &'static str {
    match role {
        Role::Drop => "/fornecedor/parceiro/webhooks",
        _ => "/painel/parceiro/webhooks",
    }
}

/// The audience whose event types a person's programs may get.
pub(super) fn audience(person: &Person) -> Audience {
    if person.account.role == Role::Drop { Audience::Supplier } else { Audience::Seller }
}

const FLASHES: &[Flash] = flashes! {
    "removido": good "Webhook excluído", "Ele não recebe mais nada, e o histórico dele se foi.";
    (WITHOUT_PLAN);
};

pub(super) const FORM: Form<EndpointEntry> = form! {
    "url": Line(1..=address::LONGEST, |entry| &mut entry.url),
        "Informe um endereço que comece com https://.";
    // The boxes are rendered separately, with values of their own.
    "eventos": Own(read_events, |_, _| String::new()), "Marque pelo menos um evento.";
};

fn read_events(sent: &mut Sent<'_>, name: &'static str, entry: &mut EndpointEntry) {
    let given: Vec<String> = sent.optional(name).unwrap_or_default();
    let kinds: Vec<_> = given.iter().map(|word| EventType::from_name(word)).collect();
    if kinds.contains(&None) {
        sent.check.fail(name, "must be names of events");
    }
    entry.eventos = Events::of(kinds.into_iter().flatten());
}

/// Reads an endpoint's fields from a request, and checks them.
pub(super) fn read(
    (app, person, request): Visit<'_>,
    present: Option<&EndpointEntry>,
) -> Result<EndpointEntry, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let entry = FORM.read(&mut sent, present);
    if let Err(fault) = address::check(&entry.url, &app.config.webhooks.extra_hosts)
        && !entry.url.is_empty()
    {
        sent.check.fail("url", fault.text());
    }
    let audience = audience(person);
    let is_offered = |kind: EventType| kind.audience() == Some(audience);
    if entry.eventos.is_empty() || !entry.eventos.all().all(is_offered) {
        let names: Vec<_> = EventType::of(audience).map(EventType::name).collect();
        sent.check.fail("eventos", format!("must be some of {}", names.join(", ")));
    }
    sent.finish()?;
    Ok(entry)
}

/// The form with the values that were sent, and with the exact error of the
/// address.
pub(super) fn again(
    (app, person, request): Visit<'_>,
    faults: &crate::http::Fields,
) -> (FormView, Vec<Tick>) {
    let mut view = FORM.again(request, faults);
    let url = form::all_sent(request, "url").next().unwrap_or_default();
    if let Err(fault) = address::check(url.trim(), &app.config.webhooks.extra_hosts) {
        view.say("url", fault.words());
    }
    let sent = |kind: EventType| form::all_sent(request, "eventos").any(|one| one == kind.name());
    (view, ticks(person, sent))
}

/// The boxes of `eventos`.
pub(super) fn ticks(person: &Person, is_on: impl Fn(EventType) -> bool) -> Vec<Tick> {
    let tick = |kind: EventType| {
        Tick::new(kind.name(), format!("{} ({})", kind.words(), kind.name()), is_on(kind))
            .help(kind.about())
    };
    EventType::of(audience(person)).map(tick).collect()
}

/// `GET …/webhooks`: the endpoints, as page or JSON.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (endpoints, has_plan) = find_all(app, person, request)?;
    if request.wants_json() {
        let zone = app.zone();
        let total = endpoints.len() as u64;
        return ListReply::of(total, endpoints, |one| WireEndpoint::of(one, zone));
    }
    let form = FORM.show(None, app.zone()).unfocused();
    let all = ticks(person, |_| false);
    let mut page = page((app, person, request), &endpoints, has_plan, form, all);
    page.layout = page.layout.telling(FLASHES, request);
    Reply::page(&page)
}

/// The endpoints of an account, and whether it has a plan in force.
fn find_all(
    app: &App,
    person: &Person,
    request: &Request,
) -> Result<(Vec<Endpoint>, bool), Problem> {
    let user = person.account.user_id;
    app.db.read(request.lane, |tx| {
        Ok((store::of_user(tx, user)?, partners::has_plan(tx, user, app.zone())?))
    })
}

fn page(
    (app, person, request): Visit<'_>,
    endpoints: &[Endpoint],
    has_plan: bool,
    form: FormView,
    ticks: Vec<Tick>,
) -> WebhooksPage {
    WebhooksPage {
        layout: layout(app, person, request),
        base: base(person),
        endpoints: endpoints
            .iter()
            .map(|one| EndpointRow::of(one, app.zone(), request.now))
            .collect(),
        form,
        ticks,
        is_full: endpoints.len() >= MOST_ENDPOINTS,
        has_plan,
    }
}

/// An endpoint in the audit log, with its address but without the query.
#[derive(Serialize)]
pub(super) struct Audited<'e> {
    url: &'e str,
    eventos: Events,
}

impl<'e> Audited<'e> {
    pub(super) fn of(entry: &'e EndpointEntry) -> Self {
        Self { url: without_query(&entry.url), eventos: entry.eventos }
    }
}

/// An address without its query, which may hold a secret of the receiver.
pub(super) fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or_default()
}

/// `POST …/webhooks`: creates an endpoint and shows its secret once.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let entry = match read(visit, None) {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let (endpoints, has_plan) = find_all(app, person, request)?;
                let (form, ticks) = again(visit, faults);
                Reply::page(&page(visit, &endpoints, has_plan, form, ticks))
            });
        }
    };
    let secret = SigningSecret::random();
    let change = Change::of(visit);
    let shown = secret_page(visit, &secret, &entry.url, None)?;
    Ok(Box::new(move |tx| {
        if let Err(problem) = change.require_plan(tx) {
            return change.answer.declined(problem, change.base, "sem_plano");
        }
        let id = change.keeper.make(tx, &entry, &secret, None)?;
        if let Some(shown) = shown {
            return Ok(shown);
        }
        let members =
            [("id", Value::from(id.to_string())), ("segredo", Value::from(secret.text()))];
        Ok(change.answer.with(change.base, "criado", &members)?.status(StatusCode::CREATED))
    }))
}

/// The only page that shows a secret; `None` when a program asks.
pub(super) fn secret_page(
    (app, person, request): Visit<'_>,
    secret: &SigningSecret,
    url: &str,
    until: Option<String>,
) -> Result<Option<Reply>, Problem> {
    if request.wants_json() {
        return Ok(None);
    }
    let page = SecretPage {
        layout: layout(app, person, request),
        base: base(person),
        url: url.to_owned(),
        secret: secret.text(),
        until,
    };
    Reply::page(&page).map(Some)
}
