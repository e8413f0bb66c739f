//! A student's ledger in the administration, and its corrections.

use serde_json::json;

use super::views::{LedgerPage, LedgerStudent};
use crate::accounts::page_layout::layout;
use crate::accounts::{Account, store as accounts};
use crate::app::{App, Visit};
use crate::audit::{self, Actor, objects};
use crate::base::{Day, UserId, grouped};
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{
    Answer, Flash, Form, FormView, Input, ListQuery, ListReply, Listing, Paging, Rule, form,
};
use crate::program::pages::{EntryJson, entry_line};
use crate::program::ranking::{self, Ranking};
use crate::program::rules::{LedgerTotals, MOST_XP};
use crate::program::store::LedgerEntry;
use crate::program::views::{EntryLine, days};
use crate::program::{Milestone, ProgramSettings, cards, ledger, milestones, store};
use crate::services::Services;

/// The list of entries. It has no fixed path, because the address contains the
/// student.
const LIST: Listing = Listing::NONE;

/// A correction by hand.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    xp: i64,
    reason: String,
}

/// The form of a correction.
pub const FORM: Form<Correction> = Form(&[
    Input::new(
        "xp",
        "Informe um número inteiro diferente de zero, como 50 ou -50.",
        Rule::Own(
            |sent, name, entry| {
                entry.xp = sent.required(name);
                if entry.xp == 0 || entry.xp.unsigned_abs() > MOST_XP.unsigned_abs() {
                    sent.check.fail(name, "must be from -1000000 to 1000000, and not 0");
                }
            },
            |entry, _| if entry.xp == 0 { String::new() } else { entry.xp.to_string() },
        ),
    ),
    Input::new(
        "motivo",
        "Diga o motivo, de 3 a 200 letras.",
        Rule::Line(3..=200, |entry| &mut entry.reason),
    ),
]);

/// The page of a student's ledger.
fn path(student: UserId) -> String {
    format!("{}/alunos/{student}", super::PATH)
}

const FLASHES: &[Flash] =
    &[Flash::good("corrigido", "Correção lançada", "O aluno a vê no histórico de XP.")];

/// The data of the page.
struct Seen {
    account: Account,
    standing: LedgerTotals,
    all: Vec<Milestone>,
    place: Option<(u64, i64)>,
    total: u64,
    entries: Vec<LedgerEntry>,
}

fn read(services: &Services, request: &Request, query: &ListQuery) -> Result<Seen, Problem> {
    let (student, today) = (UserId(request.id()?), services.day(request.now));
    services.db.read(request.lane, |tx| {
        let account = accounts::by_id(tx, student)?.ok_or_else(Problem::not_found)?;
        if !account.role.is_student() {
            return Err(Problem::not_found());
        }
        let standing = store::standing(tx, student)?;
        let kind = (Ranking::Overall, today);
        Ok(Seen {
            place: match &standing {
                Some(standing) => ranking::place(tx, kind, student, standing)?,
                None => None,
            },
            total: ranking::total(tx, kind.0, today)?,
            standing: standing.unwrap_or_default(),
            all: milestones::all(tx)?,
            entries: store::history(tx, student, query.window())?,
            account,
        })
    })
}

/// `GET /admin/gamificacao/alunos/{id}`: a student's points and their entries.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let seen = read(app, request, &query)?;
    if request.wants_json() {
        let zone = app.zone();
        let entries = seen.entries.into_iter().map(|entry| EntryJson::of(entry, zone));
        let count = u64::try_from(seen.standing.entries).unwrap_or(0);
        return ListReply::reply(count, entries.collect());
    }
    let form = FORM.show(None, app.zone()).unfocused();
    Reply::page(&page((app, person, request), &query, seen, form))
}

fn page(
    (app, person, request): Visit<'_>,
    query: &ListQuery,
    seen: Seen,
    form: FormView,
) -> LedgerPage {
    let (zone, today) = (app.zone(), app.day(request.now));
    let Seen { account, standing, all, place, total, entries } = seen;
    let level = milestones::level(&all, standing.xp);
    let count = u64::try_from(standing.entries).unwrap_or(0);
    let path = path(account.user_id);
    let paging = Paging::new(&path, &[], query.page.into(), query.per_page.into(), count);
    LedgerPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        student: LedgerStudent {
            id: account.user_id.0,
            name: account.name.clone(),
            email: account.email.clone(),
            photo: account.photo.clone(),
            xp: standing.xp,
            level: i64::try_from(level).unwrap_or(0),
            milestone: level
                .checked_sub(1)
                .map(|place| all[place].title.clone())
                .unwrap_or_default(),
            position: place
                .map(|(place, _)| format!("{}º de {}", grouped(place), grouped(total)))
                .unwrap_or_default(),
            streak: standing.streak_on(today),
            best: standing.best_streak,
            lap: cards::lap(&standing, ProgramSettings::of(&app.config)),
            last: last_words(&standing, today),
        },
        count,
        entries: entries
            .iter()
            .map(|entry| EntryLine { href: String::new(), ..entry_line(entry, zone, request.now) })
            .collect(),
        paging,
        form,
    }
}

/// `hoje`, `há 3 dias (20/11/2026)`, `nunca`.
fn last_words(standing: &LedgerTotals, today: Day) -> String {
    match (standing.last_checkin, standing.days_away(today)) {
        (Some(_), Some(0)) => "hoje".to_owned(),
        (Some(last), Some(away)) => {
            format!("há {} ({})", days(away), last.date().strftime("%d/%m/%Y"))
        }
        _ => "nunca".to_owned(),
    }
}

/// `POST /admin/gamificacao/alunos/{id}/corrigir`: gives or takes points by
/// hand, with the reason.
pub fn correct(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let student = UserId(request.id()?);
    let correction = match FORM.entry(request, app.zone(), None) {
        Ok(correction) => correction,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let query = LIST.first_page("");
                let seen = read(app, request, &query)?;
                let form = FORM.again(request, faults);
                Reply::page(&page((app, person, request), &query, seen, form))
            });
        }
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let settings = ProgramSettings::of(&app.config);
    Ok(Box::new(move |tx| {
        let account = accounts::by_id(tx, student)?.ok_or_else(Problem::not_found)?;
        let Correction { xp, reason } = &correction;
        if !ledger::correct(tx, settings, student, (*xp, reason))? {
            return Err(Problem::not_found());
        }
        let standing = store::standing(tx, student)?.unwrap_or_default();
        let act = objects::STUDENT.act("aluno.corrigir_xp", student, &account.name);
        let told = json!({ "xp": xp, "motivo": reason, "total": standing.xp });
        audit::note(tx, &actor, &act, None::<&()>, Some(&told))?;
        answer.with(&path(student), "corrigido", &[("xp", standing.xp.into())])
    }))
}
