//! Plans in the operator's panel, as page and as JSON (contract §6).

use std::sync::Arc;

use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::store::{self, Changed, Order};
use super::views::{
    ExistingPlan, PlanForm, PlanRow, PlansPage, SLUG_TAKEN, fault_words, period_words,
};
use super::{PERIODS, Plan, PlanEntry};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::money::Cents;
use crate::content::slug_of;
use crate::content::wire::WirePlan;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::{Check, Field};
use crate::http::problem::Fields;
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::answer::{Answer, ListReply};
use crate::panel::csv::CsvFile;
use crate::panel::export;
use crate::panel::form;
use crate::panel::list::{Head, Listing};
use crate::panel::view::{self, Badge, Notice, Tone};

const LIST: Listing = Listing {
    path: "/admin/planos",
    hint: "Título ou endereço",
    filters: &[],
    orders: &["preco", "titulo"],
    ..Listing::NONE
};

/// Most benefits of a plan, and characters of one.
const MOST_BENEFITS: usize = 30;
const LONGEST_BENEFIT: usize = 200;
/// Highest price, in centavos: ten million reais.
const MOST_CENTS: i64 = 1_000_000_000;

#[derive(Serialize)]
struct PlanDetails {
    #[serde(flatten)]
    plan: WirePlan,
    ativo: bool,
}

impl PlanDetails {
    fn of(plan: Plan) -> Self {
        Self { ativo: plan.active, plan: WirePlan::of(plan) }
    }
}

/// `GET /admin/planos`: the list, as page, JSON or CSV.
pub fn plans(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let order = match (query.order, query.descending) {
        ("titulo", false) => Order::TitleUp,
        ("titulo", true) => Order::TitleDown,
        (_, true) => Order::PriceDown,
        (_, false) => Order::PriceUp,
    };
    let (limit, offset) = query.window();
    let (plans, total) =
        app.db.read(request.lane, |tx| store::page(tx, &query.search, order, limit, offset))?;
    if query.csv {
        return csv(app, person, plans);
    }
    if request.wants_json() {
        return ListReply::reply(total, plans.into_iter().map(PlanDetails::of).collect());
    }
    let columns = [
        Head::sorts("Título", "titulo"),
        Head::plain("Periodicidade"),
        Head::sorts("Preço", "preco").numeric(),
        Head::plain("Situação"),
    ];
    Reply::page(&PlansPage {
        layout: layout(app, person, request).with_flash(flash(&query.notice)),
        table: LIST.table(&query, &columns, total),
        plans: plans.iter().map(row).collect(),
    })
}

fn csv(app: &App, person: &Person, plans: Vec<Plan>) -> Result<Reply, Problem> {
    let header =
        ["id", "titulo", "slug", "preco", "moeda", "periodicidade", "ativo", "link_checkout"];
    let file = CsvFile::new("planos.csv", &header)?;
    export::send(app, person, file, plans, |_, _, plan, file| {
        let (id, price) = (plan.id.to_string(), plan.price.reais().to_string());
        let active = if plan.active { "sim" } else { "nao" };
        file.row([
            &*id,
            &plan.title,
            &plan.slug,
            &price,
            &plan.currency,
            &plan.period,
            active,
            &plan.checkout_link,
        ])
    })
}

fn row(plan: &Plan) -> PlanRow {
    PlanRow {
        id: plan.id.to_string(),
        title: plan.title.clone(),
        slug: plan.slug.clone(),
        period: period_words(&plan.period),
        price: plan.price.page(),
        state: if plan.active { Badge::Active } else { Badge::Inactive },
    }
}

fn flash(notice: &str) -> Option<Notice> {
    let (title, text) = match notice {
        "criado" => ("Plano criado", "Se está ativo, já aparece na vitrine pública."),
        "alterado" => ("Plano alterado", "A vitrine pública já mostra os novos dados."),
        "excluido" => ("Plano excluído", "Ele não aparece mais na vitrine pública."),
        _ => return None,
    };
    Some(Notice::new(Tone::Good, title, text))
}

/// `GET /admin/planos/{id}`: the form of one plan; `novo` for a new one.
pub fn plan_form(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let plan = match request.variable("id") {
        "novo" => None,
        id => Some(find(app, id, request)?),
    };
    if request.wants_json() {
        return match plan {
            Some(plan) => Reply::json(&PlanDetails::of(plan)),
            None => Err(Problem::not_found()),
        };
    }
    let existing = plan
        .as_ref()
        .map(|plan| ExistingPlan { id: plan.id.to_string(), title: plan.title.clone() });
    let typed = plan.map_or_else(Typed::fresh, Typed::of);
    Reply::page(&typed.form(layout(app, person, request), existing, &Vec::new()))
}

fn find(app: &App, id: &str, request: &Request) -> Result<Plan, Problem> {
    let id: i64 = id.parse().map_err(|_| Problem::not_found())?;
    app.db.read(request.lane, |tx| store::plan(tx, id))?.ok_or_else(Problem::not_found)
}

#[derive(Deserialize)]
struct PlanBody {
    #[serde(default)]
    titulo: Field<String>,
    #[serde(default)]
    slug: Field<String>,
    #[serde(default)]
    preco: Field<Cents>,
    #[serde(default)]
    moeda: Field<String>,
    #[serde(default)]
    periodicidade: Field<String>,
    #[serde(default)]
    beneficios: Field<Vec<String>>,
    #[serde(default)]
    link_checkout: Field<String>,
    #[serde(default)]
    ativo: Field<bool>,
}

/// What stands in the form, as people type it.
struct Typed {
    title: String,
    slug: String,
    price: String,
    currency: String,
    period: String,
    benefits: String,
    checkout_link: String,
    active: bool,
}

impl Typed {
    fn fresh() -> Self {
        Self {
            title: String::new(),
            slug: String::new(),
            price: String::new(),
            currency: "BRL".to_owned(),
            period: "mensal".to_owned(),
            benefits: String::new(),
            checkout_link: String::new(),
            active: true,
        }
    }

    fn of(plan: Plan) -> Self {
        Self {
            title: plan.title,
            slug: plan.slug,
            price: plan.price.page().trim_start_matches("R$ ").to_owned(),
            currency: plan.currency,
            period: plan.period,
            benefits: plan.benefits.join("\n"),
            checkout_link: plan.checkout_link,
            active: plan.active,
        }
    }

    /// What a browser sent, whether or not it is right.
    fn sent(request: &Request) -> Self {
        let sent: Vec<(String, String)> =
            form_urlencoded::parse(&request.body).into_owned().collect();
        let text = |name: &str| {
            sent.iter()
                .find(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
                .unwrap_or_default()
        };
        Self {
            title: text("titulo"),
            slug: text("slug"),
            price: text("preco"),
            currency: text("moeda"),
            period: text("periodicidade"),
            benefits: text("beneficios"),
            checkout_link: text("link_checkout"),
            active: !text("ativo").is_empty(),
        }
    }

    fn form(
        self,
        layout: view::Layout,
        existing: Option<ExistingPlan>,
        faults: &Fields,
    ) -> PlanForm {
        let field = |name: &str, value: String| {
            let fault = faults
                .iter()
                .find(|(known, _)| known == name)
                .map(|(_, said)| if said == SLUG_TAKEN { SLUG_TAKEN } else { fault_words(name) });
            view::Field::of(value).fault(fault)
        };
        let mut form = PlanForm {
            layout,
            existing,
            alert: None,
            title: field("titulo", self.title),
            slug: field("slug", self.slug),
            price: field("preco", self.price),
            currency: field("moeda", self.currency),
            period: field("periodicidade", self.period),
            benefits: field("beneficios", self.benefits),
            checkout_link: field("link_checkout", self.checkout_link),
            active: self.active,
        };
        if form.existing.is_some() && faults.is_empty() {
            return form;
        }
        let count = view::focus_first([
            &mut form.title,
            &mut form.slug,
            &mut form.price,
            &mut form.currency,
            &mut form.period,
            &mut form.benefits,
            &mut form.checkout_link,
        ]);
        form.alert = if faults.is_empty() { None } else { Notice::faults(count) };
        form
    }
}

/// Whether a plan can have this address. A missing title is told once, not
/// again as the address made of it.
fn is_slug(slug: &str, title: &str) -> bool {
    if slug.is_empty() {
        return title.is_empty();
    }
    slug == slug_of(slug) && slug.len() <= 60
}

/// What was sent of a plan. A program may leave out what it does not change;
/// a browser's form always says everything.
fn read_entry(request: &Request, present: Option<&Plan>) -> Result<PlanEntry, Problem> {
    let body: PlanBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let is_form = crate::http::input::is_form(request.headers());
    let present = present.filter(|_| !is_form);
    let kept = |field: &Field<String>, of: fn(&Plan) -> &String| {
        present.filter(|_| field.is_absent()).map(|plan| of(plan).clone())
    };
    let title = kept(&body.titulo, |plan| &plan.title);
    let title = title.unwrap_or_else(|| check.line("titulo", body.titulo, 2..=120));
    let slug = kept(&body.slug, |plan| &plan.slug);
    let slug = slug.unwrap_or_else(|| check.optional_line("slug", body.slug, 60));
    let slug = if slug.is_empty() { slug_of(&title) } else { slug };
    if !is_slug(&slug, &title) {
        check.fail("slug", "use só letras sem acento, números e hífens, até 60");
    }
    let price = present.filter(|_| body.preco.is_absent()).map(|plan| plan.price);
    let price = price.unwrap_or_else(|| check.required("preco", body.preco));
    if !(0..=MOST_CENTS).contains(&price.0) {
        check.fail("preco", "informe um valor de 0 a 10.000.000,00");
    }
    let currency = kept(&body.moeda, |plan| &plan.currency);
    let currency =
        currency.unwrap_or_else(|| check.optional_line("moeda", body.moeda, 3).to_uppercase());
    let currency = if currency.is_empty() { "BRL".to_owned() } else { currency };
    if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
        check.fail("moeda", "informe as três letras da moeda, como BRL");
    }
    let period = kept(&body.periodicidade, |plan| &plan.period)
        .or_else(|| check.optional("periodicidade", body.periodicidade))
        .unwrap_or_else(|| "mensal".to_owned());
    if !PERIODS.contains(&&*period) {
        check.fail("periodicidade", "escolha mensal, anual ou unico");
    }
    let benefits =
        present.filter(|_| body.beneficios.is_absent()).map(|plan| plan.benefits.clone());
    let benefits = benefits.unwrap_or_else(|| benefits_of(&mut check, body.beneficios));
    let checkout_link = kept(&body.link_checkout, |plan| &plan.checkout_link)
        .unwrap_or_else(|| check.optional_line("link_checkout", body.link_checkout, 500));
    if !checkout_link.is_empty() && form::https(&checkout_link).is_none() {
        check.fail("link_checkout", "informe um endereço que comece com https://");
    }
    // A browser leaves an unticked box out; a new plan of a program is on sale.
    let otherwise = present.map_or(!is_form, |plan| plan.active);
    let active = check.optional("ativo", body.ativo).unwrap_or(otherwise);
    check.finish()?;
    Ok(PlanEntry { slug, title, price, currency, period, benefits, checkout_link, active })
}

/// A list, or one text with a benefit a line.
fn benefits_of(check: &mut Check, field: Field<Vec<String>>) -> Vec<String> {
    let given = check.optional("beneficios", field).unwrap_or_default();
    let lines =
        given.iter().flat_map(|text| text.lines()).map(str::trim).filter(|line| !line.is_empty());
    let benefits: Vec<String> = lines.map(str::to_owned).collect();
    let too_long = benefits
        .iter()
        .any(|line| line.chars().count() > LONGEST_BENEFIT || line.chars().any(char::is_control));
    if benefits.len() > MOST_BENEFITS || too_long {
        check.fail("beneficios", "até 30 benefícios, cada um com até 200 letras");
    }
    benefits
}

/// A browser gets the form again with what is wrong; a program the error.
fn faulty(
    app: &App,
    person: &Person,
    request: &Request,
    existing: Option<ExistingPlan>,
    problem: Problem,
) -> Result<Job, Problem> {
    if request.wants_json() || problem.fields.is_empty() {
        return Err(problem);
    }
    let layout = layout(app, person, request);
    let page = Reply::page(&Typed::sent(request).form(layout, existing, &problem.fields))?;
    let page = page.status(StatusCode::UNPROCESSABLE_ENTITY);
    Ok(Box::new(move |_| Ok(page)))
}

fn slug_taken() -> Problem {
    Problem {
        fields: vec![("slug".into(), SLUG_TAKEN.into())],
        ..Problem::new(Code::Conflict, "this slug is taken")
    }
}

/// `POST /admin/planos`: creates a plan.
pub fn create_plan(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match read_entry(request, None) {
        Ok(entry) => entry,
        Err(problem) => return faulty(app, person, request, None, problem),
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let versions = Arc::clone(&app.versions);
    let taken = taken_page(app, person, request, None)?;
    Ok(Box::new(move |tx| {
        let Some(id) = store::insert(tx, &entry)? else {
            return taken.ok_or_else(slug_taken);
        };
        let act = act("plano.criar", id, &entry.title);
        audit::note(tx, &actor, &act, None::<&()>, Some(&entry))?;
        tx.after_commit(move || versions.raise_content());
        answer.made(id, LIST.path, "criado")
    }))
}

/// `POST /admin/planos/{id}`: changes a plan.
pub fn change_plan(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let plan = find(app, request.variable("id"), request)?;
    let existing = ExistingPlan { id: plan.id.to_string(), title: plan.title.clone() };
    let entry = match read_entry(request, Some(&plan)) {
        Ok(entry) => entry,
        Err(problem) => return faulty(app, person, request, Some(existing), problem),
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let versions = Arc::clone(&app.versions);
    let taken = taken_page(app, person, request, Some(existing))?;
    Ok(Box::new(move |tx| {
        let before = store::plan(tx, plan.id)?.ok_or_else(Problem::not_found)?;
        match store::update(tx, plan.id, &entry)? {
            Changed::Done => {}
            Changed::NotThere => return Err(Problem::not_found()),
            Changed::SlugTaken => return taken.ok_or_else(slug_taken),
        }
        let act = act("plano.alterar", plan.id, &entry.title);
        audit::note(tx, &actor, &act, Some(&before.entry()), Some(&entry))?;
        tx.after_commit(move || versions.raise_content());
        answer.done(plan.id, LIST.path, "alterado")
    }))
}

fn act<'a>(action: &'static str, id: i64, title: &'a str) -> Act<'a> {
    Act { action, object: "plano", object_id: id.to_string(), object_name: title }
}

/// The form to show a browser in case the slug turns out to be taken.
fn taken_page(
    app: &App,
    person: &Person,
    request: &Request,
    existing: Option<ExistingPlan>,
) -> Result<Option<Reply>, Problem> {
    if request.wants_json() {
        return Ok(None);
    }
    let layout = layout(app, person, request);
    let page = Typed::sent(request).form(layout, existing, &slug_taken().fields);
    Ok(Some(Reply::page(&page)?.status(StatusCode::CONFLICT)))
}

/// `POST /admin/planos/{id}/excluir`: removes a plan.
pub fn delete_plan(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let versions = Arc::clone(&app.versions);
    Ok(Box::new(move |tx| {
        let before = store::plan(tx, id)?.ok_or_else(Problem::not_found)?;
        store::delete(tx, id)?;
        let act = act("plano.excluir", id, &before.title);
        audit::note(tx, &actor, &act, Some(&before.entry()), None::<&()>)?;
        tx.after_commit(move || versions.raise_content());
        answer.done(id, LIST.path, "excluido")
    }))
}
