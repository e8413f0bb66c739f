//! Answering a question of a buyer, from the seller's panel.

use super::{PATH, queue_again, read, with_form};
use crate::app::{App, Visit};
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::books::questions::answer::{FORM, unsent_notice};
use crate::marketplace::books::questions::cards;
use crate::marketplace::books::questions::send_answer::{AnswerOutcome, send_answer};
use crate::panel::{Answer, Sent};

/// `POST /painel/perguntas/{id}/responder`: sends an answer to the marketplace
/// and stores the question that it returns. Answering twice is a conflict.
/// After a form of the queue the person returns to the queue, at the next
/// question.
pub fn answer(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let text = FORM.read(&mut sent, None);
    let queue = sent.optional::<String>(cards::BACK);
    let question = read(app, person, request)?.0.row;
    let to = Answer::to(request);
    let page = match &queue {
        Some(query) => queue_again(query),
        None => format!("{}/{}", PATH, question.id),
    };
    if let Err(problem) = sent.finish() {
        if request.wants_json() {
            return Err(problem);
        }
        let page = with_form((app, person, request), FORM.again(request, &problem.fields))?;
        return Ok(page.status(http::StatusCode::UNPROCESSABLE_ENTITY));
    }
    let owner = person.account.user_id;
    match send_answer(app, owner, &question, &text, Box::new(|_| Ok(())))? {
        AnswerOutcome::Sent => to.done(question.id, &page, "respondida"),
        AnswerOutcome::Late(problem, word) => to.declined(problem, &page, word),
        AnswerOutcome::Unsent(problem, _) => not_sent((app, person, request), problem),
    }
}

/// The form again, with what was typed, for another try.
fn not_sent((app, person, request): Visit<'_>, problem: Problem) -> Result<Reply, Problem> {
    if request.wants_json() || problem.code == Code::Internal {
        return Err(problem);
    }
    let mut form = FORM.again(request, &Vec::new());
    form.alert = Some(unsent_notice(&problem));
    let page = with_form((app, person, request), form)?;
    Ok(page.status(problem.code.status(request.family)))
}
