//! What the pages of questions print.

use askama::Template;

use super::cards::{Card, QueueContext};
use super::store::Question;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::listed::Found;
use crate::panel::{FormView, Layout, PageTime, Table};

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
    pub found: Found<Question>,
    /// Letters of the listings' ids, such as `MLB`.
    pub site: String,
}

/// `GET /painel/perguntas/{id}`: one question, and the response to an answer
/// with an error.
#[derive(Template)]
#[template(path = "question.html", config = "assets/askama.toml")]
pub struct QuestionPage {
    pub layout: Layout,
    pub question: Question,
    /// Letters of the listing's id, such as `MLB`.
    pub site: String,
    pub stores: Stores,
    pub time: PageTime,
    /// `resposta`.
    pub form: FormView,
}
