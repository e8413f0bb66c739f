//! The handlers of all nouns.

use super::{Change, Found, ListParts, Made, Noun, removed};
use crate::accounts::page_layout::layout;
use crate::app::App;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::panel::{ListReply, export};

/// `GET` of the list, as page, JSON or CSV.
pub fn list<N: Noun>(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let query = N::LIST.read(request)?;
    let (rows, total) = app.db.read(request.lane, |tx| N::page(tx, request, &query))?;
    let (zone, now) = (app.zone(), request.now);
    if query.csv {
        return export::list(app, person, N::LIST, rows, move |_, _, one: N| {
            Ok(Some(one.wire(zone, now)))
        });
    }
    if request.wants_json() {
        return ListReply::of(total, rows, |one| one.wire(zone, now));
    }
    let layout = layout(app, person, request).telling(N::LIST.flashes, request);
    N::list_page(ListParts { visit: (app, person, request), layout, query, rows, total })
}

/// `GET …/{id}`: one, as page or JSON; with [`Noun::NEW`] the form of a new one.
pub fn show<N: Noun>(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    let id = if request.variable("id") == N::NEW { None } else { Some(request.id()?) };
    let begin = N::begin(request)?;
    let found = Found::<N>::read(app, request, id)?;
    if request.wants_json() {
        let one = found.existing.ok_or_else(Problem::not_found)?;
        return Reply::json(&one.wire(app.zone(), request.now));
    }
    let form = match &found.existing {
        Some(one) => N::FORM.show(Some(one.entry()), app.zone()),
        None => N::FORM.begin(begin, app.zone()),
    };
    found.page((app, person, request), form, false)
}

/// `POST` to the list: creates one.
pub fn create<N: Made>(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let found = Found::<N>::read(app, request, None)?;
    let mut entered = match found.entered((app, person, request))? {
        Ok(entered) => entered,
        Err(again) => return Ok(again),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        if let Err(problem) = N::check(tx, None, &entered.entry) {
            return entered.refused(problem);
        }
        let full = || Problem::conflict(N::ROWS.most.1);
        let id = N::insert(tx, &entered.entry)?.ok_or_else(full)?;
        N::changed(tx)?;
        change.created::<N>(tx, id, &entered.entry)
    }))
}

/// `POST …/{id}`: changes one.
pub fn change<N: Noun>(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let found = Found::<N>::read(app, request, Some(id))?;
    found.existing.as_ref().map_or(Ok(()), N::may_change)?;
    let mut entered = match found.entered((app, person, request))? {
        Ok(entered) => entered,
        Err(again) => return Ok(again),
    };
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| {
        let before = N::one(tx, id)?.ok_or_else(Problem::not_found)?;
        if let Err(problem) = N::check(tx, Some(&before), &entered.entry) {
            return entered.refused(problem);
        }
        N::update(tx, id, &entered.entry)?;
        N::changed(tx)?;
        change.changed(tx, &before, &entered.entry)
    }))
}

/// `POST …/{id}/excluir`: removes one.
pub fn remove<N: Made>(_: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    let id = request.id()?;
    let change = Change::of(person, request);
    Ok(Box::new(move |tx| removed::<N>(tx, &change, id)))
}
