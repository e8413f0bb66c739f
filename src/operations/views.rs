//! Template data of the operator's home.

use askama::Template;
use serde::Serialize;

use super::month::Month;
use crate::panel::{Badge, Layout, Notice, QueueItem, Step, Tone};

/// `GET /admin`: state of the service, open items and numbers of people.
#[derive(Template)]
#[template(path = "operator_home.html", config = "assets/askama.toml")]
pub struct OperatorHome {
    pub layout: Layout,
    /// The state of the service in one sentence.
    pub verdict: Notice,
    /// What is still to be set up; empty once all is.
    pub steps: Vec<Step>,
    /// What needs the operator: people, failed messages, other open items.
    pub needs: Vec<QueueItem>,
    /// The last thirty days.
    pub month: Month,
    /// Figures of the service.
    pub health: Vec<Fact>,
    /// Whether unsigned notifications are rejected. The real marketplace does
    /// not sign its notifications.
    pub signature_hint: bool,
    /// How many people have each role.
    pub people: Vec<(&'static str, u64)>,
    pub version: &'static str,
    /// `3 dias e 4 h`.
    pub uptime: String,
}

/// Something that needs action by a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenItem {
    /// How urgent it is.
    pub tone: Tone,
    /// What needs action, with its count.
    pub title: String,
    /// What it means and what to do.
    pub text: String,
    /// Page where it is resolved; empty when that is outside the panel.
    pub href: &'static str,
}

/// A fact about the service.
#[derive(Serialize)]
pub struct Fact {
    pub nome: String,
    pub valor: String,
    /// What it means or what to do; may be empty.
    pub nota: String,
    /// Whether it is good or bad; `None` for what is neither.
    #[serde(serialize_with = "as_word")]
    pub estado: Option<Badge>,
    /// The page with more of it; may be empty.
    #[serde(skip)]
    pub page: &'static str,
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn as_word<S: serde::Serializer>(state: &Option<Badge>, to: S) -> Result<S::Ok, S::Error> {
    state.map(Badge::word).serialize(to)
}

/// A fact that is neither good nor bad.
pub fn fact(name: impl Into<String>, value: impl Into<String>) -> Fact {
    Fact { nome: name.into(), valor: value.into(), nota: String::new(), estado: None, page: "" }
}

impl Fact {
    /// Adds what it means or what to do.
    pub fn noted(mut self, note: impl Into<String>) -> Self {
        self.nota = note.into();
        self
    }

    /// The fact is as it should be, or needs attention.
    pub const fn good_if(self, is_good: bool) -> Self {
        self.state(if is_good { Badge::Healthy } else { Badge::Attention })
    }

    /// Whether the fact is good or bad.
    pub const fn state(mut self, state: Badge) -> Self {
        self.estado = Some(state);
        self
    }

    /// Adds a link to a page with more detail.
    pub const fn leads_to(mut self, page: &'static str) -> Self {
        self.page = page;
        self
    }
}

impl OperatorHome {
    fn steps_done(&self) -> usize {
        self.steps.iter().filter(|step| step.done).count()
    }

    /// The health of the service in one line, and its worst state.
    fn health_line(&self) -> (Badge, String) {
        let worst = [Badge::Broken, Badge::Attention]
            .into_iter()
            .find(|state| self.health.iter().any(|row| row.estado == Some(*state)));
        let copy = self.health.iter().find(|row| row.nome == "Última cópia");
        let copy = copy
            .map(|row| format!(" · última cópia: {}", row.valor.to_lowercase()))
            .unwrap_or_default();
        let line = format!("Versão {} · no ar há {}{copy}", self.version, self.uptime);
        (worst.unwrap_or(Badge::Healthy), line)
    }

    fn total(&self) -> u64 {
        self.people.iter().map(|(_, count)| count).sum()
    }

    /// The share of all people, 0 to 100.
    fn percent(&self, count: &u64) -> u64 {
        count.saturating_mul(100).checked_div(self.total()).unwrap_or(0)
    }
}
