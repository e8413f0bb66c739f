//! The texts of the Partner API's document and their Portuguese.

use serde_json::Value;

use super::documents::Document;
use super::language::Language::Portuguese;
use super::openapi::Installation;
use super::reference;
use crate::edge::route::{Route, Surface};

const BASE: &str = "https://escola.example";

/// The document of the Partner API.
fn document() -> Value {
    let at = Installation { base_url: BASE, dev_base_url: BASE, checkout_header: "X-TOKEN" };
    Document::Partner.of(&crate::routes::all(), &at)
}

fn operations() -> Vec<reference::Operation> {
    let rows = crate::routes::all();
    let rows = rows.iter().filter(|row| row.surface == Surface::Partner);
    reference::read(&document(), BASE, rows.map(Route::operation), Portuguese)
}

#[test]
fn what_the_document_says_of_operations_is_there_in_portuguese() {
    let mut missing = Vec::new();
    for operation in operations() {
        let parameters = operation.parameters.iter().map(|one| &one.about);
        let fields = operation.sent.iter().chain(&operation.answer).map(|one| &one.about);
        let all =
            [&operation.summary, &operation.about].into_iter().chain(parameters).chain(fields);
        for text in all.filter(|text| text.is_foreign) {
            let said: String = text.parts.iter().map(|(_, part)| &**part).collect();
            missing.push(format!("{}: {said}", operation.id));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    // There are no unused translations: those of changed texts must be removed.
    let whole = document().to_string();
    for (english, _) in crate::partner::texts::translations() {
        let said = Value::from(english).to_string();
        let said = said.trim_matches('"').trim_end_matches('.');
        assert!(whole.contains(said), "in no document: {english}");
    }
}
