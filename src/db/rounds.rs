//! The workers of a queue: they take what is due, one after the other, and then
//! wait until there is more.

use std::thread::JoinHandle;
use std::time::Duration;

use super::{Db, Result};
use crate::base::queue::Purpose;
use crate::base::{Stop, worker};

/// Starts the workers of a queue. `one` does one thing and says whether there may
/// be more; `bell` is rung when something may be due.
pub fn start(
    db: &Db,
    queue: &'static Purpose,
    stop: &Stop,
    bell: &Stop,
    one: impl Fn(&Stop) -> Result<bool> + Clone + Send + 'static,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let start = |number| {
        let (db, bell, one) = (db.clone(), bell.clone(), one.clone());
        worker::start(&format!("{}-{number}", queue.name), stop, move |stop| {
            work(&db, queue, stop, &bell, || one(stop));
        })
    };
    (1..=queue.workers).map(start).collect()
}

/// Works a queue until `stop` is set, but not while nothing can be stored.
pub fn work(
    db: &Db,
    queue: &Purpose,
    stop: &Stop,
    bell: &Stop,
    mut one: impl FnMut() -> Result<bool>,
) {
    let (mut rings, _) = bell.wait_ring(u64::MAX, Duration::ZERO);
    while !stop.is_set() {
        let worked = if db.is_blocked() { Ok(false) } else { one() };
        match worked {
            Ok(true) => continue,
            Err(error) if !error.is_told() => {
                tracing::warn!(%error, queue = queue.name, "a queue cannot be worked; trying again");
            }
            Ok(false) | Err(_) => {}
        }
        let (seen, is_over) = bell.wait_ring(rings, queue.look);
        if is_over {
            return;
        }
        rings = seen;
    }
}
