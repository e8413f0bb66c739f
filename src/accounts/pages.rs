//! Signing in and out in the browser.

use std::sync::Arc;

use http::header::SET_COOKIE;
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;

use super::session::{cookie, new_session};
use super::views::{LoginPage, LoginProblem};
use super::{login, store};
use crate::app::App;
use crate::base::TokenHash;
use crate::edge::route::Job;
use crate::http::{Check, Code, Field, Problem, Reply, Request};
use crate::identity::Visitor;
use crate::identity::guard;
use crate::panel::{Layout, Sent, view};

const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");
/// What a browser deletes at a logout. Not `"cookies"`: that would delete the
/// cookies of the whole domain, and ours is deleted by name.
const CLEARED: HeaderValue = HeaderValue::from_static("\"cache\", \"storage\"");

/// `GET /`: leads to the person's home, or to the login.
pub fn start(_: &App, visitor: &Visitor, _: &Request) -> Result<Reply, Problem> {
    Reply::redirect(visitor.person.as_ref().map_or("/entrar", |account| account.role.home()))
}

#[derive(Deserialize)]
struct LoginQuery {
    #[serde(default)]
    volta: Field<String>,
}

/// `GET /entrar`: the form, or the person's home when there is a session.
pub fn login_page(app: &App, visitor: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let query: LoginQuery = request.query()?;
    let back = own_path(Check::text().optional("volta", query.volta).unwrap_or_default());
    if let Some(account) = &visitor.person {
        return Reply::redirect(if back.is_empty() { account.role.home() } else { &back });
    }
    let typed = Typed { email: String::new(), back };
    Reply::page(&form(app, request, typed, None, &[])?)
}

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
    problem: Option<&LoginProblem<'_>>,
    faults: &[(&str, &str)],
) -> Result<LoginPage, Problem> {
    let fault = |name: &str| faults.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
    let mut email = view::Field::of(typed.email).fault(fault("email"));
    let mut password = view::Field::default().fault(fault("senha"));
    // Two fields need no summary of their faults above them.
    view::focus_first([&mut email, &mut password]);
    Ok(LoginPage {
        layout: Layout::outside(&app.config.server.name, request.now),
        alert: problem.map(LoginProblem::notice),
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
    let mut faults = Vec::new();
    if email.trim().is_empty() {
        faults.push(("email", "Informe o seu e-mail."));
    }
    if password.is_empty() {
        faults.push(("senha", "Informe a sua senha."));
    }
    let typed = Typed { email, back };
    if !faults.is_empty() {
        return refused(app, request, typed, Refusal::Fields(faults));
    }
    let login = match login::check(app, &typed.email, &password, request) {
        Ok(login) => login,
        Err(problem) => return refused(app, request, typed, Refusal::Problem(problem)),
    };
    let session = new_session(app, request);
    let versions = Arc::clone(&app.versions);
    let (hash, address, user_agent) = (session.hash, session.address, session.user_agent);
    let role = login.account.role;
    app.db.write(move |tx| {
        login.note(tx)?;
        let user = login.account.user_id;
        let ended =
            store::insert_session(tx, &store::NewSession { hash, user, address, user_agent })?;
        tx.after_commit(move || {
            if ended > 0 {
                versions.raise(user);
            }
            versions.raise_tokens();
        });
        Ok::<_, Problem>(())
    })?;
    let to = if typed.back.is_empty() { role.home() } else { &typed.back };
    Ok(Reply::redirect(to)?.with(SET_COOKIE, session.cookie))
}

/// The login page for an address with too many failed logins, before its
/// body is read.
pub fn reject_early(app: &App, request: &Request) -> Option<Result<Reply, Problem>> {
    let problem = login::reject_early(app, request)?.err()?;
    let typed = Typed { email: String::new(), back: String::new() };
    Some(refused(app, request, typed, Refusal::Problem(problem)))
}

enum Refusal {
    Fields(Vec<(&'static str, &'static str)>),
    Problem(Problem),
}

/// A login that failed: the form again for browsers, the error for programs.
fn refused(app: &App, request: &Request, typed: Typed, refusal: Refusal) -> Result<Reply, Problem> {
    let problem = match refusal {
        Refusal::Fields(faults) if request.wants_json() => {
            let fields =
                faults.into_iter().map(|(name, text)| (name.into(), text.into())).collect();
            return Err(Problem::invalid(fields));
        }
        Refusal::Fields(faults) => {
            let page = form(app, request, typed, None, &faults)?;
            return Ok(Reply::page(&page)?.status(StatusCode::UNPROCESSABLE_ENTITY));
        }
        Refusal::Problem(problem) => problem,
    };
    let until = problem.retry_after_s.map(|seconds| {
        // The minute after the window's end, because seconds are not shown.
        app.zone().civil(request.now.plus(seconds + 59)).strftime("%H:%M").to_string()
    });
    let said = match (problem.code, &until) {
        (Code::InvalidCredentials, _) => LoginProblem::Wrong,
        (Code::AccountSuspended, _) => LoginProblem::Suspended,
        (Code::RateLimited, Some(until)) => LoginProblem::TooMany { until },
        _ => return Err(problem),
    };
    if request.wants_json() {
        return Err(problem);
    }
    let status = problem.code.status(request.family);
    let mut reply = Reply::page(&form(app, request, typed, Some(&said), &[])?)?.status(status);
    if let Some(seconds) = problem.retry_after_s {
        reply = reply.with(http::header::RETRY_AFTER, seconds.into());
    }
    Ok(reply)
}

/// `POST /sair`: ends the session, if there is one.
pub fn leave(app: &App, _: &Visitor, request: &Request) -> Result<Job, Problem> {
    let session = guard::session_cookie(app, request.headers())?.map(TokenHash::of);
    let gone = cookie(app, "", 0);
    let versions = Arc::clone(&app.versions);
    Ok(Box::new(move |tx| {
        if let Some(session) = session
            && let Some(owner) = store::end_session(tx, &session)?
        {
            tx.after_commit(move || versions.raise(owner));
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
