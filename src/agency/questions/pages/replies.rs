//! The team's saved replies.

use crate::agency::questions::PATH;
use crate::app::App;
use crate::edge::route::Job;
use crate::http::{Problem, Reply, Request};
use crate::identity::Person;
use crate::marketplace::books::questions::replies::{ReplySet, acts};

/// Path of the saved replies.
pub const REPLIES: &str = "/admin/agencia/respostas";

const REPLY_SET: ReplySet = ReplySet { owner: None, path: REPLIES, queue: PATH };

/// `GET /admin/agencia/respostas`: the team's saved replies.
pub fn list(app: &App, person: &Person, request: &Request) -> Result<Reply, Problem> {
    acts::list((app, person, request), REPLY_SET)
}

/// `POST /admin/agencia/respostas`: makes one.
pub fn create(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    acts::create((app, person, request), REPLY_SET)
}

/// `POST /admin/agencia/respostas/{id}`: changes one.
pub fn change(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    acts::change((app, person, request), REPLY_SET)
}

/// `POST /admin/agencia/respostas/{id}/excluir`: removes one.
pub fn delete(app: &App, person: &Person, request: &Request) -> Result<Job, Problem> {
    acts::delete((app, person, request), REPLY_SET)
}
