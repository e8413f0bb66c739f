//! Documents and pages that depend only on the program and its configuration, in memory.
//! Each is made once.

use std::collections::HashMap;
use std::sync::OnceLock;

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::Value;

use crate::http::conditional::Rendered;

/// One of the two OpenAPI documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document {
    /// The Partner API, with paths below its two servers.
    Partner,
    /// All other APIs: extension, integration, public, receivers, cron, operations.
    Platform,
}

/// What was made.
#[derive(Default)]
pub struct Documents {
    partner: OnceLock<Made>,
    platform: OnceLock<Made>,
    /// The Partner API as a collection for Postman.
    pub(super) postman: OnceLock<Rendered>,
    /// Ready clients.
    pub(super) python: OnceLock<Rendered>,
    pub(super) typescript: OnceLock<Rendered>,
    /// Rendered pages by path and language.
    pub(super) pages: Mutex<HashMap<(&'static str, &'static str), Bytes>>,
}

/// A document as a JSON value, and as the rendered response.
pub struct Made {
    pub(super) value: Value,
    pub rendered: Rendered,
}

impl Documents {
    /// A document; `make` makes it at the first call.
    pub(super) fn get(&self, which: Document, make: impl FnOnce() -> Value) -> &Made {
        let place = match which {
            Document::Partner => &self.partner,
            Document::Platform => &self.platform,
        };
        place.get_or_init(|| {
            let value = make();
            let rendered = Rendered::new(value.to_string().into_bytes(), None);
            Made { value, rendered }
        })
    }
}
