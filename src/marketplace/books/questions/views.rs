//! What the pages of questions print.

use askama::Template;

use super::cards::{Card, QueueContext};
use crate::panel::{Badge, FormView, Layout, Notice, Table, When};

/// `GET /painel/perguntas`: the questions that wait for an answer.
#[derive(Template)]
#[template(path = "question_queue.html", config = "assets/askama.toml")]
pub struct QueuePage {
    pub layout: Layout,
    /// Whether an account is linked.
    pub has_stores: bool,
    pub table: Table,
    pub queue: QueueContext,
    pub cards: Vec<Card>,
}

/// `GET /painel/perguntas`: the questions of buyers in other states, or found
/// by a search.
#[derive(Template)]
#[template(path = "questions.html", config = "assets/askama.toml")]
pub struct QuestionsPage {
    pub layout: Layout,
    /// Whether an account is linked.
    pub has_stores: bool,
    pub table: Table,
    pub questions: Vec<QuestionLine>,
}

/// A question in the list.
pub struct QuestionLine {
    pub id: i64,
    pub text: String,
    /// The text of the answer; empty without one.
    pub answer: String,
    /// Title of the listing, or its code.
    pub listing: String,
    /// Nickname of the selling account.
    pub store: String,
    pub state: Badge,
    /// What happened to a question that cannot be answered.
    pub standing: Option<Notice>,
    /// Whether it can be answered.
    pub waits: bool,
    pub asked: When,
    pub answered: Option<When>,
}

/// `GET /painel/perguntas/{id}`: one question, and the response to an answer
/// with an error.
#[derive(Template)]
#[template(path = "question.html", config = "assets/askama.toml")]
pub struct QuestionPage {
    pub layout: Layout,
    pub line: QuestionLine,
    /// `resposta`.
    pub form: FormView,
}
