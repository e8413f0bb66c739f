//! The response to a change made in a panel (docs/contract.md, "Panel as JSON"). Browsers get a
//! redirect with a word that the next page shows as a notice, programs get a
//! JSON object.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::http::{Code, Problem, Reply, Request};

/// How a change will be answered, decided before it is made.
#[derive(Clone, Copy)]
pub struct Answer {
    json: bool,
}

impl Answer {
    /// As JSON or as a redirect, whichever the request asks for.
    pub fn to(request: &Request) -> Self {
        Self { json: request.wants_json() }
    }

    /// Something was made: 201 with its id, or back to `page` with a word
    /// that the page turns into a notice.
    pub fn made(
        self,
        id: impl std::fmt::Display,
        page: &str,
        word: &str,
    ) -> Result<Reply, Problem> {
        let reply = self.done(id, page, word)?;
        Ok(if self.json { reply.status(StatusCode::CREATED) } else { reply })
    }

    /// Something was changed or removed.
    pub fn done(
        self,
        id: impl std::fmt::Display,
        page: &str,
        word: &str,
    ) -> Result<Reply, Problem> {
        self.with(page, word, &[("id", Value::from(id.to_string()))])
    }

    /// Nothing was done, for a reason that concerns no single field. Programs
    /// get the problem; browsers go back to `page` with a word.
    pub fn refused(self, problem: Problem, page: &str, word: &str) -> Result<Reply, Problem> {
        if self.json {
            return Err(problem);
        }
        Reply::back(page, word)
    }

    /// A conflict with the present state, or a missing plan: browsers go back to
    /// `page` with a word, programs get the problem. Other problems are returned
    /// unchanged.
    pub fn declined(self, problem: Problem, page: &str, word: &str) -> Result<Reply, Problem> {
        if !matches!(problem.code, Code::Conflict | Code::PlanRequired) {
            return Err(problem);
        }
        self.refused(problem, page, word)
    }

    /// `{"ok":true}` with more members, or back to `page`.
    pub fn with(self, page: &str, word: &str, members: &[(&str, Value)]) -> Result<Reply, Problem> {
        if !self.json {
            return Reply::back(page, word);
        }
        let mut body = Map::new();
        body.insert("ok".to_owned(), true.into());
        body.extend(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Reply::json(&body)
    }
}

/// One page of a list as JSON (docs/contract.md, "Panel as JSON").
#[derive(Serialize)]
pub struct ListReply<T> {
    ok: bool,
    total: u64,
    dados: Vec<T>,
}

impl<T: Serialize> ListReply<T> {
    /// The answer for one page of `total` rows, each as programs read it.
    pub fn of<R>(
        total: u64,
        rows: impl IntoIterator<Item = R>,
        wire: impl FnMut(R) -> T,
    ) -> Result<Reply, Problem> {
        Reply::json(&Self { ok: true, total, dados: rows.into_iter().map(wire).collect() })
    }
}
