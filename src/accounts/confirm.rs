//! The password once more, before what reveals or removes much. It counts for ten
//! minutes, for the session in which it was given.
//!
//! It is checked in the one place that checks passwords (`login.rs`), so an open
//! session gives an attacker no faster way to guess the password. Decision accounts-28.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::login::{self, Login};
use crate::app::Visit;
use crate::http::{Code, ForPeople, Problem, Reply};

/// The page that asks.
pub const PATH: &str = "/confirmar";
const ASKED: &str = "Informe a sua senha atual.";
const WRONG: &str = "A senha atual não confere.";

/// `None` when the person has given the password within ten minutes, otherwise the
/// answer that asks for it; afterwards browsers go on to the own path `then`.
pub fn ask(visit: Visit<'_>, then: &str) -> Result<Option<Reply>, Problem> {
    let (app, person, request) = visit;
    if app.callers.confirmations.holds(&person.session, request.now) {
        return Ok(None);
    }
    if request.wants_json() {
        return Err(Problem::forbidden("confirme antes a sua senha em POST /confirmar"));
    }
    let then = utf8_percent_encode(then, NON_ALPHANUMERIC);
    Reply::redirect(&format!("{PATH}?volta={then}")).map(Some)
}

/// Requires the present password, sent in the field `name`.
pub fn password(visit: Visit<'_>, name: &'static str, password: &str) -> Result<Login, Problem> {
    let (app, person, request) = visit;
    if password.is_empty() {
        return Err(Problem::field(name, ASKED));
    }
    login::check(app, &person.account.email, password, request).map_err(|problem| {
        match problem.code {
            Code::InvalidCredentials => Problem::field(name, WRONG),
            Code::RateLimited => problem.for_people(ForPeople(
                "Muitas tentativas com a senha errada. Espere alguns minutos e tente de novo.",
            )),
            _ => problem,
        }
    })
}

/// The field of a form that asks for the password itself.
pub const FIELD: &str = "confirmacao";

/// Requires the password of a form; it may be empty within ten minutes after it was given.
pub fn require(visit: Visit<'_>, typed: &str) -> Result<(), Problem> {
    let (app, person, request) = visit;
    if typed.is_empty() && app.callers.confirmations.holds(&person.session, request.now) {
        return Ok(());
    }
    let login = password(visit, FIELD, typed)?;
    note(visit, login)
}

/// Notes that the password was right just now.
pub(super) fn note((app, person, request): Visit<'_>, login: Login) -> Result<(), Problem> {
    app.db.write(move |tx| login.note(tx))?;
    app.callers.confirmations.note(person.session, request.now);
    Ok(())
}
