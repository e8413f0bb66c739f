//! Data of the templates for connected apps.

use askama::Template;

use super::store::App;
use crate::base::{Instant, Zone};
use crate::panel::{Layout, Tick, When};

/// `GET /oauth/authorize`: a program's request, for a person who is signed in.
#[derive(Template)]
#[template(path = "consent.html", config = "assets/askama.toml")]
pub struct ConsentPage {
    pub layout: Layout,
    /// The number of the request, which the form brings back.
    pub request: String,
    /// The name that the program gives itself.
    pub app: String,
    /// The host of the program's document; `None` for a registered program.
    pub vouched: Option<String>,
    /// Host, or scheme of the installed app, that the person is redirected to.
    pub whose: String,
    pub way: Way,
    pub person: String,
    pub email: String,
    /// Path of the photo, empty without one.
    pub photo: String,
    /// Whether people with this role can use the Partner API.
    pub may_connect: bool,
    /// What the program may read of this person.
    pub reads: &'static [&'static str],
    /// What the program may do for this person, if it asks to write.
    pub acts: &'static [&'static str],
    /// The choice between reading and writing; empty when the program only asks
    /// to read.
    pub access: Vec<Tick>,
    /// The name of the plan in force.
    pub plan: Option<&'static str>,
    /// Path of the page where the person can disconnect the program.
    pub hub: &'static str,
}

/// The kind of place that the person is redirected to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A web site.
    Site,
    /// A program on the person's own machine.
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
    /// Address that the last call came from; empty while unknown.
    pub address: String,
    /// When it ends if it is not used.
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
            ends: zone.civil(app.ends_at).strftime("%d/%m/%Y").to_string(),
        };
        apps.into_iter().map(row).collect()
    }
}

/// What a connected app may do, in two or three words.
pub const fn access(may_write: bool) -> &'static str {
    if may_write { "Lê e age" } else { "Só lê" }
}
