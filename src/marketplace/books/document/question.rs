//! Questions of buyers and their answers.

use serde_json::Value;

use super::{ItemId, Unreadable, bounded_text, instant, positive, text};
use crate::base::{Instant, MlUserId};

/// Longest question or answer at the marketplace.
pub const LONGEST_QUESTION: usize = 2000;

/// A question as the marketplace has it at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionDocument {
    pub id: i64,
    /// The account that received the question.
    pub seller: MlUserId,
    pub item: ItemId,
    /// Such as `UNANSWERED`.
    pub status: String,
    /// Empty when it was banned.
    pub text: String,
    pub asked_at: Instant,
    pub answer: Option<AnswerText>,
    /// The buyer, when the marketplace says who.
    pub asker_id: Option<i64>,
    /// When the marketplace last changed it; rows of searches leave this out.
    pub updated_at: Option<Instant>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerText {
    /// Empty when it was banned.
    pub text: String,
    pub at: Option<Instant>,
}

impl QuestionDocument {
    /// Reads a question of `/questions/{id}` or of a search.
    pub fn read(question: &Value) -> Result<Self, Unreadable> {
        let item = text(&question["item_id"]).and_then(|id| ItemId::parse(&id));
        let said = |value: &Value| bounded_text(value, LONGEST_QUESTION).unwrap_or_default();
        let answer = &question["answer"];
        Ok(Self {
            id: positive(&question["id"]).ok_or(Unreadable("id"))?,
            seller: MlUserId(positive(&question["seller_id"]).ok_or(Unreadable("seller_id"))?),
            item: item.ok_or(Unreadable("item_id"))?,
            status: text(&question["status"]).ok_or(Unreadable("status"))?.to_uppercase(),
            text: said(&question["text"]),
            asked_at: instant(&question["date_created"]).ok_or(Unreadable("date_created"))?,
            answer: answer.is_object().then(|| AnswerText {
                text: said(&answer["text"]),
                at: instant(&answer["date_created"]),
            }),
            asker_id: positive(&question["from"]["id"])
                .or_else(|| positive(&question["buyer_id"]))
                .or_else(|| positive(&question["from"])),
            updated_at: instant(&question["last_updated"]),
        })
    }

    /// Whether it has an answer.
    pub fn is_answered(&self) -> bool {
        self.status == "ANSWERED" || self.answer.is_some()
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
        assert_eq!((question.id, question.asker_id), (117_001, Some(555)));
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
        let answer = question.answer.clone().unwrap();
        assert_eq!((&*answer.text, answer.at), ("Serve sim", Some(Instant(1_795_114_800))));
        assert!(question.is_answered() && question.status == "ANSWERED");

        let mut banned = sample();
        banned["status"] = json!("BANNED");
        banned["text"] = json!("");
        assert_eq!(QuestionDocument::read(&banned).unwrap().text, "");
    }

    #[test]
    fn long_texts_are_kept_up_to_the_limit() {
        let mut long = sample();
        long["text"] = json!("ã".repeat(3000));
        let read = QuestionDocument::read(&long).unwrap();
        assert_eq!(read.text.chars().count(), LONGEST_QUESTION);
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
                prop_assert!(question.id > 0 && !question.status.is_empty());
            }
        }
    }
}
