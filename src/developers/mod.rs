//! What integrators need: the OpenAPI documents, the pages that explain them,
//! and the status of the service.

mod agents;
pub mod api;
mod changelog;
mod clients;
pub mod documents;
mod error_codes;
mod guide;
pub mod how_to;
mod language;
mod markdown;
pub mod openapi;
mod ordered;
pub mod pages;
mod postman;
mod reference;
mod sandbox_guide;
pub mod status;
#[cfg(test)]
mod tests;
mod titles;
mod views;
mod webhook_guide;
mod words;

use crate::app::App;
use documents::{Document, Made};
use openapi::Installation;

/// Paths of the pages.
pub const GUIDE: &str = "/desenvolvedores";
pub const REFERENCE: &str = "/desenvolvedores/referencia";
pub const OPERATION: &str = "/desenvolvedores/referencia/{operacao}";
pub const AGENTS: &str = "/desenvolvedores/agentes";
pub const WEBHOOKS: &str = "/desenvolvedores/webhooks";
pub const SANDBOX: &str = "/desenvolvedores/sandbox";
pub const CHANGELOG: &str = "/desenvolvedores/changelog";
pub const STATUS: &str = "/status";
/// Path of the collection for Postman.
pub const POSTMAN: &str = "/desenvolvedores/postman.json";
/// Paths of ready clients.
pub const PYTHON: &str = "/desenvolvedores/cliente.py";
pub const TYPESCRIPT: &str = "/desenvolvedores/cliente.ts";

/// A document of this service.
pub fn document(app: &App, which: Document) -> &Made {
    app.caches.documents.get(which, || {
        let header = app.config.checkout.token_header.as_str().to_ascii_uppercase();
        let installation = Installation {
            base_url: &app.server.addresses.base_url,
            dev_base_url: &app.server.addresses.dev_base_url,
            checkout_header: &header,
        };
        which.of(&app.server.routes, &installation)
    })
}
