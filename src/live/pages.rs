//! `GET /painel/ao-vivo` and the same for suppliers and operators: what changes beside the
//! menu and above lists, as server-sent events.

use http::header::ACCEPT;

use crate::accounts::menu;
use crate::app::App;
use crate::http::events::Events;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;

/// The reader's numbers: a stream from now on for who accepts events, else those of now.
pub fn stream(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let watcher = menu::watcher(&person.account);
    let accepts = request.header(&ACCEPT).unwrap_or_default();
    if !accepts.contains("text/event-stream") {
        return Reply::json(&*app.live.counts(app, watcher, request.lane)?);
    }
    let (first, channel, seat) = app.live.follow(app, watcher)?;
    Ok(Reply::events(Events::new(first, channel, seat)))
}
