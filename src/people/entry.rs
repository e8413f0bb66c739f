//! The data of a person on a page, shown again with its faults.

use super::views::PersonFields;
use crate::accounts::Role;
use crate::accounts::person::Group;
use crate::app::App;
use crate::base::text;
use crate::http::{Fields, ForPeople, Problem, Request};
use crate::panel::{Choice, FormView, Notice, Tone};

/// The e-mail address belongs to another person.
pub fn email_taken() -> Problem {
    Problem {
        fields: vec![("email".into(), EMAIL_TAKEN.into())],
        ..Problem::conflict(ForPeople("Já existe uma conta com este e-mail."))
    }
}

const EMAIL_TAKEN: &str = "já existe uma conta com este e-mail";

/// The form as it was sent, with what is wrong with it.
pub fn again(group: Group, request: &Request, faults: &Fields) -> FormView {
    let mut view = group.form().again(request, faults);
    if faults.iter().any(|(name, said)| name == "email" && said == EMAIL_TAKEN) {
        view.say("email", "Já existe uma conta com este e-mail.");
    }
    view
}

/// The fields of a person on a page.
pub fn fields(app: &App, group: Group, mut form: FormView) -> PersonFields {
    let accents = app.messages.delivery.accents_note();
    if form.alert.is_none() && text::has_accents(&form.field("email").value) && !accents.is_empty()
    {
        let title = "Talvez este e-mail não receba mensagens";
        form.alert = Some(Notice::new(Tone::Warn, title, accents));
    }
    let choice = |role: &Role| Choice { value: role.name(), label: role.words() };
    PersonFields {
        form,
        role_field: group.role_field(),
        roles: group.roles().iter().map(choice).collect(),
        accents,
    }
}
