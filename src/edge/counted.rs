//! In which group and surface the answers of a row are counted
//! (`operations/traffic.rs`).

use super::route::{Call, Route};

impl Route {
    /// Names of the group and of the surface in which the row is counted.
    pub fn counted_in(&self) -> (&'static str, &'static str) {
        let group = self.group();
        let surface = match group {
            "partner" if matches!(self.call, Call::Agent(..)) => "mcp",
            "administration" | "pages" => "panel",
            same => same,
        };
        (group, surface)
    }

    fn group(&self) -> &'static str {
        let under = |prefixes: &[&str]| prefixes.iter().any(|prefix| self.path.starts_with(prefix));
        if under(&["/healthz", "/readyz", "/metrics", "/api/v1/admin/", "/api/v1/cron"]) {
            "operations"
        } else if matches!(self.call, Call::Key(..)) {
            "integration"
        } else if under(&["/api/ext/"]) {
            "extension"
        } else if matches!(self.call, Call::Seller(..) | Call::Supplier(..) | Call::Agent(..)) {
            "partner"
        } else if under(&["/ml/", "/api/v1/webhook/"]) {
            "webhooks"
        } else if under(&["/api/"]) {
            "public"
        } else if under(&["/admin"]) {
            "administration"
        } else if under(&["/assets/", "/favicon"]) {
            "assets"
        } else {
            "pages"
        }
    }
}
