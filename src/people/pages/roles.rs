//! What roles may do, and the exceptions of single people.
//!
//! A change is effective from the next request on: what is in memory about the
//! people it may concern is dropped with the commit.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::FLASHES;
use super::acts::Change;
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::accounts::permissions::{self, ALL, Permission};
use crate::app::App;
use crate::audit::{self, Actor, objects};
use crate::base::UserId;
use crate::db::ReadTx;
use crate::edge::route::Job;
use crate::http::input::FromField;
use crate::http::{Check, Field, Fields, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, ListReply, view};
use crate::people::views::RolesPage;

const PATH: &str = "/admin/papeis";

#[derive(Serialize)]
struct WireRole {
    role: Role,
    titulo: &'static str,
    permissoes: Vec<&'static str>,
}

/// `GET /admin/papeis`: what each role may do.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let roles = app.db.read(request.lane, |tx| {
        let roles = Role::STUDENTS.into_iter();
        roles
            .map(|role| Ok((role, permissions::of_role(tx, role)?)))
            .collect::<Result<Vec<_>, Problem>>()
    })?;
    if request.wants_json() {
        return ListReply::of(Role::STUDENTS.len() as u64, roles, |(role, permissoes)| WireRole {
            role,
            titulo: role.words(),
            permissoes,
        });
    }
    Reply::page(&RolesPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        roles,
        permissions: permissions::of_roles().collect(),
    })
}

/// `POST /admin/papeis`: replaces what roles may do. Roles that are left out
/// stay. A browser sends nothing for a role without a ticked box, so its form
/// names all roles it is about in `papel`.
pub fn change(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut body: BTreeMap<String, Field<Vec<String>>> = request.form_or_json()?;
    let mut wanted = Vec::new();
    let mut faults: Fields = Vec::new();
    let about = body.remove("papel").unwrap_or_default();
    let about = Check::text().optional("papel", about).unwrap_or_default();
    for role in Role::STUDENTS {
        let field = body.remove(role.name());
        if field.is_none() && !about.iter().any(|name| name == role.name()) {
            continue;
        }
        let mut check = Check::form_or_json(request.headers());
        let names = check.optional(role.name(), field.unwrap_or_default());
        let names = names.unwrap_or_default();
        if let Err(problem) = check.finish() {
            faults.extend(problem.fields);
        } else if let Some(unknown) = names.iter().find(|name| !permissions::exists(name)) {
            let said = format!("there is no permission {unknown:?}");
            faults.push((role.name().into(), said.into()));
        }
        let granted = permissions::of_roles().map(|one| one.name);
        let granted = granted.filter(|known| names.iter().any(|name| name == known));
        wanted.push((role, granted.collect::<Vec<_>>()));
    }
    faults.extend(body.into_keys().map(|name| (name.into(), "is not a student's role".into())));
    if wanted.is_empty() {
        faults.push(("papel".into(), "name a role and what it may do".into()));
    }
    if !faults.is_empty() {
        return Err(Problem::invalid(faults));
    }
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        for (role, granted) in &wanted {
            let before = permissions::of_role(tx, *role)?;
            if before == *granted {
                continue;
            }
            permissions::set_role(tx, *role, granted)?;
            let act = objects::ROLE.act("papel.alterar", role.name(), role.words());
            let told = |granted: &[_]| json!({ "permissoes": granted });
            audit::note(tx, &actor, &act, told(&before), told(granted))?;
        }
        answer.with(PATH, "papeis", &[])
    }))
}

/// The values that the form of a person's exceptions sends.
const CHOICES: [(&str, Option<bool>); 3] =
    [("herdar", None), ("permitir", Some(true)), ("negar", Some(false))];

/// A permission, whether the plan gives it, and the choice for the student.
pub type StudentPermission = (&'static Permission, bool, view::Field);

/// The permissions of a student as the student's page shows them.
pub fn of_student(
    tx: &ReadTx<'_>,
    id: UserId,
    role: Role,
) -> Result<Vec<StudentPermission>, Problem> {
    let granted = permissions::of_role(tx, role)?;
    let exceptions = permissions::exceptions(tx, id)?;
    let row = |permission: &'static Permission| {
        let exception = exceptions.iter().find(|(name, _)| *name == permission.name);
        let exception = exception.map(|(_, granted)| *granted);
        let choice = CHOICES.iter().find(|(_, means)| *means == exception);
        let field = view::Field::of(choice.map_or("herdar", |(word, _)| word));
        (permission, granted.contains(&permission.name), field)
    };
    Ok(ALL.iter().map(row).collect())
}

/// One of [`CHOICES`]; programs may also send true or false.
#[derive(Default)]
struct Exception(Option<bool>);

impl FromField for Exception {
    const WANTED: &'static str = "must be herdar, permitir or negar";

    fn from_field(value: Value, _: bool) -> Option<Self> {
        match value {
            Value::Bool(granted) => Some(Self(Some(granted))),
            Value::String(word) => {
                let found = CHOICES.iter().find(|(known, _)| *known == word);
                found.map(|(_, granted)| Self(*granted))
            }
            _ => None,
        }
    }
}

/// `POST /admin/alunos/{id}/permissoes`: sets or removes exceptions of a
/// student. Permissions that are left out stay.
pub fn change_exceptions(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let change = Change::of(app, person, request)?;
    let mut body: BTreeMap<String, Field<Exception>> = request.form_or_json()?;
    let mut wanted = Vec::new();
    let mut faults: Fields = Vec::new();
    for permission in &ALL {
        let Some(field) = body.remove(permission.name) else {
            continue;
        };
        let mut check = Check::form_or_json(request.headers());
        let Exception(granted) = check.required(permission.name, field);
        match check.finish() {
            Ok(()) => wanted.push((permission.name, granted)),
            Err(problem) => faults.extend(problem.fields),
        }
    }
    faults.extend(body.into_keys().map(|name| (name.into(), "is not a permission".into())));
    if !faults.is_empty() {
        return Err(Problem::invalid(faults));
    }
    Ok(Box::new(move |tx| {
        let (student, id) = (change.find(tx)?, change.id);
        let before = permissions::exceptions(tx, id)?;
        for (name, granted) in wanted {
            permissions::set_exception(tx, id, name, granted)?;
        }
        let after = permissions::exceptions(tx, id)?;
        if before != after {
            let act = objects::STUDENT.act("aluno.permissoes", id, &student.entry.nome);
            audit::note(tx, &change.actor, &act, told(&before), told(&after))?;
        }
        change.done("permissoes")
    }))
}

/// Exceptions as the audit log shows them.
fn told(exceptions: &[(&'static str, bool)]) -> BTreeMap<&'static str, &'static str> {
    let told = exceptions.iter();
    told.map(|(name, granted)| (*name, if *granted { "permitir" } else { "negar" })).collect()
}
