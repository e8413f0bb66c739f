//! Choosing a password by a one-time link (`links.rs`), for people who are new
//! here and people who forgot it.
//!
//! Opening the page changes nothing, so programs that open links in messages do
//! not use them up. The new password ends all sessions, extension tokens and
//! connected apps of the person, and signs the person in.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::StatusCode;
use http::header::SET_COOKIE;

use crate::accounts::links::ValidLink;
use crate::accounts::session::new_session;
use crate::accounts::views::{ChoosePage, LinkGonePage};
use crate::accounts::{links, passwords, store};
use crate::app::App;
use crate::base::TokenHash;
use crate::http::{Problem, Reply, Request};
use crate::identity::Visitor;
use crate::panel::{Layout, Sent, view};
use crate::services::Services;

/// `GET /senha`: the form, or a page that says that the link no longer works.
pub fn page(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let mut query = Sent::of_query(request, app.zone())?;
    let code: String = query.optional("codigo").unwrap_or_default();
    match find_valid(app, request, &code)? {
        Some(link) => Reply::page(&form(app, request, code, &link, None)),
        None => gone(app, request),
    }
}

fn find_valid(
    services: &Services,
    request: &Request,
    code: &str,
) -> Result<Option<ValidLink>, Problem> {
    let hash = links::key(code);
    Ok(services.db.read(request.lane, |tx| links::find_valid(tx, &hash))?)
}

fn form(
    services: &Services,
    request: &Request,
    code: String,
    link: &ValidLink,
    problem: Option<&Problem>,
) -> ChoosePage {
    let mut password = view::Field::default().fault(problem.and_then(|said| said.fault("senha")));
    view::focus_first([&mut password]);
    ChoosePage {
        layout: Layout::outside(&services.config.server.name, request.now),
        code,
        email: link.email.clone(),
        valid_until: services.zone().page(link.expires_at),
        password,
    }
}

fn gone(services: &Services, request: &Request) -> Result<Reply, Problem> {
    if request.wants_json() {
        return Err(Problem::not_found());
    }
    let layout = Layout::outside(&services.config.server.name, request.now);
    Ok(Reply::page(&LinkGonePage { layout })?.status(StatusCode::NOT_FOUND))
}

/// `POST /senha`: sets the password, ends sessions and tokens, and signs in.
pub fn choose(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let code: String = sent.optional("codigo").unwrap_or_default();
    let password: String = sent.optional("senha").unwrap_or_default();
    sent.finish()?;
    let Some(link) = find_valid(app, request, &code)? else {
        return gone(app, request);
    };
    if !passwords::LENGTH.contains(&password.chars().count()) {
        let problem = Problem::field("senha", passwords::LENGTH_WORDS);
        return Reply::form_again(request, problem, |problem| {
            Ok(form(app, request, code, &link, Some(problem)))
        });
    }
    set(app, request, links::key(&code), password)
}

fn set(app: &App, request: &Request, link: TokenHash, password: String) -> Result<Reply, Problem> {
    let password_hash = app.callers.passwords.run(move |hasher| hasher.hash(&password))?;
    let (session, cookie) = new_session(app, request);
    let (known_addresses, from) = (Arc::clone(&app.callers.known_addresses), request.client);
    let limiter = Arc::clone(&app.callers.limiter);
    let heed = Arc::clone(&app.health.outside_change);
    let role = app.db.write(move |tx| {
        let Some(user) = links::use_up(tx, &link)? else {
            return Ok(None);
        };
        store::set_password(tx, user, &password_hash)?;
        store::clear_login_failures(tx, user)?;
        known_addresses.note(tx, user, from)?;
        store::insert_session(tx, user, &session)?;
        tx.after_commit(move || {
            for class in store::LOGIN_CLASSES {
                limiter.forget_person(class, user.0);
            }
            // The stored counters are removed at the next flush, as after a
            // command.
            heed.store(true, Ordering::Release);
        });
        Ok::<_, Problem>(Some(store::role(tx, user)?))
    })?;
    match role {
        Some(role) => Ok(Reply::redirect(role.home())?.with(SET_COOKIE, cookie)),
        // The link was used or has expired in the meantime.
        None => gone(app, request),
    }
}
