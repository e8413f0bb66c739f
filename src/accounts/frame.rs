//! The frame around every page of a signed-in person.

use super::views::{OPERATOR_MENU, STUDENT_MENU, SUPPLIER_MENU};
use super::{Account, Role};
use crate::app::App;
use crate::http::Request;
use crate::http::view::{Group, Layout, Reader};

/// The frame of a signed-in person's page.
pub fn layout(app: &App, account: &Account, request: &Request) -> Layout {
    let reader = Reader {
        name: &account.name,
        email: &account.email,
        menu: menu(account.role),
    };
    Layout::inside(&app.config.server.name, request.now, reader, request.path())
}

fn menu(role: Role) -> &'static [Group] {
    match role {
        Role::Admin => OPERATOR_MENU,
        Role::Drop => SUPPLIER_MENU,
        _ => STUDENT_MENU,
    }
}
