//! What the pages of connected apps print.

use askama::Template;

use super::store::App;
use crate::base::{Instant, Zone};
use crate::panel::{Layout, Tick, When};

/// `GET /oauth/authorize`: what a program asks of a person who is signed in.
#[derive(Template)]
#[template(path = "consent.html", config = "assets/askama.toml")]
pub struct ConsentPage {
    pub layout: Layout,
    /// The number of the request, which the form brings back.
    pub request: String,
    /// What the program calls itself.
    pub app: String,
    /// The host that vouches for the name; none when nobody does.
    pub vouched: Option<String>,
    /// Host, or scheme of the installed app, that the person is sent back to.
    pub whose: String,
    pub way: Way,
    pub person: String,
    pub email: String,
    /// Path of the photo, empty without one.
    pub photo: String,
    /// Whether people of this role have a Partner API at all.
    pub may_connect: bool,
    /// What it may read of this person.
    pub reads: &'static [&'static str],
    /// What it may do for this person, when it asks for that.
    pub acts: &'static [&'static str],
    /// The choice between reading and acting; empty when it asks to read alone.
    pub access: Vec<Tick>,
    /// The name of the plan in force; none without one.
    pub plan: Option<&'static str>,
    /// Where the person disconnects it again.
    pub hub: &'static str,
}

/// Where a person is sent back to, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A web site.
    Site,
    /// A program on the person's own machine, and nowhere else.
    Machine,
    /// An installed app.
    Installed,
}

/// A connected app in a list.
pub struct AppRow {
    pub id: String,
    pub name: String,
    /// `Só lê` or `Lê e age`.
    pub access: &'static str,
    pub since: When,
    pub used: Option<When>,
    /// Where the last call came from; empty while it is not known.
    pub address: String,
    /// When it ends by itself.
    pub ends: String,
}

impl AppRow {
    /// Connected apps as rows.
    pub fn of(apps: Vec<App>, zone: Zone, now: Instant) -> Vec<Self> {
        let row = |app: App| Self {
            id: app.id.to_string(),
            name: app.name,
            access: access(app.may_write),
            since: When::new(zone, app.created_at, now),
            used: app.last_used_at.map(|at| When::new(zone, at, now)),
            address: app.last_address.unwrap_or_default(),
            ends: zone.civil(app.ends_at).format("%d/%m/%Y").to_string(),
        };
        apps.into_iter().map(row).collect()
    }
}

/// What a connected app may do, in two or three words.
pub const fn access(may_write: bool) -> &'static str {
    if may_write { "Lê e age" } else { "Só lê" }
}
