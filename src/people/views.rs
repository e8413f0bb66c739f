//! What the pages for people print.

use askama::Template;

use super::detail::Stored;
use crate::accounts::Role;
use crate::accounts::permissions::Permission;
use crate::accounts::person::Listed;
use crate::panel::view::Field;
use crate::panel::{Choice, FormView, Layout, PageTime, Table, When};

/// `GET /admin/alunos` and `GET /admin/equipe`: a list of people.
#[derive(Template)]
#[template(path = "people.html", config = "assets/askama.toml")]
pub struct PeoplePage {
    pub layout: Layout,
    pub table: Table,
    pub words: &'static ListWords,
    /// Each with the time of creation and of the last request.
    pub people: Vec<(Listed, When, Option<When>)>,
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
pub struct PersonPage {
    pub layout: Layout,
    pub path: &'static str,
    pub words: &'static ListWords,
    pub stored: Stored,
    pub time: PageTime,
    pub fields: PersonFields,
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
