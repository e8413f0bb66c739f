//! Work inside the write transaction that makes the reply.

use super::{Problem, Reply};
use crate::db::WriteTx;

/// Work inside the write transaction, which makes the reply.
pub type WriteWork<R> = Box<dyn FnOnce(&WriteTx<'_>) -> Result<R, Problem> + Send>;
/// What a writing handler returns.
pub type Job = WriteWork<Reply>;

/// A job that changes nothing and returns the reply.
pub fn nothing_to_do(reply: Reply) -> Job {
    Box::new(move |_| Ok(reply))
}
