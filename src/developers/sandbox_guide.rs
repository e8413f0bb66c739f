//! Samples of the page about test shops. Its text is in `sandbox_pt.html` and
//! `sandbox_en.html`.

use super::guide::Sample;
use super::openapi::PARTNER;

/// Samples that the page shows.
pub struct Sandbox {
    pub calls: Sample,
    pub trigger: Sample,
    pub listen: Sample,
}

impl Sandbox {
    /// The samples for the address of an installation.
    pub fn of(base: &str) -> Self {
        Self {
            calls: Sample::of("sandbox-curl.sh", "curl", &format!("{base}{PARTNER}")),
            trigger: Sample::of("sandbox-trigger.sh", "trigger", base),
            listen: Sample::of("sandbox-listen.sh", "listen", base),
        }
    }
}
