//! What the pages of questions print.

use askama::Template;

use crate::panel::list::Table;
use crate::panel::view::{Badge, Field, Layout, Notice, When};

/// `GET /painel/perguntas`: the questions of buyers.
#[derive(Debug, Template)]
#[template(path = "questions.html", config = "assets/askama.toml")]
pub struct QuestionsPage {
    /// The frame of the signed-in student.
    pub layout: Layout,
    /// Whether an account is linked.
    pub has_stores: bool,
    /// The frame of the list.
    pub table: Table,
    /// The questions of this page.
    pub questions: Vec<QuestionLine>,
}

/// A question in the list.
#[derive(Debug)]
pub struct QuestionLine {
    /// The marketplace's number.
    pub id: String,
    /// What was asked.
    pub text: String,
    /// What was answered; empty without an answer.
    pub answer: String,
    /// Title of the listing, or its code.
    pub listing: String,
    /// Nickname of the selling account.
    pub store: String,
    /// Whether it waits for its answer.
    pub state: Badge,
    /// What became of it, when it has no answer and takes none.
    pub standing: Option<Notice>,
    /// Whether it can be answered.
    pub waits: bool,
    /// When it was asked.
    pub asked: When,
    /// When it was answered.
    pub answered: Option<When>,
}

/// `GET /painel/perguntas/{id}`: one question, and its answers when the answer
/// is at fault.
#[derive(Debug, Template)]
#[template(path = "question.html", config = "assets/askama.toml")]
pub struct QuestionPage {
    /// The frame of the signed-in student.
    pub layout: Layout,
    /// Above the form when something is at fault.
    pub alert: Option<Notice>,
    /// The question as in the list.
    pub line: QuestionLine,
    /// `resposta`.
    pub reply: Field,
}
