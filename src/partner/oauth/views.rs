//! Data of the templates for connected apps.

use askama::Template;

use super::redirect::RedirectKind;
use super::store::App;
use crate::base::{Instant, Zone};
use crate::panel::{Layout, Tick, When};
use crate::wire;

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
    pub way: RedirectKind,
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

wire! {
    /// A connected app in a list.
    pub struct AppRow of(app: App, zone: Zone, now: Instant) {
        pub id: String = app.id.to_string(),
        pub name: String = app.name,
        /// What it may do, in two or three words.
        pub access: &'static str = match (app.may_change, app.may_write) {
            (true, _) => "Lê e age",
            (false, true) => "Lê e age, sem mudar a loja",
            (false, false) => "Só lê",
        },
        pub since: When = When::new(zone, app.created_at, now),
        pub used: Option<When> = app.last_used_at.map(|at| When::new(zone, at, now)),
        /// Address that the last call came from; empty while unknown.
        pub address: String = app.last_address.unwrap_or_default(),
        /// When it ends if it is not used.
        pub ends: String = zone.civil(app.ends_at).strftime("%d/%m/%Y").to_string(),
    }
}
