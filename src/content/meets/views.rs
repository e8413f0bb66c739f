//! What the operator's pages for meets print.

use askama::Template;

use super::Meet;
use crate::base::{Instant, Zone};
use crate::panel::{Badge, FormView, Layout, Pick, Table};

/// `GET /admin/meets`: the list of meets.
#[derive(Template)]
#[template(path = "meets.html", config = "assets/askama.toml")]
pub struct MeetsPage {
    pub layout: Layout,
    pub table: Table,
    pub meets: Vec<Meet>,
    pub zone: Zone,
    pub now: Instant,
}

impl Meet {
    /// Who holds it and for whom, in words; may be empty.
    pub fn about(&self) -> String {
        let mut words: Vec<&str> = self.teacher.as_deref().into_iter().collect();
        if self.entry.public {
            words.push("Aberto ao público");
        }
        if self.entry.link.is_empty() {
            words.push("Sem link");
        }
        words.join(" · ")
    }

    /// Whether it is in the future, running or over.
    pub fn state(&self, now: &Instant) -> Badge {
        if *now < self.entry.starts_at {
            Badge::Scheduled
        } else if *now < self.ends_at() {
            Badge::Live
        } else {
            Badge::Over
        }
    }
}

/// `GET /admin/meets/novo`, `GET /admin/meets/{id}`, and their answers when
/// fields are invalid.
#[derive(Template)]
#[template(path = "meet_form.html", config = "assets/askama.toml")]
pub struct MeetForm {
    pub layout: Layout,
    /// The stored meet; `None` for a new one.
    pub existing: Option<Meet>,
    pub form: FormView,
    /// What `professor_id` offers.
    pub teachers: Vec<Pick>,
    /// Which time zone `data_hora` is in, in words.
    pub zone_help: String,
}
