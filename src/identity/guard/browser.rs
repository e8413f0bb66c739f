//! People at a browser: sessions, and where a request came from.
//!
//! Only our own pages may change state, also where a GET changes it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::charge::{Charge, Window};
use super::lookup::lookup;
use super::{GuardResult, is_ours};
use crate::accounts::viewing;
use crate::accounts::views::ViewOnlyPage;
use crate::accounts::{Account, Role, View, Viewing};
use crate::app::App;
use crate::base::{Instant, TokenHash};
use crate::edge::route::{Access, Route};
use crate::http::limit::{Class, Limit, Subject};
use crate::http::{Code, Family, ForPeople, Problem, Reply, Request};
use crate::identity::token::{TokenKind, TokenRecord};
use crate::identity::{Person, SESSION_AGE_S, SESSION_IDLE_S, Seal, Visitor};
use crate::panel::view::Layout;
use crate::services::Services;

/// A page for anybody; a session is used when there is one.
pub fn visitor(app: &App, request: &Request) -> GuardResult<Visitor> {
    if !only_looks(request)
        && let Err(problem) = same_origin(app, request)
    {
        return GuardResult::refused(problem);
    }
    let person = match session(app, request) {
        Ok(person) => Some(person.account),
        Err(problem) if is_ours(&problem) => return GuardResult::refused(problem),
        Err(_) => None,
    };
    let pass = GuardResult::of(Visitor { _seal: Seal, person: person.clone() });
    let Some(account) = person else { return pass };
    let pass = pass.known_as("session", account.user_id.0);
    if only_looks(request) {
        return pass;
    }
    // Leaving is among these rows.
    pass.costing(Charge { is_never_refused: true, ..of_session(app, &account) })
}

/// A page or internal route for people of some roles.
pub fn person(app: &App, access: Access, route: &Route, request: &Request) -> GuardResult<Person> {
    let changes = !only_looks(request) || route.changes_state;
    if changes && let Err(problem) = same_origin(app, request) {
        return GuardResult::refused(problem);
    }
    let person = match session(app, request) {
        Ok(person) => person,
        Err(problem) => return GuardResult::refused(without_session(request, problem)),
    };
    let who = Some(("session", person.account.user_id.0));
    let charge = if changes { of_session(app, &person.account) } else { Charge::default() };
    let charge = Charge { is_never_refused: lets_out(route), ..charge };
    let outcome = if let Some(view) = &person.view
        && access == Access::Anyone
        && !only_looks(request)
    {
        // It would change the administrator's own account, which would look
        // like the student's.
        Err(view_only(app, request, view))
    } else if access.admits(&person.account) {
        Ok(person)
    } else if access == Access::Student {
        as_student(app, route, request, person)
    } else {
        Err(of_others())
    };
    GuardResult { outcome, who, verdict: None, charge }
}

fn of_others() -> Problem {
    // The page of this status has the words that a visitor needs.
    Problem::new(Code::Forbidden, "Esta página é de outro perfil.")
}

/// Whether a row ends sessions or changes the password. Somebody who uses up the
/// window with a stolen session must not keep its owner from that.
fn lets_out(route: &Route) -> bool {
    route.path == "/perfil/senha" || route.path.starts_with("/perfil/sessoes/")
}

/// What a person's change costs: one call in a window of all sessions of that
/// person. People do not reach its end; a script that does writes no more rows.
fn of_session(services: &Services, account: &Account) -> Charge {
    let limits = &services.config.limits;
    let limit = Limit { count: limits.session_post, window_s: limits.window_s };
    let subject = Subject::id(account.user_id.0);
    Window { class: Class::SessionPost, subject, limit }.into()
}

/// A student at a row that others may call too. The check is the same as for a
/// row that only the student in person may call.
pub fn student(app: &App, request: &Request) -> Result<Person, Problem> {
    let person = session(app, request).map_err(|problem| without_session(request, problem))?;
    match &person.view {
        _ if Access::Student.admits(&person.account) => Ok(person),
        Some(view) => Err(view_only(app, request, view)),
        None => Err(of_others()),
    }
}

/// The refusal of a caller without a valid session; browsers are redirected to
/// the login.
fn without_session(request: &Request, problem: Problem) -> Problem {
    let is_page = matches!(request.family, Family::Page | Family::File) && !request.wants_json();
    if is_page && problem.code == Code::Unauthorized {
        return problem.answered(to_login(request));
    }
    problem
}

/// A student's row, called by an administrator who views the panel as a
/// student: reading is allowed and nothing else.
fn as_student(
    services: &Services,
    route: &Route,
    request: &Request,
    person: Person,
) -> Result<Person, Problem> {
    let Some(view) = person.view else {
        return Err(of_others());
    };
    if only_looks(request) && !route.changes_state && !route.in_person {
        let account = Arc::clone(&view.student);
        return Ok(Person { account, view: Some(view), ..person });
    }
    Err(view_only(services, request, &view))
}

/// The answer to a request that would change something during a view.
fn view_only(services: &Services, request: &Request, view: &View) -> Problem {
    let problem = Problem::closed(ForPeople("Você está vendo como aluno: aqui só dá para olhar."));
    if request.wants_json() {
        return problem;
    }
    let page = ViewOnlyPage {
        layout: Layout::outside(&services.config.server.name, request.now),
        name: view.student.name.clone(),
        until: services.time_of_day(view.until),
    };
    problem.answered(Reply::page(&page).map(|page| page.status(StatusCode::FORBIDDEN)))
}

fn to_login(request: &Request) -> Result<Reply, Problem> {
    let back = if *request.method() == Method::GET {
        let target = request.head.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        let query: String =
            form_urlencoded::Serializer::new(String::new()).append_pair("volta", target).finish();
        format!("/entrar?{query}")
    } else {
        "/entrar".to_owned()
    };
    Reply::redirect(&back)
}

fn session(app: &App, request: &Request) -> Result<Person, Problem> {
    let cookie = session_cookie(app, request.headers())?.ok_or_else(Problem::unauthorized)?;
    let hash = TokenHash::of(cookie);
    let entry = lookup(app, TokenKind::Session, hash)?;
    let idle_end = Instant(entry.used_at.load(Ordering::Relaxed)).plus(SESSION_IDLE_S);
    match &entry.record {
        TokenRecord::Session { account, .. } if account.suspended => Err(Problem::suspended()),
        TokenRecord::Session { account, created_at, ended: false, viewing }
            if request.now < created_at.plus(SESSION_AGE_S) && request.now < idle_end =>
        {
            entry.mark_used(app, TokenKind::Session, hash, request.now, request.client);
            Ok(Person {
                _seal: Seal,
                account: Arc::clone(account),
                session: hash,
                view: view(app, account, *viewing, request.now)?,
            })
        }
        _ => Err(Problem::unauthorized()),
    }
}

/// The view of a session, unless the view has ended.
fn view(
    app: &App,
    viewer: &Account,
    viewing: Option<Viewing>,
    now: Instant,
) -> Result<Option<View>, Problem> {
    let Some(viewing) = viewing.filter(|_| viewer.role == Role::Admin) else {
        return Ok(None);
    };
    let student = viewing::student(app, viewing, now)?;
    Ok(student.map(|student| View { student: Arc::new(student), until: viewing.until }))
}

/// The value of the session cookie. Two cookies of that name are rejected as a
/// spoofing attempt.
pub fn session_cookie<'h>(app: &App, headers: &'h HeaderMap) -> Result<Option<&'h str>, Problem> {
    let name = session_cookie_name(app);
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut found = lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim_matches(' ').split_once('='))
        .filter_map(|(known, value)| (known == name).then_some(value));
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(Problem::new(Code::BadRequest, "two session cookies were sent")),
        (first, None) => Ok(first),
    }
}

/// The session whose cookie an answer sets.
pub fn session_given(app: &App, headers: &[(HeaderName, HeaderValue)]) -> Option<TokenHash> {
    let (_, line) = headers.iter().find(|(name, _)| *name == SET_COOKIE)?;
    let (name, value) = line.to_str().ok()?.split(';').next()?.split_once('=')?;
    (name == session_cookie_name(app) && !value.is_empty()).then(|| TokenHash::of(value))
}

/// The name of the session cookie. Over TLS the prefix `__Host-` makes browsers
/// reject such a cookie from a sibling host.
pub fn session_cookie_name(app: &App) -> &'static str {
    if app.server.addresses.is_https() { "__Host-sessao" } else { "sessao" }
}

/// Whether the method only reads. Reading is allowed from every origin.
fn only_looks(request: &Request) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
}

/// Rejects a request that does not come from our own pages (docs/contract.md,
/// "Panel as JSON").
pub(super) fn same_origin(app: &App, request: &Request) -> Result<(), Problem> {
    let text = |name: &'static str| {
        request.headers().get(name).map(|value| value.to_str().unwrap_or_default())
    };
    let ours = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), origin) => {
            matches!(site, "same-origin" | "none")
                && origin.is_none_or(|origin| is_own(app, request, origin))
        }
        (None, Some(origin)) => is_own(app, request, origin),
        (None, None) => true,
    };
    if ours {
        Ok(())
    } else {
        Err(Problem::closed(ForPeople("Esta ação só pode ser feita a partir das nossas páginas.")))
    }
}

/// Whether an origin is our configured one, or the loopback address to which
/// this request was sent.
fn is_own(app: &App, request: &Request, origin: &str) -> bool {
    app.server.addresses.is_own(origin)
        || app.server.addresses.is_own_loopback(&request.head, origin)
}

impl Access {
    /// Whether a person may use the row.
    pub const fn admits(self, account: &Account) -> bool {
        match self {
            Self::Anyone => true,
            Self::Student => account.role.is_student(),
            Self::Supplier => matches!(account.role, Role::Drop),
            Self::Agency => account.is_of_agency(),
            Self::Admin => matches!(account.role, Role::Admin),
        }
    }
}
