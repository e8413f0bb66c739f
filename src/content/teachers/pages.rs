//! Teachers in the operator's panel, as page and as JSON.

use super::store;
use super::views::{ExistingTeacher, TeacherForm, TeacherRow, TeachersPage, busy_words};
use super::{Load, Teacher, TeacherEntry, WireTeacher};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::shortened;
use crate::content::change::{Change, Noun};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::{
    Form, Head, Input, ListReply, Listing, Outcome, Rule, Sent, Visit, export, form,
};

pub(in crate::content) const LIST: Listing = Listing {
    path: "/admin/professores",
    hint: "Nome",
    sort_keys: &["nome"],
    heads: &[Head::sorts("Nome", "nome"), Head::plain("Aulas publicadas").numeric()],
    file: "professores.csv",
    csv: &[
        "id",
        "nome",
        "total_aulas",
        "bio",
        "redes.instagram",
        "redes.youtube",
        "redes.linkedin",
        "redes.site",
    ],
    outcomes: &[
        Outcome::good(
            "criado",
            "Professor criado",
            "Ele já aparece na lista pública de professores.",
        ),
        Outcome::good(
            "alterado",
            "Professor alterado",
            "A lista pública já mostra os novos dados.",
        ),
        Outcome::good("foto", "Foto salva", "A lista pública já mostra a nova foto."),
        Outcome::good(
            "foto_excluida",
            "Foto excluída",
            "Aparecem as iniciais do nome no lugar dela.",
        ),
        Outcome::good("excluido", "Professor excluído", "Ele não aparece mais na lista pública."),
        Outcome::warn(
            "em-uso",
            "Este professor ainda dá aulas ou encontros",
            "Nada foi excluído. Passe as aulas e os encontros para outra pessoa e tente de novo.",
        ),
    ],
    ..Listing::NONE
};

const NOUN: Noun = Noun {
    object: "professor",
    created: "professor.criar",
    changed: "professor.alterar",
    removed: "professor.excluir",
    path: LIST.path,
};

/// The form of a teacher.
pub(in crate::content) const FORM: Form<TeacherEntry> = Form(&[
    Input::new(
        "nome",
        "Informe o nome, de 2 a 120 letras.",
        Rule::Line(2..=120, |entry| &mut entry.name),
    ),
    Input::new("bio", "Use até 2.000 letras.", Rule::Lines(2_000, |entry| &mut entry.bio)),
    Input::new("instagram", HTTPS, Rule::Address(|entry| &mut entry.links.instagram)),
    Input::new("youtube", HTTPS, Rule::Address(|entry| &mut entry.links.youtube)),
    Input::new("linkedin", HTTPS, Rule::Address(|entry| &mut entry.links.linkedin)),
    Input::new("site", HTTPS, Rule::Address(|entry| &mut entry.links.site)),
]);
const HTTPS: &str = "Informe um endereço que comece com https://.";

/// Letters of the bio that the list shows.
const GLIMPSE: usize = 90;

/// `GET /admin/professores`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (teachers, total) = app.db.read(request.lane, |tx| {
        store::page(tx, &query.search, query.descending, query.window())
    })?;
    if query.csv {
        return export::list(app, person, &LIST, teachers, |_, _, teacher| {
            Ok(Some(WireTeacher::of(teacher)))
        });
    }
    if request.wants_json() {
        return ListReply::reply(total, teachers.into_iter().map(WireTeacher::of).collect());
    }
    Reply::page(&TeachersPage {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        table: LIST.table(&query, LIST.heads, total),
        teachers: teachers.into_iter().map(row).collect(),
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
    let entry = found.as_ref().map(|(teacher, _)| &teacher.entry);
    Reply::page(&TeacherForm {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        existing: found.as_ref().map(existing),
        form: FORM.show(entry, app.zone()),
    })
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
    let id = request.id()?;
    app.db.read(request.lane, |tx| {
        let teacher = store::teacher(tx, id)?.ok_or_else(Problem::not_found)?;
        Ok((teacher, store::load(tx, id)?))
    })
}

fn read_entry(
    app: &App,
    request: &Request,
    present: Option<&TeacherEntry>,
) -> Result<TeacherEntry, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    // Programs send the addresses in one object, as in public answers.
    sent.spread("redes", &["instagram", "youtube", "linkedin", "site"]);
    let entry = FORM.read(&mut sent, present);
    sent.finish()?;
    Ok(entry)
}

fn again(
    (app, person, request): Visit<'_>,
    existing: Option<ExistingTeacher>,
    problem: Problem,
) -> Result<Job, Problem> {
    form::show_again(request, problem, |faults| {
        Reply::page(&TeacherForm {
            layout: layout(app, person, request),
            existing,
            form: FORM.again(request, faults),
        })
    })
}

/// `POST /admin/professores`: creates a teacher.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match read_entry(app, request, None) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), None, problem),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let full =
            || Problem::new(Code::Conflict, "there are 1000 teachers already; remove some first");
        let id = store::insert(tx, &entry)?.ok_or_else(full)?;
        change.created(tx, (&NOUN, id, &entry.name), &entry, LIST.path)
    }))
}

/// `POST /admin/professores/{id}`: changes a teacher.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let found = find(app, request)?;
    let id = found.0.id;
    let entry = match read_entry(app, request, Some(&found.0.entry)) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), Some(existing(&found)), problem),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = store::teacher(tx, id)?.ok_or_else(Problem::not_found)?;
        store::update(tx, id, &entry)?;
        change.changed(tx, (&NOUN, id, &entry.name), &before.entry, &entry)
    }))
}

/// `POST /admin/professores/{id}/excluir`: removes a teacher without lessons
/// and meets.
pub fn delete(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
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
        change.removed(tx, (&NOUN, id, &before.entry.name), &before.entry)
    }))
}
