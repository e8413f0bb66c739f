//! A person's data in the panel: everything as a file, for administrators and for
//! oneself, and the erasure. Both ask for the password once more.

use http::HeaderValue;
use http::header::CONTENT_DISPOSITION;

use super::erase::{Eraser, Refusal};
use super::retention::RETENTION;
use super::views::{ConfirmPage, RetentionPage};
use super::{by_id, export, logs};
use crate::accounts::confirm;
use crate::accounts::page_layout::layout;
use crate::accounts::person::Group;
use crate::app::{App, Visit};
use crate::audit::{Actor, objects};
use crate::base::UserId;
use crate::http::{Code, ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::journal;
use crate::panel::{Answer, Notice, Sent, Tone, view};
use crate::people::find;
use crate::services::Services;

const ZIP: HeaderValue = HeaderValue::from_static("application/zip");
const STUDENTS: &str = objects::STUDENT.list;

/// What is asked for.
enum Wish {
    /// One's own data.
    OwnData,
    /// That of a student with this name.
    Data(UserId, String),
    /// Its erasure.
    Erasure(UserId, String),
}

impl Wish {
    fn page(&self, (app, person, request): Visit<'_>) -> ConfirmPage {
        let (title, text, action, button) = match self {
            Self::OwnData => (
                "Baixar os meus dados".to_owned(),
                "Um arquivo ZIP com tudo o que a plataforma guarda sobre você, em JSON: conta, check-ins, aulas, mensagens, contas vinculadas, vendas, compras. Senhas e tokens ficam de fora.",
                "/painel/perfil/dados".to_owned(),
                "Baixar",
            ),
            Self::Data(id, name) => (
                format!("Baixar os dados de {name}"),
                "Um arquivo ZIP com tudo o que a plataforma guarda sobre a pessoa, em JSON. O download fica na auditoria.",
                format!("{STUDENTS}/{id}/dados"),
                "Baixar",
            ),
            Self::Erasure(id, name) => (
                format!("Apagar os dados de {name}"),
                "A conta e tudo o que identifica a pessoa são apagados para sempre: mensagens, compras, notificações, buscas e os nomes na auditoria. Ficam os valores das compras e, na auditoria, número e ato. Uma cópia de segurança antiga que for restaurada perde isso de novo.",
                format!("{STUDENTS}/{id}/apagar-dados"),
                "Apagar para sempre",
            ),
        };
        let (back, back_words) = match self {
            Self::OwnData => ("/perfil".to_owned(), "Perfil".to_owned()),
            Self::Data(id, name) | Self::Erasure(id, name) => {
                (format!("{STUDENTS}/{id}"), name.clone())
            }
        };
        ConfirmPage {
            layout: layout(app, person, request),
            back,
            back_words,
            title,
            text,
            action,
            button,
            is_final: matches!(self, Self::Erasure(..)),
            alert: None,
            email: person.account.email.clone(),
            password: view::Field::default(),
        }
    }
}

/// `/painel/perfil/dados`: one's own data, or the question for the password.
pub fn own_data(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    given((app, person, request), &Wish::OwnData)
}

/// `/admin/alunos/{id}/dados`: a student's data, or the question for the password.
pub fn of_student(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (student, name) = student(app, request)?;
    given((app, person, request), &Wish::Data(student, name))
}

/// `GET /admin/alunos/{id}/apagar-dados`: asks whether they are to be erased.
pub fn ask_erasure(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (student, name) = student(app, request)?;
    Reply::page(&Wish::Erasure(student, name).page((app, person, request)))
}

/// `POST /admin/alunos/{id}/apagar-dados`: erases a student.
pub fn erase(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (id, name) = student(app, request)?;
    let password = password(app, request)?;
    if let Err(problem) = confirm::require((app, person, request), &password) {
        return again((app, person, request), &Wish::Erasure(id, name), problem);
    }
    let answer = Answer::to(request);
    // What is still in memory is looked through as well.
    journal::flush(app)?;
    match Eraser::of(app).erase(id, &Actor::person(person, request)) {
        Ok(()) => {
            // Requests of the last second before it began.
            app.health.requests.flush(&app.db)?;
            logs::forget_requests(&app.db, &[id.0])?;
            answer.done(id, STUDENTS, "dados_apagados")
        }
        Err(Refusal::Nobody) => Err(Problem::not_found()),
        Err(Refusal::LastAdministrator) => Err(Problem::conflict(ForPeople(
            "É a última pessoa que pode administrar a plataforma. Dê acesso a outra antes.",
        ))),
        Err(Refusal::Db(error)) => Err(error.into()),
        Err(refused) => Err(Problem::internal(refused)),
    }
}

/// `GET /admin/retencao`: what is kept, why, for how long.
pub fn retention(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    Reply::page(&RetentionPage { layout: layout(app, person, request), retention: RETENTION })
}

fn student(services: &Services, request: &Request) -> Result<(UserId, String), Problem> {
    let id = request.id().map(UserId)?;
    let found = services.db.read(request.lane, |tx| find(tx, Group::Students, id))?;
    Ok((id, found.entry.nome))
}

fn password(services: &Services, request: &Request) -> Result<String, Problem> {
    let mut sent = Sent::of(request, services.zone())?;
    let password: Option<String> = sent.optional(confirm::FIELD);
    sent.finish()?;
    Ok(password.unwrap_or_default())
}

/// The file, once the password was sent and is right.
fn given(visit: Visit<'_>, wish: &Wish) -> Result<Reply, Problem> {
    let (app, person, request) = visit;
    let password = match *request.method() {
        http::Method::POST => password(app, request)?,
        _ => String::new(),
    };
    if let Err(problem) = confirm::require(visit, &password) {
        // Nothing was typed wrong yet.
        if request.method() == http::Method::GET && !request.wants_json() {
            return Reply::page(&wish.page(visit));
        }
        return again(visit, wish, problem);
    }
    let id = match wish {
        Wish::OwnData => person.account.user_id,
        Wish::Data(id, _) | Wish::Erasure(id, _) => *id,
    };
    // Read now: checking the password took its time.
    let owner = app.db.read(request.lane, |tx| by_id(tx, id))?.ok_or_else(Problem::not_found)?;
    let mut bytes = Vec::new();
    export::write(&app.db, app.zone(), &owner, &mut bytes).map_err(|error| match error {
        export::ExportError::Db(error) => error.into(),
        other @ export::ExportError::Io(_) => Problem::internal(other),
    })?;
    let actor = Actor::person(person, request);
    app.db.write(move |tx| export::note(tx, &actor, id))?;
    let name = format!("attachment; filename=\"dados-{id}.zip\"");
    let name = HeaderValue::try_from(name).map_err(Problem::internal)?;
    Ok(Reply::of(ZIP, bytes).with(CONTENT_DISPOSITION, name))
}

/// The page again, with what is wrong; programs get the problem.
fn again(visit: Visit<'_>, wish: &Wish, problem: Problem) -> Result<Reply, Problem> {
    if problem.fault(confirm::FIELD).is_none() && problem.code != Code::RateLimited {
        return Err(problem);
    }
    Reply::form_again(visit.2, problem, |problem| {
        let mut page = wish.page(visit);
        if let Some(said) = problem.fault(confirm::FIELD) {
            page.password.error = Some(said.to_owned());
            page.password.focus = true;
        } else {
            let text = "Espere alguns minutos e tente de novo.";
            page.alert =
                Some(Notice::new(Tone::Warn, "Muitas tentativas com a senha errada", text));
        }
        Ok(page)
    })
}
