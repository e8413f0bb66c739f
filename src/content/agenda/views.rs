//! What the students' page for meets prints.

use askama::Template;

use crate::base::{Instant, Zone};
use crate::content::meets::Meet;
use crate::content::plans::views::Offer;
use crate::panel::view::{day_in_words, span};
use crate::panel::{Layout, Notice, Tone};

/// `GET /painel/meets`: the meets.
#[derive(Template)]
#[template(path = "agenda.html", config = "assets/askama.toml")]
pub struct AgendaPage {
    pub layout: Layout,
    /// Whether the student may join every meet.
    pub may: bool,
    /// The plans with it, for who may not.
    pub offer: Option<Offer>,
    /// Running or future meets, the first one first.
    pub coming: Vec<Meet>,
    /// The last ones that are over.
    pub past: Vec<Meet>,
    pub zone: Zone,
    pub now: Instant,
}

/// For a student whose plan has no meets.
fn hint() -> Notice {
    let text = "Você vê a agenda e entra nos encontros abertos ao público. Nos outros entra quem tem um plano com encontros.";
    Notice::new(Tone::Info, "Seu plano não inclui os encontros", text)
}

impl AgendaPage {
    /// `sexta-feira, 20 de novembro, 20:00 às 21:30`.
    pub fn when(&self, meet: &Meet) -> String {
        let (starts_at, zone) = (meet.entry.starts_at, self.zone);
        let [from, to] =
            [starts_at, meet.ends_at()].map(|at| zone.civil(at).strftime("%H:%M").to_string());
        format!("{}, {from} às {to}", day_in_words(zone, starts_at))
    }

    /// How long until it begins, in words; empty once it has.
    pub fn left(&self, meet: &Meet) -> String {
        let left = meet.entry.starts_at.since(self.now);
        if left > 0 { format!("começa em {}", span(left)) } else { String::new() }
    }

    pub fn may_join(&self, meet: &Meet) -> bool {
        self.may || meet.entry.public
    }
}
