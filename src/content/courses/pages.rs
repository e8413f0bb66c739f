//! Courses in the operator's panel, as page and as JSON (contract §6).

use serde::{Deserialize, Serialize};

use super::views::{
    CourseForm, CourseRow, CoursesPage, ExistingCourse, LessonLine, audience_words, fault_words,
    role_ticks,
};
use super::{Course, CourseEntry, store, student_roles};
use crate::accounts::Role;
use crate::accounts::frame::layout;
use crate::app::App;
use crate::audit::Act;
use crate::content::change::Change;
use crate::content::change::Present;
use crate::content::lessons::store as lessons;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::{Check, Field};
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::answer::ListReply;
use crate::panel::csv::CsvFile;
use crate::panel::export;
use crate::panel::form::{self, FormView, tick};
use crate::panel::list::{Head, ListQuery, Listing};
use crate::panel::view::{Badge, Notice, Tone};

const LIST: Listing = Listing {
    path: "/admin/cursos",
    hint: "Título",
    filters: &[],
    orders: &["ordem", "titulo"],
    ..Listing::NONE
};

const FIELDS: [&str; 5] = ["titulo", "descricao", "ordem", "papeis", "publicado"];
const LONGEST_DESCRIPTION: usize = 2_000;

/// A course as programs of the operator read it.
#[derive(Serialize)]
struct CourseDetails {
    id: String,
    titulo: String,
    descricao: String,
    ordem: Option<i64>,
    publicado: bool,
    papeis: Vec<Role>,
    total_aulas: i64,
}

impl CourseDetails {
    fn of(course: Course) -> Self {
        Self {
            id: course.id.to_string(),
            titulo: course.entry.title,
            descricao: course.entry.description,
            ordem: course.entry.position,
            publicado: course.entry.published,
            papeis: course.entry.roles,
            total_aulas: course.lessons,
        }
    }
}

fn order(query: &ListQuery) -> &'static str {
    match (query.order, query.descending) {
        ("titulo", false) => "title COLLATE NOCASE, course.course_id",
        ("titulo", true) => "title COLLATE NOCASE DESC, course.course_id DESC",
        (_, false) => "position, course.course_id",
        (_, true) => "position DESC, course.course_id DESC",
    }
}

/// `GET /admin/cursos`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (courses, total) = app
        .db
        .read(request.lane, |tx| store::page(tx, &query.search, order(&query), query.window()))?;
    if query.csv {
        return csv(app, person, courses);
    }
    if request.wants_json() {
        return ListReply::reply(total, courses.into_iter().map(CourseDetails::of).collect());
    }
    let columns = [
        Head::sorts("Título", "titulo"),
        Head::sorts("Ordem", "ordem").numeric(),
        Head::plain("Aulas").numeric(),
        Head::plain("Situação"),
    ];
    Reply::page(&CoursesPage {
        layout: layout(app, person, request).with_flash(flash(&query.notice)),
        table: LIST.table(&query, &columns, total),
        courses: courses.into_iter().map(row).collect(),
    })
}

fn csv(app: &App, person: &Person, courses: Vec<Course>) -> Result<Reply, Problem> {
    let header = ["id", "titulo", "ordem", "publicado", "papeis", "total_aulas", "descricao"];
    let file = CsvFile::new("cursos.csv", &header)?;
    export::send(app, person, file, courses, |_, _, Course { id, entry, lessons }, file| {
        let roles: Vec<&str> = entry.roles.iter().map(|role| role.name()).collect();
        file.row([
            &*id.to_string(),
            &entry.title,
            &entry.position.unwrap_or_default().to_string(),
            if entry.published { "sim" } else { "nao" },
            &roles.join(" "),
            &lessons.to_string(),
            &entry.description,
        ])
    })
}

fn row(course: Course) -> CourseRow {
    CourseRow {
        id: course.id.to_string(),
        title: course.entry.title,
        audience: audience_words(&course.entry.roles),
        position: course.entry.position.unwrap_or_default().to_string(),
        lessons: course.lessons,
        state: if course.entry.published { Badge::Published } else { Badge::Draft },
    }
}

fn flash(notice: &str) -> Option<Notice> {
    let (tone, title, text) = match notice {
        "criado" => (
            Tone::Good,
            "Curso criado",
            "Agora crie as aulas dele. Os alunos veem o curso quando estiver publicado.",
        ),
        "alterado" => (Tone::Good, "Curso alterado", "Os alunos já veem os novos dados."),
        "excluido" => (Tone::Good, "Curso excluído", ""),
        "ordem" => (Tone::Good, "Ordem das aulas alterada", ""),
        "em-uso" => (
            Tone::Warn,
            "Este curso ainda tem aulas",
            "Nada foi excluído. Exclua as aulas ou passe-as para outro curso antes. Para esconder o curso, desmarque Publicado.",
        ),
        _ => return None,
    };
    Some(Notice::new(tone, title, text))
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
    let form = FormView::new(&FIELDS, |name| {
        entry.map_or_else(|| fresh(name), |entry| typed(entry, name))
    });
    let ticks = role_ticks(|role| entry.is_some_and(|entry| entry.roles.contains(&role)));
    Reply::page(&CourseForm {
        layout: layout(app, person, request).with_flash(request.notice.as_deref().and_then(flash)),
        existing: found.map(existing),
        form,
        ticks,
    })
}

fn fresh(name: &str) -> String {
    tick(matches!(name, "publicado" | "papeis"))
}

fn typed(entry: &CourseEntry, name: &str) -> String {
    match name {
        "titulo" => entry.title.clone(),
        "descricao" => entry.description.clone(),
        "ordem" => entry.position.map(|place| place.to_string()).unwrap_or_default(),
        "publicado" => tick(entry.published),
        // The boxes have values of their own; none ticked is no empty field.
        _ => tick(true),
    }
}

fn existing((course, lessons): (Course, Vec<LessonLine>)) -> ExistingCourse {
    ExistingCourse { id: course.id.to_string(), title: course.entry.title, lessons }
}

fn find(app: &App, request: &Request) -> Result<(Course, Vec<LessonLine>), Problem> {
    let id = request.id()?;
    app.db.read(request.lane, |tx| {
        let course = store::course(tx, id)?.ok_or_else(Problem::not_found)?;
        let lessons = lessons::of_course(tx, id)?.into_iter();
        let lines = lessons.map(|lesson| LessonLine {
            id: lesson.id.to_string(),
            title: lesson.entry.title,
            teacher: lesson.teacher.unwrap_or_default(),
        });
        Ok((course, lines.collect()))
    })
}

#[derive(Deserialize)]
struct CourseBody {
    #[serde(default)]
    titulo: Field<String>,
    #[serde(default)]
    descricao: Field<String>,
    #[serde(default)]
    ordem: Field<i64>,
    #[serde(default)]
    publicado: Field<bool>,
    #[serde(default)]
    papeis: Field<Vec<String>>,
}

fn read_entry(request: &Request, stored: Option<&CourseEntry>) -> Result<CourseEntry, Problem> {
    let body: CourseBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let is_form = crate::http::input::is_form(request.headers());
    let present = Present::of(request, stored);
    let title = present.keep(&body.titulo, |entry| entry.title.clone());
    let title = title.unwrap_or_else(|| check.line("titulo", body.titulo, 2..=120));
    let description = present.keep(&body.descricao, |entry| entry.description.clone());
    let description = description.unwrap_or_else(|| {
        crate::content::change::lines(&mut check, "descricao", body.descricao, LONGEST_DESCRIPTION)
    });
    let position = check.number("ordem", body.ordem, 1..=9_999);
    // A browser leaves an unticked box out; a program publishes unless it says no.
    let published = present.keep(&body.publicado, |entry| entry.published);
    let published = published.unwrap_or_else(|| {
        let said = check.optional("publicado", body.publicado);
        said.unwrap_or(!is_form)
    });
    let roles = present.keep(&body.papeis, |entry| entry.roles.clone());
    let roles = roles.unwrap_or_else(|| read_roles(&mut check, body.papeis));
    check.finish()?;
    Ok(CourseEntry { title, description, position, published, roles })
}

fn read_roles(check: &mut Check, field: Field<Vec<String>>) -> Vec<Role> {
    let named = check.optional("papeis", field).unwrap_or_default();
    let known = |name: &String| student_roles().any(|role| role.name() == name);
    if !named.iter().all(known) {
        check.fail("papeis", "must be roles of students: free, pro, vip, piloto_pro, podio");
    }
    student_roles().filter(|role| named.iter().any(|name| name == role.name())).collect()
}

fn again(
    app: &App,
    person: &Person,
    request: &Request,
    existing: Option<ExistingCourse>,
    problem: Problem,
) -> Result<Job, Problem> {
    form::show_again(request, problem, |faults| {
        let ticked = |role: Role| form::all_sent(request, "papeis").any(|name| name == role.name());
        Reply::page(&CourseForm {
            layout: layout(app, person, request),
            existing,
            form: FormView::again(&FIELDS, request, faults, fault_words),
            ticks: role_ticks(ticked),
        })
    })
}

/// `POST /admin/cursos`: creates a course.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match read_entry(request, None) {
        Ok(entry) => entry,
        Err(problem) => return again(app, person, request, None, problem),
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let full =
            || Problem::new(Code::Conflict, "there are 500 courses already; remove some first");
        let id = store::insert(tx, &entry)?.ok_or_else(full)?;
        let act = act("curso.criar", id, &entry.title);
        change.note(tx, &act, None::<&()>, Some(&entry))?;
        // Where the lessons are made.
        change.answer.made(id, &format!("{}/{id}", LIST.path), "criado")
    }))
}

/// `POST /admin/cursos/{id}`: changes a course.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let found = find(app, request)?;
    let id = found.0.id;
    let entry = match read_entry(request, Some(&found.0.entry)) {
        Ok(entry) => entry,
        Err(problem) => return again(app, person, request, Some(existing(found)), problem),
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::course(tx, id)?.ok_or_else(Problem::not_found)?;
        store::update(tx, id, &entry)?;
        let act = act("curso.alterar", id, &entry.title);
        change.note(tx, &act, Some(&before.entry), Some(&entry))?;
        change.answer.done(id, LIST.path, "alterado")
    }))
}

/// `POST /admin/cursos/{id}/excluir`: removes a course without lessons.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(app, person, request);
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
        let act = act("curso.excluir", id, &before.entry.title);
        change.note(tx, &act, Some(&before.entry), None::<&()>)?;
        change.answer.done(id, LIST.path, "excluido")
    }))
}

fn act<'a>(action: &'static str, id: i64, title: &'a str) -> Act<'a> {
    Act { action, object: "curso", object_id: id.to_string(), object_name: title }
}
