//! The data of a person in a form: read, checked, and shown again with its
//! faults.

use serde::Serialize;

use super::Listed;
use super::views::PersonFields;
use crate::accounts::Role;
use crate::accounts::person::Group;
use crate::app::App;
use crate::base::{phone, text};
use crate::http::{Code, Field, Fields, Problem, Request};
use crate::panel::{Choice, Form, FormView, Input, Notice, Rule, Sent, Tone};
use crate::wire;

wire! {
    /// What an operator decides of a person.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct PersonEntry of(person: &Listed) {
        pub nome: String = person.name.clone(),
        pub email: String = person.email.clone(),
        /// `plano` of students, `papel` of staff.
        pub papel: Role = person.role,
        pub chat_number: Option<String> = person.chat_number.clone(),
    }
}

impl Default for PersonEntry {
    fn default() -> Self {
        Self { nome: String::new(), email: String::new(), papel: Role::Free, chat_number: None }
    }
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
const CHOOSE: &str = "Escolha uma das opções da lista.";

const STUDENT: Form<PersonEntry> = Form(&[
    NAME,
    EMAIL,
    Input::new(
        Group::Students.role_field(),
        CHOOSE,
        Rule::Own(
            |sent, name, entry| {
                let field: Field<String> = sent.take(name);
                // The same default as in `alunos/criar`.
                entry.papel = if field.is_absent() {
                    Role::Free
                } else {
                    role(sent, Group::Students, name, field)
                };
            },
            role_name,
        ),
    ),
    CHAT,
]);

const STAFF: Form<PersonEntry> = Form(&[
    NAME,
    EMAIL,
    Input::new(
        Group::Staff.role_field(),
        CHOOSE,
        Rule::Own(
            |sent, name, entry| {
                let field = sent.take(name);
                entry.papel = role(sent, Group::Staff, name, field);
            },
            role_name,
        ),
    ),
    CHAT,
]);

/// The form of a person of a group.
pub const fn form(group: Group) -> &'static Form<PersonEntry> {
    match group {
        Group::Students => &STUDENT,
        Group::Staff => &STAFF,
    }
}

fn role_name(entry: &PersonEntry, _: crate::base::clock::Zone) -> String {
    entry.papel.name().to_owned()
}

fn role(sent: &mut Sent<'_>, group: Group, name: &'static str, field: Field<String>) -> Role {
    let word = sent.check.required(name, field);
    let known = group.roles().iter().find(|role| role.name() == word);
    known.copied().unwrap_or_else(|| {
        let names: Vec<&str> = group.roles().iter().map(|role| role.name()).collect();
        sent.check.fail(name, format!("must be one of {}", names.join(", ")));
        Role::Free
    })
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

/// The e-mail address belongs to another person.
pub fn email_taken() -> Problem {
    Problem {
        fields: vec![("email".into(), EMAIL_TAKEN.into())],
        ..Problem::new(Code::Conflict, "this e-mail address has an account already")
    }
}

const EMAIL_TAKEN: &str = "já existe uma conta com este e-mail";

/// The form as it was sent, with what is wrong with it.
pub fn again(group: Group, request: &Request, faults: &Fields) -> FormView {
    let mut view = form(group).again(request, faults);
    if faults.iter().any(|(name, said)| name == "email" && said == EMAIL_TAKEN) {
        view.say("email", "Já existe uma conta com este e-mail.");
    }
    view
}

/// The fields of a person on a page.
pub fn fields(app: &App, group: Group, mut form: FormView) -> PersonFields {
    let accents = app.delivery.accents_note();
    if form.alert.is_none() && text::has_accents(&form.field("email").value) && !accents.is_empty()
    {
        let title = "Talvez este e-mail não receba mensagens";
        form.alert = Some(Notice::new(Tone::Warn, title, accents));
    }
    let choice = |role: &Role| Choice { value: role.name(), label: role.title() };
    PersonFields {
        form,
        role_field: group.role_field(),
        roles: group.roles().iter().map(choice).collect(),
        accents,
    }
}
