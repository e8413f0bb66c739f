//! The browser extension.

mod dashboard; // The extension's dashboard: from memory, and never stale.
