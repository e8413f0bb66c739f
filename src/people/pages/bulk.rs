//! Acts on several students at once, chosen in the list or by its filter: suspending,
//! another plan, a message. One person's message and plan take the same way.
//!
//! A page asks for what the act needs and says for whom it is; then the act works in
//! pieces, each with a commit of its own.

use std::borrow::Cow;

use super::asked;
use crate::accounts::page_layout::layout;
use crate::accounts::person::{Group, PersonStatus};
use crate::accounts::students;
use crate::app::{App, Visit};
use crate::audit::objects::STUDENT;
use crate::audit::{self, Actor};
use crate::base::{Day, UserId, Zone, secrets};
use crate::content::plans::store as plans;
use crate::db::{DbError, ReadTx, WriteTx};
use crate::edge::route::Job;
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::choices::ChannelSet;
use crate::messages::{News, tell};
use crate::outbox::{Channel, MessageKind};
use crate::panel::form::all_sent;
use crate::panel::{Answer, FormView, Sent};
use crate::people::granting::Gift;
use crate::people::store;
use crate::people::told::{Back, Told};
use crate::people::views::{BulkPage, PlanPick};

/// The page and the act.
pub const PATH: &str = "/admin/alunos/em-lote";
/// Most people that one act is for, and how many a piece of it.
const MOST: usize = 20_000;
const PIECE: usize = 50;
/// Names that the page tells.
const NAMED: usize = 8;
/// Letters of a message's title and text.
const TITLE: usize = 80;
const TEXT: usize = 1_000;

crate::named! {
    /// What is done to the students.
    pub enum Act: text {
        Suspend = "suspender", "Suspender";
        Plan = "plano", "Trocar plano";
        Message = "mensagem", "Mensagem";
        /// More time; one person at a time.
        Grace = "prazo", "Dar prazo";
    }
}

/// What is to be done, and for whom.
struct Chosen {
    act: Act,
    ids: Vec<UserId>,
    back: Back,
    /// The query of the list, when all of its filter are chosen.
    all: Option<String>,
}

impl Chosen {
    /// By the boxes `ids`, or `todos` with the query of the list in `filtro`. They stand in
    /// the address while the page asks, and in the form or JSON of the act.
    fn read(app: &App, request: &Request) -> Result<Self, Problem> {
        let asked_by_address = request.body.is_empty();
        let (one, all, ids) = if asked_by_address {
            let one = |name| all_sent(request, name).next().unwrap_or_default().into_owned();
            let ids = all_sent(request, "ids").map(Cow::into_owned).collect();
            (["acao", "filtro", "volta"].map(one), one("todos") == "1", ids)
        } else {
            let mut sent = Sent::of(request, app.zone())?;
            let one = ["acao", "filtro", "volta"]
                .map(|name| sent.optional::<String>(name).unwrap_or_default());
            let all: Option<bool> = sent.optional("todos");
            let ids: Option<Vec<String>> = sent.optional("ids");
            sent.finish()?;
            (one, all.unwrap_or_default(), ids.unwrap_or_default())
        };
        let [name, filter, back] = one;
        let act = Act::from_name(&name).filter(|act| *act != Act::Grace);
        let act = act.ok_or_else(Problem::not_found)?;
        let back = if back.is_empty() { Back::List(filter.clone()) } else { Back::of(&back) };
        let ids = if all {
            let wanted = asked(&filter)?;
            app.db.read(request.lane, |tx| store::ids(tx, &wanted))?
        } else {
            let mut ids: Vec<i64> = ids.iter().filter_map(|id| id.parse().ok()).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        if ids.len() > MOST {
            return Err(Problem::conflict(ForPeople(
                "São no máximo 20.000 alunos de uma vez. Restrinja a lista antes.",
            )));
        }
        let ids = ids.into_iter().map(UserId).collect();
        Ok(Self { act, ids, back, all: all.then_some(filter) })
    }
}

/// `GET /admin/alunos/em-lote`: asks for what an act needs, and says for whom it is.
pub fn ask(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let chosen = Chosen::read(app, request)?;
    if chosen.ids.is_empty() {
        return Reply::back(&chosen.back.page(), "nada_marcado");
    }
    let is_about_payment = all_sent(request, "sobre").any(|word| word == "pagamento");
    let form = FormView::new(&FIELDS, |name| match name {
        "titulo" if is_about_payment => "Sobre o seu pagamento".to_owned(),
        "texto" if is_about_payment => {
            "O pagamento da sua renovação ainda não foi confirmado. Se já pagou, desconsidere. \
             Se precisar de ajuda ou de mais prazo, responda a esta mensagem."
                .to_owned()
        }
        _ => String::new(),
    });
    Reply::page(&page((app, person, request), &chosen, form)?)
}

const FIELDS: [&str; 5] = ["motivo", "plano", "pago_ate", "titulo", "texto"];

fn page(
    (app, person, request): Visit<'_>,
    chosen: &Chosen,
    form: FormView,
) -> Result<BulkPage, Problem> {
    let (names, picks) = app.db.read(request.lane, |tx| {
        let mut names = Vec::new();
        for id in chosen.ids.iter().take(NAMED) {
            names.extend(store::person(tx, *id)?.map(|one| one.entry.nome));
        }
        Ok::<_, Problem>((names, plan_picks(tx)?))
    })?;
    let channels = ChannelSet::of(&app.config);
    let on = Channel::ALL.into_iter().filter(|one| channels.has(*one)).map(Channel::words);
    Ok(BulkPage {
        layout: layout(app, person, request),
        act: chosen.act,
        count: chosen.ids.len(),
        ids: if chosen.all.is_some() { Vec::new() } else { chosen.ids.clone() },
        all: chosen.all.clone(),
        back: chosen.back.page(),
        back_text: chosen.back.text(),
        names,
        picks,
        channels: on.map(str::to_lowercase).collect::<Vec<_>>().join(", "),
        form,
    })
}

/// What a student can be given: plans on sale that say what they grant, then the plans
/// of the account by themselves.
pub fn plan_picks(tx: &ReadTx<'_>) -> Result<Vec<PlanPick>, DbError> {
    let sold = plans::all(tx)?.into_iter().filter(|plan| plan.entry.grants_role.is_some());
    let sold = sold.map(|plan| PlanPick {
        value: format!("plano:{}", plan.id),
        label: format!("{} · {} · {}", plan.entry.title, plan.price_words(), plan.grants()),
    });
    let bare = crate::accounts::Role::STUDENTS.into_iter().map(|role| PlanPick {
        value: format!("papel:{}", role.name()),
        label: format!("Só a conta {}", role.words()),
    });
    Ok(sold.chain(bare).collect())
}

/// An act with all that it needs.
#[derive(Clone)]
enum Order {
    Suspend(String),
    Give(Gift),
    Message { cause: String, title: String, text: String, channels: ChannelSet },
}

fn order(app: &App, request: &Request, act: Act) -> Result<Order, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    match act {
        Act::Suspend => {
            let reason = sent.line("motivo", 3..=200);
            sent.finish()?;
            Ok(Order::Suspend(reason))
        }
        Act::Message => {
            let title = sent.line("titulo", 3..=TITLE);
            let text = sent.lines("texto", TEXT);
            if text.chars().count() < 3 {
                sent.check.fail("texto", "must have 3 to 1000 letters");
            }
            sent.finish()?;
            let cause = format!("recado:{}", secrets::random_hex::<8>());
            Ok(Order::Message { cause, title, text, channels: ChannelSet::of(&app.config) })
        }
        Act::Plan | Act::Grace => {
            let word: String = sent.required("plano");
            let until: Option<String> = sent.optional("pago_ate");
            let until = until.filter(|text| !text.is_empty());
            let day = until.as_deref().and_then(Day::parse);
            let today = app.day(request.now);
            if until.is_some() && day.is_none_or(|day| day < today) {
                sent.check.fail("pago_ate", "must be a day from today on");
            }
            let gift = app.db.read(request.lane, |tx| Gift::of(tx, &word, day))?;
            if gift.is_none() {
                sent.check.fail("plano", "must be plano:ID or papel:NAME");
            }
            sent.finish()?;
            gift.map(Order::Give).ok_or_else(Problem::not_found)
        }
    }
}

fn fault_words(name: &str) -> &'static str {
    match name {
        "motivo" => "Diga o motivo, com 3 a 200 letras.",
        "plano" => "Escolha um plano da lista.",
        "pago_ate" => "Informe um dia a partir de hoje, ou deixe em branco.",
        "titulo" => "Dê um título de 3 a 80 letras.",
        _ => "Escreva de 3 a 1.000 letras.",
    }
}

/// `POST /admin/alunos/em-lote`: does it.
pub fn run(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let chosen = Chosen::read(app, request)?;
    let act = chosen.act;
    let order = match order(app, request, act) {
        Ok(order) => order,
        Err(problem) if problem.fields.is_empty() => return Err(problem),
        Err(problem) => {
            return Reply::form_again(request, problem, |problem| {
                let sent = |name: &str| all_sent(request, name).next().unwrap_or_default();
                let mut form = FormView::new(&FIELDS, |name| sent(name).into_owned());
                let wrong: Vec<&str> = problem.fields.iter().map(|(name, _)| &**name).collect();
                form.find_fault(&wrong, fault_words);
                page((app, person, request), &chosen, form)
            });
        }
    };
    let actor = Actor::person(person, request);
    let mut told = Told { act, people: 0, entries: (0, 0) };
    for piece in chosen.ids.chunks(PIECE) {
        let (piece, order) = (piece.to_vec(), order.clone());
        let (actor, zone) = (actor.clone(), app.zone());
        let (changed, first, last) = app.db.write_piece(move |tx| {
            let first = audit::newest(tx)?.saturating_add(1);
            let mut changed = 0;
            for id in piece {
                changed += usize::from(order.carry_out(tx, &actor, zone, id)?);
            }
            Ok::<_, DbError>((changed, first, audit::newest(tx)?))
        })?;
        if changed > 0 {
            let from = if told.people == 0 { first } else { told.entries.0 };
            told = Told { people: told.people + changed, entries: (from, last), ..told };
        }
    }
    let members = [("alterados", told.people.into())];
    Answer::to(request).with(&chosen.back.page(), &told.word(), &members)
}

impl Order {
    /// Does it to one student; false when nothing changes.
    fn carry_out(
        &self,
        tx: &WriteTx<'_>,
        actor: &Actor,
        zone: Zone,
        id: UserId,
    ) -> Result<bool, DbError> {
        let student = store::person(tx, id)?;
        let Some(student) = student.filter(|one| Group::of(one.entry.papel) == Group::Students)
        else {
            return Ok(false);
        };
        let name = &student.entry.nome;
        match self {
            Self::Give(gift) => gift.give(tx, actor, zone, id),
            Self::Suspend(reason) => {
                if !students::suspend(tx, id, reason)? {
                    return Ok(false);
                }
                let status = |status: PersonStatus| status.name();
                let before = serde_json::json!({ "status": status(student.status) });
                let after = serde_json::json!({ "status": status(PersonStatus::Suspended), "motivo": reason });
                audit::note(tx, actor, &STUDENT.act("aluno.suspender", id, name), &before, &after)?;
                Ok(true)
            }
            Self::Message { cause, title, text, channels } => {
                if student.status == PersonStatus::Suspended {
                    return Ok(false);
                }
                let news = News {
                    title,
                    text,
                    reference: Some("/painel/avisos"),
                    params: serde_json::json!({ "title": title, "body": text }),
                    ..News::message(MessageKind::Note, *channels, cause)
                };
                tell(tx, id, news)?;
                let after = serde_json::json!({ "titulo": title });
                audit::note(tx, actor, &STUDENT.act("aluno.mensagem", id, name), (), &after)?;
                Ok(true)
            }
        }
    }
}

/// `POST /admin/alunos/{id}/prazo`: gives a student some days more.
pub fn grace(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let days: Option<i64> = sent.optional("dias");
    let days = days.unwrap_or(7);
    if !(1..=60).contains(&days) {
        sent.check.fail("dias", "must be 1 to 60");
    }
    let back: Option<String> = sent.optional("volta");
    sent.finish()?;
    let id = UserId(request.id()?);
    let back = back.map_or(Back::Person(id), |text| Back::of(&text));
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let zone = app.zone();
    Ok(Box::new(move |tx| {
        let student = crate::people::find(tx, Group::Students, id)?;
        if student.status == PersonStatus::Suspended {
            let problem = Problem::conflict(ForPeople("A pessoa está suspensa. Reative-a antes."));
            return answer.declined(problem, &back.page(), "esta_suspenso");
        }
        let first = audit::newest(tx)?.saturating_add(1);
        let given = Gift::Days(days).give(tx, &actor, zone, id)?;
        let entries = (first, audit::newest(tx)?);
        let told = Told { act: Act::Grace, people: usize::from(given), entries };
        let until = store::person(tx, id)?.and_then(|one| one.paid_until);
        let members =
            [("id", id.to_string().into()), ("pago_ate", until.map(|at| zone.spaced(at)).into())];
        answer.with(&back.page(), &told.word(), &members)
    }))
}
