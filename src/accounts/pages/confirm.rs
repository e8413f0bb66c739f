//! `/confirmar`: asks for the password once more (`accounts/confirm.rs`).

use crate::accounts::confirm::{note, password};
use crate::accounts::page_layout::layout;
use crate::accounts::pages::{own_path, way_back};
use crate::accounts::views::ConfirmPage;
use crate::app::{App, Visit};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Sent, view};

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
        alert: alert.map(view::refusal_notice),
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
