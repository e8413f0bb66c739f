//! The frame around every page of a signed-in person.

use super::menu;
use crate::app::App;
use crate::http::Request;
use crate::identity::Person;
use crate::panel::Layout;
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
    Layout::inside(&app.config.server.name, request.now, reader, request.path()).looking_as(viewed)
}
