//! Courses in the operator's panel, as page and as JSON.

use serde::Serialize;

use super::views::{CourseForm, CoursesPage, role_ticks};
use super::{Course, CourseEntry, store, student_roles};
use crate::accounts::Role;
use crate::accounts::frame::layout;
use crate::app::App;
use crate::content::change::{Change, Noun};
use crate::content::lessons::{Lesson, store as lessons};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::form::tick;
use crate::panel::{
    Form, Head, Input, ListReply, Listing, Outcome, Rule, Sent, Visit, export, form,
};
use crate::wire;

pub(in crate::content) const LIST: Listing = Listing {
    path: "/admin/cursos",
    hint: "Título",
    sort_keys: &["ordem", "titulo"],
    heads: &[
        Head::sorts("Título", "titulo"),
        Head::sorts("Ordem", "ordem").numeric(),
        Head::plain("Aulas").numeric(),
        Head::plain("Situação"),
    ],
    file: "cursos.csv",
    csv: &["id", "titulo", "ordem", "publicado", "papeis", "total_aulas", "descricao"],
    outcomes: &[
        Outcome::good(
            "criado",
            "Curso criado",
            "Agora crie as aulas dele. Os alunos veem o curso quando estiver publicado.",
        ),
        Outcome::good("alterado", "Curso alterado", "Os alunos já veem os novos dados."),
        Outcome::good("excluido", "Curso excluído", ""),
        Outcome::good("ordem", "Ordem das aulas alterada", ""),
        Outcome::warn(
            "em-uso",
            "Este curso ainda tem aulas",
            "Nada foi excluído. Exclua as aulas ou passe-as para outro curso antes. Para esconder o curso, desmarque Publicado.",
        ),
    ],
    ..Listing::NONE
};

const NOUN: Noun = Noun {
    object: "curso",
    created: "curso.criar",
    changed: "curso.alterar",
    removed: "curso.excluir",
    path: LIST.path,
};

/// The form of a course.
pub(in crate::content) const FORM: Form<CourseEntry> = Form(&[
    Input::new(
        "titulo",
        "Dê um título de 2 a 120 letras.",
        Rule::Line(2..=120, |entry| &mut entry.title),
    ),
    Input::new(
        "descricao",
        "Use até 2.000 letras.",
        Rule::Lines(2_000, |entry| &mut entry.description),
    ),
    Input::new(
        "ordem",
        "Informe um número de 1 a 9999, ou deixe em branco.",
        Rule::Maybe(1..=9_999, |entry| &mut entry.position),
    ),
    // Each box has its own value. No ticked box is a valid answer, not an empty
    // field.
    Input::new(
        "papeis",
        "Escolha entre os papéis da lista.",
        Rule::Own(read_roles, |_, _| tick(true)),
    ),
    Input::new("publicado", "Confira este campo.", Rule::Tick(|entry| &mut entry.published)),
]);

fn read_roles(sent: &mut Sent<'_>, name: &'static str, entry: &mut CourseEntry) {
    let named: Vec<String> = sent.optional(name).unwrap_or_default();
    let known = |name: &String| student_roles().any(|role| role.name() == name);
    if !named.iter().all(known) {
        let said = "must be roles of students: free, pro, vip, piloto_pro, podio";
        sent.check.fail(name, said);
    }
    entry.roles =
        student_roles().filter(|role| named.iter().any(|name| name == role.name())).collect();
}

wire! {
    /// A course as programs of the operator read it.
    #[derive(Serialize)]
    struct CourseDetails of(course: Course) {
        id: String = course.id.to_string(),
        titulo: String = course.entry.title,
        descricao: String = course.entry.description,
        ordem: Option<i64> = course.entry.position,
        publicado: bool = course.entry.published,
        papeis: Vec<Role> = course.entry.roles,
        total_aulas: i64 = course.lessons,
    }
}

/// `GET /admin/cursos`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (courses, total) = app.db.read(request.lane, |tx| {
        let by_title = query.sort_key == "titulo";
        store::page(tx, &query.search, by_title, query.descending, query.window())
    })?;
    if query.csv {
        return export::list(app, person, &LIST, courses, |_, _, course| {
            Ok(Some(CourseDetails::of(course)))
        });
    }
    if request.wants_json() {
        return ListReply::reply(total, courses.into_iter().map(CourseDetails::of).collect());
    }
    Reply::page(&CoursesPage {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        table: LIST.table(&query, LIST.heads, total),
        courses,
    })
}

/// `GET /admin/cursos/{id}`: the form of one course with its lessons; `novo`
/// for a new one.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let found = match request.variable("id") {
        "novo" => None,
        _ => Some(find(app, request)?),
    };
    if request.wants_json() {
        let (course, _) = found.ok_or_else(Problem::not_found)?;
        return Reply::json(&CourseDetails::of(course));
    }
    let entry = found.as_ref().map(|(course, _)| &course.entry);
    Reply::page(&CourseForm {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        form: FORM.show(entry, app.zone()),
        ticks: role_ticks(|role| entry.is_some_and(|entry| entry.roles.contains(&role))),
        existing: found,
    })
}

fn find(app: &App, request: &Request) -> Result<(Course, Vec<Lesson>), Problem> {
    let id = request.id()?;
    app.db.read(request.lane, |tx| {
        let course = store::course(tx, id)?.ok_or_else(Problem::not_found)?;
        Ok((course, lessons::of_course(tx, id)?))
    })
}

fn read_entry(
    app: &App,
    request: &Request,
    present: Option<&CourseEntry>,
) -> Result<CourseEntry, Problem> {
    // Without a position in the form, the course keeps the one that it has when
    // it is written.
    let present = present.map(|entry| CourseEntry { position: None, ..entry.clone() });
    FORM.entry(request, app.zone(), present.as_ref())
}

fn again(
    (app, person, request): Visit<'_>,
    existing: Option<(Course, Vec<Lesson>)>,
    problem: Problem,
) -> Result<Job, Problem> {
    form::show_again(request, problem, |faults| {
        let ticked = |role: Role| form::all_sent(request, "papeis").any(|name| name == role.name());
        Reply::page(&CourseForm {
            layout: layout(app, person, request),
            existing,
            form: FORM.again(request, faults),
            ticks: role_ticks(ticked),
        })
    })
}

/// `POST /admin/cursos`: creates a course.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match read_entry(app, request, None) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), None, problem),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let full =
            || Problem::new(Code::Conflict, "there are 500 courses already; remove some first");
        let id = store::insert(tx, &entry)?.ok_or_else(full)?;
        // The page on which the lessons are added.
        let page = format!("{}/{id}", LIST.path);
        change.created(tx, (&NOUN, id, &entry.title), &entry, &page)
    }))
}

/// `POST /admin/cursos/{id}`: changes a course.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let found = find(app, request)?;
    let id = found.0.id;
    let entry = match read_entry(app, request, Some(&found.0.entry)) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), Some(found), problem),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = store::course(tx, id)?.ok_or_else(Problem::not_found)?;
        store::update(tx, id, &entry)?;
        change.changed(tx, (&NOUN, id, &entry.title), &before.entry, &entry)
    }))
}

/// `POST /admin/cursos/{id}/excluir`: removes a course without lessons.
pub fn delete(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = store::course(tx, id)?.ok_or_else(Problem::not_found)?;
        if before.lessons > 0 {
            let said = format!(
                "this course still has {} lessons; remove them or move them to another course first, or set publicado to false to hide it",
                before.lessons
            );
            let page = format!("{}/{id}", LIST.path);
            let problem = Problem::new(Code::Conflict, said);
            return change.answer.refused(problem, &page, "em-uso");
        }
        store::delete(tx, id)?;
        change.removed(tx, (&NOUN, id, &before.entry.title), &before.entry)
    }))
}
