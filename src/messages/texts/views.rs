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
    /// The parts of messages.
    pub tabs: Vec<Tab>,
    pub texts: Vec<TextRow>,
}

/// A text in the list.
pub struct TextRow {
    /// Its kind in addresses.
    pub name: &'static str,
    /// `Boas-vindas`.
    pub title: &'static str,
    /// Its subject, with placeholders.
    pub subject: String,
    /// When staff changed it; none for the text that ships.
    pub changed: Option<When>,
}

/// `GET /admin/mensagens/textos/{tipo}`, and its answers when it is looked at
/// before it is saved, or something is at fault.
#[derive(Template)]
#[template(path = "message_text.html", config = "assets/askama.toml")]
pub struct TextPage {
    pub layout: Layout,
    /// Above the form when something is at fault.
    pub alert: Option<Notice>,
    /// Its kind in addresses.
    pub name: &'static str,
    /// `Boas-vindas`.
    pub title: &'static str,
    /// `assunto`.
    pub subject: Field,
    /// `texto`.
    pub body: Field,
    /// What it may say.
    pub placeholders: Vec<Placeholder>,
    /// When staff changed it; none for the text that ships.
    pub changed: Option<When>,
    /// Whether what is shown is not saved.
    pub draft: bool,
    /// Subject as somebody would read it; empty while something is at fault.
    pub shown_subject: String,
    /// Paragraphs as somebody would read them.
    pub shown: Vec<String>,
}
