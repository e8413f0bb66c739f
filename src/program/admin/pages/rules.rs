//! The points of each action, and the limits. Programs change them one by one
//! (`editar-xp`, `config/salvar`), the form changes all together.

use http::StatusCode;
use serde_json::{Value, json};

use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::audit::{self, Actor, objects};
use crate::base::Cents;
use crate::db::WriteTx;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Flash, Form, Sent, flashes, form};
use crate::program::admin::preview;
use crate::program::admin::views::RulesPage;
use crate::program::rules::{MOST_MULTIPLIER, MOST_XP, Rules};
use crate::program::{Action, ProgramSettings};

/// The page of the rules.
pub const PATH: &str = "/admin/gamificacao/regras";

const FLASHES: &[Flash] = flashes! {
    "salvas": good "Regras salvas", "Valem a partir de agora. O XP que os alunos já têm não muda.";
};

const POINTS: &str = "Informe um número inteiro de 0 a 1.000.000.";
const MULTIPLIER: &str = "Informe de 0 a 100, com até duas casas, como 1,5.";

/// A multiplier, which a form must not leave empty: 0 would stop all points.
fn multiplier(sent: &mut Sent<'_>, name: &'static str) -> i64 {
    let Cents(multiplier) = sent.required(name);
    if !(0..=MOST_MULTIPLIER).contains(&multiplier) {
        sent.check.fail(name, "must be from 0 to 100");
    }
    multiplier
}

/// The form of the rules, with the points of each action.
pub const FORM: Form<Rules> = form! {
    "xp_checkin": Whole(0..=MOST_XP, |entry| &mut entry.xp[0]), POINTS;
    "xp_aula": Whole(0..=MOST_XP, |entry| &mut entry.xp[1]), POINTS;
    "xp_meet": Whole(0..=MOST_XP, |entry| &mut entry.xp[2]), POINTS;
    "xp_venda": Whole(0..=MOST_XP, |entry| &mut entry.xp[3]), POINTS;
    "xp_conta_vinculada": Whole(0..=MOST_XP, |entry| &mut entry.xp[4]), POINTS;
    "xp_desafio": Whole(0..=MOST_XP, |entry| &mut entry.xp[5]), POINTS;
    "xp_volta": Whole(0..=MOST_XP, |entry| &mut entry.xp[6]), POINTS;
    "multiplicador": Own(
        |sent, name, entry| entry.multiplier = multiplier(sent, name),
        |entry, _| Cents(entry.multiplier).typed(),
    ), MULTIPLIER;
    "multiplicador_streak": Own(
        |sent, name, entry| entry.streak_multiplier = multiplier(sent, name),
        |entry, _| Cents(entry.streak_multiplier).typed(),
    ), MULTIPLIER;
    "limite_diario": Whole(0..=MOST_XP, |entry| &mut entry.day_limit), POINTS;
    "limite_venda_diario": Whole(0..=MOST_XP, |entry| &mut entry.sales_limit), POINTS;
};

/// `POST /admin/gamificacao/editar-xp`: changes the points of one action.
pub fn edit_xp(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let name: String = sent.required("acao");
    let xp = sent.number("xp", 0..=MOST_XP);
    let action = Action::from_name(&name);
    if action.is_none() {
        sent.check.fail("acao", format!("must be one of {}", Action::NAMES.join(", ")));
    }
    sent.finish()?;
    let action = action.ok_or_else(|| Problem::field("acao", "is required"))?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let before = Rules::read(tx)?;
        let mut after = before.clone();
        after.xp[action.place()] = xp;
        put(tx, &actor, &before, &after)?;
        answer.with(PATH, "salvas", &[("acao", action.name().into()), ("xp", xp.into())])
    }))
}

/// `POST /admin/gamificacao/config/salvar`: changes multipliers and limits, and
/// from the form also the points of the actions. Fields that a program leaves
/// out keep their values.
pub fn save(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let present = app.db.read(request.lane, Rules::read)?;
    let after = match FORM.entry(request, app.zone(), Some(&present)) {
        Ok(rules) => rules,
        Err(problem) => {
            return form::show_again(request, problem, |faults| {
                let (layout, form) = (layout(app, person, request), FORM.again(request, faults));
                Reply::page(&RulesPage { layout, form, effect: None })
            });
        }
    };
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    Ok(Box::new(move |tx| {
        let before = Rules::read(tx)?;
        put(tx, &actor, &before, &after)?;
        let config = shown(&after);
        let names =
            ["multiplicador", "multiplicador_streak", "limite_diario", "limite_venda_diario", "xp"];
        answer.with(PATH, "salvas", &names.map(|name| (name, config[name].clone())))
    }))
}

/// `GET /admin/gamificacao/regras`: the rules. With the values of its form in
/// the query, also what these values would have given.
pub fn show(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let present = app.db.read(request.lane, Rules::read)?;
    if request.wants_json() {
        return Reply::json(&json!({ "ok": true, "config": shown(&present) }));
    }
    let frame = layout(app, person, request).telling(FLASHES, request);
    if request.query_text().is_empty() {
        let form = FORM.show(Some(&present), app.zone());
        return Reply::page(&RulesPage { layout: frame, form, effect: None });
    }
    let mut sent = Sent::of_query(request, app.zone())?;
    let typed = FORM.read(&mut sent, None);
    if let Err(problem) = sent.finish() {
        let form = FORM.again(request, &problem.fields);
        let page = Reply::page(&RulesPage { layout: frame, form, effect: None })?;
        return Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY));
    }
    let (settings, today) = (ProgramSettings::of(&app.config), app.day(request.now));
    let effect =
        app.db.read(request.lane, |tx| preview::effect(tx, settings, &present, &typed, today))?;
    Reply::page(&RulesPage {
        layout: frame,
        form: FORM.show(Some(&typed), app.zone()).unfocused(),
        effect: Some(effect),
    })
}

/// Whether the request also asks for a preview of other rules.
pub fn tries(request: &Request) -> bool {
    !request.query_text().is_empty()
}

/// The rules as programs read them and the audit log keeps them.
pub fn shown(rules: &Rules) -> Value {
    let xp: serde_json::Map<String, Value> = Action::NAMES
        .iter()
        .zip(rules.xp)
        .map(|(name, xp)| ((*name).to_owned(), xp.into()))
        .collect();
    json!({
        "xp": xp,
        "multiplicador": Cents(rules.multiplier),
        "multiplicador_streak": Cents(rules.streak_multiplier),
        "limite_diario": rules.day_limit,
        "limite_venda_diario": rules.sales_limit,
    })
}

fn put(tx: &WriteTx<'_>, actor: &Actor, before: &Rules, after: &Rules) -> Result<(), Problem> {
    if before != after {
        after.store(tx)?;
        let act = objects::PROGRAM.act("programa.alterar", "regras", "Regras do programa");
        audit::note(tx, actor, &act, shown(before), shown(after))?;
    }
    Ok(())
}
