//! The replica: a copy elsewhere that follows the database within seconds.
//!
//! Litestream, a program of its own, does the work. Here it is described what it is to
//! do (`place.rs`), started and asked (`tool.rs`), kept running beside the server
//! (`worker.rs`) and on a standby (`follow.rs`). Who may write is a matter of epochs
//! (`epoch.rs`).

pub mod control;
pub mod epoch;
pub mod follow;
pub mod place;
mod state;
pub mod tool;
pub mod worker;

pub use place::Replica;
pub use state::State;

/// What is wrong with the replica, for a sentence, with what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

impl Fault {
    /// An error of the system.
    fn io(doing: &str) -> impl Fn(std::io::Error) -> Self {
        move |error| Self(format!("cannot {doing}: {error}"))
    }
}

pub type Result<T> = std::result::Result<T, Fault>;
