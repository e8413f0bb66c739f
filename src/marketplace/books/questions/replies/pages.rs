//! A seller's saved replies.

use super::{ReplySet, acts};
use crate::app::App;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::books::questions::pages::PATH;

/// The address of a seller's replies.
pub const OWN: &str = "/painel/respostas";

fn own_set(person: &Person) -> ReplySet {
    ReplySet { owner: Some(person.account.user_id), path: OWN, queue: PATH }
}

/// `GET /painel/respostas`: a seller's saved replies.
pub fn own_list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    acts::list((app, person, request), own_set(person))
}

/// `POST /painel/respostas`: makes one.
pub fn own_create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    acts::create((app, person, request), own_set(person))
}

/// `POST /painel/respostas/{id}`: changes one.
pub fn own_change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    acts::change((app, person, request), own_set(person))
}

/// `POST /painel/respostas/{id}/excluir`: removes one.
pub fn own_delete(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    acts::delete((app, person, request), own_set(person))
}
