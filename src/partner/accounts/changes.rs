//! Changes that the operator makes: setting and removing plans, revoking tokens
//! and disconnecting apps.

use serde::Serialize;

use super::one::{Stored, id_of, page};
use super::{PATH, store};
use crate::accounts::Account;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::{Day, UserId};
use crate::db::{DbError, WriteTx};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::panel::{Answer, Form, Input, Outcome, Rule, Sent, form};
use crate::partner::oauth::store as oauth;
use crate::partner::{PlanName, store as partner};

pub(super) const OUTCOMES: &[Outcome] = &[
    Outcome::good("plano", "Plano salvo", "Vale desde já para a próxima chamada."),
    Outcome::good("sem_plano", "Plano retirado", "Os tokens desta conta não passam mais."),
    Outcome::good("revogado", "Token revogado", "O programa que o usava já não tem acesso."),
    Outcome::good("desconectado", "Aplicativo desconectado", "Ele já não tem acesso a esta conta."),
];

/// The fields of a plan that an operator enters.
#[derive(Clone, Copy)]
pub(super) struct PlanEntry {
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
    pub(super) const fn of((plan, until): (PlanName, Option<Day>)) -> Self {
        Self { plan, until }
    }
}

/// The form of a plan.
pub(super) const FORM: Form<PlanEntry> = Form(&[
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

/// A plan in the audit log, in the same form as the command writes it.
#[derive(Serialize)]
struct PlanSaid {
    plano: &'static str,
    ate: Option<String>,
}

impl PlanSaid {
    fn of((name, until): (PlanName, Option<Day>)) -> Self {
        Self { plano: name.name(), ate: until.map(Day::iso) }
    }
}

/// A token or an app in the audit log, with its owner's address.
#[derive(Serialize)]
struct TokenSaid<'a> {
    nome: &'a str,
    email: &'a str,
}

/// What the write job of a change needs.
struct Change {
    answer: Answer,
    actor: Actor,
    id: UserId,
}

impl Change {
    fn of(person: &Person, request: &Request) -> Result<Self, Problem> {
        let (answer, actor) = (Answer::to(request), Actor::person(person, request));
        Ok(Self { answer, actor, id: id_of(request)? })
    }

    /// The account as it is stored now.
    fn account(&self, tx: &WriteTx<'_>) -> Result<Account, Problem> {
        store::account(tx, self.id)?.ok_or_else(Problem::not_found)
    }

    /// Writes a change of an account's plan to the audit log.
    fn note(
        &self,
        tx: &WriteTx<'_>,
        account: &Account,
        before: Option<(PlanName, Option<Day>)>,
        after: Option<(PlanName, Option<Day>)>,
    ) -> Result<(), DbError> {
        let object_id = account.user_id.to_string();
        let act = if account.role.is_student() {
            Act {
                action: "aluno.plano_de_api",
                object: "aluno",
                object_id,
                object_name: &account.name,
            }
        } else {
            Act {
                action: "equipe.plano_de_api",
                object: "equipe",
                object_id,
                object_name: &account.name,
            }
        };
        let (before, after) = (before.map(PlanSaid::of), after.map(PlanSaid::of));
        audit::note(tx, &self.actor, &act, before.as_ref(), after.as_ref())
    }

    /// Back to the account's page.
    fn done(self, word: &str) -> Result<Reply, Problem> {
        self.answer.done(self.id, &format!("{PATH}/{}", self.id), word)
    }
}

/// `POST /admin/parceiros/{id}/plano`: sets an account's plan.
pub fn set_plan(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let visit = (app, person, request);
    let change = Change::of(person, request)?;
    let stored = app.db.read(request.lane, |tx| {
        store::account(tx, change.id)?.ok_or_else(Problem::not_found)?;
        Ok::<_, Problem>(partner::plan(tx, change.id)?)
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
        let account = change.account(tx)?;
        let before = partner::plan(tx, change.id)?;
        let after = Some((entry.plan, entry.until));
        if before != after {
            partner::set_plan(tx, change.id, Some(entry.plan), entry.until)?;
            change.note(tx, &account, before, after)?;
        }
        change.done("plano")
    }))
}

fn read(app: &App, request: &Request, present: Option<PlanEntry>) -> Result<PlanEntry, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let entry = FORM.read(&mut sent, present.as_ref());
    // The last day must not be past, unless it is unchanged.
    let is_old = present.is_some_and(|present| present.until == entry.until);
    if entry.until.is_some_and(|day| day < app.day(request.now)) && !is_old {
        sent.check.fail("ate", "must not be over");
    }
    sent.finish()?;
    Ok(entry)
}

/// `POST /admin/parceiros/{id}/plano/excluir`: removes an account's plan.
pub fn remove_plan(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(person, request)?;
    Ok(Box::new(move |tx| {
        let account = change.account(tx)?;
        let before = partner::plan(tx, change.id)?;
        if before.is_some() {
            partner::set_plan(tx, change.id, None, None)?;
            change.note(tx, &account, before, None)?;
        }
        change.done("sem_plano")
    }))
}

/// `POST /admin/parceiros/{id}/tokens/{token}/revogar`: revokes a token at once.
pub fn revoke(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(person, request)?;
    let token: i64 = request.variable("token").parse().map_err(|_| Problem::not_found())?;
    Ok(Box::new(move |tx| {
        let account = change.account(tx)?;
        let name = partner::token_name(tx, change.id, token)?.ok_or_else(Problem::not_found)?;
        if partner::revoke_token(tx, change.id, token)? {
            let act = Act {
                action: "token.revogar",
                object: "token",
                object_id: token.to_string(),
                object_name: &name,
            };
            let before = TokenSaid { nome: &name, email: &account.email };
            audit::note(tx, &change.actor, &act, Some(&before), None::<&()>)?;
        }
        change.done("revogado")
    }))
}

/// `POST /admin/parceiros/{id}/aplicativos/{aplicativo}/desconectar`:
/// disconnects an app of an account at once.
pub fn disconnect(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(person, request)?;
    let grant: i64 = request.variable("aplicativo").parse().map_err(|_| Problem::not_found())?;
    Ok(Box::new(move |tx| {
        let account = change.account(tx)?;
        let name = oauth::disconnect(tx, change.id, grant)?.ok_or_else(Problem::not_found)?;
        let act = Act {
            action: "aplicativo.desconectar",
            object: "aplicativo",
            object_id: grant.to_string(),
            object_name: &name,
        };
        let before = TokenSaid { nome: &name, email: &account.email };
        audit::note(tx, &change.actor, &act, Some(&before), None::<&()>)?;
        change.done("desconectado")
    }))
}
