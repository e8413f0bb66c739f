//! Template data of the diagnostics page.

use askama::Template;

use super::Section;
use super::work::Task;
use crate::config::ShownSetting;
use crate::panel::{Badge, Layout, Notice, When};
use crate::privacy::retention::Kept;

/// `GET /admin/diagnostico`.
#[derive(Template)]
#[template(path = "diagnostics.html", config = "assets/askama.toml")]
pub struct DiagnosticsPage {
    pub layout: Layout,
    /// How the service is, in a sentence.
    pub verdict: Notice,
    /// Parts of the page, to go to.
    pub parts: Vec<(&'static str, &'static str)>,
    pub channels: Vec<ChannelCard>,
    /// Facts, two columns of cards.
    pub sections: Vec<Section>,
    pub tasks: Vec<Task>,
    pub errors: Vec<ErrorRow>,
    /// Settings that were set, and those at their defaults.
    pub set: Vec<ShownSetting>,
    pub defaults: Vec<ShownSetting>,
    /// What is kept, why and how long.
    pub kept: &'static [Kept],
}

/// A channel with its test.
pub struct ChannelCard {
    pub name: &'static str,
    pub title: &'static str,
    pub icon: &'static str,
    pub state: Badge,
    /// What is known of it without a test.
    pub about: String,
    /// The last test; `None` before the first.
    pub tested: Option<TestedView>,
}

/// A test.
pub struct TestedView {
    pub at: When,
    pub words: String,
    pub detail: String,
}

/// A warning or an error of the log.
pub struct ErrorRow {
    pub at: When,
    pub is_error: bool,
    pub message: String,
    pub cause: String,
    pub request_id: String,
    /// The page that follows the request; empty without one.
    pub href: String,
}
