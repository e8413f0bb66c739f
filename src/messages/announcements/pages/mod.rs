//! Announcements in the operator's panel: write, look at, send, and who read.

pub mod reading;

use http::HeaderValue;
use http::header::HeaderName;
use serde::Serialize;

use super::form::{self, AnnouncementEntry, FORM};
use super::store::{self, Sum, Told};
use super::views::{AnnouncementPage, AnnouncementRow, AnnouncementsPage, FormPage, People};
use super::{Announcement, State};
use crate::accounts::Role;
use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::objects::ANNOUNCEMENT;
use crate::audit::{self, Actor, looks};
use crate::base::{Instant, Zone, counted, grouped};
use crate::db::RowWindow;
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::choices::ChannelSet;
use crate::outbox::Channel;
use crate::panel::form::show_again;
use crate::panel::view::{address, near_day};
use crate::panel::{
    Answer, FormView, ListReply, Listing, PageTime, Paging, Progress, Sent, Tab, Tick, columns,
    export, filters, flashes, heads,
};
use crate::wire;

/// The list's address.
pub const PATH: &str = ANNOUNCEMENT.list;
const PER_PAGE: u32 = 20;
const MOST_PAGES: i64 = 100_000;

const LIST: Listing = Listing {
    path: PATH,
    filters: filters! {
        "estado": "Situação", "Todos", &[
            (State::Draft.name(), "Rascunhos"), (State::Scheduled.name(), "Agendados"),
            (State::Sent.name(), "Enviados"), (State::Sending.name(), "Em envio"),
            (State::Cancelled.name(), "Cancelados"),
        ];
    },
    sort_keys: &["-criado_em"],
    heads: heads![
        "Comunicado", "Situação", "Avisados" numeric, "Leram" numeric, "Criado" => "criado_em",
    ],
    file: "comunicados.csv",
    csv: columns![
        id titulo texto planos canais estado criado_por criado_em enviar_em comecou_em terminou_em
        pessoas avisadas mensagens leram
    ],
    flashes: flashes! {
        "salvo": good "Rascunho salvo", "Ninguém foi avisado ainda. Confira e envie.";
        "enviado": good "Comunicado a caminho", "Você pode sair desta página: o envio continua.";
        "agendado": good "Comunicado agendado", "Até a hora marcada você pode cancelar.";
        "cancelado": good "Comunicado cancelado", "Ninguém foi avisado.";
        "parado": good "Envio parado", "Quem já foi avisado continua com o aviso.";
        "excluido": good "Comunicado excluído", "Ninguém tinha sido avisado.";
        "sem_envio": info "Não há envio a cancelar", "Nada mudou agora.";
        "ja_comecou": warn "O envio já começou", "Quem já foi avisado continua com o aviso.";
        "ja_enviado": info "Este comunicado já saiu do rascunho", "Nada mudou agora.";
        "sem_ninguem": warn "Ninguém receberia este comunicado", "Escolha outros planos.";
        "demais": warn "Há comunicados demais",
            "Exclua rascunhos e cancelados antigos antes de escrever outro.";
    },
    ..Listing::NONE
};

/// The readers of one, as a file.
const READERS: Listing = Listing {
    path: PATH,
    file: "leitores.csv",
    csv: columns![id nome email lido_em],
    ..Listing::NONE
};

wire! {
    #[derive(Serialize)]
    struct WireAnnouncement of(one: Announcement, zone: Zone) after {
        let names = |text: &str| {
            text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        let spaced = |at| zone.spaced(at);
    } {
        id: String = one.id.to_string(),
        planos: Vec<String> = names(&one.roles),
        canais: Vec<String> = names(&one.channels),
        titulo: String = one.title,
        texto: String = one.body,
        estado: &'static str = one.state.name(),
        criado_por: String = one.by_name,
        criado_em: String = spaced(one.created_at),
        enviar_em: Option<String> = one.send_at.map(spaced),
        comecou_em: Option<String> = one.begun_at.map(spaced),
        terminou_em: Option<String> = one.done_at.map(spaced),
        pessoas: i64 = one.audience,
        avisadas: i64 = one.told,
        mensagens: i64 = one.messages,
        leram: i64 = one.readers,
    }
}

wire! {
    #[derive(Serialize)]
    struct WireTold of(one: Told, zone: Zone) {
        id: String = one.user.to_string(),
        nome: String = one.name,
        email: String = one.email,
        lido_em: Option<String> = one.read_at.map(|at| zone.spaced(at)),
    }
}

/// `GET /admin/comunicados`: the announcements, as page, JSON or CSV.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let (rows, sum) = app.db.read(request.lane, |tx| store::page(tx, &query))?;
    let zone = app.zone();
    if query.csv {
        return export::list(app, person, &LIST, rows, move |_, _, one| {
            Ok(Some(WireAnnouncement::of(one, zone)))
        });
    }
    if request.wants_json() {
        return ListReply::of(sum.announcements, rows, |one| WireAnnouncement::of(one, zone));
    }
    let time = PageTime::of(app, request);
    Reply::page(&AnnouncementsPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        sum: sum_words(sum),
        table: LIST.table(&query, LIST.heads, sum.announcements),
        rows: rows.into_iter().map(|one| AnnouncementRow::of(one, time)).collect(),
    })
}

/// `3 comunicados · 312 avisos · 80% lidos`.
fn sum_words(sum: Sum) -> String {
    let count = match sum.announcements {
        0 => return "Diga algo a todos os alunos, ou aos de alguns planos.".to_owned(),
        many => counted(many, "comunicado", "comunicados"),
    };
    match sum.told {
        0 => count,
        told => {
            let (told, read) = (counted(told, "aviso", "avisos"), share(sum.readers, told));
            format!("{count} · {told} · {read}% lidos")
        }
    }
}

/// Whole percents, rounded down.
pub(super) const fn share(some: i64, all: i64) -> i64 {
    if all == 0 { 0 } else { some * 100 / all }
}

/// `GET /admin/comunicados/novo`: the form of a new one.
pub fn blank(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let channels = ChannelSet::of(&app.config);
    let entry = AnnouncementEntry { channels: channels.all().collect(), ..Default::default() };
    form_page((app, person, request), None, &entry, FORM.begin(entry.clone(), app.zone()))
}

/// `GET /admin/comunicados/{id}/editar`: the form of a draft.
pub fn edit(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let one = found(app, request)?;
    if one.state != State::Draft {
        return Reply::back(&format!("{PATH}/{}", one.id), "ja_enviado");
    }
    let entry = AnnouncementEntry::from(&one);
    let form = FORM.show(Some(&entry), app.zone());
    form_page((app, person, request), Some(one.id), &entry, form)
}

fn found(app: &App, request: &Request) -> Result<Announcement, Problem> {
    let id = request.id()?;
    app.db.read(request.lane, |tx| store::one(tx, id))?.ok_or_else(Problem::not_found)
}

fn form_page(
    (app, person, request): Visit<'_>,
    existing: Option<i64>,
    entry: &AnnouncementEntry,
    form: FormView,
) -> Result<Reply, Problem> {
    let configured = ChannelSet::of(&app.config);
    let ticks = |role: Role| Tick::new(role.name(), role.words(), entry.roles.contains(&role));
    let channel = |channel: Channel| {
        Tick::new(channel.name(), channel.words(), entry.channels.contains(&channel))
    };
    Reply::page(&FormPage {
        layout: layout(app, person, request),
        existing,
        form,
        plans: Role::STUDENTS.map(ticks).into(),
        channels: configured.all().map(channel).collect(),
        zone_help: format!(
            "Em branco, sai assim que você enviar. No horário de {}.",
            app.zone().city()
        ),
    })
}

/// Reads the form; a browser gets it again with its faults.
fn entry(
    visit: Visit<'_>,
    existing: Option<i64>,
) -> Result<Result<AnnouncementEntry, Job>, Problem> {
    let (app, _, request) = visit;
    let mut sent = Sent::of(request, app.zone())?;
    let entry = FORM.read(&mut sent, None);
    form::check(&mut sent, &entry, ChannelSet::of(&app.config));
    let Err(problem) = sent.finish() else { return Ok(Ok(entry)) };
    let again = show_again(request, problem, |faults| {
        form_page(visit, existing, &entry, FORM.again(request, faults))
    })?;
    Ok(Err(again))
}

/// `POST /admin/comunicados`: keeps a draft, and shows it as people will read it.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let entry = match entry((app, person, request), None)? {
        Ok(entry) => entry,
        Err(again) => return Ok(again),
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let Some(id) = store::insert(tx, &entry, &actor.name)? else {
            let said = "Há comunicados demais. Exclua rascunhos e cancelados antigos.";
            return answer.declined(Problem::conflict(ForPeople(said)), PATH, "demais");
        };
        let act = ANNOUNCEMENT.act(ANNOUNCEMENT.created, id, &entry.title);
        audit::note(tx, &actor, &act, (), &entry)?;
        answer.made(id, &format!("{PATH}/{id}"), "salvo")
    }))
}

/// `POST /admin/comunicados/{id}`: changes a draft.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let before = found(app, request)?;
    let (id, page) = (before.id, format!("{PATH}/{}", before.id));
    let entry = match entry((app, person, request), Some(id))? {
        Ok(entry) => entry,
        Err(again) => return Ok(again),
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let before = store::one(tx, id)?.ok_or_else(Problem::not_found)?;
        if !store::update(tx, id, &entry)? {
            return answer.declined(no_draft(), &page, "ja_enviado");
        }
        let act = ANNOUNCEMENT.act(ANNOUNCEMENT.changed, id, &entry.title);
        audit::note(tx, &actor, &act, AnnouncementEntry::from(&before), &entry)?;
        answer.done(id, &page, "salvo")
    }))
}

fn no_draft() -> Problem {
    Problem::conflict(ForPeople("Este comunicado já saiu do rascunho."))
}

/// `POST /admin/comunicados/{id}/enviar`: sends a draft, at once or at its time.
pub fn send(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let (bell, page) = (app.work.announcements.clone(), format!("{PATH}/{id}"));
    Ok(Box::new(move |tx| {
        let one = store::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let audience = store::audience(tx, &one.roles)?;
        if audience == 0 {
            let problem = Problem::conflict(ForPeople("Ninguém receberia este comunicado."));
            return answer.declined(problem, &page, "sem_ninguem");
        }
        if !store::release(tx, id)? {
            return answer.declined(no_draft(), &page, "ja_enviado");
        }
        let act = ANNOUNCEMENT.act("comunicado.enviar", id, &one.title);
        let told = serde_json::json!({
            "pessoas": audience, "enviar_em": one.send_at.map(Instant::rfc3339),
        });
        audit::note(tx, &actor, &act, (), &told)?;
        tx.after_commit(move || bell.ring());
        let is_later = one.send_at.is_some_and(|at| at > tx.now());
        answer.done(id, &page, if is_later { "agendado" } else { "enviado" })
    }))
}

/// `POST /admin/comunicados/{id}/cancelar`: cancels one that waits, or stops one that is
/// being sent.
pub fn cancel(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let one = store::one(tx, id)?.ok_or_else(Problem::not_found)?;
        let page = format!("{PATH}/{id}");
        if !store::cancel(tx, id)? {
            let problem = Problem::conflict(ForPeople("Não há envio a cancelar."));
            return answer.declined(problem, &page, "sem_envio");
        }
        let act = ANNOUNCEMENT.act("comunicado.cancelar", id, &one.title);
        let told = serde_json::json!({ "avisadas": one.told });
        audit::note(tx, &actor, &act, (), (one.told > 0).then_some(&told))?;
        answer.done(id, &page, if one.told > 0 { "parado" } else { "cancelado" })
    }))
}

/// `POST /admin/comunicados/{id}/excluir`: removes one that nobody was told.
pub fn remove(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let one = store::one(tx, id)?.ok_or_else(Problem::not_found)?;
        if !store::delete(tx, id)? {
            let said = "Só se exclui um comunicado que ninguém recebeu.";
            return answer.declined(
                Problem::conflict(ForPeople(said)),
                &format!("{PATH}/{id}"),
                "ja_comecou",
            );
        }
        let act = ANNOUNCEMENT.act(ANNOUNCEMENT.removed, id, &one.title);
        audit::note(tx, &actor, &act, AnnouncementEntry::from(&one), ())?;
        answer.done(id, PATH, "excluido")
    }))
}

/// `GET /admin/comunicados/{id}`: one as people read it, how far it is, and who read it.
pub fn one(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let one = found(app, request)?;
    if request.wants_json() {
        return Reply::ok(&WireAnnouncement::of(one, app.zone()));
    }
    let mut sent = Sent::of_query(request, app.zone())?;
    let field = sent.take("pagina");
    let page = sent.check.number("pagina", field, 1..=MOST_PAGES).unwrap_or(1);
    let unread: String = sent.optional("leram").unwrap_or_default();
    sent.finish()?;
    let page = u32::try_from(page).unwrap_or(1);
    let have_read = unread != "nao";
    let (audience, counts, told) = app.db.read(request.lane, |tx| {
        let window = RowWindow { limit: PER_PAGE, offset: (page - 1) * PER_PAGE };
        let told = store::people(tx, one.id, have_read, window)?;
        let counts = store::read_and_unread(tx, one.id)?;
        Ok::<_, Problem>((store::audience(tx, &one.roles)?, counts, told))
    })?;
    let people = people(&one, (have_read, counts), page, told);
    let is_sending = one.state == State::Sending
        || one.state == State::Scheduled && one.send_at.is_some_and(|at| at <= request.now);
    let time = PageTime::of(app, request);
    let reply = Reply::page(&AnnouncementPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        progress: is_sending.then(|| progress(&one, audience)),
        leaves: one
            .send_at
            .filter(|at| *at > request.now)
            .map(|at| near_day(app.zone(), at, request.now))
            .unwrap_or_default(),
        audience,
        people,
        time,
        one,
    })?;
    Ok(if is_sending {
        reply.with(HeaderName::from_static("refresh"), HeaderValue::from_static("2"))
    } else {
        reply
    })
}

fn progress(one: &Announcement, audience: i64) -> Progress {
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    // Who came meanwhile is told too.
    let total = if one.audience > 0 { one.audience.max(one.told) } else { audience };
    let note = format!(
        "{} de {} pessoas. Você pode sair desta página: o envio continua.",
        grouped(one.told),
        grouped(total)
    );
    Progress::new("Avisando as pessoas", count(one.told), count(total), note)
}

fn people(
    one: &Announcement,
    (have_read, (readers, others)): (bool, (i64, i64)),
    page: u32,
    rows: Vec<Told>,
) -> People {
    let path = format!("{PATH}/{}", one.id);
    let total = if have_read { readers } else { others };
    let param = if have_read { "" } else { "nao" };
    let tab = |label, value: &str, on| Tab { label, href: address(&path, &[("leram", value)]), on };
    People {
        tabs: vec![tab("Leram", "", have_read), tab("Não leram", "nao", !have_read)],
        paging: Paging::new(
            &path,
            &[("leram", param)],
            page.into(),
            PER_PAGE.into(),
            u64::try_from(total).unwrap_or(0),
        ),
        have_read,
        is_forgotten: readers + others == 0,
        rows,
    }
}

/// `GET /admin/comunicados/{id}/leitores`: who was told and who read it, as a file.
pub fn readers(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let one = found(app, request)?;
    let ids = app.db.read(request.lane, |tx| store::told_ids(tx, one.id))?;
    looks::file(app, person, request, "comunicado.baixar_lista", "comunicado");
    export::list(app, person, &READERS, ids, move |app, tx, id| {
        Ok(store::told(tx, one.id, id)?.map(|told| WireTold::of(told, app.zone())))
    })
}
