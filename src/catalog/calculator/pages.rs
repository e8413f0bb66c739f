//! The fee calculator, as page and as JSON.

use serde::{Deserialize, Serialize};

use super::PATH;
use super::origin::{self, Hits, Origin};
use super::views::{Calculated, CalculatorPage, Card, Chosen, PriceFor};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::{Cents, MlUserId, UserId};
use crate::content::plans::views::Offer;
use crate::edge::route::Job;
use crate::http::{Check, Field, Fields, ForPeople, Problem, Reply, Request, input};
use crate::identity::Person;
use crate::marketplace::account::store::{LinkedAccount, linked_accounts};
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::client::{Failure, Fee, FeeQuestion, Fees};
use crate::marketplace::tools::fees::remains::{MOST_CENTS, Remains, Terms};
use crate::marketplace::tools::fees::views::percent;
use crate::marketplace::tools::fees::{
    CalculatorSettings, LOGISTICS, PERMISSION, ask, discount, known_tax_rate, store, tax_rate,
};
use crate::marketplace::tools::unavailable;
use crate::panel::{Answer, Badge, Flash, Form, FormView, Notice, Pick, Sent, Tone, address, form};
use crate::wire;

const FIELDS: [&str; 8] =
    ["conta", "preco", "categoria", "logistica", "frete", "custo", "imposto", "margem"];
const USUAL_PRICE: Cents = Cents(10_000);
/// Prices whose fees are asked for while the price for a margin is looked for:
/// the fees of a price may differ from those of another.
const ROUNDS: usize = 3;
const NO_CATEGORY: &str = "is no category that the marketplace knows";

/// The notices of the page about the last action.
const FLASHES: &[Flash] =
    &[Flash::good("imposto", "Imposto salvo", "Os próximos cálculos já usam a nova taxa.")];

/// The form of a person's own tax rate in percent; empty for the platform's.
const TAX: Form<Option<f64>> = form! {
    "imposto": Own(read_tax, |rate, _| rate.map(decimal).unwrap_or_default()),
        "Informe uma porcentagem de 0 a 100, como 6,5.";
};

#[derive(Deserialize)]
struct Asked {
    #[serde(default)]
    conta: Field<i64>,
    #[serde(default)]
    categoria: Field<String>,
    #[serde(default)]
    preco: Field<Cents>,
    #[serde(default)]
    logistica: Field<String>,
}

/// A question about one account, read from an address.
struct FeeQuery {
    account: MlUserId,
    question: FeeQuestion,
}

impl FeeQuery {
    fn read(request: &Request) -> Result<Self, Problem> {
        let mut check = Check::text();
        let query = Self::check(request.query()?, &mut check);
        check.finish()?;
        Ok(query)
    }

    fn check(asked: Asked, check: &mut Check) -> Self {
        let account = check.required("conta", asked.conta);
        if account < 1 {
            check.fail("conta", "must be the number of an account");
        }
        let category = check.optional_line("categoria", asked.categoria, 20);
        let category = category.to_uppercase();
        if !category.is_empty() && !is_category(&category) {
            check.fail("categoria", "must be a category such as MLB31447");
        }
        let price = check.optional("preco", asked.preco).unwrap_or(USUAL_PRICE);
        if !(1..=MOST_CENTS).contains(&price.0) {
            check.fail("preco", "must be from 0.01 to 10000000");
        }
        let logistic = check.optional("logistica", asked.logistica);
        let logistic = logistic.unwrap_or_else(|| LOGISTICS[0].0.to_owned());
        if !LOGISTICS.iter().any(|(known, _)| *known == logistic) {
            check.fail("logistica", "is no kind of shipping that is known");
        }
        Self { account: MlUserId(account), question: FeeQuestion { price, category, logistic } }
    }

    /// The caller's account that it is about.
    fn of<'a>(&self, accounts: &'a [LinkedAccount]) -> Result<&'a LinkedAccount, Problem> {
        let own = accounts.iter().find(|one| one.ml_user_id == self.account);
        own.ok_or_else(Problem::not_found)
    }

    /// The fees, or what is wrong with the question or the marketplace.
    fn ask(&self, app: &App, owner: UserId) -> Result<Fees, Problem> {
        ask(app, owner, self.account, &self.question).map_err(|error| {
            let is_refused =
                matches!(error, CallError::Failed(Failure::Refused { status: 400 | 404, .. }));
            if is_refused && !self.question.category.is_empty() {
                Problem::field("categoria", NO_CATEGORY)
            } else {
                unavailable(error)
            }
        })
    }
}

/// Three capitals and a number.
fn is_category(text: &str) -> bool {
    let Some((site, number)) = text.split_at_checked(3) else {
        return false;
    };
    site.bytes().all(|byte| byte.is_ascii_uppercase())
        && (1..=12).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn read_own(
    app: &App,
    person: &Person,
    request: &Request,
) -> Result<(CalculatorSettings, Vec<LinkedAccount>), Problem> {
    app.db.read(request.lane, |tx| {
        let accounts = linked_accounts(tx, person.account.user_id)?;
        Ok((store::settings(tx, person)?, accounts))
    })
}

wire! {
    #[derive(Serialize)]
    struct FeesJson of(app: &App, own: &CalculatorSettings, account: &LinkedAccount, category: String, fees: Fees) {
        conta: MlUserId = account.ml_user_id,
        categoria: Option<String> = Some(category).filter(|category| !category.is_empty()),
        comissao_classico: f64 = fees.classic.percent,
        comissao_premium: f64 = fees.premium.percent,
        taxa_fixa: Cents = fees.classic.fixed,
        reputacao: ReputationJson = ReputationJson::of(app, &account.reputation),
        imposto: f64 = tax_rate(app, own.tax),
        moeda: String = fees.currency,
    }
}

wire! {
    #[derive(Serialize)]
    struct ReputationJson of(app: &App, level: &str) {
        nivel: String = level.to_owned(),
        desconto: f64 = discount(app, level),
    }
}

/// `GET /painel/ml/calculadora/taxas-json`.
pub fn fees_json(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (own, accounts) = read_own(app, person, request)?;
    if !own.may {
        return Err(Problem::closed(ForPeople("Seu plano não inclui a calculadora.")));
    }
    let wanted = FeeQuery::read(request)?;
    let account = wanted.of(&accounts)?;
    let fees = wanted.ask(app, own.owner)?;
    Reply::ok(&FeesJson::of(app, &own, account, wanted.question.category, fees))
}

/// Whether an address of the page asks for more than the empty form: for fees,
/// which may need a call to the marketplace, or for what has a name.
pub fn asks(request: &Request) -> bool {
    ["conta", "anuncio", "produto", "busca"].iter().any(|name| request.parameter(name).is_some())
}

/// What the form of the page says: what was typed, else what the listing or the
/// product says, else what is usual.
struct Typed {
    given: Vec<(String, String)>,
    origin: Option<Origin>,
    /// The first of the person's accounts.
    account: Option<MlUserId>,
    tax: Option<f64>,
}

impl Typed {
    fn value(&self, name: &str) -> String {
        if let Some((_, value)) = self.given.iter().find(|(known, _)| known == name) {
            return value.clone();
        }
        let amount = |amount: Option<Cents>| amount.map(Cents::typed).unwrap_or_default();
        let origin = self.origin.as_ref();
        match name {
            "preco" => amount(origin.and_then(|one| one.price).or(Some(USUAL_PRICE))),
            "custo" => amount(origin.and_then(|one| one.cost)),
            "frete" => amount(origin.and_then(|one| one.freight)),
            "categoria" => origin.map(|one| one.category.clone()).unwrap_or_default(),
            "logistica" => {
                let known = LOGISTICS.iter().map(|(name, _)| *name);
                let own =
                    known.clone().find(|name| origin.is_some_and(|one| one.logistic == *name));
                own.unwrap_or(LOGISTICS[0].0).to_owned()
            }
            "conta" => {
                let account = origin.and_then(|one| one.account).or(self.account);
                account.map(|account| account.to_string()).unwrap_or_default()
            }
            "imposto" => self.tax.map(decimal).unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// The question and what else goes off the price. Of the browser's form an
    /// empty price is an error; what else is empty is not known.
    fn read(&self) -> Result<(FeeQuery, Typing), Problem> {
        let mut check = Check::text();
        let price = self.value("preco");
        let query = FeeQuery::check(
            Asked {
                conta: Field::of(self.value("conta")),
                categoria: Field::of(self.value("categoria")),
                preco: Field::of(price.clone()),
                logistica: Field::of(self.value("logistica")),
            },
            &mut check,
        );
        if price.trim().is_empty() {
            check.fail("preco", "must not be empty");
        }
        let mut amount = |name: &'static str, most: i64| {
            let amount: Option<Cents> = check.optional(name, Field::of(self.value(name)));
            if amount.is_some_and(|amount| !(0..=most).contains(&amount.0)) {
                check.fail(name, "is out of range");
            }
            amount
        };
        let typing = Typing {
            freight: amount("frete", MOST_CENTS),
            cost: amount("custo", MOST_CENTS),
            tax: amount("imposto", 10_000).map(Cents::reais),
            margin: amount("margem", 9_999).map(Cents::reais),
        };
        check.finish()?;
        Ok((query, typing))
    }
}

/// What people type besides the question about fees.
struct Typing {
    freight: Option<Cents>,
    cost: Option<Cents>,
    tax: Option<f64>,
    /// Percent of the price that should remain.
    margin: Option<f64>,
}

/// `GET /painel/ml/calculadora`: the form, and what remains of a sale.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let visit = (app, person, request);
    let (own, accounts) = read_own(app, person, request)?;
    let search = request.parameter("busca").unwrap_or_default();
    let typed = typed(visit, &own, &accounts)?;
    let mut page = calculator(visit, &own, &accounts, &typed);
    if !own.may {
        let offer = app.db.read(request.lane, |tx| Offer::of_permission(tx, PERMISSION))?;
        page.offer = Some(offer.reached_by(&app.config.chat.upgrade_number));
    }
    if !own.may || accounts.is_empty() {
        return Reply::page(&page);
    }
    page.names = app.db.read(request.lane, |tx| origin::suggested(tx, own.owner))?;
    if !search.trim().is_empty() {
        let hits = app.db.read(request.lane, |tx| Hits::read(tx, own.owner, search.trim()))?;
        if let Some(only) = hits.only() {
            return Reply::redirect(&only);
        }
        search.trim().clone_into(&mut page.search);
        page.hits = Some(hits);
        return Reply::page(&page);
    }
    if request.parameter("conta").is_none() && typed.origin.is_none() {
        return Reply::page(&page);
    }
    answered(page, calculate(app, &own, &accounts, &typed))
}

/// What the address says, with the listing or the product that it names.
fn typed(
    (app, _, request): Visit<'_>,
    own: &CalculatorSettings,
    accounts: &[LinkedAccount],
) -> Result<Typed, Problem> {
    let given = input::unrepeated(request.query_text())?;
    let value = |name: &str| {
        let found = given.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    };
    let (listing, product) = (value("anuncio"), value("produto"));
    let origin = if own.may {
        app.db.read(request.lane, |tx| Origin::read(tx, own.owner, &listing, &product))?
    } else {
        None
    };
    let account = accounts.first().map(|one| one.ml_user_id);
    Ok(Typed { given, origin, account, tax: known_tax_rate(app, own.tax) })
}

/// The result; `None` when the account must be linked again first.
fn calculate(
    app: &App,
    own: &CalculatorSettings,
    accounts: &[LinkedAccount],
    typed: &Typed,
) -> Result<Option<Calculated>, Problem> {
    let (query, typing) = typed.read()?;
    let account = query.of(accounts)?;
    if !account.token_ok {
        return Ok(None);
    }
    let fees = query.ask(app, own.owner)?;
    let discount = discount(app, &account.reputation);
    let terms = |fee: Fee| Terms {
        fee,
        discount,
        tax: typing.tax,
        freight: typing.freight,
        cost: typing.cost,
    };
    let kind = typed.origin.as_ref().map_or("", |origin| &*origin.kind);
    let card = |(name, id, of): (&'static str, &'static str, fn(&Fees) -> Fee)| {
        let terms = terms(of(&fees));
        let remains = Remains::of(query.question.price, &terms);
        let price_for = typing.margin.filter(|_| remains.missing().is_empty()).map(|margin| {
            let price = price_for(app, own.owner, &query, of, terms, margin);
            PriceFor { margin, price, href: price.map(|price| typed.address_with(price)) }
        });
        Card { name, id, is_own: code_of(id) == kind, fee: terms.fee, remains, price_for }
    };
    let mut cards = [
        card(("Clássico", "classico", |fees| fees.classic)),
        card(("Premium", "premium", |fees| fees.premium)),
    ];
    cards.sort_by_key(|card| !card.is_own);
    Ok(Some(Calculated {
        price: query.question.price,
        account: account.nickname.clone(),
        reputation: Badge::reputation(&account.reputation),
        discount,
        wants_margin: typing.margin.is_some(),
        tax: typing.tax,
        cards,
    }))
}

/// The marketplace's name of a kind of listing, by the id of its card.
fn code_of(id: &str) -> &'static str {
    if id == "classico" { "gold_special" } else { "gold_pro" }
}

/// The lowest price that was found to leave a margin with its own fees.
fn price_for(
    app: &App,
    owner: UserId,
    query: &FeeQuery,
    of: fn(&Fees) -> Fee,
    mut terms: Terms,
    margin: f64,
) -> Option<Cents> {
    let mut found: Option<Cents> = None;
    for _ in 0..ROUNDS {
        let Some(price) = terms.price_leaving(margin) else { break };
        let question = FeeQuestion { price, ..query.question.clone() };
        let asked = FeeQuery { account: query.account, question }.ask(app, owner);
        let Ok(fees) = asked else { break };
        let at_price = Terms { fee: of(&fees), ..terms };
        if at_price.leaves(price, margin) {
            found = Some(found.map_or(price, |before| before.min(price)));
        }
        if at_price.fee == terms.fee {
            break;
        }
        terms = at_price;
    }
    found
}

impl Typed {
    /// The address of the same calculation with another price.
    fn address_with(&self, price: Cents) -> String {
        let values: Vec<(&str, String)> =
            FIELDS.iter().map(|name| (*name, self.value(name))).collect();
        let typed = price.typed();
        let mut params: Vec<(&str, &str)> = Vec::new();
        if let Some(origin) = &self.origin {
            params.push((origin.named.0, &origin.named.1));
        }
        for (name, value) in &values {
            params.push((name, if *name == "preco" { &typed } else { value }));
        }
        address(PATH, &params)
    }
}

/// The page with the result, or with what is wrong.
fn answered(
    mut page: CalculatorPage,
    outcome: Result<Option<Calculated>, Problem>,
) -> Result<Reply, Problem> {
    match outcome {
        Ok(Some(outcome)) => {
            page.outcome = Some(outcome);
            Reply::page(&page)
        }
        Ok(None) => {
            page.alert = Some(Notice::new(
                Tone::Warn,
                "Esta conta perdeu o vínculo",
                "As taxas são perguntadas em nome da conta. Vincule a conta de novo em Contas, ou escolha outra.",
            ));
            Reply::page(&page)
        }
        Err(problem) if !problem.fields.is_empty() => {
            let wrong: Vec<&str> = problem.fields.iter().map(|(name, _)| &**name).collect();
            page.form.find_fault(&wrong, |name| fault_words(&problem.fields, name));
            page.alert = Some(Notice::new(
                Tone::Bad,
                "Não deu para calcular",
                "Confira o que está marcado abaixo.",
            ));
            Ok(Reply::page(&page)?.status(http::StatusCode::UNPROCESSABLE_ENTITY))
        }
        Err(problem) if problem.code == crate::http::Code::MarketplaceUnavailable => {
            tracing::info!(cause = ?problem.cause, "the marketplace told no fees");
            page.alert = Some(Notice::new(
                Tone::Warn,
                "O marketplace não informou as taxas",
                "Nada foi calculado. Tente de novo em um instante; se continuar, confira em Contas se o vínculo desta conta está em ordem.",
            ));
            Ok(Reply::page(&page)?.status(http::StatusCode::BAD_GATEWAY))
        }
        Err(problem) => Err(problem),
    }
}

fn calculator(
    (app, person, request): Visit<'_>,
    own: &CalculatorSettings,
    accounts: &[LinkedAccount],
    typed: &Typed,
) -> CalculatorPage {
    let pick = |value: String, label: &str| Pick { value, label: label.to_owned() };
    CalculatorPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        may: own.may,
        offer: None,
        alert: None,
        origin: typed.origin.as_ref().map(|origin| Chosen {
            title: origin.title.clone(),
            page: origin.page.clone(),
            named: origin.named.clone(),
            has_freight: origin.freight.is_some(),
        }),
        search: String::new(),
        hits: None,
        names: Vec::new(),
        form: FormView::new(&FIELDS, |name| typed.value(name)).unfocused(),
        accounts: accounts
            .iter()
            .map(|one| pick(one.ml_user_id.to_string(), &one.nickname))
            .collect(),
        logistics: LOGISTICS
            .iter()
            .map(|(value, label)| pick((*value).to_owned(), label))
            .collect(),
        tax: TAX.show(Some(&own.tax), app.zone()).unfocused(),
        tax_help: format!(
            "Em porcentagem, como 6,5. Em branco vale a taxa da plataforma, {}.",
            percent(app.config.tax.rate)
        ),
        outcome: None,
    }
}

/// `6,5`: a number as people type it.
fn decimal(number: f64) -> String {
    percent(number).trim_end_matches('%').to_owned()
}

/// A percentage with two decimals is read like an amount.
fn read_tax(sent: &mut Sent<'_>, name: &'static str, rate: &mut Option<f64>) {
    let field = sent.take::<Cents>(name);
    // A body without the field must not remove the rate.
    if field.is_absent() {
        sent.check.fail(name, "is required");
    }
    let percent = sent.check.optional(name, field);
    if percent.is_some_and(|percent| !(0..=10_000).contains(&percent.0)) {
        sent.check.fail(name, "must be from 0 to 100");
    }
    *rate = percent.map(Cents::reais);
}

/// `POST /painel/ml/calculadora/imposto`: sets the person's own tax rate; an
/// empty one returns to the platform's.
pub fn set_tax(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (own, accounts) = read_own(app, person, request)?;
    if !own.may {
        return Err(Problem::closed(ForPeople("Seu plano não inclui a calculadora.")));
    }
    let mut sent = Sent::of(request, app.zone())?;
    let rate = TAX.read(&mut sent, None);
    if let Err(problem) = sent.finish() {
        return form::show_again(request, problem, |faults| {
            let visit = (app, person, request);
            let typed = typed(visit, &own, &accounts)?;
            let mut page = calculator(visit, &own, &accounts, &typed);
            page.tax = TAX.again(request, faults);
            page.alert = page.tax.alert.clone();
            Reply::page(&page)
        });
    }
    let (answer, owner) = (Answer::to(request), own.owner);
    Ok(Box::new(move |tx| {
        store::set_tax(tx, owner, rate)?;
        answer.with(PATH, "imposto", &[])
    }))
}

/// The message for an invalid field of the form.
fn fault_words(faults: &Fields, name: &str) -> &'static str {
    let is_unknown = faults.iter().any(|(known, said)| known == name && said == NO_CATEGORY);
    match name {
        "conta" => "Escolha uma das suas contas.",
        "preco" => "Informe um preço de 0,01 a 10.000.000,00, com até duas casas, como 89,90.",
        "categoria" if is_unknown => "O marketplace não conhece esta categoria.",
        "categoria" => "Informe o código da categoria, como MLB31447, ou deixe em branco.",
        "logistica" => "Escolha um envio da lista.",
        "frete" | "custo" => {
            "Informe um valor de 0 a 10.000.000,00, com até duas casas, ou deixe em branco."
        }
        "imposto" => "Informe uma porcentagem de 0 a 100, como 6,5, ou deixe em branco.",
        "margem" => "Informe uma porcentagem de 0 a 99,99, como 20, ou deixe em branco.",
        _ => "Confira este campo.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_a_site_and_a_number() {
        for good in ["MLB1", "MLB31447", "MLA000123456789"] {
            assert!(is_category(good), "{good}");
        }
        for bad in ["", "MLB", "31447", "ML31447", "MLB1x", "MLBé", "éé", "MLB1234567890123"] {
            assert!(!is_category(bad), "{bad}");
        }
    }
}
