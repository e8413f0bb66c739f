//! What integrators need: the OpenAPI documents, the pages that explain them,
//! and the status of the service.

mod agents;
pub mod api;
mod changelog;
mod explained;
mod guide;
mod language;
pub mod openapi;
mod ordered;
pub mod pages;
mod portuguese;
mod reference;
pub mod status;
#[cfg(test)]
mod tests;
mod views;
mod webhooks;
mod words;

use std::collections::HashMap;
use std::sync::OnceLock;

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;

use crate::app::App;
use crate::http::conditional::Rendered;
use openapi::{Document, Installation};

/// Paths of the pages.
pub const GUIDE: &str = "/desenvolvedores";
pub const REFERENCE: &str = "/desenvolvedores/referencia";
pub const AGENTS: &str = "/desenvolvedores/agentes";
pub const WEBHOOKS: &str = "/desenvolvedores/webhooks";
pub const CHANGELOG: &str = "/desenvolvedores/changelog";
pub const STATUS: &str = "/status";

/// The documents and the pages that depend only on the program and its
/// configuration. Each is made once.
#[derive(Default)]
pub struct Documents {
    partner: OnceLock<Made>,
    platform: OnceLock<Made>,
    /// Rendered pages by path and language.
    pages: Mutex<HashMap<(&'static str, &'static str), Bytes>>,
}

/// A document as a JSON value, and as the rendered response.
pub struct Made {
    value: Value,
    pub rendered: Rendered,
}

impl Documents {
    /// A document, made at the first call.
    pub fn get(&self, app: &App, which: Document) -> &Made {
        let place = match which {
            Document::Partner => &self.partner,
            Document::Platform => &self.platform,
        };
        place.get_or_init(|| {
            let header = app.config.checkout.token_header.as_str().to_ascii_uppercase();
            let value = which.of(
                &app.routes,
                &Installation {
                    base_url: &app.addresses.base_url,
                    dev_base_url: &app.addresses.dev_base_url,
                    checkout_header: &header,
                },
            );
            let rendered = Rendered::new(value.to_string().into_bytes(), None);
            Made { value, rendered }
        })
    }
}
