//! Lessons in the operator's panel, as page and as JSON.

use serde::{Deserialize, Serialize};

use super::store::{self, Wanted};
use super::views::{LessonForm, LessonsPage, video_words};
use super::{Lesson, LessonEntry};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::content::change::{Change, Noun};
use crate::content::courses::store as courses;
use crate::content::teachers::store as teachers;
use crate::db::{DbError, ReadTx, WriteTx};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Check, Code, Field, Problem, Reply, Request};
use crate::panel::form::Reference;
use crate::panel::{
    Form, FormView, Head, Input, Layout, ListReply, Listing, Outcome, Pick, Rule, Sent, Visit,
    export, form,
};
use crate::wire;

pub(in crate::content) const LIST: Listing = Listing {
    path: "/admin/aulas",
    hint: "Título",
    sort_keys: &["curso", "titulo"],
    heads: &[
        Head::sorts("Título", "titulo"),
        Head::plain("Professor"),
        Head::plain("Ordem no curso").numeric(),
    ],
    file: "aulas.csv",
    csv: &["id", "titulo", "curso_id", "curso", "ordem", "professor", "video_url"],
    outcomes: &[
        Outcome::good("criado", "Aula criada", "Ela já está no curso."),
        Outcome::good("alterado", "Aula alterada", "Os alunos já veem os novos dados."),
        Outcome::good(
            "excluido",
            "Aula excluída",
            "O que os alunos tinham marcado dela saiu junto.",
        ),
    ],
    ..Listing::NONE
};

const NOUN: Noun = Noun {
    object: "aula",
    created: "aula.criar",
    changed: "aula.alterar",
    removed: "aula.excluir",
    path: LIST.path,
};

/// The form of a lesson.
pub(in crate::content) const FORM: Form<LessonEntry> = Form(&[
    Input::new(
        "titulo",
        "Dê um título de 2 a 120 letras.",
        Rule::Line(2..=120, |entry| &mut entry.title),
    ),
    Input::new(
        "video_url",
        "Informe o endereço do vídeo, que comece com https://.",
        Rule::Own(read_video, |entry, _| entry.video_url.clone()),
    ),
    Input::new(
        "curso_id",
        "Escolha um curso da lista.",
        Rule::Own(
            |sent, name, entry| {
                let Reference(course) = sent.required(name);
                entry.course_id = course.unwrap_or_default();
            },
            |entry, _| match entry.course_id {
                0 => String::new(),
                id => id.to_string(),
            },
        ),
    ),
    Input::new(
        "professor_id",
        "Escolha um professor da lista.",
        Rule::Reference(|entry| &mut entry.teacher_id),
    ),
    Input::new(
        "ordem",
        "Informe um número de 1 a 9999, ou deixe em branco.",
        Rule::Maybe(1..=9_999, |entry| &mut entry.position),
    ),
]);

fn read_video(sent: &mut Sent<'_>, name: &'static str, entry: &mut LessonEntry) {
    entry.video_url = sent.address(name);
    if entry.video_url.is_empty() {
        sent.check.fail(name, "must be an address that begins with https://");
    }
}

wire! {
    /// A lesson as programs of the operator read it.
    #[derive(Serialize)]
    struct LessonDetails of(lesson: Lesson) {
        id: String = lesson.id.to_string(),
        titulo: String = lesson.entry.title,
        curso_id: String = lesson.entry.course_id.to_string(),
        curso: String = lesson.course,
        professor_id: Option<String> = lesson.entry.teacher_id.map(|id| id.to_string()),
        professor: Option<String> = lesson.teacher,
        video_url: String = lesson.entry.video_url,
        ordem: Option<i64> = lesson.entry.position,
    }
}

#[derive(Deserialize)]
struct CourseQuery {
    #[serde(default)]
    curso: Field<Reference>,
}

/// The course that an address names, if it names one.
fn course_of(request: &Request) -> Result<Option<i64>, Problem> {
    let query: CourseQuery = request.query()?;
    let mut check = Check::text();
    let course = check.optional("curso", query.curso);
    check.finish()?;
    Ok(course.and_then(|Reference(id)| id))
}

/// `GET /admin/aulas`: the list, of all courses or of one, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let wanted = Wanted {
        search: &query.search,
        course: course_of(request)?,
        by_title: query.sort_key == "titulo",
        descending: query.descending,
        window: query.window(),
    };
    let ((lessons, total), course) = app.db.read(request.lane, |tx| {
        let course = match wanted.course {
            Some(id) => courses::course(tx, id)?,
            None => None,
        };
        Ok::<_, Problem>((store::page(tx, &wanted)?, course))
    })?;
    if query.csv {
        return export::list(app, person, &LIST, lessons, |_, _, lesson| {
            Ok(Some(LessonDetails::of(lesson)))
        });
    }
    if request.wants_json() {
        return ListReply::reply(total, lessons.into_iter().map(LessonDetails::of).collect());
    }
    let only = wanted.course.map(|id| id.to_string()).unwrap_or_default();
    Reply::page(&LessonsPage {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        table: LIST.table_within(&query, LIST.heads, total, &[("curso", &only)]),
        course: course
            .map(|course| Pick { value: course.id.to_string(), label: course.entry.title }),
        lessons,
    })
}

/// The courses and teachers that a lesson can refer to.
struct Choices {
    courses: Vec<Pick>,
    teachers: Vec<Pick>,
}

impl Choices {
    fn read(tx: &ReadTx<'_>) -> Result<Self, DbError> {
        let pick = |(id, label): (i64, String)| Pick { value: id.to_string(), label };
        Ok(Self {
            courses: courses::titles(tx)?.into_iter().map(pick).collect(),
            teachers: teachers::names(tx)?.into_iter().map(pick).collect(),
        })
    }

    fn form(
        self,
        app: &App,
        layout: Layout,
        existing: Option<Lesson>,
        form: FormView,
    ) -> LessonForm {
        let none = |label: &str| Pick { value: String::new(), label: label.to_owned() };
        let mut courses = self.courses;
        if form.field("curso_id").value.is_empty() {
            courses.insert(0, none("Escolha um curso"));
        }
        let mut teachers = self.teachers;
        teachers.insert(0, none("Nenhum"));
        LessonForm {
            layout,
            existing,
            form,
            courses,
            teachers,
            video_help: video_words(&app.config.content.video_hosts),
        }
    }
}

/// `GET /admin/aulas/{id}`: the form of one lesson; `novo` for a new one, of
/// the course that the address names.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = match request.variable("id") {
        "novo" => None,
        _ => Some(request.id()?),
    };
    let course = course_of(request)?;
    let (lesson, choices) = app.db.read(request.lane, |tx| {
        let lesson = match id {
            Some(id) => Some(store::lesson(tx, id)?.ok_or_else(Problem::not_found)?),
            None => None,
        };
        Ok::<_, Problem>((lesson, Choices::read(tx)?))
    })?;
    if request.wants_json() {
        let lesson = lesson.ok_or_else(Problem::not_found)?;
        return Reply::json(&LessonDetails::of(lesson));
    }
    let form = if let Some(lesson) = &lesson {
        FORM.show(Some(&lesson.entry), app.zone())
    } else {
        let course_id = course.unwrap_or_default();
        FORM.begin(LessonEntry { course_id, ..LessonEntry::default() }, app.zone())
    };
    Reply::page(&choices.form(app, layout(app, person, request), lesson, form))
}

fn read_entry(
    app: &App,
    request: &Request,
    present: Option<&LessonEntry>,
    choices: &Choices,
) -> Result<LessonEntry, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    // Without a position in the form, the lesson keeps the one that it has when
    // it is written, or comes last in another course.
    let present = present.map(|entry| LessonEntry { position: None, ..entry.clone() });
    let entry = FORM.read(&mut sent, present.as_ref());
    if !is_among(&choices.courses, entry.course_id) {
        sent.check.fail("curso_id", "is no course");
    }
    if entry.teacher_id.is_some_and(|id| !is_among(&choices.teachers, id)) {
        sent.check.fail("professor_id", "is no teacher");
    }
    sent.finish()?;
    Ok(entry)
}

fn again(
    (app, person, request): Visit<'_>,
    (existing, choices): (Option<Lesson>, Choices),
    problem: Problem,
) -> Result<Job, Problem> {
    form::show_again(request, problem, |faults| {
        let form = FORM.again(request, faults);
        Reply::page(&choices.form(app, layout(app, person, request), existing, form))
    })
}

fn is_among(picks: &[Pick], id: i64) -> bool {
    let id = id.to_string();
    picks.iter().any(|pick| pick.value == id)
}

/// `POST /admin/aulas`: creates a lesson.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let choices = app.db.read(request.lane, Choices::read)?;
    let entry = match read_entry(app, request, None, &choices) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), (None, choices), problem),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        still_there(tx, &entry)?;
        if !store::has_room(tx, entry.course_id)? {
            return Err(full());
        }
        let id = store::insert(tx, &entry)?;
        change.created(tx, (&NOUN, id, &entry.title), &entry, LIST.path)
    }))
}

fn full() -> Problem {
    Problem::new(
        Code::Conflict,
        "a course has at most 500 lessons, and all together 10000; remove some first",
    )
}

/// The course or the teacher may have been removed since the form was checked.
fn still_there(tx: &WriteTx<'_>, entry: &LessonEntry) -> Result<(), Problem> {
    if courses::course(tx, entry.course_id)?.is_none() {
        return Err(Problem::field("curso_id", "is no course"));
    }
    match entry.teacher_id {
        Some(id) if teachers::teacher(tx, id)?.is_none() => {
            Err(Problem::field("professor_id", "is no teacher"))
        }
        _ => Ok(()),
    }
}

/// `POST /admin/aulas/{id}`: changes a lesson.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (lesson, choices) = app.db.read(request.lane, |tx| {
        let lesson = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        Ok::<_, Problem>((lesson, Choices::read(tx)?))
    })?;
    let entry = match read_entry(app, request, Some(&lesson.entry), &choices) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), (Some(lesson), choices), problem),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        still_there(tx, &entry)?;
        let moves = before.entry.course_id != entry.course_id;
        if moves && !store::has_room(tx, entry.course_id)? {
            return Err(full());
        }
        store::update(tx, id, &entry)?;
        change.changed(tx, (&NOUN, id, &entry.title), &before.entry, &entry)
    }))
}

/// `POST /admin/aulas/{id}/excluir`: removes a lesson.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    app.db.write_pieces(move |tx| store::empty(tx, id))?;
    app.db.write(move |tx| {
        let before = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        store::delete(tx, id)?;
        change.removed(tx, (&NOUN, id, &before.entry.title), &before.entry)
    })
}

/// `POST /admin/aulas/{id}/subir`: one place towards the start of its course.
pub fn move_up(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    shift(person, request, true)
}

/// `POST /admin/aulas/{id}/descer`: one place towards the end of its course.
pub fn move_down(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    shift(person, request, false)
}

fn shift(person: &Person, request: &Request, up: bool) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        let course = before.entry.course_id;
        store::shift(tx, course, id, up)?;
        let after = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        let act = NOUN.act("aula.mover", id, &before.entry.title);
        change.note(tx, &act, Some(&before.entry), Some(&after.entry))?;
        let page = format!("/admin/cursos/{course}");
        change.answer.done(id, &page, "ordem")
    }))
}
