//! The browser extension.

pub mod dashboard; // The extension's dashboard: from memory, and never stale.
