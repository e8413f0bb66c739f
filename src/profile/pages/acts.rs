//! Changes that people make to their own account, except the password. What memory
//! knows of the person is forgotten with each commit (`invalidation.rs`).

use super::PATH;
use crate::accounts::{confirm, self_service, store};
use crate::app::App;
use crate::audit::Actor;
use crate::base::text::{from_hex, person_name};
use crate::base::{TokenHash, phone};
use crate::edge::route::Job;
use crate::http::{Field, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Sent, view};
use crate::photos::{self, store::Owner};
use crate::profile::pages;

const CHAT_WORDS: &str = "Informe de 10 a 15 dígitos, com DDD, como (11) 98765-4321.";

/// `POST /perfil`: changes name and chat number. A new chat number needs the
/// present password.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let user = person.account.user_id;
    let stored = app.db.read(request.lane, |tx| self_service::chat_number(tx, user))?;
    // A form always sends all fields; a program may leave out those that stay.
    let (name, number): (Field<String>, Field<String>) =
        (sent.take("nome"), sent.take("chat_number"));
    let keeps_name = name.is_absent() && !sent.is_form;
    let keeps_number = number.is_absent() && !sent.is_form;
    let typed_name = sent.check.optional("nome", name).unwrap_or_default();
    let typed_number = sent.check.optional("chat_number", number).unwrap_or_default();
    let confirmation: String = sent.optional("confirmacao").unwrap_or_default();
    let name = if keeps_name {
        person.account.name.clone()
    } else {
        person_name(&typed_name).map(str::to_owned).unwrap_or_default()
    };
    if name.is_empty() {
        sent.check.fail("nome", "must have 2 to 120 characters");
    }
    let number = match &*typed_number {
        _ if keeps_number => stored.clone(),
        "" => None,
        typed => {
            let number = phone::normal("", typed);
            if number.is_none() {
                sent.check.fail("chat_number", CHAT_WORDS);
            }
            number
        }
    };
    let outcome = sent.finish().and_then(|()| {
        if number == stored {
            return Ok(None);
        }
        confirm::password((app, person, request), "confirmacao", &confirmation).map(Some)
    });
    let login = match outcome {
        Ok(login) => login,
        Err(problem) if request.wants_json() => return Err(problem),
        Err(problem) => {
            return pages::faulty((app, person, request), &problem, |page| {
                page.name = view::Field::of(typed_name);
                page.chat_number = view::Field::of(typed_number);
            });
        }
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    app.db.write(move |tx| {
        if let Some(login) = login {
            login.note(tx)?;
        }
        self_service::rename(tx, &actor, user, &name, number.as_deref())?;
        Ok::<_, Problem>(())
    })?;
    answer.done(user, PATH, "dados")
}

/// `POST /perfil/foto`: replaces the photo.
pub fn set_photo(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let photo = match photos::sent(request) {
        Ok(photo) => photo,
        Err(problem) if request.wants_json() || problem.fields.is_empty() => return Err(problem),
        Err(problem) => return pages::faulty((app, person, request), &problem, |_| {}),
    };
    let user = person.account.user_id;
    let address = app.db.write(move |tx| photos::store::set(tx, Owner::Person(user), &photo))?;
    Answer::to(request).with(PATH, "foto", &[("foto", address.into())])
}

/// `POST /perfil/foto/excluir`: removes the photo.
pub fn remove_photo(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (user, answer) = (person.account.user_id, Answer::to(request));
    Ok(Box::new(move |tx| {
        photos::store::remove(tx, Owner::Person(user))?;
        answer.done(user, PATH, "foto_excluida")
    }))
}

/// `POST /perfil/sessoes/{sessao}/encerrar`: ends one of the person's own
/// sessions.
pub fn end_session(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let session = from_hex(request.variable("sessao"))
        .and_then(|digest| digest.try_into().ok())
        .map(TokenHash)
        .ok_or_else(Problem::not_found)?;
    let (user, answer) = (person.account.user_id, Answer::to(request));
    Ok(Box::new(move |tx| {
        if !self_service::end_session(tx, user, &session)? {
            return Err(Problem::not_found());
        }
        answer.done(pages::id_of(&session), PATH, "sessao")
    }))
}

/// `POST /perfil/sessoes/encerrar`: ends all sessions but this one.
pub fn end_others(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (user, session) = (person.account.user_id, person.session);
    let answer = Answer::to(request);
    Ok(Box::new(move |tx| {
        let ended = self_service::end_other_sessions(tx, user, &session)?;
        answer.with(PATH, "sessoes", &[("encerradas", ended.into())])
    }))
}

/// `POST /perfil/extensao/revogar`: ends the extension's token.
pub fn revoke_extension(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (user, answer) = (person.account.user_id, Answer::to(request));
    Ok(Box::new(move |tx| {
        let revoked = store::revoke_extension_tokens(tx, user)?;
        answer.with(PATH, "extensao", &[("revogados", revoked.into())])
    }))
}
