//! A message that failed because of its address: the address is corrected, where
//! the person has it too, and the message goes again.

use serde_json::json;

use super::PATH;
use crate::accounts::person::Group;
use crate::accounts::store::{self as accounts, by_email};
use crate::app::{App, Visit};
use crate::audit::{self, Actor};
use crate::base::{phone, text};
use crate::db::WriteTx;
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{ForPeople, Problem, Request};
use crate::identity::Person;
use crate::messages::queue::{Message, pages, store};
use crate::outbox::{self, Channel, MessageState};
use crate::panel::view::Field;
use crate::panel::{Answer, Sent};

/// The address that an operator can correct.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Email,
    Number,
}

impl Kind {
    /// That of a message; `None` for channels that people connect themselves.
    pub fn of(message: &Message) -> Option<Self> {
        match Channel::from_name(&message.channel)? {
            Channel::Email => Some(Self::Email),
            Channel::Chat => Some(Self::Number),
            Channel::Telegram | Channel::Push => None,
        }
    }

    /// A typed address in its stored form.
    fn read(self, typed: &str) -> Option<String> {
        match self {
            Self::Email => text::email(typed),
            Self::Number => phone::normal("", typed),
        }
    }

    const fn wrong(self) -> &'static str {
        match self {
            Self::Email => "Informe um e-mail válido, como nome@exemplo.com.",
            Self::Number => "Informe de 10 a 15 dígitos, com DDD, como (11) 98765-4321.",
        }
    }
}

const TAKEN: &str = "Já existe uma conta com este e-mail.";

/// `POST /admin/mensagens/{id}/corrigir`: corrects the address and queues the
/// message again.
pub fn correct(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let mut sent = Sent::of(request, app.zone())?;
    let typed: String = sent.optional("endereco").unwrap_or_default();
    let found = app.db.read(request.lane, |tx| store::message(tx, id))?;
    let (message, _) = found.ok_or_else(Problem::not_found)?;
    let Some(kind) = Kind::of(&message) else {
        return Err(Problem::conflict(ForPeople("Só a pessoa conecta este canal.")));
    };
    let address = kind.read(&typed);
    let taken = match (&address, kind) {
        (Some(email), Kind::Email) => app.db.read(request.lane, |tx| by_email(tx, email))?,
        _ => None,
    };
    let is_taken = taken.is_some_and(|owner| owner.user_id != message.user);
    let fault = match address {
        None => Some(kind.wrong()),
        Some(_) if is_taken => Some(TAKEN),
        Some(_) => None,
    };
    if let Some(fault) = fault {
        sent.check.fail("endereco", fault);
    }
    if let Err(problem) = sent.finish() {
        return again((app, person, request), problem, Field::of(typed).fault(fault));
    }
    let address = address.unwrap_or_default();
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let (message, _) = store::message(tx, id)?.ok_or_else(Problem::not_found)?;
        if !outbox::try_again(tx, id)? {
            return Err(pages::not_again());
        }
        if kind == Kind::Number && message.has_own_number {
            store::set_number(tx, id, &address)?;
        } else {
            change(tx, &actor, &message, kind, &address)?;
        }
        let states = [MessageState::GivenUp, MessageState::Waiting];
        pages::note(tx, &actor, "mensagem.reenviar", &message, states)?;
        answer.done(id, &format!("{PATH}/{id}"), "corrigida")
    }))
}

/// Gives the person the address, unless it is theirs already.
fn change(
    tx: &WriteTx<'_>,
    actor: &Actor,
    message: &Message,
    kind: Kind,
    address: &str,
) -> Result<(), Problem> {
    if message.address() == address {
        return Ok(());
    }
    let user = message.user;
    let (was, is) = match kind {
        Kind::Email => {
            if by_email(tx, address)?.is_some_and(|owner| owner.user_id != user) {
                return Err(Problem::field("endereco", TAKEN));
            }
            accounts::set_email(tx, user, address)?;
            (json!({ "email": message.email }), json!({ "email": address }))
        }
        Kind::Number => {
            accounts::set_chat_number(tx, user, address)?;
            (json!({ "chat_number": message.number }), json!({ "chat_number": address }))
        }
    };
    let group = Group::of(message.role);
    let action = match group {
        Group::Students => "aluno.alterar",
        Group::Staff => "equipe.alterar",
    };
    audit::note(tx, actor, &group.object().act(action, user, &message.name), &was, &is)?;
    Ok(())
}

/// The page of the message with the fault, or the problem for a program.
fn again(visit: Visit<'_>, problem: Problem, field: Field) -> Result<Job, Problem> {
    let (app, person, request) = visit;
    if request.wants_json() {
        return Err(problem);
    }
    let page = pages::one((app, person, request), Some(field))?;
    Ok(nothing_to_do(page.status(problem.code.status(request.family))))
}
