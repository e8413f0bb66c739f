//! The Integration API for students.

pub mod llm;

use std::ops::RangeInclusive;

use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{chat_pattern, is_chat_number};
use crate::accounts::person::PersonEntry;
use crate::accounts::students::{self, AccountServices, NewStudent};
use crate::accounts::{Account, Role, store as accounts};
use crate::app::App;
use crate::audit::objects::STUDENT;
use crate::audit::{self, Actor};
use crate::base::{DAY_S, Instant, UserId};
use crate::db::WriteTx;
use crate::edge::route::Job;
use crate::http::envelope::Envelope;
use crate::http::limit::{Class, Limit, Limiter, Subject};
use crate::http::{Check, Code, Field, Problem, Reply, Request, schema};
use crate::identity::KeyHolder;

/// Welcome messages of a key in a day. A leaked key must not be able to send
/// more messages to numbers that cost money (threat T30). Students are
/// registered even after the limit.
const WELCOMES: Limit = Limit { count: 1_000, window_s: DAY_S };

const NAME: RangeInclusive<usize> = 2..=120;

/// A student to be registered.
#[derive(Deserialize, JsonSchema)]
pub struct CreateBody {
    /// Full name, 2 to 120 characters.
    #[serde(default)]
    #[schemars(!default, regex(pattern = schema::line(NAME)))]
    nome: Field<String>,
    /// Belongs to one account only; case and surrounding blanks do not count.
    #[serde(default)]
    #[schemars(!default, length(max = schema::EMAIL_LONGEST), regex(pattern = schema::email()))]
    email: Field<String>,
    /// `free` (the default), `pro`, `vip`, `piloto_pro` or `podio`.
    #[serde(default)]
    #[schemars(with = "Option<String>", extend("enum" = schema::or_null(Role::STUDENTS.map(Role::name))))]
    plano: Field<String>,
    /// 10 to 15 digits: country, area and number. The welcome message goes there.
    #[serde(default)]
    #[schemars(with = "Option<String>", regex(pattern = chat_pattern()))]
    chat_number: Field<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Created {
    id: UserId,
    email: String,
    plano: &'static str,
}

/// A registered student in the audit log.
#[derive(Serialize)]
struct Registered<'s> {
    nome: &'s str,
    email: &'s str,
    plano: &'static str,
    chat_number: Option<&'s str>,
}

/// `POST /api/v1/alunos/criar`: registers a student, who has no password until one is
/// chosen; the welcome message carries a link for that.
pub fn create(app: &App, holder: &KeyHolder, request: &Request) -> Result<Job, Problem> {
    let mut new = read_student(request)?;
    // Looked at before a welcome message is counted; the insert looks again.
    if app.db.read(request.lane, |tx| accounts::by_email(tx, &new.person.email))?.is_some() {
        return Err(email_taken());
    }
    new.welcome = has_welcome(&app.callers.limiter, holder.key.id, request.now);
    if !new.welcome {
        tracing::warn!(
            key = holder.key.entry.name,
            "an API key used up its welcome messages of the day"
        );
    }
    let message = if new.welcome {
        "aluno criado"
    } else {
        "aluno criado, sem mensagem de boas-vindas: esta chave já enviou todas as do dia"
    };
    let (services, actor) = (AccountServices::of(app), Actor::key(&holder.key, request));
    Ok(Box::new(move |tx| {
        let id = students::create(tx, &services, &new)?.ok_or_else(email_taken)?;
        let act = STUDENT.act(STUDENT.created, id, &new.person.nome);
        let after = Registered {
            nome: &new.person.nome,
            email: &new.person.email,
            plano: new.person.papel.name(),
            chat_number: new.person.chat_number.as_deref(),
        };
        audit::note(tx, &actor, &act, (), &after)?;
        let created = Created { id, plano: new.person.papel.name(), email: new.person.email };
        Ok(Envelope::reply(message, created)?.status(StatusCode::CREATED))
    }))
}

/// Counts a student registered by a key; returns whether the key may still send
/// a welcome message.
fn has_welcome(limiter: &Limiter, key: i64, now: Instant) -> bool {
    let subject = Subject::id(key);
    limiter.count(Class::WelcomeKey, subject, WELCOMES, now).allowed
}

fn read_student(request: &Request) -> Result<NewStudent, Problem> {
    let body: CreateBody = request.json()?;
    let mut check = Check::json();
    let name = check.line("nome", body.nome, NAME);
    let email = read_email(&mut check, body.email);
    let role = match check.optional("plano", body.plano) {
        None => Some(Role::Free),
        Some(name) => Role::from_name(&name).filter(|role| role.is_student()),
    };
    if role.is_none() {
        check.fail("plano", "must be free, pro, vip, piloto_pro or podio");
    }
    let chat_number = check.optional("chat_number", body.chat_number);
    if chat_number.as_deref().is_some_and(|number| !is_chat_number(number)) {
        check.fail("chat_number", "must be 10 to 15 digits");
    }
    check.finish()?;
    let person = PersonEntry::new(&email, &name, role.unwrap_or(Role::Free), chat_number);
    Ok(NewStudent { person, paid_until: None, welcome: true })
}

/// A required e-mail address in its stored form.
fn read_email(check: &mut Check, field: Field<String>) -> String {
    let typed = check.required("email", field);
    let fits = typed.chars().count() <= schema::EMAIL_LONGEST;
    crate::base::text::email(&typed).filter(|_| fits).unwrap_or_else(|| {
        check.fail("email", "must be an e-mail address, such as nome@exemplo.com");
        String::new()
    })
}

fn email_taken() -> Problem {
    Problem {
        fields: vec![("email".into(), "already has an account".into())],
        ..Problem::program_conflict("this e-mail address has an account already")
    }
}

/// Which student.
#[derive(Deserialize, JsonSchema)]
pub struct StudentBody {
    /// Compared without case and surrounding blanks.
    #[serde(default)]
    #[schemars(!default, length(max = schema::EMAIL_LONGEST), regex(pattern = schema::email()))]
    email: Field<String>,
}

#[derive(Serialize, JsonSchema)]
pub struct Student {
    id: UserId,
    email: String,
}

/// `POST /api/v1/alunos/suspender`: closes every way for a student to sign in.
/// Suspending a suspended student changes nothing.
pub fn suspend(_: &App, holder: &KeyHolder, request: &Request) -> Result<Job, Problem> {
    let email = named_student(request)?;
    let actor = Actor::key(&holder.key, request);
    let reason = format!("pela integração {}", holder.key.entry.name);
    Ok(Box::new(move |tx| {
        let student = find(tx, &email)?;
        if students::suspend(tx, student.user_id, &reason)? {
            note(tx, &actor, "aluno.suspender", &student)?;
        }
        answer("acesso suspenso", student)
    }))
}

/// `POST /api/v1/alunos/reativar`: lets a student sign in again. Sessions and
/// tokens that the suspension ended stay ended.
pub fn reactivate(_: &App, holder: &KeyHolder, request: &Request) -> Result<Job, Problem> {
    let email = named_student(request)?;
    let actor = Actor::key(&holder.key, request);
    Ok(Box::new(move |tx| {
        let student = find(tx, &email)?;
        if students::reactivate(tx, student.user_id)? {
            note(tx, &actor, "aluno.reativar", &student)?;
        }
        answer("acesso reativado", student)
    }))
}

fn named_student(request: &Request) -> Result<String, Problem> {
    let body: StudentBody = request.json()?;
    let mut check = Check::json();
    let email = read_email(&mut check, body.email);
    check.finish()?;
    Ok(email)
}

/// The student with an e-mail address; suppliers and staff are not found.
fn find(tx: &WriteTx<'_>, email: &str) -> Result<Account, Problem> {
    let found = accounts::by_email(tx, email)?.filter(|account| account.role.is_student());
    found.ok_or_else(|| Problem::new(Code::NotFound, "no student has this e-mail address"))
}

fn note(
    tx: &WriteTx<'_>,
    actor: &Actor,
    action: &'static str,
    student: &Account,
) -> Result<(), Problem> {
    let act = STUDENT.act(action, student.user_id, &student.name);
    // `student` was read before the change.
    let before = json!({ "suspenso": student.suspended });
    let after = json!({ "suspenso": !student.suspended });
    Ok(audit::note(tx, actor, &act, &before, &after)?)
}

fn answer(message: &'static str, student: Account) -> Result<Reply, Problem> {
    let student = Student { id: student.user_id, email: student.email };
    Envelope::reply(message, student)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_sends_a_thousand_welcomes_a_day() {
        let limiter = Limiter::default();
        let morning = Instant(1_795_176_000);
        let sent = (0..1_000).filter(|_| has_welcome(&limiter, 1, morning));
        assert_eq!(sent.count(), 1_000);
        assert!(!has_welcome(&limiter, 1, morning.plus(3_600)));
        assert!(has_welcome(&limiter, 2, morning));
        assert!(has_welcome(&limiter, 1, morning.plus(DAY_S)));
    }
}
