//! The students' side of meets: what is to come, how to join, and a file for
//! their own calendar.

pub mod calendar;
pub mod pages;
pub mod views;

use crate::accounts::{Role, store as accounts};
use crate::base::clock::Instant;
use crate::base::ids::UserId;
use crate::content::meets::{Meet, store as meets};
use crate::db::{ReadTx, Result};

/// The permission to join every meet.
pub const PERMISSION: &str = "meets";

/// Seconds ahead that a dashboard shows.
const AHEAD_S: i64 = 48 * 3600;
/// Most meets of a dashboard.
const AHEAD: u32 = 20;

/// Meets of the next 48 hours that a person may join, the first one first.
pub fn ahead(tx: &ReadTx<'_>, person: UserId, role: Role, now: Instant) -> Result<Vec<Meet>> {
    let until = now.plus(AHEAD_S);
    let mut ahead = meets::upcoming(tx, now, AHEAD)?;
    ahead.retain(|meet| meet.entry.starts_at <= until);
    if ahead.iter().any(|meet| !meet.entry.public) && !accounts::may(tx, person, role, PERMISSION)?
    {
        ahead.retain(|meet| meet.entry.public);
    }
    Ok(ahead)
}
