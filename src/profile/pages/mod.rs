//! `GET /perfil`: a person's own account, as page and as JSON.

pub mod acts;
pub mod alerts;
pub mod password;
pub mod push;
pub mod telegram;

use http::StatusCode;
use serde::Serialize;

use super::devices;
use super::views::ProfilePage;
use crate::accounts::page_layout::layout;
use crate::accounts::self_service::{self, OpenSession, ValidToken};
use crate::app::{App, Visit};
use crate::base::{Day, Instant, TokenHash, UserId, Zone, hex};
use crate::http::{Fields, Problem, Reply, Request};
use crate::identity::Person;
use crate::outbox::unreachable::{self, Unreachable};
use crate::panel::{Flash, Notice, PageTime, Tone, flashes, view};
use crate::partner::{PlanName, shown::shown, store as partner};
use crate::services::Services;
use crate::wire;

/// The page's address.
pub const PATH: &str = "/perfil";
const MOST_SESSIONS: u32 = 50;

const FLASHES: &[Flash] = flashes! {
    "dados": good "Dados salvos";
    "senha": good "Senha trocada", "As outras sessões e o acesso da extensão foram encerrados.";
    "foto": good "Foto salva";
    "foto_excluida": good "Foto excluída";
    "sessao": good "Sessão encerrada", "Quem estava nela precisa entrar de novo.";
    "sessoes": good "Outras sessões encerradas", "Só esta continua aberta.";
    "extensao": good "Acesso da extensão encerrado",
        "Para usá-la de novo, entre por ela com e-mail e senha.";
};

struct ProfileData {
    chat_number: Option<String>,
    /// What the chat network said of it; `None` while it says nothing.
    unreachable: Option<Unreachable>,
    sessions: Vec<OpenSession>,
    open_sessions: u64,
    extension: Option<ValidToken>,
    plan: Option<(PlanName, Option<Day>)>,
    calls: u64,
    has_tokens: bool,
}

fn read(app: &App, person: &Person, request: &Request) -> Result<ProfileData, Problem> {
    let (user, today) = (person.account.user_id, app.day(request.now));
    app.db.read(request.lane, |tx| {
        let (sessions, open_sessions) =
            self_service::open_sessions(tx, user, &person.session, MOST_SESSIONS)?;
        let calls =
            partner::calls_between(tx, user, today.month_start(), today.next_month_start())?;
        Ok(ProfileData {
            chat_number: self_service::chat_number(tx, user)?,
            unreachable: unreachable::of(tx, user)?,
            sessions,
            open_sessions,
            extension: self_service::extension_token(tx, user)?,
            plan: partner::plan(tx, user)?,
            calls,
            has_tokens: partner::count_tokens(tx, user)? > 0,
        })
    })
}

/// `GET /perfil`: the account, its sessions and its extension token.
pub fn profile(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let profile = read(app, person, request)?;
    if request.wants_json() {
        return json(app, person, request, profile);
    }
    let mut page = page(app, person, request, profile);
    page.layout = page.layout.telling(FLASHES, request);
    Reply::page(&page)
}

fn page(app: &App, person: &Person, request: &Request, profile: ProfileData) -> ProfilePage {
    let account = &person.account;
    let hidden = profile.open_sessions.saturating_sub(profile.sessions.len() as u64);
    ProfilePage {
        layout: layout(app, person, request),
        tabs: alerts::tabs(PATH),
        alert: profile.unreachable.as_ref().map(not_reached),
        what: if account.role.is_student() {
            format!("Plano {}", account.role.words())
        } else {
            account.role.words().to_owned()
        },
        email: account.email.clone(),
        photo: account.photo.clone(),
        stored_name: account.name.clone(),
        file: view::Field::default(),
        name: view::Field::of(&*account.name),
        chat_number: view::Field::of(profile.chat_number.unwrap_or_default()),
        confirmation: view::Field::default(),
        present: view::Field::default(),
        password: view::Field::default(),
        has_tokens: profile.has_tokens,
        sessions: profile.sessions,
        session: person.session,
        more_sessions: match hidden {
            0 => String::new(),
            1 => "e mais 1 sessão".to_owned(),
            _ => format!("e mais {} sessões", crate::base::text::grouped(hidden)),
        },
        extension: profile.extension,
        api_plan: profile.plan.map(|plan| {
            let today = app.day(request.now);
            shown(&app.config.partner.plans, plan, profile.calls, today)
        }),
        time: PageTime::of(app, request),
    }
}

/// A notice that the chat network does not reach the number.
fn not_reached(one: &Unreachable) -> Notice {
    let text = if one.is_silenced() {
        "Por isso nenhum aviso sai por chat. Corrija o número abaixo."
    } else {
        "Confira o número abaixo."
    };
    let title = format!("O WhatsApp diz que o número {} não recebe mensagens", one.number);
    Notice::new(Tone::Warn, title, text)
}

/// The id of a session in addresses: its digest, which does not open the
/// session.
pub fn id_of(session: &TokenHash) -> String {
    hex(&session.0)
}

/// The answer to a form with faults: the page again, with what was typed.
pub fn faulty(
    (app, person, request): Visit<'_>,
    problem: &Problem,
    typed: impl FnOnce(&mut ProfilePage),
) -> Result<Reply, Problem> {
    let profile = read(app, person, request)?;
    let mut page = page(app, person, request, profile);
    typed(&mut page);
    mark(&mut page, &problem.fields);
    if problem.fields.is_empty() {
        page.alert = Some(view::refusal_notice(problem));
    }
    let status = if problem.fields.is_empty() {
        problem.code.status(request.family)
    } else {
        StatusCode::UNPROCESSABLE_ENTITY
    };
    let reply = Reply::page(&page)?.status(status);
    Ok(match problem.retry_after_s {
        Some(seconds) => reply.with(http::header::RETRY_AFTER, seconds.into()),
        None => reply,
    })
}

/// Shows faults at their fields, in our words, and sets the focus to the first.
fn mark(page: &mut ProfilePage, faults: &Fields) {
    let fields = [
        ("foto", &mut page.file),
        ("nome", &mut page.name),
        ("chat_number", &mut page.chat_number),
        ("confirmacao", &mut page.confirmation),
        ("atual", &mut page.present),
        ("senha", &mut page.password),
    ];
    let mut count = 0;
    for (name, field) in fields {
        let fault = faults.iter().find(|(known, _)| known == name);
        let Some((_, said)) = fault else { continue };
        field.error = Some(if name == "nome" {
            "Informe o seu nome, com 2 a 120 letras.".to_owned()
        } else {
            said.to_string()
        });
        field.focus = count == 0;
        count += 1;
    }
}

wire! {
    #[derive(Serialize)]
    struct WireSession of(session: OpenSession, zone: Zone, own: &TokenHash, now: Instant) after {
        let is_own = session.hash == *own;
    } {
        id: String = id_of(&session.hash),
        aparelho: String = devices::in_words(&session.user_agent),
        endereco: String = session.address,
        aberta_em: String = zone.spaced(session.created_at),
        vista_em: String = zone.spaced(if is_own { now } else { session.last_seen_at }),
        atual: bool = is_own,
    }
}

wire! {
    #[derive(Serialize)]
    struct WireToken of(token: ValidToken, zone: Zone) {
        desde: String = zone.spaced(token.since),
        usado_em: Option<String> = token.used_at.map(|at| zone.spaced(at)),
        ate: String = zone.spaced(token.until),
    }
}

#[derive(Serialize)]
struct WirePlan {
    plano: &'static str,
    ate: Option<String>,
}

#[derive(Serialize)]
struct WireProfile {
    id: UserId,
    nome: String,
    email: String,
    role: &'static str,
    foto: String,
    chat_number: Option<String>,
    total_sessoes: u64,
    sessoes: Vec<WireSession>,
    extensao: Option<WireToken>,
    plano_api: Option<WirePlan>,
}

fn json(
    services: &Services,
    person: &Person,
    request: &Request,
    profile: ProfileData,
) -> Result<Reply, Problem> {
    let zone = services.zone();
    let sessions = profile.sessions.into_iter();
    Reply::ok(&WireProfile {
        id: person.account.user_id,
        email: person.account.email.clone(),
        role: person.account.role.name(),
        total_sessoes: profile.open_sessions,
        sessoes: sessions
            .map(|session| WireSession::of(session, zone, &person.session, request.now))
            .collect(),
        extensao: profile.extension.map(|token| WireToken::of(token, zone)),
        plano_api: profile
            .plan
            .map(|(name, until)| WirePlan { plano: name.name(), ate: until.map(Day::iso) }),
        nome: person.account.name.clone(),
        foto: person.account.photo.clone(),
        chat_number: profile.chat_number,
    })
}
