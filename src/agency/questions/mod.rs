//! The queue of questions to all accounts that the agency looks after. The team
//! answers them as sellers answer theirs (`marketplace/books/questions/`).

pub mod holds;
pub mod pages;
pub mod store;
#[cfg(test)]
mod tests;
pub mod views;
pub mod wire;

use crate::base::UserId;
use crate::db::RowWindow;
use crate::http::{Check, Field, Problem, Request, input};
use crate::panel::view::address;

/// The queue's address.
pub const PATH: &str = "/admin/agencia/central-perguntas";

/// Default and highest number of questions on a page.
const ROWS: u32 = 20;
const MOST_ROWS: i64 = 100;
/// Up to this distance from either end, a page is read in place; others use the
/// slow lane.
const NEAR: u32 = 10_000;

crate::named! {
    /// Which questions are shown.
    pub enum Status: text {
        Open = "pendente", "Pendentes";
        Answered = "respondida", "Respondidas";
        All = "todas", "Todas";
    }
}

/// Whose questions are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    All,
    Client(i64),
    /// Those of the clients that this person looks after.
    Keeper(UserId),
    /// Those of one client, if this person looks after it.
    ClientOf(i64, UserId),
}

/// The filters and the page that the address asks for.
#[derive(Clone, Copy, Debug)]
pub struct QueueQuery {
    pub client: Option<i64>,
    pub mine: bool,
    pub status: Status,
    /// From 1.
    pub page: u32,
    pub per_page: u32,
}

impl QueueQuery {
    /// Reads the query of a request; `usual` is the default status.
    pub fn read(request: &Request, usual: Status) -> Result<Self, Problem> {
        Self::of(request.query_text(), usual)
    }

    /// Reads a query given as text.
    pub fn of(query: &str, usual: Status) -> Result<Self, Problem> {
        let given = input::unrepeated(query)?;
        let text = |name: &str| {
            let found = given.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let mut check = Check::text();
        let client = check.number("cliente", Field::of(text("cliente")), 1..=i64::MAX);
        let mine = check.optional("meus", Field::<bool>::of(text("meus"))).unwrap_or(false);
        let page = check.number("pagina", Field::of(text("pagina")), 1..=1_000_000);
        let per_page = check.capped("por_pagina", Field::of(text("por_pagina")), MOST_ROWS);
        let status = text("status");
        let status = match Status::from_name(&status) {
            Some(status) => status,
            None if status.is_empty() => usual,
            None => {
                check.fail("status", "must be pendente, respondida or todas");
                usual
            }
        };
        check.finish()?;
        let small = |number: Option<i64>| number.and_then(|number| u32::try_from(number).ok());
        let (page, per_page) = (small(page).unwrap_or(1), small(per_page).unwrap_or(ROWS));
        Ok(Self { client, mine, status, page, per_page })
    }

    /// The scope of questions for a member of the team.
    pub const fn scope(&self, reader: UserId) -> Scope {
        match (self.client, self.mine) {
            (None, false) => Scope::All,
            (None, true) => Scope::Keeper(reader),
            (Some(client), false) => Scope::Client(client),
            (Some(client), true) => Scope::ClientOf(client, reader),
        }
    }

    /// The rows of the page.
    pub const fn window(&self) -> RowWindow {
        let offset = (self.page - 1).saturating_mul(self.per_page);
        RowWindow { limit: self.per_page, offset }
    }

    /// The address of the queue's first page with this choice.
    pub fn address(&self) -> String {
        let own = self.params();
        let params: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, &**value)).collect();
        address(PATH, &params)
    }

    /// The query parameters of this choice, without the page number.
    pub fn params(&self) -> Vec<(&'static str, String)> {
        let client = self.client.map(|client| client.to_string()).unwrap_or_default();
        let mine = if self.mine { "1" } else { "" };
        let status = if self.status == Status::Open { "" } else { self.status.name() };
        let rows = if self.per_page == ROWS { String::new() } else { self.per_page.to_string() };
        let named = [
            ("cliente", client),
            ("meus", mine.to_owned()),
            ("status", status.to_owned()),
            ("por_pagina", rows),
        ];
        named.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }
}

/// Whether reading the page is slow: it is far from either end, or it searches
/// for the questions of some clients among those of all.
pub fn needs_slow_lane(request: &Request) -> bool {
    let asked = QueueQuery::read(request, Status::All);
    asked.is_ok_and(|asked| {
        let RowWindow { limit, offset } = asked.window();
        asked.mine || offset.saturating_add(limit) > NEAR
    })
}
