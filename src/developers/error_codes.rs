//! Every `code` of the Partner API in words: what happened, and what a program
//! does about it. The words are in the data file `errors.toml`; the documents take
//! their examples from there, the guide its table.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::{Code, Family, Problem};
use crate::partner::texts::{self, Bilingual};

/// Stands for the request id in examples.
const REQUEST_ID: &str = "0198b7e2-5c1e-7d40-a7be-1f5b2f6f1d11";

/// A code with what there is to know about it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorDoc {
    pub code: String,
    /// A message that comes with it.
    pub message: String,
    /// A field at fault, where fields are.
    pub field: Option<FieldFault>,
    /// What happened.
    pub what: Bilingual,
    /// What to do.
    pub then: Bilingual,
}

/// A field and what is said of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldFault {
    pub name: String,
    pub fault: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    codes: Vec<ErrorDoc>,
}

/// All of them, by status.
pub static CODES: LazyLock<Vec<ErrorDoc>> =
    LazyLock::new(|| texts::read::<File>("errors.toml").codes);

/// A body with this code, as the Partner API answers it.
pub fn example(code: Code) -> Value {
    let name = code.name(Family::Partner);
    let explained = CODES.iter().find(|one| one.code == name);
    let message = match code {
        Code::UriTooLong => "the address is too long",
        Code::HeadersTooLarge => "the headers are too large or too many",
        _ => explained.map_or("", |one| &one.message),
    };
    let mut problem = Problem::new(code, message);
    let field = explained.and_then(|one| one.field.as_ref());
    problem.fields.extend(field.map(|one| ((&*one.name).into(), (&*one.fault).into())));
    let body = serde_json::from_slice(&problem.body(Family::Partner, REQUEST_ID));
    json!({ "summary": name, "value": body.unwrap_or(Value::Null) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_of_the_partner_api_is_explained_and_no_other() {
        let explained: BTreeSet<&str> = CODES.iter().map(|one| &*one.code).collect();
        let family = Family::Partner;
        let known: BTreeSet<&str> = family.codes().map(|code| code.name(family)).collect();
        assert_eq!(explained, known);
        assert_eq!(CODES.len(), known.len());
    }
}
