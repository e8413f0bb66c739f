//! The fee calculator, as page and as JSON.

use serde::{Deserialize, Serialize};

use super::views::{Calculated, CalculatorPage, Card, percent};
use super::{LOGISTICS, Own, PATH, Remains, ask, discount, store, tax_rate};
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::base::{Cents, MlUserId, UserId};
use crate::edge::route::Job;
use crate::http::{Check, Field, Fields, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::account::store::{LinkedAccount, linked_accounts};
use crate::marketplace::account::tokens::CallError;
use crate::marketplace::client::{Failure, FeeQuestion, Fees};
use crate::marketplace::tools::unavailable;
use crate::panel::{
    Answer, Badge, Flash, Form, FormView, Input, Notice, Pick, Rule, Sent, Tone, form,
};
use crate::services::Services;
use crate::wire;

const FIELDS: [&str; 4] = ["conta", "preco", "categoria", "logistica"];
const USUAL_PRICE: Cents = Cents(10_000);
/// Highest price, in centavos: ten million reais.
const MOST_CENTS: i64 = 1_000_000_000;
const NO_CATEGORY: &str = "is no category that the marketplace knows";

/// The notices of the page about the last action.
const FLASHES: &[Flash] =
    &[Flash::good("imposto", "Imposto salvo", "Os próximos cálculos já usam a nova taxa.")];

/// The form of a person's own tax rate in percent; empty for the platform's.
const TAX: Form<Option<f64>> = Form(&[Input::new(
    "imposto",
    "Informe uma porcentagem de 0 a 100, como 6,5.",
    Rule::Own(read_tax, |rate, _| rate.map(decimal).unwrap_or_default()),
)]);

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
        let asked: Asked = request.query()?;
        let mut check = Check::text();
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
        check.finish()?;
        Ok(Self { account: MlUserId(account), question: FeeQuestion { price, category, logistic } })
    }

    /// Reads the form of a browser, where an empty price is an error.
    fn typed(request: &Request) -> Result<Self, Problem> {
        if given(request, "preco").is_some_and(|price| price.trim().is_empty()) {
            return Err(Problem::field("preco", "must not be empty"));
        }
        Self::read(request)
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
) -> Result<(Own, Vec<LinkedAccount>), Problem> {
    app.db.read(request.lane, |tx| {
        let accounts = linked_accounts(tx, person.account.user_id)?;
        Ok((store::own(tx, person)?, accounts))
    })
}

wire! {
    #[derive(Serialize)]
    struct FeesJson of(app: &App, own: &Own, account: &LinkedAccount, category: String, fees: Fees) {
        ok: bool = true,
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
        return Err(Problem::forbidden("seu plano não inclui a calculadora"));
    }
    let wanted = FeeQuery::read(request)?;
    let account = wanted.of(&accounts)?;
    let fees = wanted.ask(app, own.owner)?;
    Reply::json(&FeesJson::of(app, &own, account, wanted.question.category, fees))
}

/// Whether an address of the page asks for fees, which may need a call to the
/// marketplace.
pub fn asks(request: &Request) -> bool {
    given(request, "conta").is_some()
}

/// `GET /painel/ml/calculadora`: the form, and what remains of a sale.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (own, accounts) = read_own(app, person, request)?;
    let asks = own.may && asks(request);
    if !asks {
        let page = calculator((app, person, request), &own, &accounts);
        return Reply::page(&page);
    }
    let outcome = FeeQuery::typed(request).and_then(|wanted| {
        let account = wanted.of(&accounts)?;
        if !account.token_ok {
            return Ok(None);
        }
        let fees = wanted.ask(app, own.owner)?;
        let price = wanted.question.price;
        Ok(Some(outcome(app, &own, account, price, &fees)))
    });
    let mut page = calculator((app, person, request), &own, &accounts);
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

/// The first value of a name in the address.
fn given(request: &Request, name: &str) -> Option<String> {
    form_urlencoded::parse(request.query_text().as_bytes())
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.into_owned())
}

fn calculator(visit: Visit<'_>, own: &Own, accounts: &[LinkedAccount]) -> CalculatorPage {
    let (app, person, request) = visit;
    let form = FormView::new(&FIELDS, |name| {
        given(request, name).unwrap_or_else(|| match name {
            "preco" => "100,00".to_owned(),
            "logistica" => LOGISTICS[0].0.to_owned(),
            "conta" => accounts.first().map(|one| one.ml_user_id.to_string()).unwrap_or_default(),
            _ => String::new(),
        })
    });
    let pick = |value: String, label: &str| Pick { value, label: label.to_owned() };
    CalculatorPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        may: own.may,
        offer: own.offer.clone().map(|offer| offer.reached_by(&app.config.chat.upgrade_number)),
        alert: None,
        form: form.unfocused(),
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

fn outcome(
    services: &Services,
    own: &Own,
    account: &LinkedAccount,
    price: Cents,
    fees: &Fees,
) -> Calculated {
    let (discount, tax) = (discount(services, &account.reputation), tax_rate(services, own.tax));
    let card =
        |name, id, fee| Card { name, id, fee, remains: Remains::of(price, fee, discount, tax) };
    Calculated {
        price,
        account: account.nickname.clone(),
        reputation: Badge::reputation(&account.reputation),
        discount,
        tax,
        cards: [
            card("Clássico", "classico", fees.classic),
            card("Premium", "premium", fees.premium),
        ],
    }
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
        return Err(Problem::forbidden("seu plano não inclui a calculadora"));
    }
    let mut sent = Sent::of(request, app.zone())?;
    let rate = TAX.read(&mut sent, None);
    if let Err(problem) = sent.finish() {
        return form::show_again(request, problem, |faults| {
            let mut page = calculator((app, person, request), &own, &accounts);
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
