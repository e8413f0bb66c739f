//! Teachers in the operator's panel, as page and as JSON (contract §6).

use serde::Deserialize;
use serde_json::{Map, Value};

use super::store;
use super::views::{
    ExistingTeacher, TeacherForm, TeacherRow, TeachersPage, busy_words, fault_words,
};
use super::{Links, Load, Teacher, TeacherEntry};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::audit::Act;
use crate::base::text::shortened;
use crate::content::form::{self, Change, Form, Present};
use crate::content::wire::WireTeacher;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::{Check, Field};
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::answer::ListReply;
use crate::panel::csv::CsvFile;
use crate::panel::export;
use crate::panel::list::{Head, Listing};
use crate::panel::view::{Notice, Tone};

const LIST: Listing =
    Listing { path: "/admin/professores", hint: "Nome", filters: &[], orders: &["nome"] };

const FIELDS: [&str; 6] = ["nome", "bio", "instagram", "youtube", "linkedin", "site"];
const LONGEST_BIO: usize = 2_000;
/// Letters of the bio that the list shows.
const GLIMPSE: usize = 90;

/// `GET /admin/professores`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (teachers, total) = app.db.read(request.lane, |tx| {
        store::page(tx, &query.search, query.descending, query.window())
    })?;
    if query.csv {
        return csv(app, person, teachers);
    }
    if request.wants_json() {
        return ListReply::reply(total, teachers.into_iter().map(WireTeacher::of).collect());
    }
    let columns = [Head::sorts("Nome", "nome"), Head::plain("Aulas publicadas").numeric()];
    Reply::page(&TeachersPage {
        layout: layout(app, person, request).with_flash(flash(&query.notice)),
        table: LIST.table(&query, &columns, total),
        teachers: teachers.into_iter().map(row).collect(),
    })
}

fn csv(app: &App, person: &Person, teachers: Vec<Teacher>) -> Result<Reply, Problem> {
    let header = ["id", "nome", "total_aulas", "bio", "instagram", "youtube", "linkedin", "site"];
    let file = CsvFile::new("professores.csv", &header)?;
    export::send(app, person, file, teachers, |_, _, Teacher { id, entry, lessons, .. }, file| {
        let (id, lessons, links) = (id.to_string(), lessons.to_string(), &entry.links);
        file.row([
            &*id,
            &entry.name,
            &lessons,
            &entry.bio,
            &links.instagram,
            &links.youtube,
            &links.linkedin,
            &links.site,
        ])
    })
}

fn row(teacher: Teacher) -> TeacherRow {
    let bio = &teacher.entry.bio;
    let start = shortened(bio, GLIMPSE);
    let more = if start.len() < bio.len() { "…" } else { "" };
    TeacherRow {
        id: teacher.id.to_string(),
        bio: format!("{}{more}", start.replace('\n', " ")),
        name: teacher.entry.name,
        photo: teacher.photo,
        lessons: teacher.lessons.to_string(),
    }
}

fn flash(notice: &str) -> Option<Notice> {
    let (tone, title, text) = match notice {
        "criado" => {
            (Tone::Good, "Professor criado", "Ele já aparece na lista pública de professores.")
        }
        "alterado" => {
            (Tone::Good, "Professor alterado", "A lista pública já mostra os novos dados.")
        }
        "foto" => (Tone::Good, "Foto salva", "A lista pública já mostra a nova foto."),
        "foto_excluida" => {
            (Tone::Good, "Foto excluída", "Aparecem as iniciais do nome no lugar dela.")
        }
        "excluido" => (Tone::Good, "Professor excluído", "Ele não aparece mais na lista pública."),
        "em-uso" => (
            Tone::Warn,
            "Este professor ainda dá aulas ou encontros",
            "Nada foi excluído. Passe as aulas e os encontros para outra pessoa e tente de novo.",
        ),
        _ => return None,
    };
    Some(Notice::new(tone, title, text))
}

/// `GET /admin/professores/{id}`: the form of one teacher; `novo` for a new one.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let found = match request.variable("id") {
        "novo" => None,
        _ => Some(find(app, request)?),
    };
    if request.wants_json() {
        let (teacher, _) = found.ok_or_else(Problem::not_found)?;
        return Reply::json(&WireTeacher::of(teacher));
    }
    let form = Form::new(&FIELDS, |name| {
        let entry = found.as_ref().map(|(teacher, _)| &teacher.entry);
        entry.map(|entry| typed(entry, name)).unwrap_or_default()
    });
    Reply::page(&TeacherForm {
        layout: layout(app, person, request).with_flash(request.notice.as_deref().and_then(flash)),
        existing: found.as_ref().map(existing),
        form,
    })
}

fn typed(entry: &TeacherEntry, name: &str) -> String {
    let text = match name {
        "nome" => &entry.name,
        "bio" => &entry.bio,
        "instagram" => &entry.links.instagram,
        "youtube" => &entry.links.youtube,
        "linkedin" => &entry.links.linkedin,
        _ => &entry.links.site,
    };
    text.clone()
}

fn existing((teacher, load): &(Teacher, Load)) -> ExistingTeacher {
    ExistingTeacher {
        id: teacher.id.to_string(),
        name: teacher.entry.name.clone(),
        photo: teacher.photo.clone(),
        busy: busy_words(*load),
    }
}

fn find(app: &App, request: &Request) -> Result<(Teacher, Load), Problem> {
    let id = form::id_of(request)?;
    app.db.read(request.lane, |tx| {
        let teacher = store::teacher(tx, id)?.ok_or_else(Problem::not_found)?;
        Ok((teacher, store::load(tx, id)?))
    })
}

#[derive(Deserialize)]
struct TeacherBody {
    #[serde(default)]
    nome: Field<String>,
    #[serde(default)]
    bio: Field<String>,
    /// What programs send: the addresses together, as in public answers.
    #[serde(default)]
    redes: Field<Map<String, Value>>,
    /// What browsers send.
    #[serde(flatten)]
    links: LinksBody,
}

#[derive(Default, Deserialize)]
struct LinksBody {
    #[serde(default)]
    instagram: Field<String>,
    #[serde(default)]
    youtube: Field<String>,
    #[serde(default)]
    linkedin: Field<String>,
    #[serde(default)]
    site: Field<String>,
}

fn read_entry(request: &Request, present: Option<&TeacherEntry>) -> Result<TeacherEntry, Problem> {
    let body: TeacherBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let present = Present::of(request, present);
    let name = present.keep(&body.nome, |entry| entry.name.clone());
    let name = name.unwrap_or_else(|| check.line("nome", body.nome, 2..=120));
    let bio = present.keep(&body.bio, |entry| entry.bio.clone());
    let bio = bio.unwrap_or_else(|| form::lines(&mut check, "bio", body.bio, LONGEST_BIO));
    let together = !body.redes.is_absent();
    let sent = match check.optional("redes", body.redes) {
        Some(links) => LinksBody::deserialize(Value::Object(links)).unwrap_or_default(),
        None => body.links,
    };
    let mut link = |name, field: Field<String>, of: fn(&Links) -> &String| {
        // Addresses sent together replace all there were.
        let kept = present.keep(&field, |entry| of(&entry.links).clone());
        kept.filter(|_| !together).unwrap_or_else(|| form::address(&mut check, name, field))
    };
    let links = Links {
        instagram: link("instagram", sent.instagram, |links| &links.instagram),
        youtube: link("youtube", sent.youtube, |links| &links.youtube),
        linkedin: link("linkedin", sent.linkedin, |links| &links.linkedin),
        site: link("site", sent.site, |links| &links.site),
    };
    check.finish()?;
    Ok(TeacherEntry { name, bio, links })
}

fn again(
    app: &App,
    person: &Person,
    request: &Request,
    existing: Option<ExistingTeacher>,
    problem: Problem,
) -> Result<Job, Problem> {
    form::show_again(request, problem, |faults| {
        Reply::page(&TeacherForm {
            layout: layout(app, person, request),
            existing,
            form: Form::again(&FIELDS, request, faults, fault_words),
        })
    })
}

/// `POST /admin/professores`: creates a teacher.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match read_entry(request, None) {
        Ok(entry) => entry,
        Err(problem) => return again(app, person, request, None, problem),
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let full =
            || Problem::new(Code::Conflict, "there are 1000 teachers already; remove some first");
        let id = store::insert(tx, &entry)?.ok_or_else(full)?;
        let act = act("professor.criar", id, &entry.name);
        change.note(tx, &act, None::<&()>, Some(&entry))?;
        change.answer.made(id, LIST.path, "criado")
    }))
}

/// `POST /admin/professores/{id}`: changes a teacher.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let found = find(app, request)?;
    let id = found.0.id;
    let entry = match read_entry(request, Some(&found.0.entry)) {
        Ok(entry) => entry,
        Err(problem) => return again(app, person, request, Some(existing(&found)), problem),
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::teacher(tx, id)?.ok_or_else(Problem::not_found)?;
        store::update(tx, id, &entry)?;
        let act = act("professor.alterar", id, &entry.name);
        change.note(tx, &act, Some(&before.entry), Some(&entry))?;
        change.answer.done(id, LIST.path, "alterado")
    }))
}

/// `POST /admin/professores/{id}/excluir`: removes a teacher who gives
/// nothing any more.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = form::id_of(request)?;
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::teacher(tx, id)?.ok_or_else(Problem::not_found)?;
        let load = store::load(tx, id)?;
        if !load.is_none() {
            let said = format!(
                "this teacher still gives {} lessons and {} meets; give them to somebody else or remove them first",
                load.lessons, load.meets
            );
            return change.answer.refused(
                Problem::new(Code::Conflict, said),
                &format!("{}/{id}", LIST.path),
                "em-uso",
            );
        }
        store::delete(tx, id)?;
        let act = act("professor.excluir", id, &before.entry.name);
        change.note(tx, &act, Some(&before.entry), None::<&()>)?;
        change.answer.done(id, LIST.path, "excluido")
    }))
}

fn act<'a>(action: &'static str, id: i64, name: &'a str) -> Act<'a> {
    Act { action, object: "professor", object_id: id.to_string(), object_name: name }
}
