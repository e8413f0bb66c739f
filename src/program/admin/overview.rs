//! The program at a glance, and the two commands that go over all students:
//! making the data of those who lack it, and comparing everybody with the ledger.

use std::time::Duration;

use serde_json::{Value, json};

use super::rules::shown;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::UserId;
use crate::db::{DbError, Lane};
use crate::edge::guard::Person;
use crate::http::{Problem, Reply, Request};
use crate::panel::Answer;
use crate::program::recount::{self, Look, Recount};
use crate::program::rules::Rules;
use crate::program::{Terms, ledger::Account, milestones, store};

/// Students of one job of the writer.
const PIECE: usize = 250;
/// How long a call may go on; what is left is done by the next.
const BUDGET: Duration = Duration::from_secs(15);
/// How long an answer waits for the end of a comparison.
const PATIENCE: Duration = Duration::from_secs(5);

/// `GET /admin/gamificacao`: the program at a glance.
pub fn show(app: &App, _: &Person, request: &Request) -> Result<Reply, Problem> {
    let (rules, all, (students, enrolled), look) = app.db.read(request.lane, |tx| {
        Ok::<_, DbError>((
            Rules::read(tx)?,
            milestones::all(tx)?,
            store::enrolled(tx)?,
            recount::last(tx)?,
        ))
    })?;
    let milestones: Vec<Value> = all.iter().map(super::milestones::shown).collect();
    Reply::json(&json!({
        "ok": true, "total": students, "migrados": enrolled, "pendentes": students - enrolled,
        "config": shown(&rules), "milestones": milestones,
        "recalculo": look.map(|look| look_shown(app, &look)),
    }))
}

fn look_shown(app: &App, look: &Look) -> Value {
    let zone = app.zone();
    json!({
        "inicio": zone.spaced(look.begun_at), "fim": look.ended_at.map(|at| zone.spaced(at)),
        "concluido": look.ended_at.is_some(), "alunos": look.students,
        "conferidos": look.looked_at, "corrigidos": look.mended,
    })
}

/// `GET /admin/gamificacao/status`: how many students have the program's data.
pub fn status(app: &App, _: &Person, request: &Request) -> Result<Reply, Problem> {
    let (students, enrolled) = app.db.read(request.lane, store::enrolled)?;
    Reply::json(&json!({
        "ok": true, "total": students, "migrados": enrolled, "pendentes": students - enrolled,
    }))
}

/// `GET /admin/gamificacao/migrar`: makes the data of students who lack it. A
/// browser is asked first: it comes again with `confirmar=1`.
pub fn migrate(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let terms = Terms::of(&app.config);
    let began = std::time::Instant::now();
    let (mut after, mut made) = (UserId(0), 0_usize);
    loop {
        let next = app.db.read(Lane::Slow, |tx| store::not_enrolled(tx, after, PIECE))?;
        let Some(last) = next.last().copied() else { break };
        made += app.db.write(move |tx| {
            let mut made = 0;
            for student in next {
                if let Some(account) = Account::open(tx, terms, student)? {
                    account.close()?;
                    made += 1;
                }
            }
            Ok::<usize, DbError>(made)
        })?;
        after = last;
        if began.elapsed() > BUDGET {
            break;
        }
    }
    let actor = Actor::person(person, request);
    app.db.write(move |tx| {
        let act = act("programa.migrar");
        audit::note(tx, &actor, &act, None::<&()>, Some(&json!({ "alunos": made })))
    })?;
    let (students, enrolled) = app.db.read(request.lane, store::enrolled)?;
    let members = [
        ("migrados_agora", made.into()),
        ("total", students.into()),
        ("migrados", enrolled.into()),
        ("pendentes", (students - enrolled).into()),
    ];
    Answer::to(request).with(super::PATH, "migrados", &members)
}

/// `POST /admin/gamificacao/recalcular`: compares what every student has with
/// what the ledger gives, and mends what differs. Waits a few seconds for the end.
pub fn recount(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let actor = Actor::person(person, request);
    app.db.write(move |tx| {
        audit::note(tx, &actor, &act("programa.recalcular"), None::<&()>, None::<&()>)
    })?;
    let look = Recount::ask(app, PATIENCE)?;
    let word = if look.ended_at.is_some() { "recalculado" } else { "recalculando" };
    let shown = look_shown(app, &look);
    let members: Vec<(&str, Value)> = ["concluido", "alunos", "conferidos", "corrigidos"]
        .map(|name| (name, shown[name].clone()))
        .into();
    Answer::to(request).with(super::PATH, word, &members)
}

fn act(action: &'static str) -> Act<'static> {
    Act {
        action,
        object: "programa",
        object_id: "alunos".to_owned(),
        object_name: "Alunos do programa",
    }
}
