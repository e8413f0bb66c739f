//! Courses: lessons in an order, for students of some roles, kept by the operator
//! (contract §6).

pub mod store;
pub mod views;

use serde::Serialize;

use self::views::{CourseForm, CoursesPage, role_ticks};
use super::lessons::{self, Lesson};
use crate::accounts::Role;
use crate::audit::objects::COURSE;
use crate::base::{Instant, Zone, counted};
use crate::content::inputs;
use crate::content::store::{Topic, note_change};
use crate::db::{DbError, ReadTx, WriteTx};
use crate::http::{ForPeople, Problem, Reply};
use crate::noun::{FormParts, ListParts, Made, Noun, Rows, declares};
use crate::panel::form::tick;
use crate::panel::{Form, Listing, Sent, columns, flashes, form, heads};
use crate::row;
use crate::usual;
use crate::wire;

row! {
    /// A course, as it is stored.
    #[derive(Clone, Debug)]
    pub struct Course {
        pub id: i64 = "course_id",
        pub entry: CourseEntry as row,
        /// How many lessons it has.
        pub lessons: i64 = "(SELECT count(*) FROM lesson WHERE lesson.course_id = course.course_id)",
    }
}

usual! {
    /// What an operator enters about a course. The audit log uses the field
    /// names of the form.
    #[derive(Clone, Debug, Serialize)]
    pub struct CourseEntry {
        #[serde(rename = "titulo")]
        pub title: String,
        #[serde(rename = "descricao")]
        pub description: String,
        /// Position among the courses. `None` means last for a new course, and
        /// no change for an existing one.
        #[serde(rename = "ordem")]
        pub position: Option<i64>,
        #[serde(rename = "publicado")]
        pub published: bool = true,
        /// Roles that see the course; empty means all students except free
        /// ones.
        #[serde(rename = "papeis")]
        pub roles: Vec<Role>,
    }
}

/// Roles that a course can be for.
pub fn student_roles() -> impl Iterator<Item = Role> {
    Role::ALL.into_iter().filter(|role| role.is_student())
}

pub const FORM: Form<CourseEntry> = form! {
    (inputs::title(|entry| &mut entry.title));
    (inputs::description(|entry| &mut entry.description));
    "ordem": Maybe(1..=9_999, |entry| &mut entry.position),
        "Informe um número de 1 a 9999, ou deixe em branco.";
    // Each box has its own value. No ticked box is a valid answer, not an empty
    // field.
    "papeis": Own(read_roles, |_, _| tick(true)), "Escolha entre os papéis da lista.";
    "publicado": Tick(|entry| &mut entry.published), "Confira este campo.";
};

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

pub const LIST: Listing = Listing {
    path: COURSE.list,
    hint: "Título",
    sort_keys: &["ordem", "titulo"],
    heads: heads!["Título" => "titulo", "Ordem" numeric => "ordem", "Aulas" numeric, "Situação"],
    file: "cursos.csv",
    csv: columns![id titulo ordem publicado papeis total_aulas descricao],
    flashes: flashes! {
        "criado": good "Curso criado",
            "Agora crie as aulas dele. Os alunos veem o curso quando estiver publicado.";
        "alterado": good "Curso alterado", "Os alunos já veem os novos dados.";
        "excluido": good "Curso excluído";
        "ordem": good "Ordem das aulas alterada";
        "em-uso": warn "Este curso ainda tem aulas",
            "Nada foi excluído. Exclua as aulas ou passe-as para outro curso antes. Para esconder o curso, desmarque Publicado.";
    },
    ..Listing::NONE
};

impl Noun for Course {
    declares!(COURSE, CourseEntry, title);
    /// Its lessons, in their order.
    type Beside = Vec<Lesson>;

    const ROWS: Rows = Rows {
        table: "course",
        key: "course_id",
        joins: "",
        searched: &["title"],
        orders: &[("ordem", "position, course_id"), ("titulo", "title COLLATE NOCASE, course_id")],
        // A student's list shows all of them.
        most: (500, ForPeople("Já há 500 cursos, o máximo. Exclua algum antes.")),
    };

    fn wire(self, _: Zone, _: Instant) -> impl Serialize {
        CourseDetails::of(self)
    }
    fn list_page(list: ListParts<'_, Self>) -> Result<Reply, Problem> {
        let table = list.table();
        Reply::page(&CoursesPage { table, layout: list.layout, courses: list.rows })
    }
    fn form_page(parts: FormParts<'_, Self>) -> Result<Reply, Problem> {
        let stored = parts.existing.as_ref().map(|course| &*course.entry.roles).unwrap_or_default();
        let sent =
            |role: Role| form::all_sent(parts.visit.2, "papeis").any(|name| name == role.name());
        let ticks =
            role_ticks(|role| if parts.is_again { sent(role) } else { stored.contains(&role) });
        Reply::page(&CourseForm {
            layout: parts.layout,
            form: parts.form,
            ticks,
            existing: parts.existing.map(|course| (course, parts.beside)),
        })
    }

    fn beside(tx: &ReadTx<'_>, one: Option<&Self>) -> Result<Vec<Lesson>, DbError> {
        one.map_or(Ok(Vec::new()), |course| lessons::store::of_course(tx, course.id))
    }
    fn read_entry(
        sent: &mut Sent<'_>,
        present: Option<&CourseEntry>,
        _: &Vec<Lesson>,
    ) -> CourseEntry {
        // Without a position in the form, the course keeps the one that it has
        // when it is written.
        let present = present.map(|entry| CourseEntry { position: None, ..entry.clone() });
        FORM.read(sent, present.as_ref())
    }

    fn update(tx: &WriteTx<'_>, id: i64, entry: &CourseEntry) -> Result<(), DbError> {
        store::update(tx, id, entry)
    }
    fn changed(tx: &WriteTx<'_>) -> Result<(), DbError> {
        // Public answers about teachers count lessons of published courses.
        note_change(tx, Topic::Teachers)
    }
}

impl Made for Course {
    fn insert(tx: &WriteTx<'_>, entry: &CourseEntry) -> Result<Option<i64>, DbError> {
        store::insert(tx, entry)
    }
    fn page_of_new(id: i64) -> String {
        // There the lessons are added.
        format!("{}/{id}", LIST.path)
    }
    fn in_use(_: &ReadTx<'_>, one: &Self) -> Result<Option<ForPeople<String>>, DbError> {
        Ok((one.lessons > 0).then(|| {
            let lessons = counted(one.lessons, "aula", "aulas");
            ForPeople(format!(
                "Este curso ainda tem {lessons}. Exclua-as ou passe-as a outro curso antes, ou só tire o curso do ar."
            ))
        }))
    }
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
