//! `/configurar`: makes the first administrator (`accounts/setup.rs`).

use crate::accounts::passwords::LENGTH_WORDS;
use crate::accounts::session::new_session;
use crate::accounts::store::{self, NewUser};
use crate::accounts::views::{SetupGonePage, SetupPage};
use crate::accounts::{Role, passwords};
use crate::app::App;
use crate::base::{Instant, TokenHash, text};
use crate::db::Lane;
use crate::http::{Fields, ForPeople, Problem, Reply, Request};
use crate::identity::Visitor;
use crate::panel::{Layout, Notice, Sent, view};
use crate::services::Services;

const EMAIL_TAKEN: &str = "Já existe uma conta com este e-mail. Informe outro.";

/// `GET /configurar`: the form, or a page that says that the link no longer
/// works.
pub fn page(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let mut query = Sent::of_query(request, app.zone())?;
    let typed = Typed { code: query.optional("codigo").unwrap_or_default(), ..Typed::default() };
    match living_link(app, &typed.code)? {
        Some(ends) => Reply::page(&form(app, request, typed, ends, None)),
        None => gone(app, request),
    }
}

fn living_link(services: &Services, code: &str) -> Result<Option<Instant>, Problem> {
    let hash = TokenHash::of(code);
    services.db.read(Lane::InPlace, |tx| {
        if store::has_administrator(tx)? {
            Ok(None)
        } else {
            Ok::<_, Problem>(store::setup_link_ends(tx, &hash)?)
        }
    })
}

fn gone(services: &Services, request: &Request) -> Result<Reply, Problem> {
    let done = services.db.read(request.lane, store::has_administrator)?;
    let layout = Layout::outside(&services.config.server.name, request.now);
    Ok(Reply::page(&SetupGonePage { layout, done })?.status(http::StatusCode::NOT_FOUND))
}

#[derive(Default)]
struct Typed {
    code: String,
    name: String,
    email: String,
}

/// `POST /configurar`: makes the first administrator and opens a session.
pub fn create(app: &App, _: &Visitor, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let mut text = |name| sent.optional::<String>(name).unwrap_or_default();
    let typed = Typed { code: text("codigo"), name: text("nome"), email: text("email") };
    let password = text("senha");
    sent.finish()?;
    let Some(ends) = living_link(app, &typed.code)? else {
        return if request.wants_json() { Err(Problem::not_found()) } else { gone(app, request) };
    };
    let made = checked(&typed, &password)
        .and_then(|new| make(app, request, TokenHash::of(&typed.code), new, password));
    match made {
        Err(problem) if !problem.fields.is_empty() => {
            let again = |problem: &Problem| Ok(form(app, request, typed, ends, Some(problem)));
            Reply::form_again(request, problem, again)
        }
        made => made,
    }
}

/// The administrator to be made, without a password yet.
fn checked(typed: &Typed, password: &str) -> Result<NewUser, Problem> {
    let (name, email) = (text::person_name(&typed.name), text::email(&typed.email));
    let mut faults = Fields::new();
    if name.is_none() {
        faults.push(("nome".into(), "Informe seu nome, com 2 a 120 letras.".into()));
    }
    if email.is_none() {
        let said = "Informe um e-mail válido, como nome@exemplo.com.";
        faults.push(("email".into(), said.into()));
    }
    if !passwords::LENGTH.contains(&password.chars().count()) {
        faults.push(("senha".into(), LENGTH_WORDS.into()));
    }
    match (name.map(str::to_owned), email) {
        (Some(name), Some(email)) if faults.is_empty() => {
            Ok(NewUser { email, name, role: Role::Admin, password_hash: None })
        }
        _ => Err(Problem::invalid(faults)),
    }
}

fn make(
    app: &App,
    request: &Request,
    code: TokenHash,
    new: NewUser,
    password: String,
) -> Result<Reply, Problem> {
    let hash = app.callers.passwords.run(move |hasher| hasher.hash(&password))?;
    let new = NewUser { password_hash: Some(hash), ..new };
    let (session, cookie) = new_session(app, request);
    app.db.write(move |tx| {
        if store::has_administrator(tx)? || !store::use_setup_link(tx, &code)? {
            return Err(Problem::not_found());
        }
        let taken = || Problem {
            fields: vec![("email".into(), EMAIL_TAKEN.into())],
            ..Problem::conflict(ForPeople("Este e-mail já tem uma conta."))
        };
        let user = store::insert(tx, &new)?.ok_or_else(taken)?;
        store::insert_session(tx, user, &session)?;
        Ok(())
    })?;
    tracing::info!("the first administrator was made");
    Ok(Reply::redirect(Role::Admin.home())?.with(http::header::SET_COOKIE, cookie))
}

/// The form as typed, with its faults.
fn form(
    services: &Services,
    request: &Request,
    typed: Typed,
    ends: Instant,
    problem: Option<&Problem>,
) -> SetupPage {
    let fault = |name| problem.and_then(|problem| problem.fault(name));
    let mut name = view::Field::of(typed.name).fault(fault("nome"));
    let mut email = view::Field::of(typed.email).fault(fault("email"));
    let mut password = view::Field::default().fault(fault("senha"));
    let count = view::focus_first([&mut name, &mut email, &mut password]);
    SetupPage {
        layout: Layout::outside(&services.config.server.name, request.now),
        alert: Notice::faults(count),
        code: typed.code,
        valid_until: services.time_of_day(ends),
        name,
        email,
        password,
    }
}
