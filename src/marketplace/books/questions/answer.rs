//! The form of an answer to a buyer, and what is said when it was not sent.

use crate::http::Problem;
use crate::panel::{Form, Notice, Sent, Tone, form};

/// Longest answer that the marketplace takes.
pub const LONGEST: usize = 2_000;
/// The error of an answer that is empty or too long.
pub const WRONG_LENGTH: &str = "Escreva a resposta, com até 2.000 letras.";

/// The form of an answer.
pub const FORM: Form<String> = form! {
    "resposta": Own(read, |text, _| text.clone()), WRONG_LENGTH;
};

/// Reads an answer.
pub fn read(sent: &mut Sent<'_>, name: &'static str, text: &mut String) {
    let typed: String = sent.optional(name).unwrap_or_default();
    typed.replace("\r\n", "\n").trim().clone_into(text);
    if !(1..=LONGEST).contains(&text.chars().count()) {
        sent.check.fail(name, WRONG_LENGTH);
    }
}

/// The notice above an answer that was not sent.
pub fn unsent_notice(problem: &Problem) -> Notice {
    Notice::new(
        Tone::Bad,
        problem.message.clone(),
        "Nada foi enviado. O que você escreveu continua aqui.",
    )
}
