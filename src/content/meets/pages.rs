//! Meets in the operator's panel, as page and as JSON (contract §6).

use serde::{Deserialize, Serialize};

use super::store::{self, Wanted};
use super::views::{ExistingMeet, MeetForm, MeetRow, MeetsPage, fault_words};
use super::{Meet, MeetEntry, state};
use crate::accounts::frame::layout;
use crate::app::App;
use crate::audit::Act;
use crate::base::clock::{Instant, Zone};
use crate::content::change::Change;
use crate::content::change::Present;
use crate::content::teachers::store as teachers;
use crate::db::{DbError, ReadTx};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::{Check, Field};
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::answer::ListReply;
use crate::panel::csv::CsvFile;
use crate::panel::export;
use crate::panel::form::{self, FormView, Pick, Reference, tick};
use crate::panel::list::{Filter, Head, ListQuery, Listing};
use crate::panel::view::{Notice, Tone};

const LIST: Listing = Listing {
    path: "/admin/meets",
    hint: "Título",
    filters: &[Filter {
        name: "quando",
        label: "Quando",
        all: "Tudo",
        values: &[("proximos", "Próximos"), ("passados", "Passados")],
    }],
    orders: &["-data", "titulo"],
    ..Listing::NONE
};

const FIELDS: [&str; 7] =
    ["titulo", "descricao", "data_hora", "duracao_minutos", "professor_id", "link", "publico"];
const LONGEST_DESCRIPTION: usize = 2_000;
/// Minutes of a meet unless somebody says otherwise.
const USUAL_MINUTES: i64 = 60;

/// A meet as programs of the operator read it.
#[derive(Serialize)]
struct MeetDetails {
    id: String,
    titulo: String,
    descricao: String,
    professor_id: Option<String>,
    professor: Option<String>,
    data_hora: String,
    duracao_minutos: i64,
    link: String,
    publico: bool,
}

impl MeetDetails {
    fn of(meet: Meet, zone: Zone) -> Self {
        let entry = meet.entry;
        Self {
            id: meet.id.to_string(),
            titulo: entry.title,
            descricao: entry.description,
            professor_id: entry.teacher_id.map(|id| id.to_string()),
            professor: meet.teacher,
            data_hora: zone.spaced(entry.starts_at),
            duracao_minutos: entry.minutes,
            link: entry.link,
            publico: entry.public,
        }
    }
}

fn order(query: &ListQuery) -> &'static str {
    match (query.order, query.descending) {
        ("titulo", false) => "title COLLATE NOCASE, meet_id",
        ("titulo", true) => "title COLLATE NOCASE DESC, meet_id DESC",
        (_, false) => "starts_at, meet_id",
        (_, true) => "starts_at DESC, meet_id DESC",
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
        order: order(&query),
        window: query.window(),
    };
    let (meets, total) = app.db.read(request.lane, |tx| store::page(tx, &wanted))?;
    if query.csv {
        return csv(app, person, meets);
    }
    if request.wants_json() {
        let details = meets.into_iter().map(|meet| MeetDetails::of(meet, zone));
        return ListReply::reply(total, details.collect());
    }
    let columns = [
        Head::sorts("Título", "titulo"),
        Head::sorts("Quando", "data"),
        Head::plain("Duração").numeric(),
        Head::plain("Situação"),
    ];
    Reply::page(&MeetsPage {
        layout: layout(app, person, request).with_flash(flash(&query.notice)),
        table: LIST.table(&query, &columns, total),
        meets: meets.into_iter().map(|meet| row(meet, zone, now)).collect(),
    })
}

fn csv(app: &App, person: &Person, meets: Vec<Meet>) -> Result<Reply, Problem> {
    let header = [
        "id",
        "titulo",
        "data_hora",
        "duracao_minutos",
        "professor",
        "link",
        "publico",
        "descricao",
    ];
    let file = CsvFile::new("encontros.csv", &header)?;
    export::send(app, person, file, meets, |app, _, meet, file| {
        let entry = &meet.entry;
        file.row([
            &*meet.id.to_string(),
            &entry.title,
            &app.zone().spaced(entry.starts_at),
            &entry.minutes.to_string(),
            meet.teacher.as_deref().unwrap_or_default(),
            &entry.link,
            if entry.public { "sim" } else { "nao" },
            &entry.description,
        ])
    })
}

fn row(meet: Meet, zone: Zone, now: Instant) -> MeetRow {
    let public = meet.entry.public.then(|| "Aberto ao público".to_owned());
    let missing = meet.entry.link.is_empty().then(|| "Sem link".to_owned());
    let about: Vec<String> =
        meet.teacher.clone().into_iter().chain(public).chain(missing).collect();
    MeetRow {
        id: meet.id.to_string(),
        state: state(&meet, now),
        about: about.join(" · "),
        starts: zone.page(meet.entry.starts_at),
        length: format!("{} min", meet.entry.minutes),
        title: meet.entry.title,
    }
}

fn flash(notice: &str) -> Option<Notice> {
    let (title, text) = match notice {
        "criado" => ("Encontro criado", "Os alunos já o veem na agenda."),
        "alterado" => ("Encontro alterado", "A agenda já mostra os novos dados."),
        "excluido" => ("Encontro excluído", "Ele não aparece mais na agenda."),
        _ => return None,
    };
    Some(Notice::new(Tone::Good, title, text))
}

fn teachers_of(tx: &ReadTx<'_>) -> Result<Vec<Pick>, DbError> {
    let none = Pick { value: String::new(), label: "Nenhum".to_owned() };
    let named =
        teachers::names(tx)?.into_iter().map(|(id, label)| Pick { value: id.to_string(), label });
    Ok(std::iter::once(none).chain(named).collect())
}

fn page(
    app: &App,
    person: &Person,
    request: &Request,
    meet: Option<&Meet>,
    (form, teachers): (FormView, Vec<Pick>),
) -> MeetForm {
    MeetForm {
        layout: layout(app, person, request),
        existing: meet
            .map(|meet| ExistingMeet { id: meet.id.to_string(), title: meet.entry.title.clone() }),
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
    let entry = meet.as_ref().map(|meet| &meet.entry);
    let form = FormView::new(&FIELDS, |name| match (entry, name) {
        (Some(entry), name) => typed(entry, name, app.zone()),
        (None, "duracao_minutos") => USUAL_MINUTES.to_string(),
        (None, _) => String::new(),
    });
    Reply::page(&page(app, person, request, meet.as_ref(), (form, teachers)))
}

fn typed(entry: &MeetEntry, name: &str, zone: Zone) -> String {
    match name {
        "titulo" => entry.title.clone(),
        "descricao" => entry.description.clone(),
        "data_hora" => zone.partner(entry.starts_at),
        "duracao_minutos" => entry.minutes.to_string(),
        "professor_id" => entry.teacher_id.map(|id| id.to_string()).unwrap_or_default(),
        "link" => entry.link.clone(),
        _ => tick(entry.public),
    }
}

#[derive(Deserialize)]
struct MeetBody {
    #[serde(default)]
    titulo: Field<String>,
    #[serde(default)]
    descricao: Field<String>,
    #[serde(default)]
    professor_id: Field<Reference>,
    #[serde(default)]
    data_hora: Field<String>,
    #[serde(default)]
    duracao_minutos: Field<i64>,
    #[serde(default)]
    link: Field<String>,
    #[serde(default)]
    publico: Field<bool>,
}

fn read_entry(
    request: &Request,
    zone: Zone,
    stored: Option<&MeetEntry>,
    teachers: &[Pick],
) -> Result<MeetEntry, Problem> {
    let body: MeetBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let present = Present::of(request, stored);
    let title = present.keep(&body.titulo, |entry| entry.title.clone());
    let title = title.unwrap_or_else(|| check.line("titulo", body.titulo, 2..=120));
    let description = present.keep(&body.descricao, |entry| entry.description.clone());
    let description = description.unwrap_or_else(|| {
        crate::content::change::lines(&mut check, "descricao", body.descricao, LONGEST_DESCRIPTION)
    });
    let teacher = present.keep(&body.professor_id, |entry| Reference(entry.teacher_id));
    let teacher = teacher.or_else(|| check.optional("professor_id", body.professor_id));
    let teacher_id = teacher.and_then(|Reference(id)| id);
    if let Some(id) = teacher_id.map(|id| id.to_string())
        && !teachers.iter().any(|pick| pick.value == id)
    {
        check.fail("professor_id", "is no teacher");
    }
    let starts_at = present.keep(&body.data_hora, |entry| entry.starts_at);
    let starts_at = starts_at.unwrap_or_else(|| {
        let text: String = check.required("data_hora", body.data_hora);
        zone.read(&text).unwrap_or_else(|| {
            check.fail("data_hora", "must be a civil time that exists, as YYYY-MM-DD HH:MM:SS");
            Instant(0)
        })
    });
    let minutes = present.keep(&body.duracao_minutos, |entry| Some(entry.minutes));
    let minutes = minutes
        .unwrap_or_else(|| check.number("duracao_minutos", body.duracao_minutos, 5..=1_440))
        .unwrap_or(USUAL_MINUTES);
    let link = present.keep(&body.link, |entry| entry.link.clone());
    let link =
        link.unwrap_or_else(|| crate::content::change::address(&mut check, "link", body.link));
    let public = present.keep(&body.publico, |entry| Some(entry.public));
    let public = public.unwrap_or_else(|| check.optional("publico", body.publico));
    check.finish()?;
    Ok(MeetEntry {
        title,
        description,
        teacher_id,
        starts_at,
        minutes,
        link,
        public: public.unwrap_or(false),
    })
}

/// `POST /admin/meets`: creates a meet.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let teachers = app.db.read(request.lane, teachers_of)?;
    let entry = match read_entry(request, app.zone(), None, &teachers) {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let form = FormView::again(&FIELDS, request, faults, fault_words);
                Reply::page(&page(app, person, request, None, (form, teachers)))
            });
        }
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        still_there(tx, &entry)?;
        let full =
            || Problem::new(Code::Conflict, "there are 10000 meets already; remove old ones first");
        let id = store::insert(tx, &entry)?.ok_or_else(full)?;
        let act = act("encontro.criar", id, &entry.title);
        change.note(tx, &act, None::<&()>, Some(&entry))?;
        change.answer.made(id, LIST.path, "criado")
    }))
}

/// The teacher may have gone since the form was checked.
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
    let entry = match read_entry(request, app.zone(), Some(&meet.entry), &teachers) {
        Ok(entry) => entry,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let form = FormView::again(&FIELDS, request, faults, fault_words);
                Reply::page(&page(app, person, request, Some(&meet), (form, teachers)))
            });
        }
    };
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::meet(tx, id)?.ok_or_else(Problem::not_found)?;
        still_there(tx, &entry)?;
        store::update(tx, id, &entry)?;
        let act = act("encontro.alterar", id, &entry.title);
        change.note(tx, &act, Some(&before.entry), Some(&entry))?;
        change.answer.done(id, LIST.path, "alterado")
    }))
}

/// `POST /admin/meets/{id}/excluir`: removes a meet.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(app, person, request);
    Ok(Box::new(move |tx| {
        let before = store::meet(tx, id)?.ok_or_else(Problem::not_found)?;
        store::delete(tx, id)?;
        let act = act("encontro.excluir", id, &before.entry.title);
        change.note(tx, &act, Some(&before.entry), None::<&()>)?;
        change.answer.done(id, LIST.path, "excluido")
    }))
}

fn act<'a>(action: &'static str, id: i64, title: &'a str) -> Act<'a> {
    Act { action, object: "encontro", object_id: id.to_string(), object_name: title }
}
