//! Questions of buyers, and answering them.

use serde_json::json;

use super::{Answer, Caller, Client, Failure, Page, asked_for};
use crate::marketplace::books::document::QuestionDocument;

pub const QUESTIONS_PAGE: usize = 50;
/// Offset and page together reach no further; only a scan does.
pub const QUESTIONS_REACH: usize = 1_000;

/// The result of sending an answer.
#[derive(Debug)]
pub enum AnswerSent {
    /// The question has an answer: this one, or one that another person sent
    /// first.
    Answered(QuestionDocument),
    /// The marketplace rejected the answer.
    Refused {
        /// The marketplace's code for the reason.
        code: String,
        /// The question, still without an answer; `None` when it does not
        /// exist.
        now: Option<QuestionDocument>,
    },
}

impl Client {
    /// A page of the caller's questions in a state, or in any, the newest first,
    /// within [`QUESTIONS_REACH`].
    pub fn questions_page(
        &self,
        caller: &Caller<'_>,
        status: Option<&str>,
        offset: usize,
    ) -> Answer<Page<QuestionDocument>> {
        self.questions(caller, status, ("offset", offset.to_string()))
    }

    /// A page of all questions in a state such as `UNANSWERED`, however many.
    /// The first call has no `scroll`; the others, made without delay, pass the
    /// one of the previous page.
    pub fn questions_scan(
        &self,
        caller: &Caller<'_>,
        status: &str,
        scroll: Option<&str>,
    ) -> Answer<Page<QuestionDocument>> {
        match scroll {
            Some(scroll) => self.questions(caller, Some(status), ("scroll_id", scroll.to_owned())),
            None => self.questions(caller, Some(status), ("search_type", "scan".to_owned())),
        }
    }

    fn questions(
        &self,
        caller: &Caller<'_>,
        status: Option<&str>,
        place: (&'static str, String),
    ) -> Answer<Page<QuestionDocument>> {
        let mut query = vec![
            ("seller_id", caller.ml_user_id.to_string()),
            ("api_version", "4".to_owned()),
            ("limit", QUESTIONS_PAGE.to_string()),
        ];
        if let Some(status) = status {
            query.push(("status", status.to_owned()));
        }
        match place.0 {
            "scroll_id" => query.push(("search_type", "scan".to_owned())),
            "offset" => query.extend([
                ("sort_fields", "date_created".to_owned()),
                ("sort_types", "DESC".to_owned()),
            ]),
            _ => {}
        }
        query.push(place);
        let answer = self.get(caller, "/questions/search", &query)?;
        Page::read(&answer, "questions", QuestionDocument::read)
    }

    pub fn question(&self, caller: &Caller<'_>, question: i64) -> Answer<QuestionDocument> {
        let query = [("api_version", "4".to_owned())];
        let answer = self.get(caller, &format!("/questions/{question}"), &query)?;
        let found = QuestionDocument::read(&answer)?;
        asked_for(found.row.id == question, found)
    }

    /// Answers a question. The answer is sent only once. When it is unclear
    /// whether it arrived, or the marketplace rejects it, the question is read
    /// to find out.
    pub fn answer(&self, caller: &Caller<'_>, question: i64, text: &str) -> Answer<AnswerSent> {
        let body = json!({ "question_id": question, "text": text });
        let failure = match self.post(caller, "/answers", &body) {
            Ok(answer) => match QuestionDocument::read(&answer) {
                Ok(document) if document.is_answered() => {
                    return Ok(AnswerSent::Answered(document));
                }
                _ => Failure::Garbled("the answer"),
            },
            Err(
                failure @ (Failure::Unreachable | Failure::Garbled(_) | Failure::Refused { .. }),
            ) => failure,
            Err(failure) => return Err(failure),
        };
        match (self.question(caller, question), failure) {
            (Ok(document), _) if document.is_answered() => Ok(AnswerSent::Answered(document)),
            (Ok(document), Failure::Refused { code, .. }) => {
                Ok(AnswerSent::Refused { code, now: Some(document) })
            }
            (Err(looked), Failure::Refused { code, .. }) if looked.is_not_found() => {
                Ok(AnswerSent::Refused { code, now: None })
            }
            // Not `Expired`: the caller would renew the token and send the
            // answer again.
            (Err(Failure::Expired), Failure::Unreachable | Failure::Garbled(_)) => {
                Err(Failure::Unreachable)
            }
            (_, failure) => Err(failure),
        }
    }
}
