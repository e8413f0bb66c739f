//! Challenges in the administration.

use serde_json::{Value, json};

use crate::accounts::page_layout::layout;
use crate::app::{App, Visit};
use crate::audit::objects::CHALLENGE;
use crate::base::Day;
use crate::db::{DbError, RowWindow};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request, RowNumber};
use crate::identity::Person;
use crate::noun::Change;
use crate::panel::{Badge, Filter, Form, FormView, ListReply, Listing, Sent, Tab, flashes, form};
use crate::program::admin::calendar::Calendar;
use crate::program::admin::views::{ChallengeForm, ChallengesPage};
use crate::program::rules::{MOST_XP, Rules};
use crate::program::views::points;
use crate::program::{Action, Challenge, ChallengeEntry, challenges};

/// The page of the challenges.
pub const PATH: &str = "/admin/gamificacao/desafios";
const WHEN: [(&str, &str); 3] =
    [("ativos", "Ativos"), ("futuros", "Futuros"), ("encerrados", "Encerrados")];
const LIST: Listing = Listing {
    path: PATH,
    filters: &[Filter::of("quando", "Quando", "Ativos", &WHEN)],
    flashes: flashes! {
        "criado": good "Desafio criado", "Os alunos já o veem enquanto ele estiver no prazo.";
        "alterado": good "Desafio alterado", "Quem já alcançou a meta ganha em instantes.";
        "excluido": good "Desafio excluído", "O que ele já deu fica com os alunos.";
    },
    ..Listing::NONE
};
/// Highest goal of a challenge.
const MOST_GOAL: i64 = 1_000_000;

pub const FORM: Form<ChallengeEntry> = form! {
    "titulo": Line(2..=120, |entry| &mut entry.title), "Dê um título de 2 a 120 letras.";
    "descricao": Lines(2_000, |entry| &mut entry.description), "Use até 2.000 letras.";
    "acao": Own(read_action, |entry, _| entry.action.name().to_owned()),
        "Escolha uma ação da lista.";
    "meta": Whole(1..=MOST_GOAL, |entry| &mut entry.goal),
        "Informe um número inteiro de 1 a 1.000.000.";
    "inicio": Own(
        |sent, name, entry| entry.starts_on = read_day(sent, name),
        |entry, _| day_typed(entry.starts_on),
    ), "Informe um dia que exista, como 31/12/2026.";
    "fim": Own(
        |sent, name, entry| entry.ends_on = read_day(sent, name),
        |entry, _| day_typed(entry.ends_on),
    ), "Informe um dia que não venha antes do início.";
    "recompensa_xp": Maybe(0..=MOST_XP, |entry| &mut entry.reward_xp),
        "Informe um número inteiro de 0 a 1.000.000, ou nada.";
    "recompensa": Line(0..=200, |entry| &mut entry.reward), "Use até 200 letras.";
};

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

/// `GET /admin/gamificacao/desafios-json`: challenges that are not over, and
/// those that are.
pub fn json(app: &App, _: &Person, request: &Request) -> Result<Reply, Problem> {
    let today = app.day(request.now);
    let all = app.db.read(request.lane, challenges::all)?;
    let (active, over): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.entry.ends_on >= today);
    let shown = |list: Vec<&Challenge>| list.into_iter().map(shown).collect::<Vec<_>>();
    Reply::json(&json!({ "ok": true, "ativos": shown(active), "expirados": shown(over) }))
}

/// `POST /admin/gamificacao/desafio/salvar`: creates a challenge, or changes
/// the one with `id`. Fields that a program leaves out keep their values.
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
        return form::show_again(request, problem, |faults| {
            Reply::page(&page((app, person, request), id, |_| FORM.again(request, faults))?)
        });
    }
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        if let Some(id) = id {
            let before = challenges::one(tx, id)?.ok_or_else(Problem::not_found)?;
            challenges::update(tx, id, &entry)?;
            let (before, after) = (shown_entry(&before.entry), shown_entry(&entry));
            change.note(
                tx,
                &CHALLENGE.act(CHALLENGE.changed, id, &entry.title),
                &before,
                &after,
            )?;
            return change.answer.done(id, PATH, "alterado");
        }
        let full = || {
            Problem::conflict(ForPeople("Já há 1.000 desafios, o máximo. Exclua os antigos antes."))
        };
        let id = challenges::insert(tx, &entry)?.ok_or_else(full)?;
        let act = CHALLENGE.act(CHALLENGE.created, id, &entry.title);
        change.note(tx, &act, (), shown_entry(&entry))?;
        change.answer.done(id, PATH, "criado")
    }))
}

/// The page of a challenge, or of a new one, with a form.
fn page(
    (app, person, request): Visit<'_>,
    id: Option<i64>,
    form: impl FnOnce(Option<&Challenge>) -> FormView,
) -> Result<ChallengeForm, Problem> {
    let layout = layout(app, person, request);
    app.db.read(request.lane, |tx| {
        let existing = match id {
            Some(id) => Some(challenges::one(tx, id)?.ok_or_else(Problem::not_found)?),
            None => None,
        };
        let usual = points(Rules::read(tx)?.points(Action::Challenge, (0, 1)));
        Ok(ChallengeForm {
            layout,
            today: app.day(request.now),
            form: form(existing.as_ref()),
            existing,
            usual_words: format!("Em branco, o das regras: {usual}."),
        })
    })
}

/// `GET /admin/gamificacao/desafios/{id}`: the form of one; `novo` for a new one.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = if request.variable("id") == "novo" { None } else { Some(request.id()?) };
    let page = page((app, person, request), id, |existing| {
        FORM.show(existing.map(|one| &one.entry), app.zone())
    })?;
    if request.wants_json() {
        return Reply::json(&shown(page.existing.as_ref().ok_or_else(Problem::not_found)?));
    }
    Reply::page(&page)
}

/// `GET /admin/gamificacao/desafios`: active, future or past challenges, and a
/// calendar of all.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = LIST.read(request)?;
    let today = app.day(request.now);
    let (all, rules) = app
        .db
        .read(request.lane, |tx| Ok::<_, DbError>((challenges::all(tx)?, Rules::read(tx)?)))?;
    let wanted = query.filter("quando").unwrap_or("ativos");
    let state = match wanted {
        "futuros" => Badge::Scheduled,
        "encerrados" => Badge::Over,
        _ => Badge::Active,
    };
    let chosen = || all.iter().filter(|one| one.entry.state(&today) == state);
    let RowWindow { limit, offset } = query.window();
    let rows = || chosen().skip(offset as usize).take(limit as usize);
    let total = chosen().count() as u64;
    if request.wants_json() {
        return ListReply::of(total, rows(), shown);
    }
    let tab = |(value, label): (&'static str, &'static str)| Tab {
        label,
        href: format!("{PATH}?quando={value}"),
        on: value == wanted,
    };
    Reply::page(&ChallengesPage {
        layout: layout(app, person, request).telling(LIST.flashes, request),
        today,
        rules,
        tabs: WHEN.map(tab).into(),
        challenges: rows().cloned().collect(),
        paging: LIST.table(&query, &[], total).paging,
        none_at_all: all.is_empty(),
        calendar: Calendar::new(today, &all),
    })
}

/// `POST /admin/gamificacao/desafio/excluir`: removes a challenge. What it gave
/// stays with the students.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let field = sent.take("id");
    let id = sent.check.required::<RowNumber>("id", field);
    sent.finish()?;
    let RowNumber(id) = id;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = challenges::one(tx, id)?.ok_or_else(Problem::not_found)?;
        challenges::delete(tx, id)?;
        let act = CHALLENGE.act(CHALLENGE.removed, id, &before.entry.title);
        change.note(tx, &act, shown_entry(&before.entry), ())?;
        change.answer.done(id, PATH, "excluido")
    }))
}
