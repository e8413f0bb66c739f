//! Ready clients to download: one file each, made of the OpenAPI document and of the text
//! in `assets/api/clients`, which has what all operations share. A new operation is in them
//! without a line.

mod python;
mod shape;
mod typescript;

use serde_json::Value;

use crate::partner::texts;
use shape::Api;

/// The client in Python.
pub fn python(document: &Value, address: &str, base_url: &str) -> String {
    let api = Api::read(document);
    filled("python.py", address, base_url, &python::types(&api), &python::operations(&api))
}

/// The client in TypeScript.
pub fn typescript(document: &Value, address: &str, base_url: &str) -> String {
    let api = Api::read(document);
    let parts = (typescript::types(&api), typescript::operations(&api));
    filled("typescript.ts", address, base_url, &parts.0, &parts.1)
}

fn filled(file: &str, address: &str, base_url: &str, types: &str, operations: &str) -> String {
    texts::text(&format!("clients/{file}"))
        .replace("{address}", address)
        .replace("{base_url}", base_url)
        .replace("{types}", types.trim_end())
        .replace("{operations}", operations.trim_end())
}
