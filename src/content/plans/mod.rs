//! Plans that people can buy, shown to anyone while active, and kept by the
//! operator (contract §6).

pub mod pages;
pub mod store;
pub mod views;

use serde::{Serialize, Serializer};

use self::views::{PlanForm, PlansPage};
use crate::accounts::Role;
use crate::audit::objects::PLAN;
use crate::base::{Cents, Instant, Zone};
use crate::content::store::{Topic, note_change};
use crate::content::wire::WirePlan;
use crate::content::{inputs, slug_of};
use crate::db::{DbError, Json, ReadTx, WriteTx};
use crate::http::{ForPeople, Problem, Reply};
use crate::named;
use crate::noun::{self, FormParts, ListParts, Made, Noun, Rows, declares};
use crate::panel::form::tick;
use crate::panel::{Form, Listing, Sent, columns, flashes, form, heads};
use crate::row;
use crate::usual;

named! {
    /// How often a plan is paid.
    pub enum Period: text {
        Monthly = "mensal", "Mensal";
        Yearly = "anual", "Anual";
        Once = "unico", "Pagamento único";
    }
}

row! {
    /// A plan that people can buy.
    #[derive(Clone, Debug)]
    pub struct Plan {
        pub id: i64 = "plan_id",
        pub entry: PlanEntry as row,
    }
}

usual! {
    /// What an operator enters about a plan. The audit log uses the field names
    /// of the form.
    #[derive(Clone, Debug, Serialize)]
    pub struct PlanEntry {
        pub slug: String,
        #[serde(rename = "titulo")]
        pub title: String,
        #[serde(rename = "preco")]
        pub price: Cents,
        #[serde(rename = "moeda")]
        pub currency: String = "BRL".to_owned(),
        #[serde(rename = "periodicidade", serialize_with = "as_name")]
        pub period: Period = Period::Monthly,
        #[serde(rename = "beneficios")]
        pub benefits: Json<Vec<String>>,
        #[serde(rename = "link_checkout")]
        pub checkout_link: String,
        #[serde(rename = "ativo")]
        pub active: bool = true,
        /// The plan of the account that a purchase gives; `None` while that is not said.
        #[serde(rename = "plano_da_conta", skip_serializing_if = "Option::is_none")]
        pub grants_role: Option<Role>,
        /// The API plan that comes with it, one of [`API_PLANS`].
        #[serde(rename = "plano_de_api", skip_serializing_if = "Option::is_none")]
        pub grants_api: Option<String>,
        /// Offers, plans and products of the checkout that stand for it.
        #[serde(rename = "codigos", skip_serializing_if = "no_codes")]
        pub codes: Json<Vec<String>>,
    }
}

/// The names of the API plans, and their words; the room of the API has their limits.
pub const API_PLANS: [(&str, &str); 3] =
    [("starter", "Starter"), ("pro", "Pro"), ("scale", "Scale")];

fn no_codes(codes: &Json<Vec<String>>) -> bool {
    codes.0.is_empty()
}

row!(stored PlanEntry {
    slug,
    title,
    price = "price_cents",
    currency,
    period,
    benefits,
    checkout_link,
    active,
    grants_role,
    grants_api,
    codes,
});

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn as_name<S: Serializer>(period: &Period, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(period.name())
}

pub const FORM: Form<PlanEntry> = form! {
    (inputs::title(|entry| &mut entry.title));
    "slug": Own(read_slug, |entry, _| entry.slug.clone()),
        "Use só letras minúsculas sem acento, números e hífens, até 60.";
    // A new plan has no title yet; its form shows no price.
    "preco": Own(read_price, |entry, _| match &*entry.title {
        "" => String::new(),
        _ => entry.price.typed(),
    }), "Informe um valor de 0 a 10.000.000,00, como 97 ou 97,90.";
    "moeda": Own(read_currency, |entry, _| entry.currency.clone()),
        "Informe as três letras da moeda, como BRL.";
    "periodicidade": Own(read_period, |entry, _| entry.period.name().to_owned()),
        "Escolha uma das opções da lista.";
    "beneficios": Own(read_benefits, |entry, _| entry.benefits.0.join("\n")),
        "São até 30 benefícios, cada um com até 200 letras.";
    "link_checkout": Own(read_checkout_link, |entry, _| entry.checkout_link.clone()),
        "Informe um endereço que comece com https://.";
    "ativo": Own(
        |sent, name, entry| {
            let otherwise = !sent.is_form && entry.active;
            entry.active = sent.optional(name).unwrap_or(otherwise);
        },
        |entry, _| tick(entry.active),
    ), "Confira este campo.";
    "plano_da_conta": Own(read_role, |entry, _| {
        entry.grants_role.map(|role| role.name().to_owned()).unwrap_or_default()
    }), "Escolha uma das opções da lista.";
    "plano_de_api": Own(read_api, |entry, _| entry.grants_api.clone().unwrap_or_default()),
        "Escolha uma das opções da lista.";
    "codigos": Own(read_codes, |entry, _| entry.codes.0.join("\n")),
        "São até 50 códigos, um por linha, sem espaços.";
};

/// Message when another plan has one of the codes.
const CODE_TAKEN: (&str, &str) =
    ("codigos", "Outro plano já tem um destes códigos. Cada código vale para um plano só.");
/// Most codes of a plan, and characters of one.
const MOST_CODES: usize = 50;
const LONGEST_CODE: usize = 120;

/// An empty text takes the plan of the account away; what is left out keeps it.
fn read_role(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let Some(word) = sent.optional::<String>(name) else { return };
    entry.grants_role = Role::STUDENTS.into_iter().find(|role| role.name() == word);
    if entry.grants_role.is_none() && !word.is_empty() {
        sent.check.fail(name, "must be free, pro, vip, piloto_pro, podio or empty");
    }
}

fn read_api(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let Some(word) = sent.optional::<String>(name) else { return };
    let known = API_PLANS.iter().any(|(plan, _)| *plan == word);
    if !known && !word.is_empty() {
        sent.check.fail(name, "must be starter, pro, scale or empty");
    }
    entry.grants_api = known.then_some(word);
}

/// A list, or one text with one code per line.
fn read_codes(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let Some(given) = sent.optional::<Vec<String>>(name) else { return };
    let lines = given.iter().flat_map(|text| text.lines()).map(str::trim);
    let mut codes: Vec<String> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        if !codes.iter().any(|code| code == line) {
            codes.push(line.to_owned());
        }
    }
    let is_bad = |code: &String| {
        code.chars().count() > LONGEST_CODE
            || code.chars().any(|letter| letter.is_control() || letter.is_whitespace())
    };
    if codes.len() > MOST_CODES || codes.iter().any(is_bad) {
        sent.check.fail(name, "up to 50 codes of up to 120 letters, without blanks");
    }
    entry.codes.0 = codes;
}

/// Message when another plan has the same slug.
const SLUG_TAKEN: (&str, &str) = ("slug", "Já existe um plano com este endereço.");
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

/// The list of plans.
pub const LIST: Listing = Listing {
    path: PLAN.list,
    hint: "Título ou endereço",
    sort_keys: &["preco", "titulo"],
    heads: heads![
        "Título" => "titulo", "Periodicidade", "Preço" numeric => "preco", "O que dá", "Situação",
    ],
    file: "planos.csv",
    csv: columns![
        id titulo slug preco moeda periodicidade ativo link_checkout plano_da_conta plano_de_api
        codigos
    ],
    flashes: flashes! {
        "cursos": good "Cursos do plano salvos",
            "Valem desde já para quem tem este plano da conta.";
        "sem_plano_da_conta": warn "Os cursos não mudaram",
            "Diga antes qual plano da conta este plano dá.";
        "curso_sem_plano": warn "Os cursos não mudaram",
            "Um curso ficaria sem nenhum plano. Para escondê-lo de todos, tire a publicação dele.";
        "criado": good "Plano criado", "Se está ativo, já aparece na vitrine pública.";
        "alterado": good "Plano alterado", "A vitrine pública já mostra os novos dados.";
        "excluido": good "Plano excluído", "Ele não aparece mais na vitrine pública.";
    },
    ..Listing::NONE
};

impl Noun for Plan {
    declares!(PLAN, PlanEntry, title);
    /// What its form says of what it grants.
    type Beside = views::Grants;

    const ROWS: Rows = Rows {
        table: "plan",
        key: "plan_id",
        joins: "",
        searched: &["title", "slug"],
        orders: &[("preco", "price_cents, plan_id"), ("titulo", "title COLLATE NOCASE, plan_id")],
        most: Rows::ANY_NUMBER,
    };
    const UNIQUE: Option<(&'static str, &'static str)> = Some(SLUG_TAKEN);

    fn wire(self, _: Zone, _: Instant) -> impl Serialize {
        PlanDetails::of(self)
    }
    fn list_page(list: ListParts<'_, Self>) -> Result<Reply, Problem> {
        let table = list.table();
        Reply::page(&PlansPage { table, layout: list.layout, plans: list.rows })
    }
    fn form_page(parts: FormParts<'_, Self>) -> Result<Reply, Problem> {
        let FormParts { layout, existing, form, beside, .. } = parts;
        let layout = layout.telling(LIST.flashes, parts.visit.2);
        Reply::page(&PlanForm { layout, existing, form, grants: beside })
    }

    fn beside(tx: &ReadTx<'_>, one: Option<&Self>) -> Result<views::Grants, DbError> {
        match one.and_then(|plan| plan.entry.grants_role) {
            Some(role) => views::Grants::of(tx, role),
            None => Ok(views::Grants::default()),
        }
    }
    fn check(tx: &WriteTx<'_>, before: Option<&Self>, entry: &PlanEntry) -> Result<(), Problem> {
        let own = before.map(|plan| plan.id);
        if store::by_codes(tx, &entry.codes.0)?.iter().any(|plan| Some(plan.id) != own) {
            let (field, words) = CODE_TAKEN;
            let fields = vec![(field.into(), words.into())];
            return Err(Problem {
                fields,
                ..Problem::conflict(ForPeople("Um destes códigos já é de outro plano."))
            });
        }
        let holder = store::holder(tx, &entry.slug)?;
        if holder.is_none() || holder == before.map(|plan| plan.id) {
            return Ok(());
        }
        let (field, words) = SLUG_TAKEN;
        let fields = vec![(field.into(), words.into())];
        Err(Problem {
            fields,
            ..Problem::conflict(ForPeople("Este endereço já é de outro plano."))
        })
    }

    fn update(tx: &WriteTx<'_>, id: i64, entry: &PlanEntry) -> Result<(), DbError> {
        noun::store::update::<Self>(tx, id, entry)
    }
    fn changed(tx: &WriteTx<'_>) -> Result<(), DbError> {
        note_change(tx, Topic::Plans)
    }
}

impl Made for Plan {
    fn insert(tx: &WriteTx<'_>, entry: &PlanEntry) -> Result<Option<i64>, DbError> {
        noun::store::insert::<Self>(tx, entry)
    }
}

#[derive(Serialize)]
struct PlanDetails {
    #[serde(flatten)]
    plan: WirePlan,
    ativo: bool,
    plano_da_conta: Option<&'static str>,
    plano_de_api: Option<String>,
    codigos: Vec<String>,
}

impl PlanDetails {
    fn of(plan: Plan) -> Self {
        Self {
            ativo: plan.entry.active,
            plano_da_conta: plan.entry.grants_role.map(Role::name),
            plano_de_api: plan.entry.grants_api.clone(),
            codigos: plan.entry.codes.0.clone(),
            plan: WirePlan::of(plan),
        }
    }
}
