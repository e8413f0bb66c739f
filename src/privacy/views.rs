//! What the pages of a person's data print.

use askama::Template;

use super::retention::RetentionRule;
use crate::panel::view::Field;
use crate::panel::{Layout, Notice};

/// Asks for the password once more, before data is taken along or erased.
#[derive(Template)]
#[template(path = "confirm_password.html", config = "assets/askama.toml")]
pub struct ConfirmPage {
    pub layout: Layout,
    /// Where one came from, and what it is called.
    pub back: String,
    pub back_words: String,
    pub title: String,
    /// What will happen.
    pub text: &'static str,
    /// Where the form goes.
    pub action: String,
    pub button: &'static str,
    /// Whether it cannot be undone; a download can be done again.
    pub is_final: bool,
    pub alert: Option<Notice>,
    /// The address of the account, for programs that keep passwords.
    pub email: String,
    /// `confirmacao`.
    pub password: Field,
}

/// `GET /admin/retencao`: what is kept, why, for how long.
#[derive(Template)]
#[template(path = "retention.html", config = "assets/askama.toml")]
pub struct RetentionPage {
    pub layout: Layout,
    pub retention: &'static [RetentionRule],
}
