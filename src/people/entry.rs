//! What is typed of a person: read, checked, and shown again with its faults.

use serde::{Deserialize, Serialize};

use super::views::PersonFields;
use super::{Group, Listed};
use crate::accounts::Role;
use crate::app::App;
use crate::base::phone;
use crate::base::text;
use crate::http::input::{self, Check, Field};
use crate::http::problem::Fields;
use crate::http::{Code, Problem, Request};
use crate::panel::view::{self, Choice, Notice, Tone};

/// What an operator decides of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub nome: String,
    pub email: String,
    /// `plano` of students, `papel` of staff.
    pub papel: Role,
    pub chat_number: Option<String>,
}

impl Entry {
    /// What is stored of a person.
    pub fn of(person: &Listed) -> Self {
        Self {
            nome: person.name.clone(),
            email: person.email.clone(),
            papel: person.role,
            chat_number: person.chat_number.clone(),
        }
    }
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    nome: Field<String>,
    #[serde(default)]
    email: Field<String>,
    #[serde(default)]
    plano: Field<String>,
    #[serde(default)]
    papel: Field<String>,
    #[serde(default)]
    chat_number: Field<String>,
}

/// What was sent of a person. A program may leave out what it does not
/// change; a browser's form always says everything.
pub fn read(request: &Request, group: Group, present: Option<&Entry>) -> Result<Entry, Problem> {
    let body: Body = request.form_or_json()?;
    let mut check = Check::form_or_json(request.headers());
    let is_form = input::is_form(request.headers());
    let present = present.filter(|_| !is_form);
    let nome = match present.filter(|_| body.nome.is_absent()) {
        Some(present) => present.nome.clone(),
        None => check.line("nome", body.nome, 2..=120),
    };
    let email = match present.filter(|_| body.email.is_absent()) {
        Some(present) => present.email.clone(),
        None => email(&mut check, body.email),
    };
    let (name, field) = match group {
        Group::Students => ("plano", body.plano),
        Group::Staff => ("papel", body.papel),
    };
    let papel = match present.filter(|_| field.is_absent()) {
        Some(present) => present.papel,
        // As `alunos/criar` takes it.
        None if group == Group::Students && field.is_absent() => Role::Free,
        None => role(&mut check, group, name, field),
    };
    let chat_number = match present.filter(|_| body.chat_number.is_absent()) {
        Some(present) => present.chat_number.clone(),
        None => chat_number(&mut check, body.chat_number, is_form),
    };
    check.finish()?;
    Ok(Entry { nome, email, papel, chat_number })
}

fn email(check: &mut Check, field: Field<String>) -> String {
    let typed = check.required("email", field);
    text::email(&typed).unwrap_or_else(|| {
        check.fail("email", "must be an e-mail address");
        String::new()
    })
}

fn role(check: &mut Check, group: Group, name: &'static str, field: Field<String>) -> Role {
    let word = check.required(name, field);
    let known = group.roles().iter().find(|role| role.name() == word);
    known.copied().unwrap_or_else(|| {
        let names: Vec<&str> = group.roles().iter().map(|role| role.name()).collect();
        check.fail(name, format!("must be one of {}", names.join(", ")));
        Role::Free
    })
}

/// Digits of a chat number. What people type gets its country code; programs
/// say all digits themselves.
fn chat_number(check: &mut Check, field: Field<String>, is_form: bool) -> Option<String> {
    let typed = check.optional("chat_number", field)?;
    let typed = typed.trim();
    let is_number = (10..=15).contains(&typed.len()) && typed.bytes().all(|b| b.is_ascii_digit());
    let digits =
        if is_form { phone::normal("", typed) } else { is_number.then(|| typed.to_owned()) };
    if digits.is_none() && !typed.is_empty() {
        check.fail("chat_number", "must have 10 to 15 digits");
    }
    digits
}

/// The e-mail address belongs to somebody else.
pub fn email_taken() -> Problem {
    Problem {
        fields: vec![("email".into(), EMAIL_TAKEN.into())],
        ..Problem::new(Code::Conflict, "this e-mail address has an account already")
    }
}

const EMAIL_TAKEN: &str = "já existe uma conta com este e-mail";

/// What a page shows in place of what is stored: a form that was refused.
pub struct Shown<'f> {
    /// What was typed; `None` for what is stored.
    pub typed: Option<Typed>,
    pub faults: &'f Fields,
}

/// What stands in the form, as people type it.
#[derive(Default)]
pub struct Typed {
    name: String,
    email: String,
    role: String,
    chat_number: String,
}

impl Typed {
    /// What is stored.
    pub fn of(entry: Entry) -> Self {
        Self {
            name: entry.nome,
            email: entry.email,
            role: entry.papel.name().to_owned(),
            chat_number: entry.chat_number.unwrap_or_default(),
        }
    }

    /// What a browser sent, whether or not it is right.
    pub fn sent(request: &Request) -> Self {
        let mut typed = Self::default();
        for (name, value) in form_urlencoded::parse(&request.body) {
            let field = match &*name {
                "nome" => &mut typed.name,
                "email" => &mut typed.email,
                "plano" | "papel" => &mut typed.role,
                "chat_number" => &mut typed.chat_number,
                _ => continue,
            };
            *field = value.into_owned();
        }
        typed
    }

    /// The fields of the form with what is wrong with them.
    pub fn fields(self, app: &App, group: Group, faults: &Fields) -> PersonFields {
        let accents = app.delivery.accents_note();
        let is_told = text::has_accents(&self.email) && !accents.is_empty();
        let field = |name: &str, value: String| {
            let said = faults.iter().find(|(known, _)| known == name);
            view::Field::of(value).fault(said.map(|(_, said)| words(name, said)))
        };
        let mut fields = PersonFields {
            alert: None,
            role_field: group.role_field(),
            roles: choices(group),
            name: field("nome", self.name),
            email: field("email", self.email),
            accents,
            role: field(group.role_field(), self.role),
            chat_number: field("chat_number", self.chat_number),
        };
        let all = [&mut fields.name, &mut fields.email, &mut fields.role, &mut fields.chat_number];
        if all.iter().any(|field| field.error.is_some()) {
            fields.alert = Notice::faults(view::focus_first(all));
        } else if is_told {
            let title = "Talvez este e-mail não receba mensagens";
            fields.alert = Some(Notice::new(Tone::Warn, title, accents));
        }
        fields
    }
}

fn choices(group: Group) -> Vec<Choice> {
    let choice = |role: &Role| Choice { value: role.name(), label: role.title() };
    group.roles().iter().map(choice).collect()
}

/// What to correct in a field, in the words of its label.
fn words(field: &str, said: &str) -> &'static str {
    match field {
        "nome" => "Informe o nome, com 2 a 120 letras.",
        "email" if said == EMAIL_TAKEN => "Já existe uma conta com este e-mail.",
        "email" => "Informe um e-mail válido, como nome@exemplo.com.",
        "chat_number" => "Informe de 10 a 15 números, com DDI e DDD, como 5511912345678.",
        _ => "Escolha uma das opções da lista.",
    }
}
