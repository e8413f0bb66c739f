//! Taking back an act on students within minutes, by what the audit log says of it.

use serde_json::Value;

use crate::app::App;
use crate::audit::log::AuditEntry;
use crate::audit::log::store as entries;
use crate::audit::objects::STUDENT;
use crate::audit::{self, Actor};
use crate::base::{Instant, UserId};
use crate::db::{DbError, WriteTx};
use crate::http::{ForPeople, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Sent};
use crate::people::granting::AuditedTerms;
use crate::people::store;
use crate::people::told::Back;

/// Seconds within which an act is taken back. The page offers it for ten.
const LIFE_S: i64 = 600;
/// Most entries of an act, and how many a piece.
const MOST: i64 = 60_000;
const PIECE: i64 = 50;

/// `POST /admin/alunos/desfazer`: takes back what the entries of one act say.
pub fn undo(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let (first, last): (i64, i64) = (sent.required("de"), sent.required("ate"));
    let back: Option<String> = sent.optional("volta");
    if first < 1 || last < first || last - first >= MOST {
        sent.check.fail("ate", "must be the last entry of the act");
    }
    sent.finish()?;
    let back = Back::of(&back.unwrap_or_default()).page();
    let own = person.account.user_id;
    // The first may be of the service itself, such as the end of a view of the student.
    let ended = app.db.read(request.lane, |tx| entries::one(tx, last))?;
    let ended = ended.filter(|entry| is_own(entry, own, request.now));
    let answer = Answer::to(request);
    let Some(ended) = ended else {
        let problem = Problem::conflict(ForPeople("Isto não pode mais ser desfeito."));
        return answer.refused(problem, &back, "tarde_demais");
    };
    let (mut at, mut undone) = (first, 0);
    while at <= last {
        let until = last.min(at + PIECE - 1);
        let actor = Actor::person(person, request);
        let (request_id, now) = (ended.request_id.clone(), request.now);
        undone += app.db.write_piece(move |tx| {
            let mut undone = 0;
            for id in at..=until {
                let entry = entries::one(tx, id)?
                    .filter(|entry| entry.request_id == request_id && is_own(entry, own, now));
                if let Some(entry) = entry {
                    undone += usize::from(take_back(tx, &actor, &entry)?);
                }
            }
            Ok::<_, DbError>(undone)
        })?;
        at = until + 1;
    }
    let word = if undone == 0 { "nada_a_desfazer" } else { "desfeito" };
    answer.with(&back, word, &[("desfeitos", undone.into())])
}

fn is_own(entry: &AuditEntry, own: UserId, now: Instant) -> bool {
    entry.actor_kind == "pessoa" && entry.actor_id == Some(own.0) && now.since(entry.at) < LIFE_S
}

/// Takes one entry back, if the student is still as it left them; false otherwise.
fn take_back(tx: &WriteTx<'_>, actor: &Actor, entry: &AuditEntry) -> Result<bool, DbError> {
    let Some(id) = entry.object_id.parse().ok().map(UserId) else { return Ok(false) };
    let json = |text: &Option<String>| {
        text.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok())
    };
    let (Some(before), Some(after)) = (json(&entry.before), json(&entry.after)) else {
        return Ok(false);
    };
    let is_done = match &*entry.action {
        "aluno.suspender" => store::unsuspend(tx, id, entry.at)?,
        "aluno.trocar_plano" | "aluno.dar_prazo" => {
            let read = |value: &Value| serde_json::from_value::<AuditedTerms>(value.clone()).ok();
            match (read(&before), read(&after), AuditedTerms::read(tx, id)?) {
                (Some(before), Some(after), Some((now, ..))) if now == after => {
                    before.set(tx, id)?
                }
                _ => false,
            }
        }
        _ => false,
    };
    if is_done {
        let act = STUDENT.act("aluno.desfazer", id, &entry.object_name);
        audit::note(tx, actor, &act, &after, &before)?;
    }
    Ok(is_done)
}
