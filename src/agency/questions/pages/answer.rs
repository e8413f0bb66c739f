//! Answering a question of a client's account.

use http::StatusCode;
use serde_json::json;

use super::Typed;
use crate::agency::questions::{QueueQuery, Status, pages, store};
use crate::app::{App, Visit};
use crate::audit::{self, Actor, objects};
use crate::base::{MlUserId, shortened};
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::books::questions::answer::{WRONG_LENGTH, read, unsent_notice};
use crate::marketplace::books::questions::cards::BACK;
use crate::marketplace::books::questions::send_answer::{AnswerOutcome, OnSent, send_answer};
use crate::panel::{Answer, Sent};

/// Letters of the question that the audit log shows.
const NAMED: usize = 120;

/// `POST /admin/agencia/central-perguntas/responder`: sends an answer to the
/// marketplace; only one is sent when several people answer. A form leads back
/// to the queue.
pub fn answer(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let mut text = String::new();
    read(&mut sent, "answer", &mut text);
    let back = sent.optional::<String>(BACK).unwrap_or_default();
    let [question, account] = ["question_id", "conta"].map(|name| {
        let id = sent.reference(name);
        if id.is_none() {
            sent.check.fail(name, "is required");
        }
        id
    });
    let found = match (question, account) {
        (Some(question), Some(account)) => {
            let found = app.db.read(request.lane, |tx| store::joined(tx, question))?;
            let found = found.filter(|found| found.row.ml_user_id == MlUserId(account));
            Some(found.ok_or_else(Problem::not_found)?)
        }
        _ => None,
    };
    let asked =
        QueueQuery::of(&back, Status::Open).or_else(|_| QueueQuery::of("", Status::Open))?;
    let visit = (app, person, request);
    let found = match (sent.finish(), found) {
        (Ok(()), Some(found)) => found,
        (Err(_), Some(found)) if !request.wants_json() => {
            let typed = Typed { joined: found, text, error: Some(WRONG_LENGTH), alert: None };
            let page = pages::page(visit, asked, Some(typed))?;
            return Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY));
        }
        (faults, _) => return Err(faults.err().unwrap_or_else(Problem::not_found)),
    };
    let to = Answer::to(request);
    let id = found.row.id;
    match send_answer(app, found.owner, &found.row, &text, on_sent(visit, &found, &text))? {
        AnswerOutcome::Sent => {
            app.work.holds.end(id);
            to.done(id, &asked.address(), "respondida")
        }
        AnswerOutcome::Late(problem, word) => to.declined(problem, &asked.address(), word),
        AnswerOutcome::Unsent(problem, _)
            if request.wants_json() || problem.code == Code::Internal =>
        {
            Err(problem)
        }
        AnswerOutcome::Unsent(problem, _) => {
            let alert = Some(unsent_notice(&problem));
            let typed = Typed { joined: found, text, error: None, alert };
            let page = pages::page(visit, asked, Some(typed))?;
            Ok(page.status(problem.code.status(request.family)))
        }
    }
}

/// The audit log entry of an answer, written together with the note that it was
/// sent.
fn on_sent((_, person, request): Visit<'_>, found: &store::Joined, text: &str) -> OnSent {
    let actor = Actor::person(person, request);
    let after = json!({ "conta": found.row.ml_user_id, "resposta": text });
    let (id, asked) = (found.row.id, shortened(&found.row.text, NAMED).to_owned());
    Box::new(move |tx| {
        let act = objects::QUESTION.act("pergunta.responder", id, &asked);
        audit::note(tx, &actor, &act, (), &after)
    })
}
