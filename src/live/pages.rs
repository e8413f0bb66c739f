//! `GET /painel/ao-vivo` and the same for suppliers and operators: what changes beside the
//! menu and above lists, as server-sent events.

use crate::accounts::menu;
use crate::app::App;
use crate::http::events::Events;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;

/// A stream of the reader's numbers, from now on.
pub fn stream(app: &App, person: &Person, _: &Request) -> Result<Reply, Problem> {
    let (first, channel, seat) = app.live.follow(app, menu::watcher(&person.account))?;
    Ok(Reply::events(Events::new(first, channel, seat)))
}
