//! One that a request is about, its form, and what was typed into it.

use http::StatusCode;

use super::{FormParts, Noun};
use crate::accounts::page_layout::layout;
use crate::app::Visit;
use crate::edge::route::Job;
use crate::http::{Code, Fields, Problem, Reply, Request};
use crate::panel::{FormView, Sent, form};
use crate::services::Services;

/// One that a form is about, or nothing for a new one.
pub struct Found<N: Noun> {
    pub existing: Option<N>,
    pub beside: N::Beside,
}

/// What was typed, checked.
pub struct Entered<N: Noun> {
    pub entry: N::Entry,
    /// The form to show a browser in case another has the same value of the field
    /// that is unique.
    taken: Option<Reply>,
}

impl<N: Noun> Found<N> {
    /// The one with this id; not found when it is not there.
    pub fn read(services: &Services, request: &Request, id: Option<i64>) -> Result<Self, Problem> {
        services.db.read(request.lane, |tx| {
            let existing = match id {
                Some(id) => Some(N::one(tx, id)?.ok_or_else(Problem::not_found)?),
                None => None,
            };
            let beside = N::beside(tx, existing.as_ref())?;
            Ok(Self { existing, beside })
        })
    }

    /// The page with a form; `is_again` says that it shows what was sent.
    pub fn page(self, visit: Visit<'_>, form: FormView, is_again: bool) -> Result<Reply, Problem> {
        let (app, person, request) = visit;
        let layout = layout(app, person, request).telling(N::LIST.flashes, request);
        let Self { existing, beside } = self;
        N::form_page(FormParts { visit, layout, existing, beside, form, is_again })
    }

    /// Reads the form. When something is wrong with it, a browser gets it again,
    /// and a program the error.
    pub fn entered(self, visit: Visit<'_>) -> Result<Result<Entered<N>, Job>, Problem> {
        let (app, _, request) = visit;
        let read = Sent::of(request, app.zone()).and_then(|mut sent| {
            let present = self.existing.as_ref().map(N::entry);
            let entry = N::read_entry(&mut sent, present, &self.beside);
            sent.finish().map(|()| entry)
        });
        match read {
            Ok(entry) => Ok(Ok(Entered { entry, taken: self.taken_page(visit)? })),
            Err(problem) => {
                let page = |faults: &Fields| self.page(visit, N::FORM.again(request, faults), true);
                form::show_again(request, problem, page).map(Err)
            }
        }
    }

    fn taken_page(self, visit: Visit<'_>) -> Result<Option<Reply>, Problem> {
        let request = visit.2;
        let Some((field, words)) = N::UNIQUE.filter(|_| !request.wants_json()) else {
            return Ok(None);
        };
        let mut form = N::FORM.again(request, &vec![(field.into(), words.into())]);
        form.say(field, words);
        Ok(Some(self.page(visit, form, true)?.status(StatusCode::CONFLICT)))
    }
}

impl<N: Noun> Entered<N> {
    /// The answer to a browser whose value of the unique field is taken; other
    /// problems are returned.
    pub fn refused(&mut self, problem: Problem) -> Result<Reply, Problem> {
        match self.taken.take() {
            Some(page) if problem.code == Code::Conflict => Ok(page),
            _ => Err(problem),
        }
    }
}
