//! Giving an answer, for whoever asked for it: the seller or the agency.
//!
//! One answer to a question is under way at a time, and what was sent before
//! and nobody saw arrive is looked for before another goes out (`sending.rs`).

use super::store::{self, QuestionRow};
use super::{QuestionState, sending, standing};
use crate::app::App;
use crate::base::UserId;
use crate::db::{self, Lane, WriteTx};
use crate::http::{Code, Problem};
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::books::document::QuestionDocument;
use crate::marketplace::books::orders::Books;
use crate::marketplace::client::{AnswerSent, Failure};
use crate::marketplace::tools;

/// What became of an answer.
pub enum Given {
    /// It is the question's answer now.
    Sent,
    /// Nothing of it is there, and nothing will be, for this reason. The word
    /// is one of the page's outcomes.
    Late(Problem, &'static str),
    /// It was not sent; another try may do.
    Unsent(Problem),
}

/// What else is stored in the transaction that knows the answer as sent.
pub type Noted = Box<dyn FnOnce(&WriteTx<'_>) -> db::Result<()> + Send>;

/// Answers an owner's question with a text, once. `noted` is called once for an
/// answer that was sent.
pub fn give(
    app: &App,
    owner: UserId,
    question: &QuestionRow,
    text: &str,
    noted: Noted,
) -> Result<Given, Problem> {
    let Some(_turn) = app.marketplace.answering.take(question.id) else {
        return Ok(late("Uma resposta já está sendo enviada", "ja_respondida"));
    };
    // The holder of the turn before may have answered it.
    let question = read(app, owner, question.id)?;
    if !question.is_open() {
        let is_ours = has_arrived(app, &question, text, noted)?;
        return Ok(if is_ours { Given::Sent } else { too_late(&question) });
    }
    let sent = match send(app, owner, &question, text)? {
        Ok(sent) => sent,
        Err(error) => return Ok(Given::Unsent(unsent(error))),
    };
    let refusal = match sent {
        AnswerSent::Answered(document) => {
            // Somebody else may have been first, with other words.
            let given = document.answer.as_ref();
            let is_ours = given.is_some_and(|answer| answer.text.trim() == text);
            keep(app, owner, &question, Some(document), Some(noted).filter(|_| is_ours))?;
            if is_ours {
                return Ok(Given::Sent);
            }
            return Ok(late("Alguém respondeu a esta pergunta antes", "ja_respondida"));
        }
        AnswerSent::Refused { code, now } => {
            tracing::warn!(code, "the marketplace refused an answer");
            keep(app, owner, &question, now, None)?;
            refused(&code)
        }
    };
    let question = read(app, owner, question.id)?;
    Ok(if question.is_open() { Given::Unsent(refusal) } else { too_late(&question) })
}

fn read(app: &App, owner: UserId, id: i64) -> Result<QuestionRow, Problem> {
    let question = app.db.read(Lane::Brief, |tx| store::stored(tx, owner, id))?;
    question.ok_or_else(Problem::not_found)
}

fn late(said: &'static str, word: &'static str) -> Given {
    Given::Late(Problem::new(Code::Conflict, said), word)
}

/// A question that does not wait for an answer any more.
fn too_late(question: &QuestionRow) -> Given {
    if question.state == QuestionState::Answered {
        late("Esta pergunta já tem resposta", "ja_respondida")
    } else {
        late(standing::sentences(&question.status).0, "nao_enviada")
    }
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
    noted: Option<Noted>,
) -> Result<(), Problem> {
    let books = Books::of(app);
    let (id, seller) = (question.id, question.ml_user_id);
    app.db.write(move |tx| {
        sending::end(tx, id)?;
        if let Some(noted) = noted {
            noted(tx)?;
        }
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
fn has_arrived(
    app: &App,
    question: &QuestionRow,
    text: &str,
    noted: Noted,
) -> Result<bool, Problem> {
    let is_given = question.answer.as_deref().map(str::trim) == Some(text);
    let id = question.id;
    Ok(is_given
        && app.db.write(move |tx| {
            let was_sent = sending::is_unclear(tx, id)?;
            sending::end(tx, id)?;
            if was_sent {
                noted(tx)?;
            }
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

/// Why an answer was not sent, in words for whoever gave it.
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
