//! `GET /painel/comunicados/{id}`: an announcement, for those who were told.

use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::edge::route::{Job, nothing_to_do};
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::messages::announcements::store;
use crate::messages::announcements::views::ReadPage;
use crate::messages::store as notices;
use crate::panel::When;

/// Shows it, and marks its notice as read, unless somebody looks as that person. Messages
/// lead here, so the request may come from the page of a mail service.
pub fn page(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let (id, owner) = (request.id()?, person.account.user_id);
    let found = app.db.read(request.lane, |tx| store::for_reader(tx, id, owner))?;
    let (one, notice) = found.ok_or_else(Problem::not_found)?;
    let when = When::new(app.zone(), one.begun_at.unwrap_or(one.created_at), request.now);
    let page =
        ReadPage { layout: layout(app, person, request), title: one.title, body: one.body, when };
    if person.view.is_some() {
        return Ok(nothing_to_do(Reply::page(&page)?));
    }
    Ok(Box::new(move |tx| {
        notices::mark_read(tx, owner, &[notice])?;
        Reply::page(&page)
    }))
}
