//! What the page of saved replies prints.

use askama::Template;

use super::ReplySet;
use crate::panel::{FormView, Layout, Notice};

/// `GET /painel/respostas` and `GET /admin/agencia/respostas`, and the
/// responses to forms with errors.
#[derive(Template)]
#[template(path = "replies.html", config = "assets/askama.toml")]
pub struct RepliesPage {
    pub layout: Layout,
    pub reply_set: ReplySet,
    /// The notice above the forms when one of them has errors.
    pub alert: Option<Notice>,
    /// Whether the limit of saved replies is reached.
    pub is_full: bool,
    /// `titulo` and `texto` of a new one.
    pub new: FormView,
    pub replies: Vec<ReplyForm>,
}

/// A reply with the form that changes it.
pub struct ReplyForm {
    pub id: i64,
    pub title: String,
    pub text: String,
    pub form: FormView,
    /// Whether the form is open, because it has errors.
    pub open: bool,
}
