//! Teachers, shown to anyone, and kept by the operator (contract §6).

pub mod store;
pub mod views;

use schemars::JsonSchema;
use serde::Serialize;

use self::views::{TeacherForm, TeachersPage};
use crate::audit::objects::TEACHER;
use crate::base::{Instant, Zone, counted};
use crate::content::store::{Topic, note_change};
use crate::db::{DbError, ReadTx, WriteTx};
use crate::http::{ForPeople, Problem, Reply};
use crate::noun::{self, FormParts, ListParts, Made, Noun, Rows, declares};
use crate::panel::{Form, Input, Listing, Pick, Rule, Sent, columns, flashes, form, heads};
use crate::row;
use crate::wire;

row! {
    /// A teacher, as it is stored.
    #[derive(Clone, Debug)]
    pub struct Teacher {
        pub id: i64 = "teacher_id",
        pub entry: TeacherEntry as row,
        /// Path of the photo, empty without one.
        pub photo: String,
        /// Lessons in published courses.
        pub lessons: i64 = "(SELECT count(*) FROM lesson JOIN course ON course.course_id = lesson.course_id
         WHERE lesson.teacher_id = teacher.teacher_id AND course.published = 1)",
    }
}

row! {
    /// What an operator enters about a teacher. The audit log uses the field names
    /// of the form.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct TeacherEntry: stored {
        #[serde(rename = "nome")]
        pub name: String,
        pub bio: String,
        #[serde(rename = "redes")]
        pub links: Links as row,
    }
}

row! {
    /// Addresses of a teacher on other sites; each may be empty.
    #[derive(Clone, Debug, Default, Serialize)]
    pub struct Links: stored {
        pub instagram: String,
        pub youtube: String,
        pub linkedin: String,
        pub site: String,
    }
}

pub const FORM: Form<TeacherEntry> = form! {
    "nome": Line(2..=120, |entry| &mut entry.name), "Informe o nome, de 2 a 120 letras.";
    "bio": Lines(2_000, |entry| &mut entry.bio), "Use até 2.000 letras.";
    "instagram": Address(|entry| &mut entry.links.instagram), HTTPS;
    "youtube": Address(|entry| &mut entry.links.youtube), HTTPS;
    "linkedin": Address(|entry| &mut entry.links.linkedin), HTTPS;
    "site": Address(|entry| &mut entry.links.site), HTTPS;
};
const HTTPS: &str = "Informe um endereço que comece com https://.";

pub const LIST: Listing = Listing {
    path: TEACHER.list,
    hint: "Nome",
    sort_keys: &["nome"],
    heads: heads!["Nome" => "nome", "Aulas publicadas" numeric],
    file: "professores.csv",
    csv: columns![id nome total_aulas bio redes.instagram redes.youtube redes.linkedin redes.site],
    flashes: flashes! {
        "criado": good "Professor criado", "Ele já aparece na lista pública de professores.";
        "alterado": good "Professor alterado", "A lista pública já mostra os novos dados.";
        "foto": good "Foto salva", "A lista pública já mostra a nova foto.";
        "foto_excluida": good "Foto excluída", "Aparecem as iniciais do nome no lugar dela.";
        "excluido": good "Professor excluído", "Ele não aparece mais na lista pública.";
        "em-uso": warn "Este professor ainda dá aulas ou encontros",
            "Nada foi excluído. Passe as aulas e os encontros para outra pessoa e tente de novo.";
    },
    ..Listing::NONE
};

impl Noun for Teacher {
    declares!(TEACHER, TeacherEntry, name);
    /// What the teacher still gives.
    type Beside = Load;

    const ROWS: Rows = Rows {
        table: "teacher",
        key: "teacher_id",
        joins: "",
        searched: &["name"],
        orders: &[("nome", "name COLLATE NOCASE, teacher_id")],
        // One public answer lists all of them.
        most: (1_000, ForPeople("Já há 1.000 professores, o máximo. Exclua algum antes.")),
    };

    fn wire(self, _: Zone, _: Instant) -> impl Serialize {
        WireTeacher::of(self)
    }
    fn list_page(list: ListParts<'_, Self>) -> Result<Reply, Problem> {
        let table = list.table();
        Reply::page(&TeachersPage { table, layout: list.layout, teachers: list.rows })
    }
    fn form_page(parts: FormParts<'_, Self>) -> Result<Reply, Problem> {
        let FormParts { layout, existing, beside, form, .. } = parts;
        Reply::page(&TeacherForm { layout, existing, load: beside, form })
    }

    fn beside(tx: &ReadTx<'_>, one: Option<&Self>) -> Result<Load, DbError> {
        one.map_or(Ok(Load::default()), |teacher| store::load(tx, teacher.id))
    }
    fn read_entry(sent: &mut Sent<'_>, present: Option<&TeacherEntry>, _: &Load) -> TeacherEntry {
        // Programs send the addresses in one object, as in public answers.
        sent.spread("redes", &["instagram", "youtube", "linkedin", "site"]);
        FORM.read(sent, present)
    }

    fn update(tx: &WriteTx<'_>, id: i64, entry: &TeacherEntry) -> Result<(), DbError> {
        noun::store::update::<Self>(tx, id, entry)
    }
    fn changed(tx: &WriteTx<'_>) -> Result<(), DbError> {
        note_change(tx, Topic::Teachers)
    }
}

impl Made for Teacher {
    fn insert(tx: &WriteTx<'_>, entry: &TeacherEntry) -> Result<Option<i64>, DbError> {
        noun::store::insert::<Self>(tx, entry)
    }
    fn in_use(tx: &ReadTx<'_>, one: &Self) -> Result<Option<ForPeople<String>>, DbError> {
        let load = store::load(tx, one.id)?;
        Ok((load != Load::default()).then(|| {
            let lessons = counted(load.lessons, "aula", "aulas");
            let meets = counted(load.meets, "encontro", "encontros");
            ForPeople(format!(
                "Este professor ainda dá {lessons} e {meets}. Passe tudo a outra pessoa ou exclua antes."
            ))
        }))
    }
}

wire! {
    /// A teacher on the wire.
    #[derive(Serialize, JsonSchema)]
    pub struct WireTeacher of(teacher: Teacher) after {
        let links = teacher.entry.links;
        let some = |address: String| Some(address).filter(|address| !address.is_empty());
    } {
        id: String = teacher.id.to_string(),
        nome: String = teacher.entry.name,
        /// Lessons in published courses.
        total_aulas: i64 = teacher.lessons,
        /// Path of the photo; empty without one.
        foto: String = teacher.photo,
        bio: String = teacher.entry.bio,
        redes: WireLinks = WireLinks {
            instagram: some(links.instagram),
            youtube: some(links.youtube),
            linkedin: some(links.linkedin),
            site: some(links.site),
        },
    }
}

/// Where else a teacher can be found; absent ones are left out.
#[derive(Serialize, JsonSchema)]
struct WireLinks {
    #[serde(skip_serializing_if = "Option::is_none")]
    instagram: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    youtube: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linkedin: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
}

/// A reference to a teacher.
pub const fn input<E>(at: fn(&mut E) -> &mut Option<i64>) -> Input<E> {
    Input::new("professor_id", "Escolha um professor da lista.", Rule::Reference(at))
}

/// Checks that a reference is among those offered.
pub fn check(sent: &mut Sent<'_>, teacher: Option<i64>, picks: &[Pick]) {
    if teacher.is_some_and(|id| !Pick::holds(picks, id)) {
        sent.check.fail("professor_id", "is no teacher");
    }
}

/// What a form offers for a reference to a teacher.
pub fn picks(tx: &ReadTx<'_>) -> Result<Vec<Pick>, DbError> {
    let named = store::names(tx)?.into_iter().map(Pick::of);
    Ok(std::iter::once(Pick::none("Nenhum")).chain(named).collect())
}

/// The teacher that something refers to may have been removed since its form was
/// checked.
pub fn still_there(tx: &ReadTx<'_>, teacher: Option<i64>) -> Result<(), Problem> {
    match teacher {
        Some(id) if Teacher::one(tx, id)?.is_none() => {
            Err(Problem::field("professor_id", "is no teacher"))
        }
        _ => Ok(()),
    }
}

row! {
    /// How many lessons and meets a teacher has, published or not.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Load {
        pub lessons: i64 = "(SELECT count(*) FROM lesson WHERE teacher_id = ?1)",
        pub meets: i64 = "(SELECT count(*) FROM meet WHERE teacher_id = ?1)",
    }
}
