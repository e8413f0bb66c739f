//! Jobs that wait for the writer, and which of them share a commit.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rusqlite::ffi;
use tokio::sync::oneshot;

use super::DbError;
use super::tx::WriteTx;

/// Jobs of one commit, and how long it goes on taking jobs.
pub const BATCH: usize = 512;
const BATCH_TIME: Duration = Duration::from_millis(5);

/// What a job is to the others that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Somebody waits for it.
    Prompt,
    /// A piece of long work, with a commit of its own.
    Piece,
}

/// A queued job whose result type the writer need not know.
pub trait Job: Send {
    /// Runs it; true keeps its changes.
    fn run(&mut self, tx: &WriteTx<'_>) -> bool;
    /// Notes that `run` panicked.
    fn panicked(&mut self);
    /// Answers the caller: with the job's own result after a commit (`lost` is
    /// `None`), otherwise with the reason why there was no commit.
    fn answer(self: Box<Self>, lost: Option<ffi::Error>);
}

/// Everything of one job in one allocation.
pub struct Task<F, T, E> {
    pub work: Option<F>,
    pub result: Option<Result<T, E>>,
    pub caller: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Job for Task<F, T, E>
where
    T: Send,
    E: From<DbError> + Send,
    F: FnOnce(&WriteTx<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, tx: &WriteTx<'_>) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        self.result.insert(work(tx)).is_ok()
    }

    fn panicked(&mut self) {
        self.result = Some(Err(DbError::JobPanicked.into()));
    }

    fn answer(self: Box<Self>, lost: Option<ffi::Error>) {
        let answer = match (self.result, lost) {
            // If the job itself failed, its own error says more.
            (Some(Err(error)), _) => Err(error),
            (_, Some(code)) => Err(DbError::of_code(code).into()),
            (Some(Ok(value)), None) => Ok(value),
            (None, None) => Err(DbError::Stopped.into()),
        };
        // A caller that no longer waits does not need the answer.
        let _ = self.caller.send(answer);
    }
}

/// Jobs that were taken out of the channel and wait for a commit.
#[derive(Default)]
pub struct Queued {
    pub prompt: VecDeque<Box<dyn Job>>,
    pub pieces: VecDeque<Box<dyn Job>>,
    /// Whether a piece comes next even if somebody waits.
    is_piece_next: bool,
}

impl Queued {
    pub fn is_empty(&self) -> bool {
        self.prompt.is_empty() && self.pieces.is_empty()
    }

    /// Everything that waits, to be refused.
    pub fn take_all(&mut self) -> impl Iterator<Item = Box<dyn Job>> + '_ {
        self.prompt.drain(..).chain(self.pieces.drain(..))
    }

    /// Begins a commit: of jobs for which somebody waits and of a piece by turns.
    pub fn begin(&mut self) -> Taking {
        let wants_piece = self.prompt.is_empty() || self.is_piece_next;
        let is_piece = wants_piece && !self.pieces.is_empty();
        self.is_piece_next = !is_piece;
        let class = if is_piece { Class::Piece } else { Class::Prompt };
        Taking { began: Instant::now(), jobs: 0, class }
    }

    pub fn next(&mut self, commit: &mut Taking) -> Option<Box<dyn Job>> {
        let (jobs, is_late) = match commit.class {
            Class::Prompt => (&mut self.prompt, commit.began.elapsed() >= BATCH_TIME),
            Class::Piece => (&mut self.pieces, true),
        };
        if commit.jobs == BATCH || commit.jobs > 0 && is_late {
            return None;
        }
        commit.jobs += 1;
        jobs.pop_front()
    }
}

/// What a commit has taken.
pub struct Taking {
    began: Instant,
    jobs: usize,
    class: Class,
}
