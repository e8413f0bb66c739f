//! What the pages of announcements print.

use askama::Template;

use super::store::Told;
use super::{Announcement, State, pages};
use crate::base::{counted, grouped};
use crate::panel::view::near_day;
use crate::panel::{FormView, Layout, PageTime, Paging, Progress, Tab, Table, Tick, When};

/// `GET /admin/comunicados`: the list.
#[derive(Template)]
#[template(path = "announcements.html", config = "assets/askama.toml")]
pub struct AnnouncementsPage {
    pub layout: Layout,
    /// What the list comes to.
    pub sum: String,
    pub table: Table,
    pub rows: Vec<AnnouncementRow>,
}

/// A row of the list.
pub struct AnnouncementRow {
    pub one: Announcement,
    /// `sai hoje 19:00`; empty unless it is scheduled.
    pub leaves: String,
    pub created: When,
}

impl AnnouncementRow {
    pub fn of(one: Announcement, time: PageTime) -> Self {
        let leaves = match (one.state, one.send_at) {
            (State::Scheduled, Some(at)) => format!("sai {}", near_day(time.zone, at, time.now)),
            _ => String::new(),
        };
        Self { leaves, created: time.when(&one.created_at), one }
    }

    /// `80%`; empty before anybody was told.
    pub fn read_share(&self) -> String {
        if self.one.told == 0 {
            return String::new();
        }
        format!("{}%", pages::share(self.one.readers, self.one.told))
    }
}

/// `GET /admin/comunicados/novo`, `GET /admin/comunicados/{id}/editar`, and their
/// answers when fields are invalid.
#[derive(Template)]
#[template(path = "announcement_form.html", config = "assets/askama.toml")]
pub struct FormPage {
    pub layout: Layout,
    pub existing: Option<i64>,
    pub form: FormView,
    pub plans: Vec<Tick>,
    /// The configured channels.
    pub channels: Vec<Tick>,
    pub zone_help: String,
}

/// `GET /admin/comunicados/{id}`: one.
#[derive(Template)]
#[template(path = "announcement.html", config = "assets/askama.toml")]
pub struct AnnouncementPage {
    pub layout: Layout,
    pub one: Announcement,
    /// How far it is while it is being sent.
    pub progress: Option<Progress>,
    /// `hoje 19:00`; empty for at once, also when that is over.
    pub leaves: String,
    /// How many people it is for now.
    pub audience: i64,
    pub people: People,
    pub time: PageTime,
}

impl AnnouncementPage {
    /// `Enviar a 312 pessoas`, `Agendar para hoje 19:00`.
    fn send_button(&self) -> String {
        match self.audience {
            _ if !self.leaves.is_empty() => format!("Agendar para {}", self.leaves),
            many => format!("Enviar a {}", counted(many, "pessoa", "pessoas")),
        }
    }

    fn people_words(&self) -> String {
        match self.audience {
            0 => "Ninguém".to_owned(),
            many => counted(many, "pessoa", "pessoas"),
        }
    }

    fn is_draft(&self) -> bool {
        self.one.state == State::Draft
    }

    /// When it leaves; `None` once that is over.
    fn leaves_words(&self) -> Option<&str> {
        match self.one.state {
            State::Draft | State::Scheduled if !self.leaves.is_empty() => Some(&self.leaves),
            State::Draft => Some("Assim que você enviar"),
            State::Scheduled => Some("Agora"),
            State::Sending | State::Sent | State::Cancelled => None,
        }
    }

    /// Whether it waits for its time or is being sent.
    fn can_cancel(&self) -> bool {
        matches!(self.one.state, State::Scheduled | State::Sending)
    }

    fn can_remove(&self) -> bool {
        matches!(self.one.state, State::Draft | State::Cancelled) && self.one.told == 0
    }

    /// `248 (80%)`.
    fn read_words(&self) -> String {
        let share = pages::share(self.one.readers, self.one.told);
        format!("{} ({share}%)", grouped(self.one.readers))
    }
}

/// Those who were told: who read it, or who did not.
pub struct People {
    pub tabs: Vec<Tab>,
    pub have_read: bool,
    /// Whether nobody is known any more to have been told.
    pub is_forgotten: bool,
    pub rows: Vec<Told>,
    pub paging: Paging,
}

impl People {
    /// What is said when nobody is among them.
    const fn nobody(&self) -> &'static str {
        if self.is_forgotten {
            "A lista de quem foi avisado já foi apagada."
        } else if self.have_read {
            "Ninguém leu ainda."
        } else {
            "Todas as pessoas avisadas leram."
        }
    }
}

/// `GET /painel/comunicados/{id}`: one, for those who were told.
#[derive(Template)]
#[template(path = "announcement_read.html", config = "assets/askama.toml")]
pub struct ReadPage {
    pub layout: Layout,
    pub title: String,
    pub body: String,
    pub when: When,
}
