//! Lessons of the courses, each a video, kept by the operator (contract §6).

pub mod pages;
pub mod store;
pub mod views;

use serde::{Deserialize, Serialize};

use self::views::{LessonForm, LessonsPage, video_words};
use super::courses::{self, Course};
use super::teachers;
use crate::audit::objects::LESSON;
use crate::base::{Instant, Zone};
use crate::content::inputs;
use crate::content::store::{Topic, note_change};
use crate::db::{Column, DbError, ReadTx, WriteTx};
use crate::http::{Check, Field, ForPeople, Problem, Reply, Request};
use crate::noun::{self, FormParts, ListParts, Made, Noun, Rows, declares};
use crate::panel::form::Reference;
use crate::panel::{Form, ListQuery, Listing, Pick, Sent, columns, flashes, form, heads};
use crate::row;
use crate::wire;

/// Most lessons of a course, which a page shows at once.
pub const MOST_OF_A_COURSE: i64 = 500;

row! {
    /// A lesson, as it is stored.
    #[derive(Clone, Debug)]
    pub struct Lesson {
        pub id: i64 = "lesson.lesson_id",
        pub entry: LessonEntry as row,
        pub course: String = "course.title",
        pub teacher: Option<String> = "teacher.name",
    }
}

row! {
    /// What an operator enters about a lesson. The audit log uses the field names
    /// of the form.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct LessonEntry {
        #[serde(rename = "titulo")]
        pub title: String = "lesson.title",
        #[serde(rename = "curso_id")]
        pub course_id: i64 = "lesson.course_id",
        #[serde(rename = "professor_id")]
        pub teacher_id: Option<i64> = "lesson.teacher_id",
        pub video_url: String = "lesson.video_url",
        /// Position in the course. `None` means last for a new lesson, and no
        /// change for an existing one.
        #[serde(rename = "ordem")]
        pub position: Option<i64> = "lesson.position",
    }
}

pub const FORM: Form<LessonEntry> = form! {
    (inputs::title(|entry| &mut entry.title));
    "video_url": Own(read_video, |entry, _| entry.video_url.clone()),
        "Informe o endereço do vídeo, que comece com https://.";
    "curso_id": Own(
        |sent, name, entry| {
            let Reference(course) = sent.required(name);
            entry.course_id = course.unwrap_or_default();
        },
        |entry, _| match entry.course_id {
            0 => String::new(),
            id => id.to_string(),
        },
    ), "Escolha um curso da lista.";
    (teachers::input(|entry| &mut entry.teacher_id));
    "ordem": Maybe(1..=9_999, |entry| &mut entry.position),
        "Informe um número de 1 a 9999, ou deixe em branco.";
};

fn read_video(sent: &mut Sent<'_>, name: &'static str, entry: &mut LessonEntry) {
    entry.video_url = sent.address(name);
    if entry.video_url.is_empty() {
        sent.check.fail(name, "must be an address that begins with https://");
    }
}

pub const LIST: Listing = Listing {
    path: LESSON.list,
    hint: "Título",
    sort_keys: &["curso", "titulo"],
    heads: heads!["Título" => "titulo", "Professor", "Ordem no curso" numeric],
    file: "aulas.csv",
    csv: columns![id titulo curso_id curso ordem professor video_url],
    flashes: flashes! {
        "criado": good "Aula criada", "Ela já está no curso.";
        "alterado": good "Aula alterada", "Os alunos já veem os novos dados.";
        "excluido": good "Aula excluída", "O que os alunos tinham marcado dela saiu junto.";
    },
    ..Listing::NONE
};

/// The courses and teachers that a lesson can refer to.
pub struct Choices {
    courses: Vec<Pick>,
    teachers: Vec<Pick>,
}

impl Noun for Lesson {
    declares!(LESSON, LessonEntry, title);
    type Beside = Choices;

    const ROWS: Rows = Rows {
        table: "lesson",
        key: "lesson_id",
        joins: "JOIN course ON course.course_id = lesson.course_id
            LEFT JOIN teacher ON teacher.teacher_id = lesson.teacher_id",
        searched: &["lesson.title"],
        orders: &[
            ("curso", "course.position, course.course_id, lesson.position, lesson.lesson_id"),
            ("titulo", "lesson.title COLLATE NOCASE, lesson.lesson_id"),
        ],
        most: (
            10_000,
            ForPeople(
                "Um curso tem no máximo 500 aulas, e todos juntos 10.000. Exclua alguma antes.",
            ),
        ),
    };

    fn wire(self, _: Zone, _: Instant) -> impl Serialize {
        LessonDetails::of(self)
    }
    fn list_page(list: ListParts<'_, Self>) -> Result<Reply, Problem> {
        let (app, _, request) = list.visit;
        let only = course_of(request)?;
        let course = match only {
            Some(id) => app.db.read(request.lane, |tx| Course::one(tx, id))?,
            None => None,
        };
        let only = only.map(|id| id.to_string()).unwrap_or_default();
        Reply::page(&LessonsPage {
            table: LIST.table_within(&list.query, LIST.heads, list.total, &[("curso", &only)]),
            layout: list.layout,
            course: course
                .map(|course| Pick { value: course.id.to_string(), label: course.entry.title }),
            lessons: list.rows,
        })
    }
    fn form_page(parts: FormParts<'_, Self>) -> Result<Reply, Problem> {
        let Choices { mut courses, teachers } = parts.beside;
        if parts.form.field("curso_id").value.is_empty() {
            courses.insert(0, Pick::none("Escolha um curso"));
        }
        Reply::page(&LessonForm {
            layout: parts.layout,
            existing: parts.existing,
            form: parts.form,
            courses,
            teachers,
            video_help: video_words(&parts.visit.0.config.content.video_hosts),
        })
    }

    fn page(
        tx: &ReadTx<'_>,
        request: &Request,
        query: &ListQuery,
    ) -> Result<(Vec<Self>, u64), Problem> {
        let course = course_of(request)?;
        let of = course
            .as_ref()
            .map(|id| -> (&str, Column<'_>) { ("lesson.course_id = :course", (":course", id)) });
        Ok(noun::store::page(tx, query, of.as_slice())?)
    }
    fn beside(tx: &ReadTx<'_>, _: Option<&Self>) -> Result<Choices, DbError> {
        let courses = courses::store::titles(tx)?.into_iter().map(Pick::of).collect();
        Ok(Choices { courses, teachers: teachers::picks(tx)? })
    }
    fn begin(request: &Request) -> Result<LessonEntry, Problem> {
        let course_id = course_of(request)?.unwrap_or_default();
        Ok(LessonEntry { course_id, ..LessonEntry::default() })
    }
    fn read_entry(
        sent: &mut Sent<'_>,
        present: Option<&LessonEntry>,
        choices: &Choices,
    ) -> LessonEntry {
        // Without a position in the form, the lesson keeps the one that it has when
        // it is written, or comes last in another course.
        let present = present.map(|entry| LessonEntry { position: None, ..entry.clone() });
        let entry = FORM.read(sent, present.as_ref());
        if !Pick::holds(&choices.courses, entry.course_id) {
            sent.check.fail("curso_id", "is no course");
        }
        teachers::check(sent, entry.teacher_id, &choices.teachers);
        entry
    }
    fn check(tx: &WriteTx<'_>, before: Option<&Self>, entry: &LessonEntry) -> Result<(), Problem> {
        if Course::one(tx, entry.course_id)?.is_none() {
            return Err(Problem::field("curso_id", "is no course"));
        }
        teachers::still_there(tx, entry.teacher_id)?;
        let comes = before.is_none_or(|before| before.entry.course_id != entry.course_id);
        if comes && !store::has_room(tx, entry.course_id)? {
            return Err(Problem::conflict(Self::ROWS.most.1));
        }
        Ok(())
    }

    fn update(tx: &WriteTx<'_>, id: i64, entry: &LessonEntry) -> Result<(), DbError> {
        store::update(tx, id, entry)
    }
    fn changed(tx: &WriteTx<'_>) -> Result<(), DbError> {
        note_change(tx, Topic::Teachers)
    }
}

impl Made for Lesson {
    fn insert(tx: &WriteTx<'_>, entry: &LessonEntry) -> Result<Option<i64>, DbError> {
        store::insert(tx, entry).map(Some)
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
