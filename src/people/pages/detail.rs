//! Everything an operator needs of one person, on one page.

use super::acts::group_of;
use super::bulk::plan_picks;
use super::roles::StudentPermission;
use super::{FLASHES, new_page, reach, roles};
use crate::accounts::links;
use crate::accounts::page_layout::layout;
use crate::accounts::person::{Group, Listed, PersonStatus, WirePerson};
use crate::accounts::students::AccountServices;
use crate::app::{App, Visit};
use crate::audit::looks::look;
use crate::base::{Cents, Day, Instant, UserId};
use crate::db::ReadTx;
use crate::edge::route::Job;
use crate::http::{Fields, Problem, Reply, Request};
use crate::identity::{Person, SESSION_AGE_S, SESSION_IDLE_S};
use crate::marketplace::account::store::{self as marketplace, LinkedAccount};
use crate::outbox::unreachable::{self, Unreachable};
use crate::panel::{PageTime, Sent, Tab, address, form, view};
use crate::partner::{PlanName, store as partners};
use crate::people::find;
use crate::people::timeline::Timeline;
use crate::people::views::{MadeLink, PersonPage};
use crate::people::{entry, store, timeline, told};

/// Rows of each section; the lists themselves are elsewhere.
const ROWS: u32 = 10;

/// `GET /admin/alunos/{id}` and `GET /admin/equipe/{id}`; `novo` for the form of a new one.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let group = group_of(request);
    if request.variable("id") == "novo" {
        if request.wants_json() {
            return Err(Problem::not_found());
        }
        let form = group.form().show(None, app.zone()).unfocused();
        return new_page((app, person, request), form);
    }
    if request.wants_json() {
        let id = UserId(request.id()?);
        let shown = app.db.read(request.lane, |tx| find(tx, group, id))?;
        looked(app, person, request, group, &shown);
        return Reply::json(&WirePerson::of(shown, app.zone()));
    }
    page((app, person, request), Refused::Nothing, &Vec::new())
}

/// Notes that somebody of the staff saw a person's data.
fn looked(app: &App, person: &Person, request: &Request, group: Group, seen: &Listed) {
    let action = match group {
        Group::Students => "aluno.consultar",
        Group::Staff => "equipe.consultar",
    };
    let act = group.object().act(action, seen.id, &seen.entry.nome);
    look(app, person, request, &act);
}

/// The parts of the page, each with an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Summary,
    Store,
    Learning,
    Access,
}

impl Part {
    const ALL: [(Self, &'static str, &'static str); 4] = [
        (Self::Summary, "", "Resumo"),
        (Self::Store, "loja", "Loja"),
        (Self::Learning, "aprendizado", "Aprendizado"),
        (Self::Access, "acesso", "Acesso"),
    ];

    fn of(request: &Request) -> Self {
        let name = form::all_sent(request, "aba").next().unwrap_or_default();
        let found = Self::ALL.into_iter().find(|(_, known, _)| *known == name);
        found.filter(|_| request.body.is_empty()).map_or(Self::Summary, |(part, ..)| part)
    }

    /// The links to the parts; staff neither sell nor learn here.
    fn tabs(self, group: Group, page: &str) -> Vec<Tab> {
        let is_shown =
            |part| group == Group::Students || matches!(part, Self::Summary | Self::Access);
        let tab = |(part, name, label)| Tab {
            label,
            href: address(page, &[("aba", name)]),
            on: part == self,
        };
        Self::ALL.into_iter().filter(|(part, ..)| is_shown(*part)).map(tab).collect()
    }
}

/// What is stored of a person and shown on their page; what another part shows is empty.
pub struct Stored {
    pub person: Listed,
    /// Why the person is suspended; empty while it is not.
    pub suspended_for: String,
    /// What the chat network said of the person's number; `None` while it says nothing.
    pub unreachable: Option<Unreachable>,
    /// Open sessions.
    pub sessions: Vec<store::Session>,
    /// What a student may do; empty for others.
    pub permissions: Vec<StudentPermission>,
    pub accounts: Vec<LinkedAccount>,
    pub timeline: Timeline,
    /// The API plan and its last day.
    pub api: Option<(PlanName, Option<Day>)>,
    /// Orders and gross of thirty days.
    pub sold: (i64, Cents),
    pub progress: Vec<timeline::Progress>,
    pub program: Option<timeline::Program>,
}

/// Which form of the page was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Nothing,
    Fields,
    Suspension,
    Viewing,
}

/// Reads the reason for an action on a person. Without a valid one, the page is
/// shown again with an error in the form that `refused` names.
pub fn reason(
    (app, person, request): Visit<'_>,
    refused: Refused,
) -> Result<Result<String, Job>, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let reason = sent.line("motivo", 3..=200);
    match sent.finish() {
        Ok(()) => Ok(Ok(reason)),
        Err(problem) => again((app, person, request), refused, problem).map(Err),
    }
}

/// The page again with what is wrong in one of its forms.
pub fn again(visit: Visit<'_>, refused: Refused, problem: Problem) -> Result<Job, Problem> {
    form::show_again(visit.2, problem, |faults| page(visit, refused, faults))
}

/// Reads what a part of the page shows.
fn read(
    tx: &ReadTx<'_>,
    id: UserId,
    group: Group,
    part: Part,
    time: PageTime,
    before: Option<Instant>,
) -> Result<Stored, Problem> {
    let person = find(tx, group, id)?;
    let (opened, used) = (time.now.minus(SESSION_AGE_S), time.now.minus(SESSION_IDLE_S));
    let is_access = part == Part::Access;
    let is_learning = part == Part::Learning;
    Ok(Stored {
        suspended_for: store::suspended_for(tx, id)?.unwrap_or_default(),
        unreachable: unreachable::of(tx, id)?,
        sessions: if is_access {
            store::open_sessions(tx, id, opened, used, ROWS)?
        } else {
            Vec::new()
        },
        permissions: match group {
            Group::Students if is_access => roles::of_student(tx, id, person.entry.papel)?,
            _ => Vec::new(),
        },
        accounts: marketplace::linked_accounts(tx, id)?,
        timeline: if part == Part::Summary {
            timeline::page(tx, id, group, time, before)?
        } else {
            Timeline { events: Vec::new(), older: None }
        },
        api: partners::plan(tx, id)?,
        sold: if part == Part::Store { timeline::sold(tx, id, time)? } else { (0, Cents(0)) },
        progress: if is_learning { timeline::progress(tx, id)? } else { Vec::new() },
        program: if is_learning { timeline::program(tx, id)? } else { None },
        person,
    })
}

/// A link to choose a password that the last action made, shown this once.
fn made_link(app: &App, request: &Request) -> Option<MadeLink> {
    let word = request.notice.as_deref()?;
    let (is_new, code) = match word.strip_prefix(NEW_LINK) {
        Some(code) => (true, code),
        None => (false, word.strip_prefix(COPIED_LINK)?),
    };
    Some(MadeLink { is_new, address: links::address(&app.server.addresses.base_url, code) })
}

/// Words of actions that made a link, before its code.
pub const NEW_LINK: &str = "criado_com_link:";
pub const COPIED_LINK: &str = "link_para_copiar:";

/// The page, with stored values or with a form that was rejected.
fn page(visit: Visit<'_>, refused: Refused, faults: &Fields) -> Result<Reply, Problem> {
    let ((app, person, request), group) = (visit, group_of(visit.2));
    let (id, time) = (UserId(request.id()?), PageTime::of(app, request));
    let part = if refused == Refused::Nothing { Part::of(request) } else { Part::Summary };
    let older = form::all_sent(request, "antes").next().and_then(|text| text.parse().ok());
    let before = older.filter(|_| request.body.is_empty()).map(Instant);
    let (stored, picks) = app.db.read(request.lane, |tx| {
        Ok::<_, Problem>((read(tx, id, group, part, time, before)?, plan_picks(tx)?))
    })?;
    looked(app, person, request, group, &stored.person);
    let form = match refused {
        Refused::Fields => entry::again(group, request, faults),
        _ => group.form().show(Some(&stored.person.entry), app.zone()).unfocused(),
    };
    let reason = |is_refused: bool| {
        let fault = is_refused.then_some("Diga o motivo, com 3 a 200 letras.");
        view::Field { focus: is_refused, ..view::Field::default() }.fault(fault)
    };
    let suspended = stored.person.status == PersonStatus::Suspended;
    let is_silenced = stored.unreachable.as_ref().is_some_and(Unreachable::is_silenced);
    let has_number = stored.person.entry.chat_number.is_some() && !is_silenced;
    let own = format!("{}/{id}", group.path());
    let older = stored.timeline.older.map(|at| address(&own, &[("antes", &at.0.to_string())]));
    Reply::page(&PersonPage {
        layout: told::telling(layout(app, person, request), FLASHES, request),
        path: group.path(),
        words: group.words(),
        fields: entry::fields(app, group, form),
        edits: refused == Refused::Fields,
        reason: reason(refused == Refused::Suspension),
        view_reason: reason(refused == Refused::Viewing),
        can_view: group == Group::Students && !suspended,
        is_student: group == Group::Students,
        reaches: AccountServices::of(app).reaches(has_number),
        reach: if suspended {
            "A pessoa está suspensa; reative antes de enviar um link."
        } else if is_silenced && app.config.email.smtp_url.is_empty() {
            "Não há como avisar: o WhatsApp recusa o número, e o e-mail não está configurado."
        } else {
            reach(app, has_number)
        },
        shows_accounts: group == Group::Students || !stored.accounts.is_empty(),
        trail_href: address("/admin/auditoria", &[("q", &stored.person.entry.nome)]),
        part,
        tabs: part.tabs(group, &own),
        link: made_link(app, request),
        picks,
        older,
        is_first: before.is_none(),
        stored,
        time,
    })
}
