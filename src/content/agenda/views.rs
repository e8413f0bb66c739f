//! What the students' page for meets prints.

use askama::Template;

use crate::panel::{Badge, Layout, Notice};

/// `GET /painel/meets`: the meets.
#[derive(Template)]
#[template(path = "agenda.html", config = "assets/askama.toml")]
pub struct AgendaPage {
    pub layout: Layout,
    /// Shown when the student's plan has no meets.
    pub hint: Option<Notice>,
    /// Running or future meets, the first one first.
    pub coming: Vec<MeetCard>,
    /// The last ones that are over.
    pub past: Vec<PastMeet>,
}

/// A meet that one can still go to.
pub struct MeetCard {
    pub id: String,
    pub title: String,
    /// `sexta-feira, 20 de novembro`.
    pub day: String,
    /// `20:00 às 21:30`.
    pub hours: String,
    /// How long until it begins, in words; empty once it has.
    pub left: String,
    /// Who holds it; may be empty.
    pub teacher: String,
    /// What it is about; may be empty.
    pub description: String,
    /// Where to join; empty when the student may not, or it is not known yet.
    pub link: String,
    /// The text shown instead of the link.
    pub instead: &'static str,
    /// Future or running.
    pub state: Badge,
}

/// A meet that is over.
pub struct PastMeet {
    pub title: String,
    /// `20/11/2026 20:00`, and who held it.
    pub about: String,
}

/// The notice for a student whose plan has no meets.
pub fn without_meets() -> Notice {
    let text = "Você vê a agenda e entra nos encontros abertos ao público. Nos outros entra quem tem um plano com encontros.";
    Notice::new(crate::panel::view::Tone::Info, "Seu plano não inclui os encontros", text)
}
