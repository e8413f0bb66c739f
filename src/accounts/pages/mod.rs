//! Signing in and out in the browser.

pub mod choose;
pub mod confirm;
pub mod forgot;
pub mod setup;

use http::header::SET_COOKIE;
use http::{HeaderName, HeaderValue};

use super::session::{cookie, new_session};
use super::views::LoginPage;
use super::{login, store};
use crate::app::App;
use crate::base::TokenHash;
use crate::edge::route::Job;
use crate::http::{Code, Fields, Problem, Reply, Request};
use crate::identity::Visitor;
use crate::identity::guard;
use crate::panel::{Layout, Notice, Sent, Tone, view};

const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");
/// What a browser deletes at a logout. Not `"cookies"`: that would delete the
/// cookies of the whole domain, and ours is deleted by name.
const CLEARED: HeaderValue = HeaderValue::from_static("\"cache\", \"storage\"");

/// `GET /`: leads to the person's home, or to the login.
pub fn start(_: &App, visitor: &Visitor, _: &Request) -> Result<Reply, Problem> {
    Reply::redirect(visitor.person.as_ref().map_or("/entrar", |account| account.role.home()))
}

/// `GET /entrar`: the form, or the person's home when there is a session.
pub fn login_page(app: &App, visitor: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let back = way_back(app, request)?;
    if let Some(account) = &visitor.person {
        return Reply::redirect(if back.is_empty() { account.role.home() } else { &back });
    }
    Reply::page(&form(app, request, Typed { email: String::new(), back }, None, None)?)
}

/// Where the query says that the person goes on to.
pub(super) fn way_back(app: &App, request: &Request) -> Result<String, Problem> {
    let mut query = Sent::of_query(request, app.zone())?;
    Ok(own_path(query.optional("volta").unwrap_or_default()))
}

#[derive(Default)]
struct Typed {
    email: String,
    back: String,
}

/// The path if it leads to our own site, otherwise an empty text. No browser
/// may take it for the address of another host.
pub(super) fn own_path(path: String) -> String {
    let ours = path.starts_with('/')
        && !path[1..].starts_with(['/', '\\'])
        && path.len() <= 2000
        && path.bytes().all(|byte| (0x21..=0x7e).contains(&byte) && byte != b'\\');
    if ours { path } else { String::new() }
}

fn form(
    app: &App,
    request: &Request,
    typed: Typed,
    problem: Option<&Problem>,
    alert: Option<Notice>,
) -> Result<LoginPage, Problem> {
    let fault = |name| problem.and_then(|problem| problem.fault(name));
    let mut email = view::Field::of(typed.email).fault(fault("email"));
    let mut password = view::Field::default().fault(fault("senha"));
    // Two fields need no summary of their faults above them.
    view::focus_first([&mut email, &mut password]);
    Ok(LoginPage {
        layout: Layout::outside(&app.config.server.name, request.now),
        alert,
        email,
        password,
        back: typed.back,
        needs_setup: !app.db.read(request.lane, store::has_administrator)?,
        demo: app.server.demo.clone(),
    })
}

/// `POST /entrar`: opens a session and leads to where the person wanted to go.
pub fn login(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let mut text = |name| sent.optional::<String>(name).unwrap_or_default();
    let (email, password, back) = (text("email"), text("senha"), own_path(text("volta")));
    sent.finish()?;
    let mut faults = Fields::new();
    if email.trim().is_empty() {
        faults.push(("email".into(), "Informe o seu e-mail.".into()));
    }
    if password.is_empty() {
        faults.push(("senha".into(), "Informe a sua senha.".into()));
    }
    let typed = Typed { email, back };
    if !faults.is_empty() {
        return refused(app, request, typed, Problem::invalid(faults));
    }
    let login = match login::check(app, &typed.email, &password, request) {
        Ok(login) => login,
        Err(problem) => return refused(app, request, typed, problem),
    };
    let (session, cookie) = new_session(app, request);
    let role = login.account.role;
    app.db.write(move |tx| {
        login.note(tx)?;
        let user = login.account.user_id;
        store::insert_session(tx, user, &session)?;
        Ok::<_, Problem>(())
    })?;
    let to = if typed.back.is_empty() { role.home() } else { &typed.back };
    Ok(Reply::redirect(to)?.with(SET_COOKIE, cookie))
}

/// The login page for an address with too many failed logins, before its
/// body is read.
pub fn reject_early(app: &App, request: &Request) -> Option<Result<Reply, Problem>> {
    let problem = login::reject_early(app, request)?.err()?;
    Some(refused(app, request, Typed::default(), problem))
}

/// A login that failed: the form again for browsers, the error for programs.
fn refused(app: &App, request: &Request, typed: Typed, problem: Problem) -> Result<Reply, Problem> {
    let alert = match (problem.code, problem.retry_after_s) {
        (Code::ValidationFailed, _) => None,
        (Code::InvalidCredentials, _) => Some(Notice::new(
            Tone::Bad,
            "E-mail ou senha não conferem",
            "Confira os dois e tente de novo. Maiúsculas e minúsculas contam na senha.",
        )),
        (Code::AccountSuspended, _) => Some(Notice::new(
            Tone::Warn,
            "Seu acesso está suspenso",
            "Seus dados continuam guardados. Para voltar, fale com quem administra a plataforma ou regularize o seu plano.",
        )),
        (Code::RateLimited, Some(seconds)) => {
            // The minute after the window's end, because seconds are not shown.
            let until = app.time_of_day(request.now.plus(seconds + 59));
            Some(Notice::new(
                Tone::Warn,
                format!("Muitas tentativas. Tente de novo às {until}"),
                "Sua senha não mudou e as sessões já abertas continuam valendo.",
            ))
        }
        _ => return Err(problem),
    };
    Reply::form_again(request, problem, |problem| form(app, request, typed, Some(problem), alert))
}

/// `POST /sair`: ends the session, if there is one.
pub fn leave(app: &App, _: &Visitor, request: &Request) -> Result<Job, Problem> {
    let session = guard::session_cookie(app, request.headers())?.map(TokenHash::of);
    let gone = cookie(app, "", 0);
    Ok(Box::new(move |tx| {
        if let Some(session) = session {
            store::end_session(tx, &session)?;
        }
        Ok(Reply::redirect("/entrar")?.with(SET_COOKIE, gone).with(CLEAR_SITE_DATA, CLEARED))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_paths_are_gone_back_to() {
        for good in ["/", "/painel", "/painel/ml?aviso=vinculada"] {
            assert_eq!(own_path(good.to_owned()), good);
        }
        for bad in [
            "",
            "painel",
            "//evil.com",
            "/\\evil.com",
            "/a\\b",
            "https://evil.com",
            "/a b",
            "/\n",
            "/é",
        ] {
            assert_eq!(own_path(bad.to_owned()), "", "{bad:?}");
        }
    }
}
