//! Questions of buyers and their answers.

use serde_json::Value;

use super::{ItemId, Unreadable, bounded_text, instant, positive, text};
use crate::base::{Instant, MlUserId};
use crate::{named, row};

/// Longest question or answer at the marketplace.
pub const LONGEST_QUESTION: usize = 2000;

named! {
    /// What can still be done about a question.
    pub enum QuestionState: number {
        /// It waits for an answer.
        Open = 1, "pendente", "Sem resposta";
        Answered = 2, "respondida", "Respondidas";
        /// It has no answer and cannot be answered, at least now.
        Closed = 3, "encerrada", "Encerradas";
    }
}

/// The status of a question that the marketplace shows as unanswered and takes no answer
/// to, such as one of a buyer whom the seller blocked. The name is ours.
pub const UNANSWERABLE: &str = "NOT_ANSWERABLE";

impl QuestionState {
    /// The state for a status of the marketplace. A question with a new status
    /// cannot be answered.
    pub fn of(status: &str) -> Self {
        match status {
            "UNANSWERED" => Self::Open,
            "ANSWERED" => Self::Answered,
            _ => Self::Closed,
        }
    }
}

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct QuestionRow: stored {
        pub id: i64 = "question_id",
        pub asked_at: Instant,
        /// The account that received the question.
        pub ml_user_id: MlUserId,
        /// Number of the listing id.
        pub item_id: i64,
        pub state: QuestionState,
        /// The marketplace's name of the state, such as `UNANSWERED`.
        pub status: String,
        /// Empty when it was banned, as the answer.
        pub text: String,
        pub answer: Option<String>,
        pub answered_at: Option<Instant>,
        /// The buyer, when the marketplace says who.
        pub asker_id: Option<i64>,
        /// When the marketplace last changed it; rows of searches leave this out.
        pub updated_at: Option<Instant>,
    }
}

impl QuestionRow {
    /// Whether it waits for an answer.
    pub fn is_open(&self) -> bool {
        self.state == QuestionState::Open
    }
}

/// A question as the marketplace has it at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionDocument {
    /// The row to store, without what the marketplace left out.
    pub row: QuestionRow,
    /// Letters of the listing id, such as `MLB`.
    pub site: String,
}

impl QuestionDocument {
    /// Reads a question of `/questions/{id}` or of a search.
    pub fn read(question: &Value) -> Result<Self, Unreadable> {
        let id = positive(&question["id"]).ok_or(Unreadable("id"))?;
        let seller = positive(&question["seller_id"]).ok_or(Unreadable("seller_id"))?;
        let item = text(&question["item_id"]).and_then(|id| ItemId::parse(&id));
        let item = item.ok_or(Unreadable("item_id"))?;
        let status = text(&question["status"]).ok_or(Unreadable("status"))?.to_uppercase();
        let said = |value: &Value| bounded_text(value, LONGEST_QUESTION).unwrap_or_default();
        let answer = &question["answer"];
        let row = QuestionRow {
            id,
            asked_at: instant(&question["date_created"]).ok_or(Unreadable("date_created"))?,
            ml_user_id: MlUserId(seller),
            item_id: item.number,
            state: QuestionState::of(&status),
            status,
            text: said(&question["text"]),
            answer: answer.is_object().then(|| said(&answer["text"])),
            answered_at: instant(&answer["date_created"]),
            asker_id: positive(&question["from"]["id"])
                .or_else(|| positive(&question["buyer_id"]))
                .or_else(|| positive(&question["from"])),
            updated_at: instant(&question["last_updated"]),
        };
        Ok(Self { row, site: item.site })
    }

    /// The same, once the marketplace took no answer to it.
    #[must_use]
    pub fn unanswerable(self) -> Self {
        let (state, status) = (QuestionState::Closed, UNANSWERABLE.to_owned());
        Self { row: QuestionRow { state, status, ..self.row }, ..self }
    }

    /// Whether it has an answer.
    pub fn is_answered(&self) -> bool {
        self.row.state == QuestionState::Answered || self.row.answer.is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sample() -> Value {
        json!({
            "id": 117_001, "seller_id": 777, "item_id": "MLB1", "status": "UNANSWERED", "text": "Serve?",
            "date_created": "2026-11-19T10:00:00.000-04:00", "answer": null, "from": { "id": 555 },
        })
    }

    #[test]
    fn a_question_reads_in_both_forms() {
        let question = QuestionDocument::read(&sample()).unwrap();
        assert_eq!((question.row.id, question.row.asker_id), (117_001, Some(555)));
        assert!(!question.is_answered());
        let mut other = sample();
        other["id"] = json!("117001");
        other["from"] = json!(null);
        other["buyer_id"] = json!("555");
        other["date_created"] = json!("2026-11-19T14:00:00.123456789Z");
        assert_eq!(QuestionDocument::read(&other).unwrap(), question);
    }

    #[test]
    fn an_answer_comes_with_its_time() {
        let mut answered = sample();
        answered["status"] = json!("answered");
        answered["answer"] = json!({ "text": "Serve sim", "status": "ACTIVE", "date_created": "2026-11-19T15:00:00.000-0400" });
        let question = QuestionDocument::read(&answered).unwrap();
        assert_eq!(question.row.answer.as_deref(), Some("Serve sim"));
        assert_eq!(question.row.answered_at, Some(Instant(1_795_114_800)));
        assert!(question.is_answered() && question.row.status == "ANSWERED");

        let mut banned = sample();
        banned["status"] = json!("BANNED");
        banned["text"] = json!("");
        assert_eq!(QuestionDocument::read(&banned).unwrap().row.text, "");
    }

    #[test]
    fn long_texts_are_kept_up_to_the_limit() {
        let mut long = sample();
        long["text"] = json!("ã".repeat(3000));
        let read = QuestionDocument::read(&long).unwrap();
        assert_eq!(read.row.text.chars().count(), LONGEST_QUESTION);
    }

    proptest! {
        #[test]
        fn any_value_in_any_field_is_read_or_refused(
            field in proptest::sample::select(vec!["id", "seller_id", "item_id", "status", "text", "date_created", "answer", "from"]),
            value in crate::marketplace::books::document::tests::any_json(),
        ) {
            let mut question = sample();
            question[field] = value;
            if let Ok(question) = QuestionDocument::read(&question) {
                prop_assert!(question.row.id > 0 && !question.row.status.is_empty());
            }
        }
    }
}
