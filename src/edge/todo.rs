//! What remains to be done for a reply after the input was checked.

use crate::app::App;
use crate::http::Problem;
use crate::http::job::WriteWork;

/// Work on a thread of a lane, which makes the reply.
pub type SlowWork<R> = Box<dyn FnOnce(&App) -> Result<R, Problem> + Send>;

/// The work that remains for a reply after the input was checked.
pub enum Todo<R> {
    /// No work: the reply is ready.
    Now(R),
    /// Work in the lane of our own slow work.
    Slow(SlowWork<R>),
    /// Work in the lane of calls to other services.
    Outside(SlowWork<R>),
    /// Work in the lane of documents of programs.
    Fetch(SlowWork<R>),
    /// A job of the writer; answered after COMMIT.
    Write(WriteWork<R>),
}
