//! `/admin/diagnostico`: what the service is like inside, on one page.
//!
//! It stands above the domains, because it shows something of each. What it reads is
//! found by an index, read from totals or held in memory, however large the database is.

mod facts;
pub mod pages;
mod views;
mod work;

use serde::Serialize;

use crate::operations::views::HealthRow;
use crate::panel::Badge;

/// Some facts about one thing.
#[derive(Serialize)]
pub struct Section {
    /// Its name in the page's address and in JSON.
    nome: &'static str,
    titulo: &'static str,
    linhas: Vec<Row>,
}

/// A fact.
#[derive(Serialize)]
pub struct Row {
    nome: String,
    valor: String,
    /// What it means or what to do; may be empty.
    nota: String,
    /// Whether it is good or bad; `None` for what is neither.
    #[serde(serialize_with = "as_word")]
    estado: Option<Badge>,
    /// The page with more of it; may be empty.
    #[serde(skip)]
    page: &'static str,
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn as_word<S: serde::Serializer>(state: &Option<Badge>, to: S) -> Result<S::Ok, S::Error> {
    state.map(Badge::word).serialize(to)
}

/// A fact that is neither good nor bad.
fn row(name: impl Into<String>, value: impl Into<String>) -> Row {
    Row { nome: name.into(), valor: value.into(), nota: String::new(), estado: None, page: "" }
}

impl From<HealthRow> for Row {
    fn from(found: HealthRow) -> Self {
        let HealthRow { label, value, note, state, href } = found;
        row(label, value).noted(note).state(state).leads_to(href)
    }
}

impl Row {
    fn noted(mut self, note: impl Into<String>) -> Self {
        self.nota = note.into();
        self
    }

    /// The fact is as it should be, or needs attention.
    const fn good_if(self, is_good: bool) -> Self {
        self.state(if is_good { Badge::Healthy } else { Badge::Attention })
    }

    const fn state(mut self, state: Badge) -> Self {
        self.estado = Some(state);
        self
    }

    const fn leads_to(mut self, page: &'static str) -> Self {
        self.page = page;
        self
    }
}
