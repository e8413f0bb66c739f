//! Changes that the operator makes: setting and removing plans, revoking tokens
//! and disconnecting apps.

use serde::Serialize;

use super::one::{Stored, id_of, page};
use crate::accounts::Account;
use crate::accounts::person::Group;
use crate::app::App;
use crate::audit::objects;
use crate::base::{Day, UserId};
use crate::db::{DbError, WriteTx};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::noun::Change;
use crate::panel::{Flash, Form, Input, Rule, Sent, form};
use crate::partner::accounts::{PATH, store};
use crate::partner::oauth::store as oauth;
use crate::partner::{PlanName, store as partner};
use crate::services::Services;
use crate::wire;

pub(in crate::partner::accounts) const FLASHES: &[Flash] = &[
    Flash::good("plano", "Plano salvo", "Vale desde já para a próxima chamada."),
    Flash::good("sem_plano", "Plano retirado", "Os tokens desta conta não passam mais."),
    Flash::good("revogado", "Token revogado", "O programa que o usava já não tem acesso."),
    Flash::good("desconectado", "Aplicativo desconectado", "Ele já não tem acesso a esta conta."),
];

/// The fields of a plan that an operator enters.
#[derive(Clone, Copy)]
pub(in crate::partner::accounts) struct PlanEntry {
    plan: PlanName,
    /// Last day; `None` for a plan without an end.
    until: Option<Day>,
}

impl Default for PlanEntry {
    fn default() -> Self {
        Self { plan: PlanName::Starter, until: None }
    }
}

impl PlanEntry {
    pub(in crate::partner::accounts) const fn of((plan, until): (PlanName, Option<Day>)) -> Self {
        Self { plan, until }
    }
}

pub(in crate::partner::accounts) const FORM: Form<PlanEntry> = Form(&[
    Input::new(
        "plano",
        "Escolha Starter, Pro ou Scale.",
        Rule::Own(read_plan, |entry, _| entry.plan.name().to_owned()),
    ),
    Input::new(
        "ate",
        "Informe um dia a partir de hoje, ou deixe em branco.",
        Rule::Own(read_until, |entry, _| entry.until.map(Day::iso).unwrap_or_default()),
    ),
]);

fn read_plan(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let word: String = sent.required(name);
    match PlanName::from_name(&word) {
        Some(plan) => entry.plan = plan,
        None => sent.check.fail(name, "must be starter, pro or scale"),
    }
}

/// Reads the last day. A program sends an empty text to remove it.
fn read_until(sent: &mut Sent<'_>, name: &'static str, entry: &mut PlanEntry) {
    let text: Option<String> = sent.optional(name);
    let text = text.filter(|text| !text.is_empty());
    let day = text.as_deref().map(Day::parse);
    if day == Some(None) {
        sent.check.fail(name, "must be a day as YYYY-MM-DD");
    }
    entry.until = day.flatten();
}

wire! {
    /// A plan in the audit log, in the same form as the command writes it.
    #[derive(Serialize)]
    struct PlanSaid of(plan: (PlanName, Option<Day>)) {
        plano: &'static str = plan.0.name(),
        ate: Option<String> = plan.1.map(Day::iso),
    }
}

/// A token or an app in the audit log, with its owner's address.
#[derive(Serialize)]
struct TokenSaid<'a> {
    nome: &'a str,
    email: &'a str,
}

/// The account as it is stored now.
fn account(tx: &WriteTx<'_>, id: UserId) -> Result<Account, Problem> {
    store::account(tx, id)?.ok_or_else(Problem::not_found)
}

/// Writes a change of an account's plan to the audit log.
fn note(
    tx: &WriteTx<'_>,
    change: &Change,
    account: &Account,
    before: Option<(PlanName, Option<Day>)>,
    after: Option<(PlanName, Option<Day>)>,
) -> Result<(), DbError> {
    let group = Group::of(account.role);
    let action = match group {
        Group::Students => "aluno.plano_de_api",
        Group::Staff => "equipe.plano_de_api",
    };
    let act = group.object().act(action, account.user_id, &account.name);
    let (before, after) = (before.map(PlanSaid::of), after.map(PlanSaid::of));
    change.note(tx, &act, before.as_ref(), after.as_ref())
}

/// Back to the account's page.
fn done(change: &Change, id: UserId, word: &str) -> Result<Reply, Problem> {
    change.answer.done(id, &format!("{PATH}/{id}"), word)
}

/// `POST /admin/parceiros/{id}/plano`: sets an account's plan.
pub fn set_plan(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let (change, id) = (Change::of(person, request), id_of(request)?);
    let stored = app.db.read(request.lane, |tx| {
        store::account(tx, id)?.ok_or_else(Problem::not_found)?;
        Ok::<_, Problem>(partner::plan(tx, id)?)
    })?;
    let entry = match read(app, request, stored.map(PlanEntry::of)) {
        Ok(entry) => entry,
        Err(problem) => {
            let present = Some(app.day(request.now).month_start());
            return form::show_again(request, problem, |faults| {
                let stored = Stored::read(visit, present)?;
                Reply::page(&page(visit, stored, FORM.again(request, faults)))
            });
        }
    };
    Ok(Box::new(move |tx| {
        let account = account(tx, id)?;
        let before = partner::plan(tx, id)?;
        let after = Some((entry.plan, entry.until));
        if before != after {
            partner::set_plan(tx, id, Some(entry.plan), entry.until)?;
            note(tx, &change, &account, before, after)?;
        }
        done(&change, id, "plano")
    }))
}

fn read(
    services: &Services,
    request: &Request,
    present: Option<PlanEntry>,
) -> Result<PlanEntry, Problem> {
    let mut sent = Sent::of(request, services.zone())?;
    let entry = FORM.read(&mut sent, present.as_ref());
    // The last day must not be past, unless it is unchanged.
    let is_old = present.is_some_and(|present| present.until == entry.until);
    if entry.until.is_some_and(|day| day < services.day(request.now)) && !is_old {
        sent.check.fail("ate", "must not be over");
    }
    sent.finish()?;
    Ok(entry)
}

/// `POST /admin/parceiros/{id}/plano/excluir`: removes an account's plan.
pub fn remove_plan(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (change, id) = (Change::of(person, request), id_of(request)?);
    Ok(Box::new(move |tx| {
        let account = account(tx, id)?;
        let before = partner::plan(tx, id)?;
        if before.is_some() {
            partner::set_plan(tx, id, None, None)?;
            note(tx, &change, &account, before, None)?;
        }
        done(&change, id, "sem_plano")
    }))
}

/// `POST /admin/parceiros/{id}/tokens/{token}/revogar`: revokes a token at once.
pub fn revoke(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (change, id) = (Change::of(person, request), id_of(request)?);
    let token: i64 = request.variable("token").parse().map_err(|_| Problem::not_found())?;
    Ok(Box::new(move |tx| {
        let account = account(tx, id)?;
        let name = partner::token_name(tx, id, token)?.ok_or_else(Problem::not_found)?;
        if partner::revoke_token(tx, id, token)? {
            let before = TokenSaid { nome: &name, email: &account.email };
            let act = objects::TOKEN.act("token.revogar", token, &name);
            change.note(tx, &act, Some(&before), None::<&()>)?;
        }
        done(&change, id, "revogado")
    }))
}

/// `POST /admin/parceiros/{id}/aplicativos/{aplicativo}/desconectar`:
/// disconnects an app of an account at once.
pub fn disconnect(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (change, id) = (Change::of(person, request), id_of(request)?);
    let grant: i64 = request.variable("aplicativo").parse().map_err(|_| Problem::not_found())?;
    Ok(Box::new(move |tx| {
        let account = account(tx, id)?;
        let name = oauth::disconnect(tx, id, grant)?.ok_or_else(Problem::not_found)?;
        let before = TokenSaid { nome: &name, email: &account.email };
        let act = objects::PROGRAM_APP.act("aplicativo.desconectar", grant, &name);
        change.note(tx, &act, Some(&before), None::<&()>)?;
        done(&change, id, "desconectado")
    }))
}
