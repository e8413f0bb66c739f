//! Small types that all folders share. They use only each other. The most
//! common ones are re-exported here.

pub mod cache;
pub mod chain;
pub mod clock;
pub mod counter;
pub mod files;
#[cfg(test)]
pub mod fuzz;
pub mod ids;
pub mod money;
pub mod named;
pub mod offset_time;
pub mod packed;
pub mod phone;
pub mod queue;
pub mod retention;
pub mod rows;
pub mod secrets;
pub mod text;
pub mod told;
pub mod trace;
pub mod usual;
pub mod wire;
pub mod worker;
pub mod zip;

pub use cache::Versions;
pub use clock::{Clock, DAY_S, Day, Instant, Zone};
pub use ids::{MlUserId, OrderId, TokenHash, UserId};
pub use money::Cents;
pub use offset_time::OffsetTime;
pub use secrets::{Sealer, Secret};
pub use text::{counted, grouped, hex, search_key, shortened};
pub use worker::Stop;
