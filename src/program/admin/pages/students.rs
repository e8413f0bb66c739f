//! A student's ledger in the administration, and its corrections.

use serde_json::json;

use crate::accounts::page_layout::layout;
use crate::accounts::{Account, store as accounts};
use crate::app::{App, Visit};
use crate::audit::{self, Actor, objects};
use crate::base::UserId;
use crate::db::ReadTx;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Flash, Form, FormView, ListQuery, Listing, PageTime, Paging, form};
use crate::program::admin::views::LedgerPage;
use crate::program::pages::entries_json;
use crate::program::rules::MOST_XP;
use crate::program::{ProgramSettings, cards, ledger, milestones, store};

/// The list of entries. It has no fixed path, because the address contains the
/// student.
const LIST: Listing = Listing::NONE;

/// A correction by hand.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    xp: i64,
    reason: String,
}

pub const FORM: Form<Correction> = form! {
    "xp": Own(
        |sent, name, entry| {
            entry.xp = sent.required(name);
            if entry.xp == 0 || entry.xp.unsigned_abs() > MOST_XP.unsigned_abs() {
                sent.check.fail(name, "must be from -1000000 to 1000000, and not 0");
            }
        },
        |entry, _| if entry.xp == 0 { String::new() } else { entry.xp.to_string() },
    ), "Informe um número inteiro diferente de zero, como 50 ou -50.";
    "motivo": Line(3..=200, |entry| &mut entry.reason), "Diga o motivo, de 3 a 200 letras.";
};

/// The page of a student's ledger.
fn path(student: UserId) -> String {
    format!("{}/alunos/{student}", crate::program::admin::PATH)
}

const FLASHES: &[Flash] =
    &[Flash::good("corrigido", "Correção lançada", "O aluno a vê no histórico de XP.")];

/// The student whose page it is.
fn student(tx: &ReadTx<'_>, request: &Request) -> Result<Account, Problem> {
    let account = accounts::by_id(tx, UserId(request.id()?))?;
    account.filter(|account| account.role.is_student()).ok_or_else(Problem::not_found)
}

/// `GET /admin/gamificacao/alunos/{id}`: a student's points and their entries.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    if request.wants_json() {
        let (all, entries) = app.db.read(request.lane, |tx| {
            let student = student(tx, request)?.user_id;
            let totals = store::ledger_totals(tx, student)?.unwrap_or_default();
            Ok::<_, Problem>((totals.entries, store::history(tx, student, query.window())?))
        })?;
        return entries_json(all.unsigned_abs(), entries, app.zone());
    }
    page((app, person, request), &query, FORM.show(None, app.zone()).unfocused())
}

fn page(
    (app, person, request): Visit<'_>,
    query: &ListQuery,
    form: FormView,
) -> Result<Reply, Problem> {
    let today = app.day(request.now);
    let layout = layout(app, person, request).telling(FLASHES, request);
    let page = app.db.read(request.lane, |tx| {
        let student = student(tx, request)?;
        let progress = cards::student_progress(tx, student.user_id, today, &milestones::all(tx)?)?;
        let entries = store::history(tx, student.user_id, query.window())?;
        let all = progress.totals.entries.unsigned_abs();
        let (page, rows) = (query.page.into(), query.per_page.into());
        Ok::<_, Problem>(LedgerPage {
            layout,
            today,
            lap: cards::lap(&progress.totals, ProgramSettings::of(&app.config)),
            progress,
            entries,
            time: PageTime::of(app, request),
            paging: Paging::new(&path(student.user_id), &[], page, rows, all),
            student,
            form,
        })
    })?;
    Reply::page(&page)
}

/// `POST /admin/gamificacao/alunos/{id}/corrigir`: gives or takes points by
/// hand, with the reason.
pub fn correct(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let student = UserId(request.id()?);
    let correction = match FORM.entry(request, app.zone(), None) {
        Ok(correction) => correction,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let form = FORM.again(request, faults);
                page((app, person, request), &LIST.first_page(""), form)
            });
        }
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let settings = ProgramSettings::of(&app.config);
    Ok(Box::new(move |tx| {
        let account = accounts::by_id(tx, student)?.ok_or_else(Problem::not_found)?;
        let Correction { xp, reason } = &correction;
        if !ledger::correct(tx, settings, student, *xp, reason)? {
            return Err(Problem::not_found());
        }
        let totals = store::ledger_totals(tx, student)?.unwrap_or_default();
        let act = objects::STUDENT.act("aluno.corrigir_xp", student, &account.name);
        let told = json!({ "xp": xp, "motivo": reason, "total": totals.xp });
        audit::note(tx, &actor, &act, (), &told)?;
        answer.with(&path(student), "corrigido", &[("xp", totals.xp.into())])
    }))
}
