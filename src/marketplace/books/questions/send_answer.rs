//! Sending an answer, for the seller or for the agency.
//!
//! Only one answer to a question is sent at a time. When an answer was sent
//! earlier and its result is not known, the marketplace is asked for the
//! question before another is sent (`sending.rs`). Decision marketplace-24.

use std::borrow::Cow;

use super::store;
use super::{QuestionState, sending, words};
use crate::app::App;
use crate::base::UserId;
use crate::db::{self, Lane, WriteTx};
use crate::http::{Code, ForPeople, Problem};
use crate::marketplace::account::tokens::{CallError, with_own_token};
use crate::marketplace::books::document::{QuestionDocument, QuestionRow};
use crate::marketplace::books::orders::BookContext;
use crate::marketplace::client::{AnswerSent, Failure};
use crate::marketplace::tools;
use crate::services::Services;

/// The result of sending an answer.
pub enum AnswerOutcome {
    /// It is the question's answer now.
    Sent,
    /// It was not published and will not be, for this reason. The word is one
    /// of the page's outcomes.
    Late(Problem, &'static str),
    /// It was not sent; another try may succeed.
    Unsent(Problem, Unsent),
}

/// Why an answer was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The listing of the question is not active.
    Inactive,
    /// The account must be linked again.
    Unlinked,
    /// The marketplace lets this account answer nobody now.
    Banned,
    /// The application may not answer for the account.
    NotAllowed,
    /// The marketplace does not know the question, or as one that takes no answer.
    Unknown,
    /// The marketplace does not take this text.
    Refused,
    /// The marketplace or this service did not answer; perhaps it arrived.
    Away,
}

/// Further writes of the transaction that stores that the answer was sent.
pub type OnSent = Box<dyn FnOnce(&WriteTx<'_>) -> db::Result<()> + Send>;

/// Answers an owner's question with a text, once. `on_sent` is called once for
/// an answer that was sent.
pub fn send_answer(
    app: &App,
    owner: UserId,
    question: &QuestionRow,
    text: &str,
    on_sent: OnSent,
) -> Result<AnswerOutcome, Problem> {
    let Some(_turn) = app.marketplace.answering.take(question.id) else {
        return Ok(late("Uma resposta já está sendo enviada.", "ja_respondida"));
    };
    // Another request may have answered the question just before.
    let question = read(app, owner, question.id)?;
    if !question.is_open() {
        let is_ours = has_arrived(app, &question, text, on_sent)?;
        return Ok(if is_ours { AnswerOutcome::Sent } else { too_late(&question) });
    }
    let sent = match send(app, owner, &question, text)? {
        Ok(sent) => sent,
        Err(error) => {
            let (problem, why) = unsent(error);
            return Ok(AnswerOutcome::Unsent(problem, why));
        }
    };
    let refusal = match sent {
        AnswerSent::Answered(document) => {
            // Another person may have answered first, with another text.
            let is_ours = document.row.answer.as_deref().map(str::trim) == Some(text);
            keep(app, owner, &question, Some(document), Some(on_sent).filter(|_| is_ours))?;
            if is_ours {
                return Ok(AnswerOutcome::Sent);
            }
            return Ok(late("Alguém respondeu a esta pergunta antes.", "ja_respondida"));
        }
        AnswerSent::Refused { code, now } => {
            tracing::warn!(code, "the marketplace refused an answer");
            let now = if ends_question(&code) { now.map(closed) } else { now };
            keep(app, owner, &question, now, None)?;
            refused(&code)
        }
    };
    let question = read(app, owner, question.id)?;
    let (problem, why) = refusal;
    Ok(if question.is_open() { AnswerOutcome::Unsent(problem, why) } else { too_late(&question) })
}

fn read(services: &Services, owner: UserId, id: i64) -> Result<QuestionRow, Problem> {
    let question = services.db.read(Lane::Brief, |tx| store::stored(tx, owner, id))?;
    question.ok_or_else(Problem::not_found)
}

fn late(said: impl Into<Cow<'static, str>>, word: &'static str) -> AnswerOutcome {
    AnswerOutcome::Late(Problem::conflict(ForPeople(said)), word)
}

/// The result for a question that does not wait for an answer any more.
fn too_late(question: &QuestionRow) -> AnswerOutcome {
    if question.state == QuestionState::Answered {
        late("Esta pergunta já tem resposta.", "ja_respondida")
    } else {
        late(format!("{}.", words::sentences(&question.status).0), "nao_enviada")
    }
}

/// Whether a refusal means that the question takes no answer any more, whatever its status
/// says: it was answered, or its buyer is blocked.
fn ends_question(code: &str) -> bool {
    matches!(code, "not_unanswered_question" | "question_closed")
}

/// A question that takes no answer any more, as it is to be stored.
fn closed(now: QuestionDocument) -> QuestionDocument {
    if now.row.is_open() { now.unanswerable() } else { now }
}

/// The error when the marketplace rejects the answer to a question that still
/// waits.
fn refused(code: &str) -> (Problem, Unsent) {
    let (said, why) = match code {
        "not_active_item" => (
            "O anúncio desta pergunta não está ativo: reative-o no marketplace e responda de novo.",
            Unsent::Inactive,
        ),
        "user_banned" => (
            "O marketplace não deixa esta conta responder agora: veja nela o motivo do bloqueio. Mudar o texto não adianta.",
            Unsent::Banned,
        ),
        "forbidden" | "PA_UNAUTHORIZED_RESULT_FROM_POLICIES" => (
            "A plataforma não tem permissão para responder por esta conta: avise quem cuida dela, ou responda no marketplace.",
            Unsent::NotAllowed,
        ),
        // That the question takes no answer is stored, unless it could not be read again.
        code if ends_question(code) => (
            "O marketplace diz que esta pergunta já foi respondida, ou que o comprador está bloqueado. Espere um minuto e veja de novo.",
            Unsent::Unknown,
        ),
        "invalid_question" | "not_found" => (
            "O marketplace não reconheceu esta pergunta. Espere um minuto e tente de novo, ou responda por lá.",
            Unsent::Unknown,
        ),
        _ => {
            let said = "O marketplace recusou a resposta: mude o texto, sem contatos nem links, ou responda por lá.";
            return (Problem::told(Code::MarketplaceUnavailable, ForPeople(said)), Unsent::Refused);
        }
    };
    (Problem::conflict(ForPeople(said)), why)
}

/// Sends an answer, once. When the result of an earlier answer is not known,
/// checks first whether the question has an answer.
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
    // When the check fails, the result of the earlier answer is still not
    // known.
    if let Err(error) = &sent
        && !was_sent
        && !may_have_arrived(error)
    {
        app.db.write(move |tx| sending::end(tx, id))?;
    }
    Ok(sent)
}

/// Stores the question as it is `now`; `None` means that the marketplace does
/// not have it any more. Also notes that the result of the answer is known.
fn keep(
    app: &App,
    owner: UserId,
    question: &QuestionRow,
    now: Option<QuestionDocument>,
    on_sent: Option<OnSent>,
) -> Result<(), Problem> {
    let context = BookContext::of(app);
    let (id, seller) = (question.id, question.ml_user_id);
    app.db.write(move |tx| {
        sending::end(tx, id)?;
        if let Some(on_sent) = on_sent {
            on_sent(tx)?;
        }
        let link = crate::marketplace::account::store::owner_of(tx, seller)?;
        if let Some((_, linked_at)) = link.filter(|(owner_now, _)| *owner_now == owner) {
            match &now {
                Some(now) => super::apply((tx, &context, owner), now, linked_at)?,
                None => super::gone((tx, &context, owner), seller, id)?,
            };
        }
        Ok(())
    })
}

/// Whether an answered question has the answer of an earlier try with this
/// text, whose result was not known.
fn has_arrived(
    services: &Services,
    question: &QuestionRow,
    text: &str,
    on_sent: OnSent,
) -> Result<bool, Problem> {
    let is_given = question.answer.as_deref().map(str::trim) == Some(text);
    let id = question.id;
    Ok(is_given
        && services.db.write(move |tx| {
            let was_sent = sending::is_unclear(tx, id)?;
            sending::end(tx, id)?;
            if was_sent {
                on_sent(tx)?;
            }
            Ok::<_, Problem>(was_sent)
        })?)
}

/// Whether the answer may have arrived in spite of this error.
const fn may_have_arrived(error: &CallError) -> bool {
    matches!(
        error,
        CallError::Failed(Failure::Unreachable | Failure::Garbled(_) | Failure::Expired)
    )
}

/// The error for an answer that was not sent, in words for its author.
fn unsent(error: CallError) -> (Problem, Unsent) {
    let said = tools::out_of_reach(&error).1;
    match error {
        CallError::Db(error) => (error.into(), Unsent::Away),
        CallError::NotLinked | CallError::LinkLost => {
            (Problem::conflict(ForPeople(said)), Unsent::Unlinked)
        }
        CallError::Failed(Failure::Refused { status, code }) => {
            tracing::warn!(status, code, "the marketplace refused an answer");
            refused(&code)
        }
        CallError::Failed(_) => {
            let problem = Problem::told(Code::MarketplaceUnavailable, ForPeople(said));
            (Problem { retry_after_s: error.retry_after_s(), ..problem }, Unsent::Away)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_has_words_of_its_own() {
        let mut said: Vec<String> = Vec::new();
        for (code, why) in [
            ("not_active_item", Unsent::Inactive),
            ("user_banned", Unsent::Banned),
            ("PA_UNAUTHORIZED_RESULT_FROM_POLICIES", Unsent::NotAllowed),
            ("not_unanswered_question", Unsent::Unknown),
            ("invalid_question", Unsent::Unknown),
            ("something_new", Unsent::Refused),
        ] {
            let (problem, found) = refused(code);
            assert_eq!(found, why, "{code}");
            assert_eq!(problem.message.contains("mude o texto"), why == Unsent::Refused, "{code}");
            assert!(!said.contains(&problem.message.to_string()), "{code}");
            said.push(problem.message.into_owned());
        }
    }
}
