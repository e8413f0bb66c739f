//! What the pages of texts print.

use askama::Template;

use super::Placeholder;
use crate::panel::view::Field;
use crate::panel::{Layout, Notice, Tab, When};

/// `GET /admin/mensagens/textos`: every text that can be changed.
#[derive(Template)]
#[template(path = "message_texts.html", config = "assets/askama.toml")]
pub struct TextsPage {
    pub layout: Layout,
    /// The tabs of the message pages.
    pub tabs: Vec<Tab>,
    pub texts: Vec<TextRow>,
}

/// A text in the list.
pub struct TextRow {
    /// Name of its kind in addresses.
    pub name: &'static str,
    /// `Boas-vindas`.
    pub title: &'static str,
    /// Its subject, with placeholders.
    pub subject: String,
    /// When staff changed it; `None` for the default text.
    pub changed: Option<When>,
}

/// `GET /admin/mensagens/textos/{tipo}`, and the answer to a preview or to a
/// form with errors.
#[derive(Template)]
#[template(path = "message_text.html", config = "assets/askama.toml")]
pub struct TextPage {
    pub layout: Layout,
    /// Shown above a form with errors.
    pub alert: Option<Notice>,
    /// Name of its kind in addresses.
    pub name: &'static str,
    /// `Boas-vindas`.
    pub title: &'static str,
    /// `assunto`.
    pub subject: Field,
    /// `texto`.
    pub body: Field,
    /// Placeholders that it may use.
    pub placeholders: Vec<Placeholder>,
    /// When staff changed it; `None` for the default text.
    pub changed: Option<When>,
    /// Whether what is shown is not saved.
    pub draft: bool,
    /// Subject with example values; empty while the form has errors.
    pub shown_subject: String,
    /// Paragraphs with example values.
    pub shown: Vec<String>,
}
