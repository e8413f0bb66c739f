//! Milestones in the administration.

use serde_json::{Value, json};

use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Check, Problem, Request};
use crate::panel::{Answer, Form, Input, Rule, Sent, Visit};
use crate::program::rules::MOST_XP;
use crate::program::{MILESTONES, Milestone, milestones};

/// The page of the milestones.
pub const PATH: &str = "/admin/gamificacao/marcos";

/// The form of a milestone.
pub const FORM: Form<Milestone> = Form(&[
    Input::new(
        "titulo",
        "Dê um título de 2 a 60 letras.",
        Rule::Line(2..=60, |milestone| &mut milestone.title),
    ),
    Input::new(
        "xp",
        "Informe mais pontos do que o marco anterior pede, e menos do que o seguinte.",
        Rule::Number(0..=MOST_MILESTONE, |milestone| &mut milestone.xp),
    ),
    Input::new(
        "badge",
        "Dê um nome ao selo, de 2 a 40 letras.",
        Rule::Line(2..=40, |milestone| &mut milestone.badge),
    ),
    Input::new(
        "recompensa",
        "Use até 200 letras.",
        Rule::Line(0..=200, |milestone| &mut milestone.reward),
    ),
]);
/// Most points that a milestone may ask for.
const MOST_MILESTONE: i64 = 1_000 * MOST_XP;

/// A milestone as programs read it.
pub fn shown(milestone: &Milestone) -> Value {
    json!({
        "numero": milestone.number, "titulo": milestone.title, "xp": milestone.xp,
        "badge": milestone.badge, "recompensa": milestone.reward,
    })
}

/// `POST /admin/gamificacao/editar-milestone`: changes one of the twenty; what
/// a program leaves out stays.
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
        return again((app, person, request), number, problem);
    }
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
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
            let act = Act {
                action: "programa.marco",
                object: "marco",
                object_id: number.to_string(),
                object_name: &entry.title,
            };
            audit::note(tx, &actor, &act, Some(&shown(before)), Some(&shown(&entry)))?;
        }
        answer.with(PATH, "alterado", &[("milestone", shown(&entry))])
    }))
}

fn again((app, person, request): Visit<'_>, number: i64, problem: Problem) -> Result<Job, Problem> {
    let _ = (app, person, request, number);
    Err(problem)
}

/// Required points grow with the number.
fn check_order(check: &mut Check, all: &[Milestone], entry: &Milestone) {
    let (more_than, less_than) = milestones::bounds(all, entry.number);
    if entry.xp <= more_than {
        check.fail("xp", format!("must be more than the {more_than} of the milestone before"));
    } else if less_than.is_some_and(|bound| entry.xp >= bound) {
        let bound = less_than.unwrap_or_default();
        check.fail("xp", format!("must be less than the {bound} of the milestone after"));
    }
}
