//! Challenges in the administration.

use serde_json::{Value, json};

use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::Day;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::input::RowNumber;
use crate::http::{Code, Problem, Reply, Request};
use crate::panel::{Answer, Form, Input, Rule, Sent, Visit};
use crate::program::rules::MOST_XP;
use crate::program::{Action, Challenge, ChallengeEntry, challenges};

/// The page of the challenges.
pub const PATH: &str = "/admin/gamificacao/desafios";
/// Most of an action that a challenge asks for.
const MOST_GOAL: i64 = 1_000_000;

impl Default for ChallengeEntry {
    fn default() -> Self {
        Self {
            title: String::new(),
            description: String::new(),
            action: Action::CheckIn,
            goal: 0,
            starts_on: Day(0),
            ends_on: Day(0),
            reward_xp: None,
            reward: String::new(),
        }
    }
}

/// The form of a challenge.
pub const FORM: Form<ChallengeEntry> = Form(&[
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
        "acao",
        "Escolha uma ação da lista.",
        Rule::Own(read_action, |entry, _| entry.action.name().to_owned()),
    ),
    Input::new(
        "meta",
        "Informe um número inteiro de 1 a 1.000.000.",
        Rule::Own(
            |sent, name, entry| entry.goal = sent.number(name, 1..=MOST_GOAL),
            |entry, _| if entry.goal == 0 { String::new() } else { entry.goal.to_string() },
        ),
    ),
    Input::new(
        "inicio",
        "Informe um dia que exista, como 31/12/2026.",
        Rule::Own(
            |sent, name, entry| entry.starts_on = read_day(sent, name),
            |entry, _| day_typed(entry.starts_on),
        ),
    ),
    Input::new(
        "fim",
        "Informe um dia que não venha antes do início.",
        Rule::Own(
            |sent, name, entry| entry.ends_on = read_day(sent, name),
            |entry, _| day_typed(entry.ends_on),
        ),
    ),
    Input::new(
        "recompensa_xp",
        "Informe um número inteiro de 0 a 1.000.000, ou nada.",
        Rule::Maybe(0..=MOST_XP, |entry| &mut entry.reward_xp),
    ),
    Input::new("recompensa", "Use até 200 letras.", Rule::Line(0..=200, |entry| &mut entry.reward)),
]);

fn read_action(sent: &mut Sent<'_>, name: &'static str, entry: &mut ChallengeEntry) {
    let text: String = sent.required(name);
    match Action::from_name(&text) {
        Some(action) => entry.action = action,
        None => sent.check.fail(name, format!("must be one of {}", Action::NAMES.join(", "))),
    }
}

fn read_day(sent: &mut Sent<'_>, name: &'static str) -> Day {
    let text: String = sent.required(name);
    Day::parse(&text).unwrap_or_else(|| {
        sent.check.fail(name, "must be a day that exists, as YYYY-MM-DD");
        Day(0)
    })
}

fn day_typed(day: Day) -> String {
    if day == Day(0) { String::new() } else { day.iso() }
}

/// A challenge as programs read it.
pub fn shown(challenge: &Challenge) -> Value {
    let mut value = shown_entry(&challenge.entry);
    value["id"] = challenge.id.to_string().into();
    value
}

fn shown_entry(entry: &ChallengeEntry) -> Value {
    json!({
        "titulo": entry.title, "descricao": entry.description, "acao": entry.action.name(),
        "meta": entry.goal, "inicio": entry.starts_on.iso(), "fim": entry.ends_on.iso(),
        "recompensa_xp": entry.reward_xp, "recompensa": entry.reward,
    })
}

/// `GET /admin/gamificacao/desafios-json`: challenges whose last day is to
/// come, and those that are over.
pub fn json(app: &App, _: &Person, request: &Request) -> Result<Reply, Problem> {
    let today = app.day(request.now);
    let all = app.db.read(request.lane, challenges::all)?;
    let (active, over): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.entry.ends_on >= today);
    let shown = |list: Vec<&Challenge>| list.into_iter().map(shown).collect::<Vec<_>>();
    Reply::json(&json!({ "ok": true, "ativos": shown(active), "expirados": shown(over) }))
}

/// `POST /admin/gamificacao/desafio/salvar`: makes a challenge, or with `id`
/// changes one; what a program leaves out of a change stays.
pub fn save(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let id = sent.reference("id");
    let present = match id {
        Some(id) => {
            let found = app.db.read(request.lane, |tx| challenges::one(tx, id))?;
            Some(found.ok_or_else(Problem::not_found)?.entry)
        }
        None => None,
    };
    let entry = FORM.read(&mut sent, present.as_ref());
    if entry.ends_on < entry.starts_on && entry.ends_on != Day(0) {
        sent.check.fail("fim", "must not be before inicio");
    }
    if let Err(problem) = sent.finish() {
        return again((app, person, request), id, problem);
    }
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let act = |action, id: i64| Act {
            action,
            object: "desafio",
            object_id: id.to_string(),
            object_name: &entry.title,
        };
        if let Some(id) = id {
            let before = challenges::one(tx, id)?.ok_or_else(Problem::not_found)?;
            challenges::update(tx, id, &entry)?;
            let (before, after) = (shown_entry(&before.entry), shown_entry(&entry));
            audit::note(tx, &actor, &act("desafio.alterar", id), Some(&before), Some(&after))?;
            return answer.done(id, PATH, "alterado");
        }
        let full =
            || Problem::new(Code::Conflict, "there are 1000 challenges; remove old ones first");
        let id = challenges::insert(tx, &entry)?.ok_or_else(full)?;
        let after = shown_entry(&entry);
        audit::note(tx, &actor, &act("desafio.criar", id), None::<&()>, Some(&after))?;
        answer.done(id, PATH, "criado")
    }))
}

fn again(
    (app, person, request): Visit<'_>,
    id: Option<i64>,
    problem: Problem,
) -> Result<Job, Problem> {
    let _ = (app, person, request, id);
    Err(problem)
}

/// `POST /admin/gamificacao/desafio/excluir`: removes a challenge. What it gave
/// stays with the students.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let field = sent.take("id");
    let id = sent.check.required::<RowNumber>("id", field);
    sent.finish()?;
    let RowNumber(id) = id;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let before = challenges::one(tx, id)?.ok_or_else(Problem::not_found)?;
        challenges::delete(tx, id)?;
        let act = Act {
            action: "desafio.excluir",
            object: "desafio",
            object_id: id.to_string(),
            object_name: &before.entry.title,
        };
        audit::note(tx, &actor, &act, Some(&shown_entry(&before.entry)), None::<&()>)?;
        answer.done(id, PATH, "excluido")
    }))
}
