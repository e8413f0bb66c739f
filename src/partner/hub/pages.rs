//! `/painel/parceiro` and `/fornecedor/parceiro`: tokens are made, listed and
//! revoked here, and relations are shown, as page and as JSON.

use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use super::MOST_TOKENS;
use super::views::{
    FirstCall, HubPage, OperationRow, RelatedRow, TokenMade, TokenRow, bar_words, rate,
};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::objects::{PROGRAM_APP, TOKEN};
use crate::base::{Day, Zone, grouped};
use crate::content::plans::views::Offer;
use crate::db::ReadTx;
use crate::dropshipping::relations::{self, Invitation, Related};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::noun::Change;
use crate::panel::{BarChart, Flash, Form, FormView, PageTime, flashes, form};
use crate::partner::oauth::views::AppRow;
use crate::partner::oauth::wire::WireApp;
use crate::partner::oauth::{documents, store as oauth};
use crate::partner::shown::shown;
use crate::partner::store::{self, OwnToken};
use crate::partner::usage::Month;
use crate::partner::wire::{OperationJson, PlanJson, WireToken};
use crate::partner::{Plan, PlanName, new_test_token, new_token, trial};
use crate::services::Services;
use crate::wire;

/// Path of a person's hub.
fn path_of(person: &Person) -> &'static str {
    if is_supplier(person) { "/fornecedor/parceiro" } else { "/painel/parceiro" }
}

fn is_supplier(person: &Person) -> bool {
    person.account.role == Role::Drop
}

const FLASHES: &[Flash] = flashes! {
    "reiniciada": good "Loja de teste reiniciada",
        "Ela está de novo como no começo. O que os testes gastaram da cota continua gasto.";
    "revogado": good "Token revogado", "O programa que o usava já não tem acesso.";
    "ampliado": good "O token agora muda a loja", "Você pode tirar isso quando quiser.";
    "reduzido": good "O token já não muda a loja", "O que ele lê continua igual.";
    "desconectado": good "Aplicativo desconectado",
        "Ele já não tem acesso. Para voltar a usá-lo, conecte-o de novo.";
    "aceito": good "Convite aceito", "O fornecedor já pode vincular os seus anúncios.";
    "recusado": good "Convite recusado";
    "encerrado": good "Relação encerrada",
        "O fornecedor já não vê nada seu. O que era devido continua em Fornecedores.";
};

/// A token to be made.
#[derive(Clone, Default, Serialize)]
pub struct NewToken {
    nome: String,
    /// Whether it may change the shop.
    escrita: bool,
    /// Whether it opens sample data.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    teste: bool,
}

const FORM: Form<NewToken> = form! {
    "nome": Line(1..=80, |new| &mut new.nome), "Dê um nome de 1 a 80 letras.";
    "escrita": Tick(|new| &mut new.escrita), "";
    "teste": Tick(|new| &mut new.teste), "Marque ou deixe em branco.";
};

struct HubData {
    plan: Option<(PlanName, Option<Day>)>,
    month: Month,
    tokens: Vec<OwnToken>,
    apps: Vec<oauth::App>,
    /// The plans with an API plan, for a seller who has none.
    offer: Option<Offer>,
    /// Invitations without an answer: received by a seller, or sent by a supplier.
    invitations: Vec<Invitation>,
    /// The people on the other side of active relations.
    related: Vec<Related>,
}

/// Invitations and active relations of a person.
fn relations_of(
    tx: &ReadTx<'_>,
    person: &Person,
) -> Result<(Vec<Invitation>, Vec<Related>), Problem> {
    let (user, email) = (person.account.user_id, &person.account.email);
    Ok(if is_supplier(person) {
        (relations::invitations_of(tx, user)?, relations::sellers(tx, user)?)
    } else {
        (relations::invitations_to(tx, email)?, relations::suppliers(tx, user)?)
    })
}

impl HubData {
    fn read((app, person, request): Visit<'_>) -> Result<Self, Problem> {
        let user = person.account.user_id;
        let month = app.callers.usage.month(app, user, request.now)?;
        app.db.read(request.lane, |tx| {
            let (invitations, related) = relations_of(tx, person)?;
            let (plan, tokens) = (store::plan(tx, user)?, store::tokens(tx, user)?);
            let apps = oauth::apps(tx, user)?;
            let is_offered = plan.is_none() && !is_supplier(person);
            let offer = if is_offered { Some(Offer::of_api(tx)?) } else { None };
            let offer = offer.map(|offer| offer.reached_by(&app.config.chat.upgrade_number));
            Ok(Self { plan, month, tokens, apps, offer, invitations, related })
        })
    }

    fn limits(&self, services: &Services) -> Option<Plan> {
        self.plan.map(|plan| store::plan_of(plan, &services.config, services.zone()))
    }
}

wire! {
    #[derive(Serialize)]
    struct HubJson of(data: HubData, plan: Option<PlanJson>, is_supplier: bool, zone: Zone) after {
        let related = data.related.into_iter().map(|one| RelatedJson::of(one, zone));
        let mut related = Some(related.collect());
        let of_supplier = if is_supplier { related.take() } else { None };
    } {
        /// Null without a plan.
        plano: Option<PlanJson> = plan,
        /// Calls of this month.
        usadas: u64 = data.month.used,
        operacoes: Vec<OperationJson> =
            data.month.calls.most_used().into_iter().map(OperationJson::of).collect(),
        tokens: Vec<WireToken> = data.tokens.into_iter().map(|one| WireToken::of(one, zone)).collect(),
        aplicativos: Vec<WireApp> = data.apps.into_iter().map(|one| WireApp::of(one, zone)).collect(),
        convites: Vec<InvitationJson> =
            data.invitations.into_iter().map(|one| InvitationJson::of(one, zone)).collect(),
        /// The suppliers of a seller.
        #[serde(skip_serializing_if = "Option::is_none")]
        fornecedores: Option<Vec<RelatedJson>> = related,
        /// The sellers of a supplier.
        #[serde(skip_serializing_if = "Option::is_none")]
        vendedores: Option<Vec<RelatedJson>> = of_supplier,
    }
}

wire! {
    /// An invitation that waits.
    #[derive(Serialize)]
    struct InvitationJson of(invitation: Invitation, zone: Zone) {
        id: String = invitation.id.to_string(),
        fornecedor: String = invitation.supplier,
        email: String = invitation.email,
        convidado_em: String = zone.spaced(invitation.invited_at),
    }
}

wire! {
    /// The other side of an active relation.
    #[derive(Serialize)]
    struct RelatedJson of(related: Related, zone: Zone) {
        id: String = related.id.to_string(),
        nome: String = related.name,
        vinculos: i64 = related.links,
        desde: String = zone.spaced(related.since),
    }
}

/// `GET /painel/parceiro`: the hub, as page or JSON.
pub fn hub(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let visit = (app, person, request);
    let data = HubData::read(visit)?;
    if request.wants_json() {
        let plan = data.limits(app).map(|plan| PlanJson::of(plan, request.now));
        return Reply::ok(&HubJson::of(data, plan, is_supplier(person), app.zone()));
    }
    let mut page = page(visit, data, FORM.show(None, app.zone()).unfocused());
    page.layout = page.layout.telling(FLASHES, request);
    Reply::page(&page)
}

fn page((app, person, request): Visit<'_>, data: HubData, form: FormView) -> HubPage {
    let (zone, now, today) = (app.zone(), request.now, app.day(request.now));
    let (used, calls) = (data.month.used, &data.month.calls);
    let limits = data.limits(app);
    let ends = data.month.end.minus(1);
    HubPage {
        layout: layout(app, person, request),
        offer: data.offer,
        plan: data.plan.map(|plan| shown(&app.config.partner.plans, plan, used, today)),
        rate: limits.map(rate).unwrap_or_default(),
        left: limits.map_or_else(String::new, |plan| {
            let left = grouped(plan.quota.saturating_sub(used));
            format!("restam {left} até {}", zone.civil(ends).strftime("%d/%m/%Y"))
        }),
        chart: BarChart::new(
            bar_words("Chamadas neste mês"),
            data.month.first_day,
            &calls.each_day(data.month.first_day, today.plus(1)),
        ),
        operations: calls.most_used().into_iter().map(OperationRow::of).collect(),
        form,
        has_test: data.tokens.iter().any(|one| one.is_test),
        tokens: data
            .tokens
            .into_iter()
            .map(|one| TokenRow { is_own: !is_supplier(person), ..TokenRow::of(one, zone, now) })
            .collect(),
        apps: data.apps.into_iter().map(|one| AppRow::of(one, zone, now)).collect(),
        connector: documents::resource(app),
        calls: first_calls(app, person, "$TOKEN"),
        path: path_of(person),
        is_supplier: is_supplier(person),
        invitations: data.invitations,
        time: PageTime { zone, now },
        related: data.related.into_iter().map(|one| RelatedRow::of(one, zone, now)).collect(),
    }
}

/// The same call in several languages, to copy and paste.
fn first_calls(app: &App, person: &Person, token: &str) -> Vec<FirstCall> {
    let list = if is_supplier(person) { "drop/orders" } else { "orders" };
    let address = format!("{}/api/v1/partner/{list}?limit=5", app.server.addresses.base_url);
    let fields = if is_supplier(person) {
        "venda[\"order_id\"], venda[\"seller_name\"], venda[\"amount_due\"]"
    } else {
        "venda[\"order_id\"], venda[\"title\"], venda[\"total_amount\"]"
    };
    vec![
        FirstCall {
            id: "curl",
            title: "curl",
            call: format!("curl '{address}' \\\n  -H \"Authorization: Bearer {token}\""),
        },
        FirstCall {
            id: "python",
            title: "Python",
            call: format!(
                "import json, urllib.request\n\n\
                 pedido = urllib.request.Request(\n    \"{address}\",\n    \
                 headers={{\"Authorization\": \"Bearer {token}\"}},\n)\n\
                 with urllib.request.urlopen(pedido) as resposta:\n    \
                 for venda in json.load(resposta)[\"data\"]:\n        \
                 print({fields})"
            ),
        },
        FirstCall {
            id: "javascript",
            title: "JavaScript",
            call: format!(
                "const resposta = await fetch(\"{address}\", {{\n  \
                 headers: {{ Authorization: \"Bearer {token}\" }},\n}});\n\
                 const {{ data }} = await resposta.json();\nconsole.table(data);"
            ),
        },
    ]
}

/// `POST /painel/parceiro/tokens`: makes a token and shows it once.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let new = match FORM.entry(request, app.zone(), None) {
        Ok(new) => new,
        Err(problem) => return faulty(visit, problem),
    };
    let token = if new.teste { new_test_token() } else { new_token() };
    let shown = if request.wants_json() { None } else { Some(made_page(visit, &new, &token)?) };
    let (user, change) = (person.account.user_id, Change::of(person, request));
    let page = path_of(person);
    Ok(Box::new(move |tx| {
        if store::count_tokens(tx, user)? >= MOST_TOKENS {
            let said = format!("Já há {MOST_TOKENS} tokens, o máximo. Revogue algum antes.");
            return Err(Problem::conflict(ForPeople(said)));
        }
        let id = store::insert_token(tx, user, &token, &new.nome, new.escrita)?;
        change.note(tx, &TOKEN.act("token.criar", id, &new.nome), (), &new)?;
        if let Some(shown) = shown {
            return Ok(shown);
        }
        let members = [("id", Value::from(id.to_string())), ("token", Value::from(token))];
        Ok(change.answer.with(page, "criado", &members)?.status(StatusCode::CREATED))
    }))
}

fn made_page(visit: Visit<'_>, new: &NewToken, token: &str) -> Result<Reply, Problem> {
    let (app, person, request) = visit;
    Reply::page(&TokenMade {
        layout: layout(app, person, request),
        name: new.nome.clone(),
        is_test: new.teste,
        token: token.to_owned(),
        calls: first_calls(app, person, token),
        path: path_of(person),
    })
}

/// Answers a browser with the page and its errors, a program with the error.
fn faulty(visit: Visit<'_>, problem: Problem) -> Result<Job, Problem> {
    let request = visit.2;
    form::show_again(request, problem, |faults| {
        let data = HubData::read(visit)?;
        Reply::page(&page(visit, data, FORM.again(request, faults)))
    })
}

/// `POST /painel/parceiro/tokens/{id}/revogar`: revokes a token at once.
pub fn revoke(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, user) = (request.id()?, person.account.user_id);
    let (change, page) = (Change::of(person, request), path_of(person));
    Ok(Box::new(move |tx| {
        let name = store::token_name(tx, user, id)?.ok_or_else(Problem::not_found)?;
        if store::revoke_token(tx, user, id)? {
            change.note(tx, &TOKEN.act("token.revogar", id, &name), (), ())?;
        }
        change.answer.done(id, page, "revogado")
    }))
}

/// What a token may do, in the audit log.
#[derive(Serialize)]
struct TokenAccess {
    escrita: bool,
}

/// `POST /painel/parceiro/tokens/{id}/ampliar`: lets a token change the shop.
pub fn widen(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    set_access(person, request, true)
}

/// `POST /painel/parceiro/tokens/{id}/reduzir`: takes that back.
pub fn narrow(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    set_access(person, request, false)
}

fn set_access(person: &Person, request: &Request, escrita: bool) -> Result<Job, Problem> {
    let (id, user) = (request.id()?, person.account.user_id);
    let (change, page) = (Change::of(person, request), path_of(person));
    Ok(Box::new(move |tx| {
        let name = store::token_name(tx, user, id)?.ok_or_else(Problem::not_found)?;
        if store::set_may_change(tx, user, id, escrita)? {
            let act = TOKEN.act("token.acesso", id, &name);
            let [before, after] = [!escrita, escrita].map(|escrita| TokenAccess { escrita });
            change.note(tx, &act, &before, &after)?;
        }
        change.answer.done(id, page, if escrita { "ampliado" } else { "reduzido" })
    }))
}

/// `POST /painel/parceiro/teste/reiniciar`: makes the caller's test shop as it was at first.
pub fn reset(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let user = person.account.user_id;
    let (change, page) = (Change::of(person, request), path_of(person));
    let tokens = app.db.read(request.lane, |tx| store::tokens(tx, user))?;
    let test = tokens.into_iter().find(|one| one.is_test).ok_or_else(Problem::not_found)?;
    trial::reset(app, user)?;
    app.db.write(move |tx| {
        change.note(tx, &TOKEN.act("token.reiniciar_teste", test.id, &test.name), (), ())?;
        change.answer.done(test.id, page, "reiniciada")
    })
}

/// `POST /painel/parceiro/conexoes/{id}/revogar`: disconnects an app of the
/// caller at once.
pub fn disconnect(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, user) = (request.id()?, person.account.user_id);
    let (change, page) = (Change::of(person, request), path_of(person));
    Ok(Box::new(move |tx| {
        let name = oauth::disconnect(tx, user, id)?.ok_or_else(Problem::not_found)?;
        change.note(tx, &PROGRAM_APP.act("aplicativo.desconectar", id, &name), (), ())?;
        change.answer.done(id, page, "desconectado")
    }))
}
