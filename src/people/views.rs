//! What the pages for people print.

use askama::Template;

use crate::panel::view::Field;
use crate::panel::{Badge, Choice, FormView, Layout, Table, When};

/// `GET /admin/alunos` and `GET /admin/equipe`: a list of people.
#[derive(Template)]
#[template(path = "people.html", config = "assets/askama.toml")]
pub struct PeoplePage {
    pub layout: Layout,
    pub table: Table,
    pub words: &'static ListWords,
    pub people: Vec<PersonRow>,
}

/// The words of one of the two lists.
pub struct ListWords {
    pub title: &'static str,
    pub purpose: &'static str,
    /// What the list holds, in lower case.
    pub what: &'static str,
    /// The button that adds a person.
    pub add: &'static str,
    /// The title of the form that adds a person.
    pub new_title: &'static str,
    /// The title of the empty list.
    pub empty: &'static str,
    /// What to do when the list is empty.
    pub empty_text: &'static str,
    pub role_label: &'static str,
    /// What removing a person means.
    pub removal: &'static str,
}

/// A person in a list.
pub struct PersonRow {
    pub id: String,
    pub name: String,
    pub email: String,
    /// Path of the photo, empty without one.
    pub photo: String,
    /// The role as people call it.
    pub role: &'static str,
    /// The status of the person.
    pub state: Badge,
    /// Whether a payment is disputed.
    pub disputed: bool,
    pub created: When,
    /// The last request; `None` when there was none.
    pub seen: Option<When>,
}

/// The fields of a person, in the form of a new one and on the person's page.
pub struct PersonFields {
    pub form: FormView,
    /// `plano` or `papel`.
    pub role_field: &'static str,
    /// The roles that the field offers.
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
    pub person: PersonRow,
    /// The stored facts.
    pub facts: Vec<Fact>,
    /// Why the person is suspended; empty while it is not.
    pub suspended_for: String,
    pub fields: PersonFields,
    /// Reason of a suspension, after it was rejected.
    pub reason: Field,
    /// Reason for viewing the panel as this person, after it was rejected.
    pub view_reason: Field,
    /// Whether one can view the panel as this person.
    pub can_view: bool,
    /// Whether this person can have the Partner API: sellers and suppliers.
    pub has_api: bool,
    /// How a password link will reach the person.
    pub reach: &'static str,
    pub sessions: Vec<SessionRow>,
    /// What a student may do; empty for others.
    pub permissions: Vec<PermissionRow>,
    /// Whether the page shows marketplace accounts: only for students.
    pub shows_accounts: bool,
    pub accounts: Vec<AccountRow>,
    /// The newest messages to the person.
    pub messages: Vec<MessageRow>,
    /// The newest entries of the audit log about the person.
    pub trail: Vec<TrailRow>,
    /// Address of all entries.
    pub trail_href: String,
}

/// One stored fact.
pub struct Fact {
    pub label: &'static str,
    pub value: String,
    /// What it means; may be empty.
    pub note: String,
}

/// An open session.
pub struct SessionRow {
    pub address: String,
    /// What opened it, such as `Chrome no Windows`.
    pub device: String,
    pub opened: When,
    pub used: When,
}

/// A linked account.
pub struct AccountRow {
    /// Its nickname at the marketplace.
    pub nickname: String,
    /// Its number there.
    pub number: String,
    /// Whether the link works.
    pub state: Badge,
    pub linked: When,
}

/// A queued message.
pub struct MessageRow {
    /// What it is about.
    pub title: String,
    /// The channel of the message.
    pub channel: String,
    /// The state of the message.
    pub state: Badge,
    /// More about the state, such as why it waits; may be empty.
    pub note: String,
    pub queued: When,
}

/// An entry of the audit log.
pub struct TrailRow {
    /// What was done.
    pub title: String,
    pub actor: String,
    /// Address of the whole entry.
    pub href: String,
    pub at: When,
}

/// `GET /admin/papeis`: what each role may do.
#[derive(Template)]
#[template(path = "roles.html", config = "assets/askama.toml")]
pub struct RolesPage {
    pub layout: Layout,
    /// The roles by name and title, in the order of the columns.
    pub roles: Vec<(&'static str, &'static str)>,
    pub rows: Vec<RoleRow>,
}

/// A permission and who has it by role.
pub struct RoleRow {
    pub name: &'static str,
    /// As people read it.
    pub title: &'static str,
    /// What it opens.
    pub about: &'static str,
    /// A box for each role.
    pub cells: Vec<RoleCell>,
}

/// One box.
pub struct RoleCell {
    pub role: &'static str,
    /// `Pro: Analisar anúncios`.
    pub label: String,
    /// Whether the role has the permission.
    pub on: bool,
}

/// A permission of a person.
pub struct PermissionRow {
    pub name: &'static str,
    /// As people read it.
    pub title: &'static str,
    /// Whether the role gives it, in words.
    pub by_role: &'static str,
    /// `herdar`, `permitir` or `negar`.
    pub field: Field,
}

/// What can be decided for a person.
pub static EXCEPTIONS: &[Choice] = &[
    Choice { value: "herdar", label: "Conforme o plano" },
    Choice { value: "permitir", label: "Permitir sempre" },
    Choice { value: "negar", label: "Negar sempre" },
];
