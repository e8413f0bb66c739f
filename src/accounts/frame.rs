//! The frame around every page of a signed-in person.

use super::{Account, menu};
use crate::app::App;
use crate::http::Request;
use crate::http::view::{Layout, Reader};

/// The frame of a signed-in person's page.
pub fn layout(app: &App, account: &Account, request: &Request) -> Layout {
    let reader = Reader {
        name: &account.name,
        email: &account.email,
        photo: &account.photo,
        menu: menu::of(account.role),
    };
    Layout::inside(&app.config.server.name, request.now, reader, request.path())
}
