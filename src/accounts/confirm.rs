//! The password once more, before what reveals or removes much. It counts for ten
//! minutes, for the session in which it was given.
//!
//! It is checked in the one place that checks passwords (`login.rs`), so an open
//! session gives an attacker no faster way to guess the password. Decision accounts-28.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::login::{self, Login};
use super::page_layout::layout;
use super::pages::{own_path, way_back};
use super::views::ConfirmPage;
use crate::app::{App, Visit};
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Notice, Sent, Tone, view};

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
            Code::RateLimited => Problem {
                message:
                    "Muitas tentativas com a senha errada. Espere alguns minutos e tente de novo."
                        .into(),
                ..problem
            },
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

fn note((app, person, request): Visit<'_>, login: Login) -> Result<(), Problem> {
    app.db.write(move |tx| login.note(tx))?;
    app.callers.confirmations.note(person.session, request.now);
    Ok(())
}

/// `GET /confirmar`: the form.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let back = way_back(app, request)?;
    Reply::page(&form((app, person, request), back, None))
}

/// The form, with what is wrong.
fn form((app, person, request): Visit<'_>, back: String, problem: Option<&Problem>) -> ConfirmPage {
    let fault = problem.and_then(|said| said.fault("senha"));
    let mut password = view::Field::default().fault(fault);
    view::focus_first([&mut password]);
    let alert = problem.filter(|_| fault.is_none());
    ConfirmPage {
        layout: layout(app, person, request),
        alert: alert.map(|problem| Notice::new(Tone::Warn, problem.message.clone(), "")),
        email: person.account.email.clone(),
        password,
        back,
    }
}

/// `POST /confirmar`: notes that the password was right, and leads on.
pub fn confirm(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let mut text = |name| sent.optional::<String>(name).unwrap_or_default();
    let (typed, back) = (text("senha"), own_path(text("volta")));
    sent.finish()?;
    let visit = (app, person, request);
    let login = match password(visit, "senha", &typed) {
        Ok(login) => login,
        Err(problem) => {
            return Reply::form_again(request, problem, |said| Ok(form(visit, back, Some(said))));
        }
    };
    note(visit, login)?;
    let to = if back.is_empty() { person.account.role.home() } else { &back };
    Answer::to(request).with(to, "", &[])
}
