//! What the pages for people print.

use askama::Template;

use super::pages::bulk::Act;
use super::pages::detail::{Part, Stored};
use crate::accounts::Role;
use crate::accounts::permissions::Permission;
use crate::accounts::person::Listed;
use crate::base::UserId;
use crate::panel::view::Field;
use crate::panel::{Choice, FormView, Layout, PageTime, Tab, Table, When};

/// `GET /admin/alunos` and `GET /admin/equipe`: a list of people.
#[derive(Template)]
#[template(path = "people.html", config = "assets/askama.toml")]
pub struct PeoplePage {
    pub layout: Layout,
    pub table: Table,
    pub words: &'static ListWords,
    /// Each with the time of creation and of the last request.
    pub people: Vec<(Listed, When, Option<When>)>,
    pub time: PageTime,
    pub total: u64,
    /// How many of the filter are late and suspended, in words.
    pub sum: String,
    /// The query of the list, for acts on all of its filter.
    pub query: String,
}

impl PeoplePage {
    /// How many the filter has, as people read it.
    fn total_words(&self) -> String {
        crate::base::grouped(self.total)
    }

    /// The day until which a student has paid, and whether it is over.
    fn paid(&self, person: &Listed) -> Option<(String, bool)> {
        let until = person.paid_until?;
        let day = self.time.zone.civil(until).strftime("%d/%m/%Y").to_string();
        Some((day, until < self.time.now))
    }
}

impl PersonPage {
    /// `pago até 20/12/2026`; empty where nothing is known.
    fn paid(&self) -> String {
        let until = self.stored.person.paid_until;
        let day = |until| self.time.zone.civil(until).strftime("%d/%m/%Y").to_string();
        until.map(|until| format!("pago até {}", day(until))).unwrap_or_default()
    }

    fn is_over(&self) -> bool {
        self.stored.person.paid_until.is_some_and(|until| until < self.time.now)
    }

    /// The API plan in words.
    fn api(&self) -> String {
        match self.stored.api {
            None => "nenhum".to_owned(),
            Some((plan, None)) => plan.words().to_owned(),
            Some((plan, Some(day))) => {
                format!("{}, até {}", plan.words(), day.date().strftime("%d/%m/%Y"))
            }
        }
    }
}

/// The words of one of the two lists.
pub struct ListWords {
    pub title: &'static str,
    pub purpose: &'static str,
    /// What the list holds, in lower case.
    pub what: &'static str,
    /// The button that adds a person.
    pub add: &'static str,
    pub new_title: &'static str,
    /// The title of the empty list.
    pub empty: &'static str,
    /// What to do when the list is empty.
    pub empty_text: &'static str,
    pub role_label: &'static str,
    /// What removing a person means.
    pub removal: &'static str,
}

/// The fields of a person, in the form of a new one and on the person's page.
pub struct PersonFields {
    pub form: FormView,
    /// `plano` or `papel`.
    pub role_field: &'static str,
    pub roles: Vec<Choice>,
    /// A warning about an e-mail address with accents before the `@`; may be
    /// empty.
    pub accents: &'static str,
}

/// `GET …/novo`, and the answer when its fields are invalid.
#[derive(Template)]
#[template(path = "person_new.html", config = "assets/askama.toml")]
pub struct NewPersonPage {
    pub layout: Layout,
    pub path: &'static str,
    pub words: &'static ListWords,
    pub fields: PersonFields,
    /// How the welcome message will reach the person.
    pub reach: &'static str,
}

/// `GET …/{id}`: everything an operator needs of one person.
#[derive(Template)]
#[template(path = "person.html", config = "assets/askama.toml")]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct PersonPage {
    pub layout: Layout,
    pub path: &'static str,
    pub words: &'static ListWords,
    pub stored: Stored,
    pub time: PageTime,
    pub fields: PersonFields,
    /// Whether the fields were refused and so stand open.
    pub edits: bool,
    /// The part that is shown, and the links to all.
    pub part: Part,
    pub tabs: Vec<Tab>,
    /// Whether it is a student, with plan, sales and lessons.
    pub is_student: bool,
    /// A link that was just made, to be copied.
    pub link: Option<MadeLink>,
    /// What the student can be given.
    pub picks: Vec<PlanPick>,
    /// The next page of the timeline, and whether this is the first.
    pub older: Option<String>,
    pub is_first: bool,
    /// Whether a message with a link can be queued at all.
    pub reaches: bool,
    /// Reason of a suspension, after it was rejected.
    pub reason: Field,
    /// Reason for viewing the panel as this person, after it was rejected.
    pub view_reason: Field,
    pub can_view: bool,
    /// How a password link will reach the person.
    pub reach: &'static str,
    /// Whether the page shows marketplace accounts: only for students.
    pub shows_accounts: bool,
    /// Address of all entries.
    pub trail_href: String,
}

/// A link to choose a password, to be copied.
pub struct MadeLink {
    /// Whether its person was just made.
    pub is_new: bool,
    pub address: String,
}

/// Something that a student can be given.
pub struct PlanPick {
    /// `plano:7` or `papel:vip`.
    pub value: String,
    pub label: String,
}

/// `GET /admin/alunos/em-lote`: what an act on several students needs, and for whom it is.
#[derive(Template)]
#[template(path = "people_bulk.html", config = "assets/askama.toml")]
pub struct BulkPage {
    pub layout: Layout,
    pub act: Act,
    pub count: usize,
    /// The people, unless all of the list's filter are meant.
    pub ids: Vec<UserId>,
    /// The query of the list, when all of its filter are meant.
    pub all: Option<String>,
    /// The page to come back to, and its word in the form.
    pub back: String,
    pub back_text: String,
    /// Some of their names.
    pub names: Vec<String>,
    pub picks: Vec<PlanPick>,
    /// Channels that are on, in words; empty without one.
    pub channels: String,
    pub form: FormView,
}

impl BulkPage {
    fn title(&self) -> String {
        let whom = match (&*self.names, self.count) {
            ([one], 1) => one.clone(),
            (_, count) => format!("{} alunos", crate::base::grouped(count as u64)),
        };
        match (self.act, self.count) {
            (Act::Suspend, _) => format!("Suspender {whom}"),
            (Act::Message, _) => format!("Mensagem para {whom}"),
            (Act::Plan | Act::Grace, _) => format!("Trocar o plano de {whom}"),
        }
    }

    /// How many are not named.
    fn unnamed(&self) -> u64 {
        self.count.saturating_sub(self.names.len()) as u64
    }
}

/// `GET /admin/papeis`: what each role may do.
#[derive(Template)]
#[template(path = "roles.html", config = "assets/askama.toml")]
pub struct RolesPage {
    pub layout: Layout,
    /// The roles in the order of the columns, with the names of what each may do.
    pub roles: Vec<(Role, Vec<&'static str>)>,
    pub permissions: Vec<&'static Permission>,
}

/// What can be decided for a person.
pub static EXCEPTIONS: &[Choice] = &[
    Choice { value: "herdar", label: "Conforme o plano" },
    Choice { value: "permitir", label: "Permitir sempre" },
    Choice { value: "negar", label: "Negar sempre" },
];
