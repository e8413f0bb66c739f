//! Lessons in the operator's panel, as page and as JSON (contract §6).

use serde::{Deserialize, Serialize};

use super::store::{self, Wanted};
use super::views::{ExistingLesson, LessonForm, LessonRow, LessonsPage, fault_words, video_words};
use super::{Lesson, LessonEntry};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::audit::Act;
use crate::content::change::Change;
use crate::content::change::Present;
use crate::content::courses::store as courses;
use crate::content::teachers::store as teachers;
use crate::db::{DbError, ReadTx, WriteTx};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::{Check, Field};
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::answer::ListReply;
use crate::panel::csv::CsvFile;
use crate::panel::export;
use crate::panel::form::{self, FormView, Pick, Reference};
use crate::panel::list::{Head, Listing};
use crate::panel::view::{Layout, Notice, Tone};

const LIST: Listing = Listing {
    path: "/admin/aulas",
    hint: "Título",
    filters: &[],
    orders: &["curso", "titulo"],
    ..Listing::NONE
};

const FIELDS: [&str; 5] = ["titulo", "video_url", "curso_id", "professor_id", "ordem"];

/// A lesson as programs of the operator read it.
#[derive(Serialize)]
struct LessonDetails {
    id: String,
    titulo: String,
    curso_id: String,
    curso: String,
    professor_id: Option<String>,
    professor: Option<String>,
    video_url: String,
    ordem: Option<i64>,
}

impl LessonDetails {
    fn of(lesson: Lesson) -> Self {
        Self {
            id: lesson.id.to_string(),
            titulo: lesson.entry.title,
            curso_id: lesson.entry.course_id.to_string(),
            curso: lesson.course,
            professor_id: lesson.entry.teacher_id.map(|id| id.to_string()),
            professor: lesson.teacher,
            video_url: lesson.entry.video_url,
            ordem: lesson.entry.position,
        }
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
        by_title: query.order == "titulo",
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
        return csv(app, person, lessons);
    }
    if request.wants_json() {
        return ListReply::reply(total, lessons.into_iter().map(LessonDetails::of).collect());
    }
    let columns = [
        Head::sorts("Título", "titulo"),
        Head::plain("Professor"),
        Head::plain("Ordem no curso").numeric(),
    ];
    let only = wanted.course.map(|id| id.to_string()).unwrap_or_default();
    Reply::page(&LessonsPage {
        layout: layout(app, person, request).with_flash(flash(&query.notice)),
        table: LIST.table_within(&query, &columns, total, &[("curso", &only)]),
        course: course
            .map(|course| Pick { value: course.id.to_string(), label: course.entry.title }),
        lessons: lessons.into_iter().map(row).collect(),
    })
}

fn csv(app: &App, person: &Person, lessons: Vec<Lesson>) -> Result<Reply, Problem> {
    let header = ["id", "titulo", "curso_id", "curso", "ordem", "professor", "video_url"];
    let file = CsvFile::new("aulas.csv", &header)?;
    export::send(app, person, file, lessons, |_, _, lesson, file| {
        let Lesson { id, entry, course, teacher } = lesson;
        file.row([
            &*id.to_string(),
            &entry.title,
            &entry.course_id.to_string(),
            &course,
            &entry.position.unwrap_or_default().to_string(),
            teacher.as_deref().unwrap_or_default(),
            &entry.video_url,
        ])
    })
}

fn row(lesson: Lesson) -> LessonRow {
    LessonRow {
        id: lesson.id.to_string(),
        title: lesson.entry.title,
        course: lesson.course,
        teacher: lesson.teacher.unwrap_or_default(),
        position: lesson.entry.position.unwrap_or_default().to_string(),
    }
}

fn flash(notice: &str) -> Option<Notice> {
    let (title, text) = match notice {
        "criado" => ("Aula criada", "Ela já está no curso."),
        "alterado" => ("Aula alterada", "Os alunos já veem os novos dados."),
        "excluido" => ("Aula excluída", "O que os alunos tinham marcado dela saiu junto."),
        _ => return None,
    };
    Some(Notice::new(Tone::Good, title, text))
}

/// What a lesson can refer to.
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
        lesson: Option<&Lesson>,
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
            existing: lesson.map(|lesson| ExistingLesson {
                id: lesson.id.to_string(),
                title: lesson.entry.title.clone(),
            }),
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
    let entry = lesson.as_ref().map(|lesson| &lesson.entry);
    let form = FormView::new(&FIELDS, |name| match (entry, name) {
        (Some(entry), name) => typed(entry, name),
        (None, "curso_id") => course.map(|id| id.to_string()).unwrap_or_default(),
        (None, _) => String::new(),
    });
    Reply::page(&choices.form(app, layout(app, person, request), lesson.as_ref(), form))
}

fn typed(entry: &LessonEntry, name: &str) -> String {
    let number = |number: Option<i64>| number.map(|it| it.to_string()).unwrap_or_default();
    match name {
        "titulo" => entry.title.clone(),
        "video_url" => entry.video_url.clone(),
        "curso_id" => entry.course_id.to_string(),
        "professor_id" => number(entry.teacher_id),
        _ => number(entry.position),
    }
}

#[derive(Deserialize)]
struct LessonBody {
    #[serde(default)]
    titulo: Field<String>,
    #[serde(default)]
    curso_id: Field<Reference>,
    #[serde(default)]
    professor_id: Field<Reference>,
    #[serde(default)]
    video_url: Field<String>,
    #[serde(default)]
    ordem: Field<i64>,
}

fn read_entry(
    request: &Request,
    stored: Option<&LessonEntry>,
    choices: &Choices,
) -> Result<LessonEntry, Problem> {
    let body: LessonBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let present = Present::of(request, stored);
    let title = present.keep(&body.titulo, |entry| entry.title.clone());
    let title = title.unwrap_or_else(|| check.line("titulo", body.titulo, 2..=120));
    let course = present.keep(&body.curso_id, |entry| Reference(Some(entry.course_id)));
    let course = course.unwrap_or_else(|| check.required("curso_id", body.curso_id));
    let course_id = course.0.unwrap_or_default();
    if !is_among(&choices.courses, course_id) {
        check.fail("curso_id", "is no course");
    }
    let teacher = present.keep(&body.professor_id, |entry| Reference(entry.teacher_id));
    let teacher = teacher.or_else(|| check.optional("professor_id", body.professor_id));
    let teacher_id = teacher.and_then(|Reference(id)| id);
    if teacher_id.is_some_and(|id| !is_among(&choices.teachers, id)) {
        check.fail("professor_id", "is no teacher");
    }
    let video_url = present.keep(&body.video_url, |entry| entry.video_url.clone());
    let video_url = video_url.unwrap_or_else(|| {
        crate::content::change::address(&mut check, "video_url", body.video_url)
    });
    if video_url.is_empty() {
        check.fail("video_url", "must be an address that begins with https://");
    }
    let position = check.number("ordem", body.ordem, 1..=9_999);
    check.finish()?;
    Ok(LessonEntry { title, course_id, teacher_id, video_url, position })
}

fn is_among(picks: &[Pick], id: i64) -> bool {
    let id = id.to_string();
    picks.iter().any(|pick| pick.value == id)
}

/// `POST /admin/aulas`: creates a lesson.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let choices = app.db.read(request.lane, Choices::read)?;
    let entry = match read_entry(request, None, &choices) {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let form = FormView::again(&FIELDS, request, faults, fault_words);
                Reply::page(&choices.form(app, layout(app, person, request), None, form))
            });
        }
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        still_there(tx, &entry)?;
        if !store::has_room(tx, entry.course_id)? {
            return Err(full());
        }
        let id = store::insert(tx, &entry)?;
        let act = act("aula.criar", id, &entry.title);
        change.note(tx, &act, None::<&()>, Some(&entry))?;
        change.answer.made(id, LIST.path, "criado")
    }))
}

fn full() -> Problem {
    Problem::new(
        Code::Conflict,
        "a course has at most 500 lessons, and all together 10000; remove some first",
    )
}

/// What a lesson refers to may have gone since its form was checked.
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
    let entry = match read_entry(request, Some(&lesson.entry), &choices) {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let form = FormView::again(&FIELDS, request, faults, fault_words);
                Reply::page(&choices.form(app, layout(app, person, request), Some(&lesson), form))
            });
        }
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        still_there(tx, &entry)?;
        let moves = before.entry.course_id != entry.course_id;
        if moves && !store::has_room(tx, entry.course_id)? {
            return Err(full());
        }
        store::update(tx, id, &entry)?;
        let act = act("aula.alterar", id, &entry.title);
        change.note(tx, &act, Some(&before.entry), Some(&entry))?;
        change.answer.done(id, LIST.path, "alterado")
    }))
}

/// `POST /admin/aulas/{id}/excluir`: removes a lesson.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        store::delete(tx, id)?;
        let act = act("aula.excluir", id, &before.entry.title);
        change.note(tx, &act, Some(&before.entry), None::<&()>)?;
        change.answer.done(id, LIST.path, "excluido")
    }))
}

/// `POST /admin/aulas/{id}/subir`: one place towards the start of its course.
pub fn move_up(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    shift(app, person, request, true)
}

/// `POST /admin/aulas/{id}/descer`: one place towards the end of its course.
pub fn move_down(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    shift(app, person, request, false)
}

fn shift(app: &App, person: &Person, request: &Request, up: bool) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        let course = before.entry.course_id;
        store::shift(tx, course, id, up)?;
        let after = store::lesson(tx, id)?.ok_or_else(Problem::not_found)?;
        let act = act("aula.mover", id, &before.entry.title);
        change.note(tx, &act, Some(&before.entry), Some(&after.entry))?;
        let page = format!("/admin/cursos/{course}");
        change.answer.done(id, &page, "ordem")
    }))
}

fn act<'a>(action: &'static str, id: i64, title: &'a str) -> Act<'a> {
    Act { action, object: "aula", object_id: id.to_string(), object_name: title }
}
