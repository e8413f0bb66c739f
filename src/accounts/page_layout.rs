//! The frame around every page of a signed-in person.

use std::sync::Arc;

use super::menu;
use crate::app::App;
use crate::http::Request;
use crate::identity::Person;
use crate::panel::Layout;
use crate::panel::live::Counts;
use crate::panel::view::{Reader, Viewed};

/// The frame of a signed-in person's page. While an administrator views the
/// panel as a student, every page says so.
pub fn layout(app: &App, person: &Person, request: &Request) -> Layout {
    let account = &person.account;
    let reader = Reader {
        name: &account.name,
        email: &account.email,
        photo: &account.photo,
        menu: menu::of(account),
    };
    let viewed = person
        .view
        .as_ref()
        .map(|view| Viewed { name: view.student.name.clone(), until: app.time_of_day(view.until) });
    Layout::inside(&app.config.server.name, request.now, reader, request.path())
        .looking_as(viewed)
        .counting(counts(app, person, request))
}

/// The numbers beside the entries of the menu. A page without them is better than none.
fn counts(app: &App, person: &Person, request: &Request) -> Arc<Counts> {
    let counts = app.live.counts(app, menu::watcher(&person.account), request.lane);
    counts.unwrap_or_else(|error| {
        tracing::warn!(%error, "a page goes without the numbers of its menu");
        Arc::default()
    })
}
