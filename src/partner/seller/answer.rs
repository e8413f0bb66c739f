//! `answer_question`: an answer to a buyer, sent to the marketplace while the caller waits,
//! as the panel sends it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::questions::{self, WireQuestion};
use crate::app::App;
use crate::audit::objects::QUESTION;
use crate::base::shortened;
use crate::db::Lane;
use crate::edge::route::Todo;
use crate::http::{Check, Code, Field, Problem, RowNumber, schema};
use crate::identity::Seller;
use crate::marketplace::books::questions::answer::LONGEST;
use crate::marketplace::books::questions::send_answer::{
    AnswerOutcome, OnSent, Unsent, send_answer,
};
use crate::marketplace::books::questions::store;
use crate::partner::by::By;
use crate::partner::operation::{Begun, Operation};

/// Letters of a question that name it in the audit log.
const NAMED: usize = 80;

/// An answer to a question of a buyer.
#[derive(Deserialize, JsonSchema)]
pub struct AnswerQuestion {
    /// Number of the question at the marketplace.
    #[serde(default)]
    #[schemars(!default)]
    question_id: Field<RowNumber>,
    /// The answer, as every buyer will read it: 1 to 2000 characters.
    #[serde(default)]
    #[schemars(!default, length(max = LONGEST), extend("pattern" = schema::lines()))]
    text: Field<String>,
}

impl Operation for AnswerQuestion {
    type By = Seller;
    type Reply = WireQuestion;

    /// The question is not the caller's, takes no answer, or the marketplace did not take it.
    const ERRORS: &'static [Code] = &[Code::NotFound, Code::Conflict, Code::MarketplaceUnavailable];

    fn begin(self, _: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let RowNumber(id) = check.required("question_id", self.question_id);
        let text = check.lines("text", self.text, LONGEST);
        check.finish()?;
        let by = By::of(seller);
        Ok(Todo::Outside(Box::new(move |app| answer(app, by, id, &text))))
    }
}

fn answer(app: &App, by: By, id: i64, text: &str) -> Result<WireQuestion, Problem> {
    let owner = by.owner;
    let question = app.db.read(Lane::Brief, |tx| store::stored(tx, owner, id))?;
    let question = question.ok_or_else(Problem::not_found)?;
    let asked = shortened(&question.text, NAMED).to_owned();
    let after = json!({ "conta": question.ml_user_id, "resposta": text });
    let noted: OnSent = Box::new(move |tx| {
        by.note(tx, &QUESTION.act("pergunta.responder", id, &asked), None, after)
    });
    let outcome = send_answer(app, owner, &question, text, noted)?;
    let now = questions::read(app, Lane::Brief, owner, id)?;
    match outcome {
        AnswerOutcome::Sent => Ok(now),
        // Whoever sends the same once more has what was wanted.
        AnswerOutcome::Late(..) if now.has_answer(text) => Ok(now),
        AnswerOutcome::Late(..) => Err(Problem::program_conflict(now.why_not())),
        AnswerOutcome::Unsent(problem, why) => Err(unsent(problem, why)),
    }
}

/// The error for an answer that was not sent, in words for programs.
fn unsent(problem: Problem, why: Unsent) -> Problem {
    let said = match why {
        Unsent::Refused => {
            let said = "the marketplace does not take this text; leave out contacts and links";
            return Problem::field("text", said);
        }
        Unsent::Banned => "the marketplace does not let this account answer now",
        Unsent::NotAllowed => "the application may not answer for this account at the marketplace",
        Unsent::Unknown => {
            "the marketplace takes no answer to this question now; look at it again in a minute"
        }
        Unsent::Inactive => "the listing of this question is not active at the marketplace",
        Unsent::Unlinked => "the account must be linked to the marketplace again",
        Unsent::Away => {
            "the marketplace did not say that the answer arrived; send it again: it is not published twice"
        }
    };
    if matches!(problem.code, Code::Conflict | Code::MarketplaceUnavailable) {
        Problem { message: said.into(), ..problem }
    } else {
        problem
    }
}
