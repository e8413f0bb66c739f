//! Answering a question of a buyer, from the seller's panel.

use super::send_answer::{AnswerOutcome, send_answer};
use super::{cards, pages};
use crate::app::{App, Visit};
use crate::http::{Code, Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{Answer, Form, Input, Notice, Rule, Sent, Tone};

/// Longest answer that the marketplace takes.
pub const LONGEST: usize = 2_000;
/// The error of an answer that is empty or too long.
pub const WRONG_LENGTH: &str = "Escreva a resposta, com até 2.000 letras.";

/// The form of an answer.
pub const FORM: Form<String> =
    Form(&[Input::new("resposta", WRONG_LENGTH, Rule::Own(read, |text, _| text.clone()))]);

/// Reads an answer.
pub fn read(sent: &mut Sent<'_>, name: &'static str, text: &mut String) {
    let typed: String = sent.optional(name).unwrap_or_default();
    typed.replace("\r\n", "\n").trim().clone_into(text);
    if !(1..=LONGEST).contains(&text.chars().count()) {
        sent.check.fail(name, WRONG_LENGTH);
    }
}

/// `POST /painel/perguntas/{id}/responder`: sends an answer to the marketplace
/// and stores the question that it returns. Answering twice is a conflict.
/// After a form of the queue the person returns to the queue, at the next
/// question.
pub fn answer(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let text = FORM.read(&mut sent, None);
    let queue = sent.optional::<String>(cards::BACK);
    let question = pages::read(app, person, request)?.0.row;
    let to = Answer::to(request);
    let page = match &queue {
        Some(query) => pages::queue_again(query),
        None => format!("{}/{}", pages::PATH, question.id),
    };
    if let Err(problem) = sent.finish() {
        if request.wants_json() {
            return Err(problem);
        }
        let page = pages::with_form((app, person, request), FORM.again(request, &problem.fields))?;
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
    let page = pages::with_form((app, person, request), form)?;
    Ok(page.status(problem.code.status(request.family)))
}

/// The notice above an answer that was not sent.
pub fn unsent_notice(problem: &Problem) -> Notice {
    Notice::new(
        Tone::Bad,
        problem.message.clone(),
        "Nada foi enviado. O que você escreveu continua aqui.",
    )
}
