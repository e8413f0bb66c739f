//! Template data of the diagnostics page.

use askama::Template;

use super::Section;
use super::work::Task;
use crate::config::ShownSetting;
use crate::journal::LoggedError;
use crate::operations::channel_tests::Tested;
use crate::operations::outside::Service;
use crate::panel::{Badge, Layout, Notice, PageTime};
use crate::privacy::retention::RetentionRule;

/// `GET /admin/diagnostico`.
#[derive(Template)]
#[template(path = "diagnostics.html", config = "assets/askama.toml")]
pub struct DiagnosticsPage {
    pub layout: Layout,
    /// How the service is, in a sentence.
    pub verdict: Notice,
    pub channels: Vec<Channel>,
    /// Facts, two columns of cards.
    pub sections: Vec<Section>,
    pub tasks: Vec<Task>,
    pub errors: Vec<LoggedError>,
    /// Settings that were set, and those at their defaults.
    pub set: Vec<ShownSetting>,
    pub defaults: Vec<ShownSetting>,
    /// What is kept, why and how long.
    pub retention: &'static [RetentionRule],
    pub time: PageTime,
}

/// A channel with its test.
pub struct Channel {
    pub service: Service,
    pub state: Badge,
    /// What is known of it without a test.
    pub about: String,
    /// The last test; `None` before the first.
    pub tested: Option<Tested>,
}

impl Channel {
    const fn icon(&self) -> &'static str {
        match self.service {
            Service::Email => "mail",
            Service::Chat => "chat",
            Service::Telegram => "send",
            Service::Push => "screen",
            Service::Marketplace => "store",
            Service::Checkout => "cart",
        }
    }
}
