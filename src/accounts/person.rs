//! What a person is on the lists of people: on which of the two, in which status,
//! and with what data. Group and status are numbers that the database derives.

use serde::Serialize;

use super::Role;
use crate::audit::objects;
use crate::base::{Instant, UserId, Zone, phone, text};
use crate::http::Field;
use crate::named;
use crate::panel::{Badge, Form, Input, Rule, Sent};
use crate::row;
use crate::wire;

named! {
    /// Which of the two lists a person is on, by the names of the audit log.
    pub enum Group: number {
        Students = 0, "aluno";
        /// Suppliers and administrators.
        Staff = 1, "equipe";
    }
}

impl Group {
    /// The group of a role.
    pub const fn of(role: Role) -> Self {
        if role.is_student() { Self::Students } else { Self::Staff }
    }

    /// Roles of the group.
    pub const fn roles(self) -> &'static [Role] {
        match self {
            Self::Students => &Role::STUDENTS,
            Self::Staff => &[Role::Drop, Role::Admin],
        }
    }

    /// Its kind in the audit log.
    pub const fn object(self) -> objects::Object {
        match self {
            Self::Students => objects::STUDENT,
            Self::Staff => objects::STAFF,
        }
    }

    /// The list's path.
    pub const fn path(self) -> &'static str {
        self.object().list
    }

    /// The form of a person of the group.
    pub const fn form(self) -> &'static Form<PersonEntry> {
        match self {
            Self::Students => &STUDENT,
            Self::Staff => &STAFF,
        }
    }

    /// Name of the field that holds the role.
    pub const fn role_field(self) -> &'static str {
        match self {
            Self::Students => "plano",
            Self::Staff => "papel",
        }
    }
}

named! {
    /// The status of a person. A suspended person is not shown as late.
    pub enum PersonStatus: number {
        Good = 0, "ativo";
        /// A renewal is unpaid.
        Late = 1, "atrasado";
        Suspended = 2, "suspenso";
    }
}

impl PersonStatus {
    /// The badge of the status.
    pub const fn badge(self) -> Badge {
        match self {
            Self::Good => Badge::Active,
            Self::Late => Badge::Overdue,
            Self::Suspended => Badge::Suspended,
        }
    }
}

row! {
    /// What an operator decides of a person. A field is stored, asked for in the
    /// form, told to programs and written to the file by this declaration and the
    /// lists below it.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct PersonEntry: stored {
        pub nome: String = "name",
        pub email: String,
        /// `plano` of students, `papel` of staff.
        pub papel: Role = "role",
        pub chat_number: Option<String>,
    }
}

impl PersonEntry {
    /// What is known of a person who was not entered in the panel.
    #[allow(clippy::needless_update, reason = "further fields are as usual")]
    pub fn new(email: &str, name: &str, role: Role, chat_number: Option<String>) -> Self {
        let (nome, email) = (name.to_owned(), email.to_owned());
        Self { nome, email, papel: role, chat_number, ..Self::default() }
    }
}

row! {
    /// A person as lists show it.
    #[derive(Clone, Debug)]
    pub struct Listed {
        pub id: UserId = "user_id",
        pub entry: PersonEntry as row,
        /// Path of the photo, empty without one.
        pub photo: String,
        pub status: PersonStatus = "standing",
        pub disputed: bool,
        pub paid_until: Option<Instant>,
        pub created_at: Instant,
        pub last_access_at: Option<Instant>,
    }
}

wire! {
    /// A person in the panel's JSON.
    #[derive(Serialize)]
    pub struct WirePerson of(person: Listed, zone: Zone) after {
        let spaced = |at: Option<Instant>| at.map(|at| zone.spaced(at));
        let entry = person.entry;
        let (name, is_student) = (entry.papel.name(), entry.papel.is_student());
    } {
        pub id: UserId = person.id,
        pub nome: String = entry.nome,
        pub email: String = entry.email,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub plano: Option<&'static str> = is_student.then_some(name),
        #[serde(skip_serializing_if = "Option::is_none")]
        pub papel: Option<&'static str> = (!is_student).then_some(name),
        pub chat_number: Option<String> = entry.chat_number,
        pub status: &'static str = person.status.name(),
        pub em_disputa: bool = person.disputed,
        pub pago_ate: Option<String> = spaced(person.paid_until),
        pub criado_em: String = zone.spaced(person.created_at),
        pub ultimo_acesso: Option<String> = spaced(person.last_access_at),
    }
}

/// The columns of a group's file: all but the name that the role has in the other one.
pub const fn columns(group: Group) -> [&'static str; WirePerson::FIELDS.len() - 1] {
    let other = match group {
        Group::Students => Group::Staff.role_field(),
        Group::Staff => Group::Students.role_field(),
    };
    let (mut columns, mut to, mut from) = ([""; WirePerson::FIELDS.len() - 1], 0, 0);
    while to < columns.len() {
        columns[to] = WirePerson::FIELDS[from];
        from += 1;
        if !text::is_same(columns[to], other) {
            to += 1;
        }
    }
    columns
}

const NAME: Input<PersonEntry> = Input::new(
    "nome",
    "Informe o nome, com 2 a 120 letras.",
    Rule::Line(2..=120, |entry| &mut entry.nome),
);
const EMAIL: Input<PersonEntry> = Input::new(
    "email",
    "Informe um e-mail válido, como nome@exemplo.com.",
    Rule::Email(|entry| &mut entry.email),
);
const CHAT: Input<PersonEntry> = Input::new(
    "chat_number",
    "Informe de 10 a 15 números, com DDI e DDD, como 5511912345678.",
    Rule::Own(read_chat_number, |entry, _| entry.chat_number.clone().unwrap_or_default()),
);

const STUDENT: Form<PersonEntry> = Form(&[NAME, EMAIL, role_of(Group::Students), CHAT]);
const STAFF: Form<PersonEntry> = Form(&[NAME, EMAIL, role_of(Group::Staff), CHAT]);

/// The role, among those of a group.
const fn role_of(group: Group) -> Input<PersonEntry> {
    let rule = match group {
        Group::Students => Rule::Own(read_role::<true>, role_name),
        Group::Staff => Rule::Own(read_role::<false>, role_name),
    };
    Input::new(group.role_field(), "Escolha uma das opções da lista.", rule)
}

fn role_name(entry: &PersonEntry, _: Zone) -> String {
    entry.papel.name().to_owned()
}

fn read_role<const STUDENT: bool>(
    sent: &mut Sent<'_>,
    name: &'static str,
    entry: &mut PersonEntry,
) {
    let group = if STUDENT { Group::Students } else { Group::Staff };
    let field: Field<String> = sent.take(name);
    entry.papel = Role::Free;
    // The same default as in `alunos/criar`.
    if STUDENT && field.is_absent() {
        return;
    }
    let word = sent.check.required(name, field);
    if let Some(role) = group.roles().iter().find(|role| role.name() == word) {
        entry.papel = *role;
        return;
    }
    let names: Vec<&str> = group.roles().iter().map(|role| role.name()).collect();
    sent.check.fail(name, format!("must be one of {}", names.join(", ")));
}

/// Digits of a chat number. A number that people type gets its country code;
/// programs send all digits themselves.
fn read_chat_number(sent: &mut Sent<'_>, name: &'static str, entry: &mut PersonEntry) {
    let typed: String = sent.optional(name).unwrap_or_default();
    let typed = typed.trim();
    let is_number = (10..=15).contains(&typed.len()) && typed.bytes().all(|b| b.is_ascii_digit());
    entry.chat_number =
        if sent.is_form { phone::normal("", typed) } else { is_number.then(|| typed.to_owned()) };
    if entry.chat_number.is_none() && !typed.is_empty() {
        sent.check.fail(name, "must have 10 to 15 digits");
    }
}
