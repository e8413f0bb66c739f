//! The courses that a plan opens, chosen on the plan's page. A course is for roles,
//! so what is chosen holds for every plan that gives the same one.

use serde::Serialize;

use super::store::CourseOfPlan;
use super::{LIST, Plan, store};
use crate::accounts::Role;
use crate::app::App;
use crate::audit::objects::COURSE;
use crate::content::store::{Topic, note_change};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Request};
use crate::identity::Person;
use crate::noun::{Change, Noun as _};
use crate::panel::Sent;

/// Most courses that a form names.
const MOST: usize = 500;

/// What a course's roles were, in the audit log.
#[derive(Serialize)]
struct Roles {
    papeis: Vec<Role>,
}

/// `POST /admin/planos/{id}/cursos`: sets which courses the plan's students see.
pub fn set(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let mut sent = Sent::of(request, app.zone())?;
    let named: Vec<String> = sent.optional("cursos").unwrap_or_default();
    let wanted: Vec<i64> = named.iter().filter_map(|name| name.parse().ok()).collect();
    if wanted.len() != named.len() || wanted.len() > MOST {
        sent.check.fail("cursos", "must be numbers of courses");
    }
    sent.finish()?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let plan = Plan::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let page = format!("{}/{id}", LIST.path);
        let conflict = |said: &'static str| Problem::conflict(ForPeople(said));
        let Some(role) = plan.entry.grants_role else {
            let problem = conflict("Este plano não diz qual plano da conta ele dá.");
            return change.answer.declined(problem, &page, "sem_plano_da_conta");
        };
        let is_wanted = |course: &CourseOfPlan| wanted.contains(&course.id);
        let mut courses = store::courses(tx)?;
        courses.retain(|course| course.is_for(role) != is_wanted(course));
        let after = |course: &CourseOfPlan| -> Vec<Role> {
            let sees = |one: Role| if one == role { is_wanted(course) } else { course.is_for(one) };
            Role::STUDENTS.into_iter().filter(|one| sees(*one)).collect()
        };
        // A course without roles is for all but free students, so none would open it wide.
        if courses.iter().any(|course| after(course).is_empty()) {
            let problem =
                conflict("Um curso ficaria sem plano, e ninguém o veria. Para isso, tire-o do ar.");
            return change.answer.declined(problem, &page, "curso_sem_plano");
        }
        for course in &courses {
            let (was, is) = (course.seen_by(), after(course));
            store::set_roles(tx, course.id, &is)?;
            let act = COURSE.act("curso.alterar", course.id, &course.title);
            change.note(tx, &act, &Roles { papeis: was }, &Roles { papeis: is })?;
        }
        if !courses.is_empty() {
            note_change(tx, Topic::Teachers)?;
        }
        change.answer.done(id, &page, "cursos")
    }))
}
