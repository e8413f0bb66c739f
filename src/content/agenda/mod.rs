//! The students' side of meets: future meets, how to join, and a file for
//! their own calendar.

pub mod calendar;
pub mod pages;
pub mod views;

use crate::accounts::{Role, store as accounts};
use crate::base::{Instant, UserId};
use crate::content::meets::{Meet, store as meets};
use crate::db::{ReadTx, Result};

/// The permission to join every meet.
pub const PERMISSION: &str = "meets";

/// Seconds ahead that a dashboard shows.
const AHEAD_S: i64 = 48 * 3600;
/// Most meets of a dashboard.
const AHEAD: u32 = 20;

/// What a dashboard shows of future meets.
pub struct Ahead {
    /// Meets of the next 48 hours that the person may join, the first one first.
    pub meets: Vec<Meet>,
    /// The next time at which a meet enters or leaves the list, if there is
    /// one.
    pub until: Option<Instant>,
}

/// The meets that a person's dashboard shows.
pub fn ahead(tx: &ReadTx<'_>, person: UserId, role: Role, now: Instant) -> Result<Ahead> {
    let mut meets = meets::upcoming(tx, now, AHEAD)?;
    let later = meets.partition_point(|meet| meet.entry.starts_at <= now.plus(AHEAD_S));
    let enters = meets.get(later).map(|meet| meet.entry.starts_at.minus(AHEAD_S));
    let leaves = meets.first().filter(|_| later > 0).map(|meet| meet.entry.starts_at);
    meets.truncate(later);
    if meets.iter().any(|meet| !meet.entry.public) && !accounts::may(tx, person, role, PERMISSION)?
    {
        meets.retain(|meet| meet.entry.public);
    }
    Ok(Ahead { meets, until: leaves.into_iter().chain(enters).min() })
}
