//! The two languages of the developer pages.

use crate::partner::texts::{self, Bilingual};

crate::named! {
    /// A language that the pages are written in.
    pub enum Language: text {
        Portuguese = "pt-BR";
        English = "en";
    }
}

impl Language {
    /// A text in this language.
    pub fn say(self, said: &Bilingual) -> &str {
        match self {
            Self::Portuguese => &said.pt,
            Self::English => &said.en,
        }
    }
}

/// A text with code between backticks, ready for a page.
pub struct Text {
    /// The parts in order; `true` marks code.
    pub parts: Vec<(bool, String)>,
    /// Whether the text is English on a page in another language.
    pub is_foreign: bool,
}

impl Text {
    /// A text of the English documents, in `language` if there is a translation.
    pub fn of(english: &str, language: Language) -> Self {
        let known = match language {
            Language::English => Some(english),
            Language::Portuguese => texts::portuguese(english),
        };
        let is_foreign = known.is_none() && !english.is_empty();
        Self { is_foreign, ..Self::translated(known.unwrap_or(english)) }
    }

    /// A text that is already in the page's language.
    pub fn translated(text: &str) -> Self {
        let parts = text.split('`').enumerate();
        let parts = parts.filter(|(_, part)| !part.is_empty());
        Self {
            parts: parts.map(|(at, part)| (at % 2 == 1, part.to_owned())).collect(),
            is_foreign: false,
        }
    }
}
