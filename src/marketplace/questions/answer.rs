//! Answering a question of a buyer, from the seller's panel.

use serde::Deserialize;

use super::{State, pages};
use crate::app::App;
use crate::guard::Person;
use crate::http::answer::Answer;
use crate::http::input::{Check, Field};
use crate::http::view::{Notice, Tone};
use crate::http::{Code, Problem, Reply, Request};
use crate::marketplace::client::Failure;
use crate::marketplace::orders::Books;
use crate::marketplace::tokens::{CallError, with_token};

/// Longest answer that the marketplace takes.
const LONGEST: usize = 2_000;

#[derive(Deserialize)]
struct AnswerBody {
    #[serde(default)]
    resposta: Field<String>,
}

const WRONG_LENGTH: &str = "Escreva a resposta, com até 2.000 letras.";

/// `POST /painel/perguntas/{id}/responder`: sends an answer to the marketplace
/// and keeps what it says then. Answering twice is a conflict.
pub fn answer(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let body: AnswerBody = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let typed = check
        .optional("resposta", body.resposta)
        .unwrap_or_default();
    let text = typed.replace("\r\n", "\n").trim().to_owned();
    if !(1..=LONGEST).contains(&text.chars().count()) {
        check.fail("resposta", WRONG_LENGTH);
    }
    let (question, _) = pages::read(app, person, request)?;
    let to = Answer::to(request);
    let page = format!("{}/{}", pages::PATH, question.id);
    match check.finish() {
        Err(problem) if request.wants_json() => return Err(problem),
        Err(_) => {
            let fault = Some(WRONG_LENGTH);
            let page = pages::faulty(app, person, request, (typed, fault), Notice::faults(1))?;
            return Ok(page.status(http::StatusCode::UNPROCESSABLE_ENTITY));
        }
        Ok(()) => {}
    }
    if question.state != State::Open as i64 {
        let problem = Problem::new(Code::Conflict, "esta pergunta não espera mais resposta");
        return to.declined(problem, &page, "ja_respondida");
    }
    let client = &app.marketplace.client;
    let sent = with_token(app, question.ml_user_id, |caller| {
        client.answer(caller, question.id, &text)
    });
    let document = match sent {
        Ok(document) => document,
        Err(error) => {
            let problem = unsent(error);
            if request.wants_json() || problem.code == Code::Internal {
                return Err(problem);
            }
            let alert = Notice::new(
                Tone::Bad,
                problem.message.clone(),
                "Nada foi enviado. O que você escreveu continua aqui.",
            );
            let page = pages::faulty(app, person, request, (typed, None), Some(alert))?;
            return Ok(page.status(problem.code.status(request.family)));
        }
    };
    // Somebody else may have been first, with other words.
    let is_ours = document
        .answer
        .as_ref()
        .is_some_and(|answer| answer.text.trim() == text);
    let (books, owner, seller) = (Books::of(app), person.account.user_id, question.ml_user_id);
    app.db.write(move |tx| {
        let Some((owner_now, linked_at)) = crate::marketplace::store::owner_of(tx, seller)? else {
            return Ok(());
        };
        if owner_now == owner {
            super::apply(tx, &books, owner, &document, linked_at)?;
        }
        Ok::<_, Problem>(())
    })?;
    if is_ours {
        return to.done(question.id, &page, "respondida");
    }
    let problem = Problem::new(Code::Conflict, "alguém respondeu a esta pergunta antes");
    to.declined(problem, &page, "ja_respondida")
}

/// Why an answer was not sent, in words for the seller.
fn unsent(error: CallError) -> Problem {
    let unavailable = |said: &'static str| Problem::new(Code::MarketplaceUnavailable, said);
    match error {
        CallError::Db(error) => error.into(),
        CallError::NotLinked => Problem::new(Code::Conflict, "esta conta não está mais vinculada"),
        CallError::LinkLost => Problem::new(
            Code::Conflict,
            "a conta perdeu o vínculo: vincule-a de novo em Contas",
        ),
        CallError::Failed(Failure::Refused { status, code }) => {
            tracing::warn!(status, code, "the marketplace refused an answer");
            unavailable("o marketplace recusou a resposta")
        }
        CallError::Failed(_) => {
            unavailable("o marketplace não respondeu: tente de novo em alguns minutos")
        }
    }
}
