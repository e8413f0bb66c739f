//! Answering a question of a buyer, from the seller's panel.

use super::store::QuestionRow;
use super::{QuestionState, pages, sending, standing};
use crate::app::App;
use crate::base::UserId;
use crate::edge::guard::Person;
use crate::http::{Code, Problem, Reply, Request};
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::books::document::QuestionDocument;
use crate::marketplace::books::orders::Books;
use crate::marketplace::client::{AnswerSent, Failure};
use crate::marketplace::tools;
use crate::panel::{Answer, Form, Input, Notice, Rule, Sent, Tone, Visit};

/// Longest answer that the marketplace takes.
const LONGEST: usize = 2_000;
const WRONG_LENGTH: &str = "Escreva a resposta, com até 2.000 letras.";

/// The form of an answer.
pub const FORM: Form<String> =
    Form(&[Input::new("resposta", WRONG_LENGTH, Rule::Own(read, |text, _| text.clone()))]);

fn read(sent: &mut Sent<'_>, name: &'static str, text: &mut String) {
    let typed: String = sent.optional(name).unwrap_or_default();
    typed.replace("\r\n", "\n").trim().clone_into(text);
    if !(1..=LONGEST).contains(&text.chars().count()) {
        sent.check.fail(name, WRONG_LENGTH);
    }
}

/// `POST /painel/perguntas/{id}/responder`: sends an answer to the marketplace
/// and keeps what it says then. Answering twice is a conflict.
pub fn answer(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let mut sent = Sent::of(request, app.zone())?;
    let text = FORM.read(&mut sent, None);
    let question = pages::read(app, person, request)?.0.row;
    let to = Answer::to(request);
    let page = format!("{}/{}", pages::PATH, question.id);
    if let Err(problem) = sent.finish() {
        if request.wants_json() {
            return Err(problem);
        }
        let page = pages::with_form((app, person, request), FORM.again(request, &problem.fields))?;
        return Ok(page.status(http::StatusCode::UNPROCESSABLE_ENTITY));
    }
    let Some(_turn) = app.marketplace.answering.take(question.id) else {
        let problem = Problem::new(Code::Conflict, "Uma resposta já está sendo enviada");
        return to.declined(problem, &page, "ja_respondida");
    };
    // The holder of the turn before may have answered it.
    let question = pages::read(app, person, request)?.0.row;
    if !question.is_open() {
        return if has_arrived(app, &question, &text)? {
            to.done(question.id, &page, "respondida")
        } else {
            too_late(to, &question, &page)
        };
    }
    let owner = person.account.user_id;
    let sent = match send(app, owner, &question, &text)? {
        Ok(sent) => sent,
        Err(error) => return not_sent((app, person, request), unsent(error)),
    };
    let refusal = match sent {
        AnswerSent::Answered(document) => {
            // Somebody else may have been first, with other words.
            let given = document.answer.as_ref();
            let is_ours = given.is_some_and(|answer| answer.text.trim() == text);
            keep(app, owner, &question, Some(document))?;
            if is_ours {
                return to.done(question.id, &page, "respondida");
            }
            let problem = Problem::new(Code::Conflict, "Alguém respondeu a esta pergunta antes");
            return to.declined(problem, &page, "ja_respondida");
        }
        AnswerSent::Refused { code, now } => {
            tracing::warn!(code, "the marketplace refused an answer");
            keep(app, owner, &question, now)?;
            refused(&code)
        }
    };
    let question = pages::read(app, person, request)?.0.row;
    if question.is_open() {
        return not_sent((app, person, request), refusal);
    }
    too_late(to, &question, &page)
}

/// A question that does not wait for an answer any more.
fn too_late(to: Answer, question: &QuestionRow, page: &str) -> Result<Reply, Problem> {
    let (said, notice) = if question.state == QuestionState::Answered {
        ("Esta pergunta já tem resposta", "ja_respondida")
    } else {
        (standing::sentences(&question.status).0, "nao_enviada")
    };
    to.declined(Problem::new(Code::Conflict, said), page, notice)
}

/// The form again, with what was typed, for another try.
fn not_sent((app, person, request): Visit<'_>, problem: Problem) -> Result<Reply, Problem> {
    if request.wants_json() || problem.code == Code::Internal {
        return Err(problem);
    }
    let alert = Notice::new(
        Tone::Bad,
        problem.message.clone(),
        "Nada foi enviado. O que você escreveu continua aqui.",
    );
    let mut form = FORM.again(request, &Vec::new());
    form.alert = Some(alert);
    let page = pages::with_form((app, person, request), form)?;
    Ok(page.status(problem.code.status(request.family)))
}

/// Why the marketplace did not take the answer to a question that still waits.
fn refused(code: &str) -> Problem {
    match code {
        "not_active_item" => Problem::new(
            Code::Conflict,
            "O anúncio desta pergunta não está ativo: reative-o no marketplace e responda de novo",
        ),
        _ => Problem::new(
            Code::MarketplaceUnavailable,
            "O marketplace recusou a resposta: mude o texto, sem contatos nem links, ou responda por lá",
        ),
    }
}

/// Sends an answer, once: what was sent before and nobody saw arrive is looked
/// for first.
fn send(
    app: &App,
    owner: UserId,
    question: &QuestionRow,
    text: &str,
) -> Result<Result<AnswerSent, CallError>, Problem> {
    let id = question.id;
    let was_sent = app.db.write(move |tx| sending::begin(tx, id))?;
    let client = &app.marketplace.client;
    let sent = with_own_token(app, owner, question.ml_user_id, |caller| {
        if was_sent {
            let found = client.question(caller, id)?;
            if found.is_answered() {
                return Ok(AnswerSent::Answered(found));
            }
        }
        client.answer(caller, id, text)
    });
    // A look that failed tells nothing of what was sent before it.
    if let Err(error) = &sent
        && !was_sent
        && !may_have_arrived(error)
    {
        app.db.write(move |tx| sending::end(tx, id))?;
    }
    Ok(sent)
}

/// Stores a question as it is `now`, `None` when there is no such one any more,
/// and that it is known what became of the answer.
fn keep(
    app: &App,
    owner: UserId,
    question: &QuestionRow,
    now: Option<QuestionDocument>,
) -> Result<(), Problem> {
    let books = Books::of(app);
    let (id, seller) = (question.id, question.ml_user_id);
    app.db.write(move |tx| {
        sending::end(tx, id)?;
        let link = crate::marketplace::account::store::owner_of(tx, seller)?;
        if let Some((_, linked_at)) = link.filter(|(owner_now, _)| *owner_now == owner) {
            match &now {
                Some(now) => super::apply((tx, &books, owner), now, linked_at)?,
                None => super::gone(tx, owner, seller, id)?,
            };
        }
        Ok(())
    })
}

/// Whether a question that came in answered was answered by an earlier try of
/// this answer, whose end nobody saw.
fn has_arrived(app: &App, question: &QuestionRow, text: &str) -> Result<bool, Problem> {
    let is_given = question.answer.as_deref().map(str::trim) == Some(text);
    let id = question.id;
    Ok(is_given
        && app.db.write(move |tx| {
            let was_sent = sending::is_unclear(tx, id)?;
            sending::end(tx, id)?;
            Ok::<_, Problem>(was_sent)
        })?)
}

/// Whether an answer may be there although nobody saw it arrive.
const fn may_have_arrived(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Failed(Failure::Unreachable | Failure::Garbled(_) | Failure::Expired)
    )
}

/// Why an answer was not sent, in words for the seller.
fn unsent(error: CallError) -> Problem {
    let said = tools::out_of_reach(&error).1;
    match error {
        CallError::Db(error) => error.into(),
        CallError::NotLinked | CallError::LinkLost => Problem::new(Code::Conflict, said),
        CallError::Failed(Failure::Refused { status, code }) => {
            tracing::warn!(status, code, "the marketplace refused an answer");
            refused(&code)
        }
        CallError::Failed(_) => Problem {
            retry_after_s: error.retry_after_s(),
            ..Problem::new(Code::MarketplaceUnavailable, said)
        },
    }
}
