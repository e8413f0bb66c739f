//! Milestones in the administration.

use serde_json::{Value, json};

use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::{self, Actor, objects};
use crate::db::DbError;
use crate::edge::route::Job;
use crate::http::{Check, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Flash, Form, FormView, ListReply, Sent, form};
use crate::program::admin::views::{MilestoneForm, MilestonesPage};
use crate::program::rules::MOST_XP;
use crate::program::{MILESTONES, Milestone, lowered, milestones};

/// The page of the milestones.
pub const PATH: &str = "/admin/gamificacao/marcos";

const FLASHES: &[Flash] =
    &[Flash::good("alterado", "Marco alterado", "Os níveis de todos já seguem os novos números.")];

pub const FORM: Form<Milestone> = form! {
    "titulo": Line(2..=60, |milestone| &mut milestone.title), "Dê um título de 2 a 60 letras.";
    "xp": Whole(0..=MOST_MILESTONE, |milestone| &mut milestone.xp),
        "Informe mais pontos do que o marco anterior pede, e menos do que o seguinte.";
    "badge": Line(2..=40, |milestone| &mut milestone.badge),
        "Dê um nome ao selo, de 2 a 40 letras.";
    "recompensa": Line(0..=200, |milestone| &mut milestone.reward), "Use até 200 letras.";
};
/// Most points that a milestone may ask for.
const MOST_MILESTONE: i64 = 1_000 * MOST_XP;

/// A milestone as programs read it.
pub fn shown(milestone: &Milestone) -> Value {
    json!({
        "numero": milestone.number, "titulo": milestone.title, "xp": milestone.xp,
        "badge": milestone.badge, "recompensa": milestone.reward,
    })
}

/// `POST /admin/gamificacao/editar-milestone`: changes one of the twenty.
/// Fields that a program leaves out keep their values.
pub fn edit(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let number = sent.number("numero", 1..=MILESTONES);
    let all = app.db.read(request.lane, milestones::all)?;
    let present = all.iter().find(|one| one.number == number);
    let mut entry = FORM.read(&mut sent, present);
    entry.number = number;
    if present.is_some() {
        check_order(&mut sent.check, &all, &entry);
    }
    if let Err(problem) = sent.finish() {
        if present.is_none() {
            return Err(problem);
        }
        return form::show_again(request, problem, |faults| {
            Reply::page(&page((app, person, request), number, |_| FORM.again(request, faults))?)
        });
    }
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let bell = app.work.milestone_bell.clone();
    Ok(Box::new(move |tx| {
        // Its neighbours may have changed since.
        let all = milestones::all(tx)?;
        let mut check = Check::json();
        check_order(&mut check, &all, &entry);
        check.finish()?;
        let before = all.iter().find(|one| one.number == number);
        let before = before.ok_or_else(Problem::not_found)?;
        if *before != entry {
            milestones::put(tx, &entry)?;
            lowered::note(tx, before, &entry)?;
            tx.after_commit(move || bell.ring());
            let act = objects::MILESTONE.act("marco.alterar", number, &entry.title);
            audit::note(tx, &actor, &act, shown(before), shown(&entry))?;
        }
        answer.with(PATH, "alterado", &[("milestone", shown(&entry))])
    }))
}

/// The page of a milestone with a form.
fn page(
    (app, person, request): Visit<'_>,
    number: i64,
    form: impl FnOnce(&Milestone) -> FormView,
) -> Result<MilestoneForm, Problem> {
    let layout = layout(app, person, request);
    app.db.read(request.lane, |tx| {
        let all = milestones::all(tx)?;
        let xp_of = |number| all.iter().find(|one| one.number == number).map(|one| one.xp);
        let (before, after) = (xp_of(number - 1), xp_of(number + 1));
        let milestone = all.into_iter().find(|one| one.number == number);
        let milestone = milestone.ok_or_else(Problem::not_found)?;
        let (form, reached) = (form(&milestone), milestones::reached(tx, milestone.xp)?);
        Ok(MilestoneForm { layout, milestone, form, before, after, reached })
    })
}

/// `GET /admin/gamificacao/marcos`: the twenty, with how many students are at
/// each.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let (all, reached) = app.db.read(request.lane, |tx| {
        let all = milestones::all(tx)?;
        // The first number counts all ranked students, also those below M1.
        let all_points = std::iter::once(i64::MIN).chain(all.iter().map(|one| one.xp));
        let reached = all_points.map(|xp| milestones::reached(tx, xp));
        let reached = reached.collect::<Result<Vec<u64>, DbError>>()?;
        Ok::<_, DbError>((all, reached))
    })?;
    // Students at a milestone: those who reached it, less those who reached the
    // next one.
    let stays = |place: usize| {
        let on = reached.get(place + 1).copied().unwrap_or(0);
        reached[place].saturating_sub(on)
    };
    if request.wants_json() {
        return ListReply::of(all.len() as u64, &all, shown);
    }
    Reply::page(&MilestonesPage {
        layout: layout(app, person, request).telling(FLASHES, request),
        milestones: (1..).zip(all).map(|(place, one)| (one, stays(place))).collect(),
        below: stays(0),
    })
}

/// `GET /admin/gamificacao/marcos/{numero}`: the form of one.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let number = request.variable("numero").parse().map_err(|_| Problem::not_found())?;
    let page = page((app, person, request), number, |one| FORM.show(Some(one), app.zone()))?;
    if request.wants_json() {
        return Reply::json(&shown(&page.milestone));
    }
    Reply::page(&page)
}

/// Checks that the required points increase with the number.
fn check_order(check: &mut Check, all: &[Milestone], entry: &Milestone) {
    let (more_than, less_than) = milestones::bounds(all, entry.number);
    if entry.xp <= more_than {
        check.fail("xp", format!("must be more than the {more_than} of the milestone before"));
    } else if let Some(bound) = less_than.filter(|bound| entry.xp >= *bound) {
        check.fail("xp", format!("must be less than the {bound} of the milestone after"));
    }
}
