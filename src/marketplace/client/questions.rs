//! Questions of buyers, and answering them.

use serde_json::json;

use super::{Answer, Caller, Client, Failure};
use crate::marketplace::document::{QuestionDocument, Unreadable};

/// Questions a page.
pub const QUESTIONS_PAGE: usize = 50;
/// Offset and page together reach no further; a scan does.
pub const QUESTIONS_REACH: usize = 1_000;

/// One page of a search for questions.
#[derive(Debug)]
pub struct QuestionsPage {
    /// How many the whole search finds, as the marketplace counts.
    pub total: i64,
    /// Records of the page, readable or not.
    pub questions: Vec<Result<QuestionDocument, Unreadable>>,
    /// What a scan goes on with; `None` at its end.
    pub scroll: Option<String>,
}

impl Client {
    /// A page of the caller's questions in a state such as `UNANSWERED`, within
    /// [`QUESTIONS_REACH`].
    pub fn questions_page(
        &self,
        caller: &Caller<'_>,
        status: &str,
        offset: usize,
    ) -> Answer<QuestionsPage> {
        self.questions(caller, status, ("offset", offset.to_string()))
    }

    /// The same for any number of questions: the first page has no `scroll`,
    /// the others go on, at once, with what the page before gave.
    pub fn questions_scan(
        &self,
        caller: &Caller<'_>,
        status: &str,
        scroll: Option<&str>,
    ) -> Answer<QuestionsPage> {
        match scroll {
            Some(scroll) => self.questions(caller, status, ("scroll_id", scroll.to_owned())),
            None => self.questions(caller, status, ("search_type", "scan".to_owned())),
        }
    }

    fn questions(
        &self,
        caller: &Caller<'_>,
        status: &str,
        place: (&'static str, String),
    ) -> Answer<QuestionsPage> {
        let mut query = vec![
            ("seller_id", caller.ml_user_id.to_string()),
            ("status", status.to_owned()),
            ("api_version", "4".to_owned()),
            ("limit", QUESTIONS_PAGE.to_string()),
        ];
        if place.0 == "scroll_id" {
            query.push(("search_type", "scan".to_owned()));
        }
        query.push(place);
        let answer = self.get(caller, "/questions/search", &query)?;
        let questions = answer["questions"]
            .as_array()
            .ok_or(Failure::Garbled("questions"))?;
        Ok(QuestionsPage {
            total: answer["total"].as_i64().unwrap_or(0).max(0),
            questions: questions.iter().map(QuestionDocument::read).collect(),
            scroll: answer["scroll_id"]
                .as_str()
                .filter(|_| !questions.is_empty())
                .map(str::to_owned),
        })
    }

    /// One question.
    pub fn question(&self, caller: &Caller<'_>, question: i64) -> Answer<QuestionDocument> {
        let query = [("api_version", "4".to_owned())];
        let answer = self.get(caller, &format!("/questions/{question}"), &query)?;
        Ok(QuestionDocument::read(&answer)?)
    }

    /// Answers a question and gives it back with its answer, which is somebody
    /// else's when they were first. The answer is sent once: when it is not
    /// clear whether it arrived, the question is read and tells.
    pub fn answer(
        &self,
        caller: &Caller<'_>,
        question: i64,
        text: &str,
    ) -> Answer<QuestionDocument> {
        let body = json!({ "question_id": question, "text": text });
        let failure = match self.post(caller, "/answers", &body) {
            Ok(answer) => match QuestionDocument::read(&answer) {
                Ok(document) if document.is_answered() => return Ok(document),
                _ => Failure::Garbled("the answer"),
            },
            Err(Failure::Refused { status: 400, code }) if code == "not_unanswered_question" => {
                Failure::Refused { status: 400, code }
            }
            Err(failure @ (Failure::Unreachable | Failure::Garbled(_))) => failure,
            Err(failure) => return Err(failure),
        };
        match self.question(caller, question) {
            Ok(document) if document.is_answered() => Ok(document),
            // With a token that ended just now the whole call would be made again.
            Err(Failure::Expired) => Err(Failure::Unreachable),
            _ => Err(failure),
        }
    }
}
