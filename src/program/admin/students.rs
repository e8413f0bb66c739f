//! A student's ledger in the administration, and its corrections.

use serde_json::json;

use crate::accounts::store as accounts;
use crate::app::App;
use crate::audit::{self, Act, Actor};
use crate::base::UserId;
use crate::edge::guard::Person;
use crate::edge::route::Job;
use crate::http::{Problem, Request};
use crate::panel::{Answer, Form, Input, Rule};
use crate::program::rules::MOST_XP;
use crate::program::{Terms, ledger, store};

/// A correction by hand.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    xp: i64,
    reason: String,
}

/// The form of a correction.
pub const FORM: Form<Correction> = Form(&[
    Input::new(
        "xp",
        "Informe um número inteiro diferente de zero, como 50 ou -50.",
        Rule::Own(
            |sent, name, entry| {
                entry.xp = sent.required(name);
                if entry.xp == 0 || entry.xp.unsigned_abs() > MOST_XP.unsigned_abs() {
                    sent.check.fail(name, "must be from -1000000 to 1000000, and not 0");
                }
            },
            |entry, _| if entry.xp == 0 { String::new() } else { entry.xp.to_string() },
        ),
    ),
    Input::new(
        "motivo",
        "Diga o motivo, de 3 a 200 letras.",
        Rule::Line(3..=200, |entry| &mut entry.reason),
    ),
]);

/// The page of a student's ledger.
fn path(student: UserId) -> String {
    format!("{}/alunos/{student}", super::PATH)
}

/// `POST /admin/gamificacao/alunos/{id}/corrigir`: gives or takes points by
/// hand, with the reason.
pub fn correct(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let student = UserId(request.id()?);
    let correction = FORM.entry(request, app.zone(), None)?;
    let (answer, actor) = (Answer::to(request), Actor::person(person, request));
    let terms = Terms::of(&app.config);
    Ok(Box::new(move |tx| {
        let account = accounts::by_id(tx, student)?.ok_or_else(Problem::not_found)?;
        let Correction { xp, reason } = &correction;
        if !ledger::correct(tx, terms, student, (*xp, reason))? {
            return Err(Problem::not_found());
        }
        let standing = store::standing(tx, student)?.unwrap_or_default();
        let act = Act {
            action: "programa.corrigir",
            object: "aluno",
            object_id: student.to_string(),
            object_name: &account.name,
        };
        let told = json!({ "xp": xp, "motivo": reason, "total": standing.xp });
        audit::note(tx, &actor, &act, None::<&()>, Some(&told))?;
        answer.with(&path(student), "corrigido", &[("xp", standing.xp.into())])
    }))
}
