//! Meets in the operator's panel, as page and as JSON.

use serde::Serialize;

use super::store::{self, Wanted};
use super::views::{MeetForm, MeetRow, MeetsPage};
use super::{Meet, MeetEntry, state};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::base::{Instant, Zone};
use crate::content::change::{Change, Noun};
use crate::content::teachers::store as teachers;
use crate::db::{DbError, ReadTx};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::{
    Filter, Form, FormView, Head, Input, ListReply, Listing, Outcome, Pick, Rule, Sent, Visit,
    export, form,
};
use crate::wire;

pub(in crate::content) const LIST: Listing = Listing {
    path: "/admin/meets",
    hint: "Título",
    filters: &[Filter {
        name: "quando",
        label: "Quando",
        all: "Tudo",
        values: &[("proximos", "Próximos"), ("passados", "Passados")],
    }],
    sort_keys: &["-data", "titulo"],
    heads: &[
        Head::sorts("Título", "titulo"),
        Head::sorts("Quando", "data"),
        Head::plain("Duração").numeric(),
        Head::plain("Situação"),
    ],
    file: "encontros.csv",
    csv: &[
        "id",
        "titulo",
        "data_hora",
        "duracao_minutos",
        "professor",
        "link",
        "publico",
        "descricao",
    ],
    outcomes: &[
        Outcome::good("criado", "Encontro criado", "Os alunos já o veem na agenda."),
        Outcome::good("alterado", "Encontro alterado", "A agenda já mostra os novos dados."),
        Outcome::good("excluido", "Encontro excluído", "Ele não aparece mais na agenda."),
    ],
};

const NOUN: Noun = Noun {
    object: "encontro",
    created: "encontro.criar",
    changed: "encontro.alterar",
    removed: "encontro.excluir",
    path: LIST.path,
};

/// The form of a meet.
pub(in crate::content) const FORM: Form<MeetEntry> = Form(&[
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
        "data_hora",
        "Informe um dia e uma hora que existam, como 31/12/2026 20:00.",
        Rule::Own(read_start, |entry, zone| match entry.starts_at {
            Instant(0) => String::new(),
            at => zone.partner(at),
        }),
    ),
    Input::new(
        "duracao_minutos",
        "Informe de 5 a 1440 minutos.",
        Rule::Number(5..=1_440, |entry| &mut entry.minutes),
    ),
    Input::new(
        "professor_id",
        "Escolha um professor da lista.",
        Rule::Reference(|entry| &mut entry.teacher_id),
    ),
    Input::new(
        "link",
        "Informe um endereço que comece com https://.",
        Rule::Address(|entry| &mut entry.link),
    ),
    Input::new("publico", "Confira este campo.", Rule::Tick(|entry| &mut entry.public)),
]);

fn read_start(sent: &mut Sent<'_>, name: &'static str, entry: &mut MeetEntry) {
    let text: String = sent.required(name);
    entry.starts_at = sent.zone.read(&text).unwrap_or_else(|| {
        sent.check.fail(name, "must be a civil time that exists, as YYYY-MM-DD HH:MM:SS");
        Instant(0)
    });
}

wire! {
    /// A meet as programs of the operator read it.
    #[derive(Serialize)]
    struct MeetDetails of(meet: Meet, zone: Zone) after {
        let entry = meet.entry;
    } {
        id: String = meet.id.to_string(),
        titulo: String = entry.title,
        descricao: String = entry.description,
        professor_id: Option<String> = entry.teacher_id.map(|id| id.to_string()),
        professor: Option<String> = meet.teacher,
        data_hora: String = zone.spaced(entry.starts_at),
        duracao_minutos: i64 = entry.minutes,
        link: String = entry.link,
        publico: bool = entry.public,
    }
}

/// `GET /admin/meets`: the list, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (zone, now) = (app.zone(), request.now);
    let wanted = Wanted {
        search: &query.search,
        upcoming: query.filter("quando").map(|when| when == "proximos"),
        now,
        by_title: query.sort_key == "titulo",
        descending: query.descending,
        window: query.window(),
    };
    let (meets, total) = app.db.read(request.lane, |tx| store::page(tx, &wanted))?;
    if query.csv {
        return export::list(app, person, &LIST, meets, |app, _, meet| {
            Ok(Some(MeetDetails::of(meet, app.zone())))
        });
    }
    if request.wants_json() {
        let details = meets.into_iter().map(|meet| MeetDetails::of(meet, zone));
        return ListReply::reply(total, details.collect());
    }
    Reply::page(&MeetsPage {
        layout: layout(app, person, request).telling(LIST.outcomes, request),
        table: LIST.table(&query, LIST.heads, total),
        meets: meets.into_iter().map(|meet| row(meet, zone, now)).collect(),
    })
}

fn row(meet: Meet, zone: Zone, now: Instant) -> MeetRow {
    let public = meet.entry.public.then(|| "Aberto ao público".to_owned());
    let missing = meet.entry.link.is_empty().then(|| "Sem link".to_owned());
    let about: Vec<String> =
        meet.teacher.clone().into_iter().chain(public).chain(missing).collect();
    MeetRow {
        id: meet.id,
        state: state(&meet, now),
        about: about.join(" · "),
        starts: zone.page(meet.entry.starts_at),
        minutes: meet.entry.minutes,
        title: meet.entry.title,
    }
}

fn teachers_of(tx: &ReadTx<'_>) -> Result<Vec<Pick>, DbError> {
    let none = Pick { value: String::new(), label: "Nenhum".to_owned() };
    let named =
        teachers::names(tx)?.into_iter().map(|(id, label)| Pick { value: id.to_string(), label });
    Ok(std::iter::once(none).chain(named).collect())
}

fn page(
    (app, person, request): Visit<'_>,
    existing: Option<Meet>,
    (form, teachers): (FormView, Vec<Pick>),
) -> MeetForm {
    MeetForm {
        layout: layout(app, person, request),
        existing,
        form,
        teachers,
        zone_help: format!("No horário de {}.", app.zone().city()),
    }
}

/// `GET /admin/meets/{id}`: the form of one meet; `novo` for a new one.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = match request.variable("id") {
        "novo" => None,
        _ => Some(request.id()?),
    };
    let (meet, teachers) = app.db.read(request.lane, |tx| {
        let meet = match id {
            Some(id) => Some(store::meet(tx, id)?.ok_or_else(Problem::not_found)?),
            None => None,
        };
        Ok::<_, Problem>((meet, teachers_of(tx)?))
    })?;
    if request.wants_json() {
        let meet = meet.ok_or_else(Problem::not_found)?;
        return Reply::json(&MeetDetails::of(meet, app.zone()));
    }
    let form = FORM.show(meet.as_ref().map(|meet| &meet.entry), app.zone());
    Reply::page(&page((app, person, request), meet, (form, teachers)))
}

fn read_entry(
    app: &App,
    request: &Request,
    present: Option<&MeetEntry>,
    teachers: &[Pick],
) -> Result<MeetEntry, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let entry = FORM.read(&mut sent, present);
    if let Some(id) = entry.teacher_id.map(|id| id.to_string())
        && !teachers.iter().any(|pick| pick.value == id)
    {
        sent.check.fail("professor_id", "is no teacher");
    }
    sent.finish()?;
    Ok(entry)
}

fn again(
    (app, person, request): Visit<'_>,
    (existing, teachers): (Option<Meet>, Vec<Pick>),
    problem: Problem,
) -> Result<Job, Problem> {
    form::show_again(request, problem, |faults| {
        let form = FORM.again(request, faults);
        Reply::page(&page((app, person, request), existing, (form, teachers)))
    })
}

/// `POST /admin/meets`: creates a meet.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let teachers = app.db.read(request.lane, teachers_of)?;
    let entry = match read_entry(app, request, None, &teachers) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), (None, teachers), problem),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        still_there(tx, &entry)?;
        let full =
            || Problem::new(Code::Conflict, "there are 10000 meets already; remove old ones first");
        let id = store::insert(tx, &entry)?.ok_or_else(full)?;
        change.created(tx, (&NOUN, id, &entry.title), &entry, LIST.path)
    }))
}

/// The teacher may have been removed since the form was checked.
fn still_there(tx: &ReadTx<'_>, entry: &MeetEntry) -> Result<(), Problem> {
    match entry.teacher_id {
        Some(id) if teachers::teacher(tx, id)?.is_none() => {
            Err(Problem::field("professor_id", "is no teacher"))
        }
        _ => Ok(()),
    }
}

/// `POST /admin/meets/{id}`: changes a meet.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (meet, teachers) = app.db.read(request.lane, |tx| {
        let meet = store::meet(tx, id)?.ok_or_else(Problem::not_found)?;
        Ok::<_, Problem>((meet, teachers_of(tx)?))
    })?;
    let entry = match read_entry(app, request, Some(&meet.entry), &teachers) {
        Ok(entry) => entry,
        Err(problem) => return again((app, person, request), (Some(meet), teachers), problem),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = store::meet(tx, id)?.ok_or_else(Problem::not_found)?;
        still_there(tx, &entry)?;
        store::update(tx, id, &entry)?;
        change.changed(tx, (&NOUN, id, &entry.title), &before.entry, &entry)
    }))
}

/// `POST /admin/meets/{id}/excluir`: removes a meet.
pub fn delete(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = store::meet(tx, id)?.ok_or_else(Problem::not_found)?;
        store::delete(tx, id)?;
        change.removed(tx, (&NOUN, id, &before.entry.title), &before.entry)
    }))
}
