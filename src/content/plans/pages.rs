//! Plans in the operator's panel, as page and as JSON.

use http::StatusCode;
use serde::Serialize;

use super::views::{PlanForm, PlansPage};
use super::{Period, Plan, PlanEntry, store};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::Cents;
use crate::content::change::{Change, Noun};
use crate::content::slug_of;
use crate::content::wire::WirePlan;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::form::tick;
use crate::panel::{
    Form, FormView, Head, Input, ListReply, Listing, Outcome, Rule, Sent, Visit, export, form,
};

/// The list of plans.
pub const LIST: Listing = Listing {
    path: "/admin/planos",
    hint: "Título ou endereço",
    sort_keys: &["preco", "titulo"],
    heads: &[
        Head::sorts("Título", "titulo"),
        Head::plain("Periodicidade"),
        Head::sorts("Preço", "preco").numeric(),
        Head::plain("Situação"),
    ],
    file: "planos.csv",
    csv: &["id", "titulo", "slug", "preco", "moeda", "periodicidade", "ativo", "link_checkout"],
    outcomes: &[
        Outcome::good("criado", "Plano criado", "Se está ativo, já aparece na vitrine pública."),
        Outcome::good("alterado", "Plano alterado", "A vitrine pública já mostra os novos dados."),
        Outcome::good("excluido", "Plano excluído", "Ele não aparece mais na vitrine pública."),
    ],
    ..Listing::NONE
};

const NOUN: Noun = Noun {
    object: "plano",
    created: "plano.criar",
    changed: "plano.alterar",
    removed: "plano.excluir",
    path: LIST.path,
};

/// The form of a plan.
pub const FORM: Form<PlanEntry> = Form(&[
    Input::new(
        "titulo",
        "Dê um título de 2 a 120 letras.",
        Rule::Line(2..=120, |entry| &mut entry.title),
    ),
    Input::new(
        "slug",
        "Use só letras minúsculas sem acento, números e hífens, até 60.",
        Rule::Own(read_slug, |entry, _| entry.slug.clone()),
    ),
    Input::new(
        "preco",
        "Informe um valor de 0 a 10.000.000,00, como 97 ou 97,90.",
        // A new plan has no title yet; its form shows no price.
        Rule::Own(read_price, |entry, _| match &*entry.title {
            "" => String::new(),
            _ => entry.price.typed(),
        }),
    ),
    Input::new(
        "moeda",
        "Informe as três letras da moeda, como BRL.",
        Rule::Own(read_currency, |entry, _| entry.currency.clone()),
    ),
    Input::new(
        "periodicidade",
        "Escolha uma das opções da lista.",
        Rule::Own(read_period, |entry, _| entry.period.name().to_owned()),
    ),
    Input::new(
        "beneficios",
        "São até 30 benefícios, cada um com até 200 letras.",
        Rule::Own(read_benefits, |entry, _| entry.benefits.0.join("\n")),
    ),
    Input::new(
        "link_checkout",
        "Informe um endereço que comece com https://.",
        Rule::Own(read_checkout_link, |entry, _| entry.checkout_link.clone()),
    ),
    Input::new(
        "ativo",
        "Confira este campo.",
        Rule::Own(
            |sent, name, entry| {
                let otherwise = !sent.is_form && entry.active;
                entry.active = sent.optional(name).unwrap_or(otherwise);
            },
            |entry, _| tick(entry.active),
        ),
    ),
]);

/// Message when another plan has the same slug.
const SLUG_TAKEN: &str = "Já existe um plano com este endereço.";
/// Most benefits of a plan, and characters of one.
const MOST_BENEFITS: usize = 30;
const LONGEST_BENEFIT: usize = 200;
/// Highest price, in centavos: ten million reais.
const MOST_CENTS: i64 = 1_000_000_000;

/// Without a slug, it is made from the title. A missing title is reported once,
/// not also as an invalid slug.
fn read_slug(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let slug = sent.line(name, 0..=60);
    entry.slug = if slug.is_empty() { slug_of(&entry.title) } else { slug };
    let slug = &entry.slug;
    let is_good = match &**slug {
        "" => entry.title.is_empty(),
        slug => slug == slug_of(slug) && slug.len() <= 60,
    };
    if !is_good {
        sent.check.fail(name, "use só letras sem acento, números e hífens, até 60");
    }
}

fn read_price(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    entry.price = sent.required(name);
    if !(Cents(0)..=Cents(MOST_CENTS)).contains(&entry.price) {
        sent.check.fail(name, "informe um valor de 0 a 10.000.000,00");
    }
}

fn read_currency(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let currency = sent.line(name, 0..=3).to_uppercase();
    entry.currency = if currency.is_empty() { "BRL".to_owned() } else { currency };
    if entry.currency.len() != 3 || !entry.currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        sent.check.fail(name, "informe as três letras da moeda, como BRL");
    }
}

fn read_period(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let period: Option<String> = sent.optional(name);
    let period = period.map_or(Some(Period::Monthly), |period| Period::from_name(&period));
    entry.period = period.unwrap_or_else(|| {
        sent.check.fail(name, "escolha mensal, anual ou unico");
        Period::Monthly
    });
}

/// A list, or one text with one benefit per line.
fn read_benefits(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let given: Vec<String> = sent.optional(name).unwrap_or_default();
    let lines =
        given.iter().flat_map(|text| text.lines()).map(str::trim).filter(|line| !line.is_empty());
    let benefits: Vec<String> = lines.map(str::to_owned).collect();
    let too_long = benefits
        .iter()
        .any(|line| line.chars().count() > LONGEST_BENEFIT || line.chars().any(char::is_control));
    if benefits.len() > MOST_BENEFITS || too_long {
        sent.check.fail(name, "até 30 benefícios, cada um com até 200 letras");
    }
    entry.benefits.0 = benefits;
}

fn read_checkout_link(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    entry.checkout_link = sent.line(name, 0..=500);
    if !entry.checkout_link.is_empty() && form::https(&entry.checkout_link).is_none() {
        sent.check.fail(name, "informe um endereço que comece com https://");
    }
}

#[derive(Serialize)]
struct PlanDetails {
    #[serde(flatten)]
    plan: WirePlan,
    ativo: bool,
}

impl PlanDetails {
    fn of(plan: Plan) -> Self {
        Self { ativo: plan.entry.active, plan: WirePlan::of(plan) }
    }
}

/// `GET /admin/planos`: the list, as page, JSON or CSV.
pub fn plans(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (plans, total) = app.db.read(request.lane, |tx| {
        let by_title = query.sort_key == "titulo";
        store::page(tx, &query.search, by_title, query.descending, query.window())
    })?;
    if query.csv {
        return export::list(app, person, &LIST, plans, |_, _, plan| {
            Ok(Some(PlanDetails::of(plan)))
        });
    }
    if request.wants_json() {
        return ListReply::reply(total, plans.into_iter().map(PlanDetails::of).collect());
    }
    Reply::page(&PlansPage {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        table: LIST.table(&query, LIST.heads, total),
        plans,
    })
}

/// `GET /admin/planos/{id}`: the form of one plan; `novo` for a new one.
pub fn plan_form(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let plan = match request.variable("id") {
        "novo" => None,
        _ => Some(find(app, request)?),
    };
    if request.wants_json() {
        let plan = plan.ok_or_else(Problem::not_found)?;
        return Reply::json(&PlanDetails::of(plan));
    }
    let form = FORM.show(plan.as_ref().map(|plan| &plan.entry), app.zone());
    Reply::page(&PlanForm { layout: layout(app, person, request), existing: plan, form })
}

fn find(app: &App, request: &Request) -> Result<Plan, Problem> {
    let id = request.id()?;
    app.db.read(request.lane, |tx| store::plan(tx, id))?.ok_or_else(Problem::not_found)
}

/// A browser gets the form again with what is wrong; a program the error.
fn again(visit: Visit<'_>, existing: Option<Plan>, problem: Problem) -> Result<Job, Problem> {
    let (app, person, request) = visit;
    form::show_again(request, problem, |faults| {
        let form = FORM.again(request, faults);
        Reply::page(&PlanForm { layout: layout(app, person, request), existing, form })
    })
}

fn slug_taken() -> Problem {
    Problem {
        fields: vec![("slug".into(), SLUG_TAKEN.into())],
        ..Problem::new(Code::Conflict, "this slug is taken")
    }
}

/// The form to show a browser in case the slug turns out to be taken.
fn taken_page(visit: Visit<'_>, existing: Option<Plan>) -> Result<Option<Reply>, Problem> {
    let (app, person, request) = visit;
    if request.wants_json() {
        return Ok(None);
    }
    let mut form: FormView = FORM.again(request, &slug_taken().fields);
    form.say("slug", SLUG_TAKEN);
    let page = PlanForm { layout: layout(app, person, request), existing, form };
    Ok(Some(Reply::page(&page)?.status(StatusCode::CONFLICT)))
}

/// `POST /admin/planos`: creates a plan.
pub fn create_plan(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match FORM.entry(request, app.zone(), None) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), None, problem),
    };
    let change = Change::of(person, request);
    let taken = taken_page((app, person, request), None)?;
    Ok(Box::new(move |tx| {
        let Some(id) = store::insert(tx, &entry)? else {
            return taken.ok_or_else(slug_taken);
        };
        change.created(tx, (&NOUN, id, &entry.title), &entry, LIST.path)
    }))
}

/// `POST /admin/planos/{id}`: changes a plan.
pub fn change_plan(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let plan = find(app, request)?;
    let id = plan.id;
    let entry = match FORM.entry(request, app.zone(), Some(&plan.entry)) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), Some(plan), problem),
    };
    let change = Change::of(person, request);
    let taken = taken_page((app, person, request), Some(plan))?;
    Ok(Box::new(move |tx| {
        let before = store::plan(tx, id)?.ok_or_else(Problem::not_found)?;
        if !store::update(tx, id, &entry)? {
            return taken.ok_or_else(slug_taken);
        }
        change.changed(tx, (&NOUN, id, &entry.title), &before.entry, &entry)
    }))
}

/// `POST /admin/planos/{id}/excluir`: removes a plan.
pub fn delete_plan(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = store::plan(tx, id)?.ok_or_else(Problem::not_found)?;
        store::delete(tx, id)?;
        change.removed(tx, (&NOUN, id, &before.entry.title), &before.entry)
    }))
}
