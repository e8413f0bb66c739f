//! What the pages of texts print.

use askama::Template;

use super::Template as Text;
use crate::outbox::MessageKind;
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
    pub kind: MessageKind,
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
    pub kind: MessageKind,
    /// `assunto`.
    pub subject: Field,
    /// `texto`.
    pub body: Field,
    /// When staff changed it; `None` for the default text.
    pub changed: Option<When>,
    /// Whether what is shown is not saved.
    pub draft: bool,
    /// The text with example values; `None` while the form has errors.
    pub shown: Option<Text>,
}
