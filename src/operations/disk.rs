//! Disks: what is free where the database and its copies lie, and how long it lasts.

use std::path::{Path, PathBuf};

use crate::base::{DAY_S, Instant};
use crate::db::{BackupCopy, access};
use crate::services::Services;

/// Free space below which it is little, whatever the database takes.
const LITTLE_SPACE: u64 = 256 << 20;
/// With fewer days until the disk is full, that is little.
const FEW_DAYS: u64 = 30;
/// Longer forecasts say nothing.
pub const MANY_DAYS: u64 = 3650;

/// A folder and the disk under it.
pub struct Disk {
    /// Its name in figures.
    pub name: &'static str,
    pub folder: PathBuf,
    pub free: u64,
    pub total: u64,
}

/// The folder of the database and that of its copies, also when both are on one disk.
pub fn disks(services: &Services) -> Vec<Disk> {
    let database = &services.config.database;
    let folders = [
        ("database", Some(access::folder_of(&database.path))),
        ("copies", database.backup_dir.as_deref()),
    ];
    let named = folders.into_iter().filter_map(|(name, folder)| Some((name, folder?)));
    named.filter_map(|(name, folder)| disk(name, folder)).collect()
}

fn disk(name: &'static str, folder: &Path) -> Option<Disk> {
    let space = rustix::fs::statvfs(folder).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(space.f_frsize);
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    Some(Disk { name, folder, free: bytes(space.f_bavail), total: bytes(space.f_blocks) })
}

/// How long the free space of a disk lasts.
pub struct Outlook {
    /// Bytes a day by which the database grew, and since when; `None` within the first
    /// day.
    pub growth: Option<(u64, Instant)>,
    /// Days until the disk is full at that pace.
    pub days: Option<u64>,
    /// Whether that is so little that somebody should act.
    pub is_little: bool,
}

/// The outlook for a disk with so many free bytes, and a database of so many. `copies`
/// tell how large it was.
pub fn outlook(
    now: Instant,
    first_start: Option<Instant>,
    bytes: u64,
    free: u64,
    copies: &[BackupCopy],
) -> Outlook {
    let before = copies.iter().filter_map(|copy| {
        let manifest = copy.manifest()?;
        Some((manifest.created_at()?, manifest.bytes?))
    });
    let growth = growth_a_day(now, first_start, bytes, before);
    let days = growth.map(|(a_day, _)| free.checked_div(a_day).unwrap_or(u64::MAX));
    // A copy, a migration and a restore each need as much as the database takes.
    let is_little = free < LITTLE_SPACE.max(bytes.saturating_mul(2))
        || days.is_some_and(|days| days < FEW_DAYS);
    Outlook { growth, days, is_little }
}

/// Bytes by which the database grew a day, and since when: compared with the oldest
/// of the sizes that are known from before, else with nothing at the first start.
/// `None` within the first day.
fn growth_a_day(
    now: Instant,
    first_start: Option<Instant>,
    bytes: u64,
    before: impl Iterator<Item = (Instant, u64)>,
) -> Option<(u64, Instant)> {
    let is_old = |(at, _): &(Instant, u64)| now.since(*at) >= DAY_S;
    let from = before.filter(is_old).min_by_key(|(at, _)| *at);
    let (since, before) = from.or_else(|| Some((first_start?, 0)).filter(is_old))?;
    let days = u64::try_from(now.since(since) / DAY_S).unwrap_or(1).max(1);
    Some((bytes.saturating_sub(before) / days, since))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_after_a_day_from_the_oldest_size() {
        let now = Instant(100 * DAY_S);
        let none = std::iter::empty;
        assert_eq!(growth_a_day(now, None, 1_000, none()), None);
        assert_eq!(growth_a_day(now, Some(now.minus(DAY_S - 1)), 1_000, none()), None);
        let start = now.minus(10 * DAY_S);
        assert_eq!(growth_a_day(now, Some(start), 1_000, none()), Some((100, start)));
        let copies =
            [(now.minus(60), 990), (now.minus(2 * DAY_S), 600), (now.minus(4 * DAY_S), 200)];
        let found = growth_a_day(now, Some(start), 1_000, copies.into_iter());
        assert_eq!(found, Some((200, now.minus(4 * DAY_S))));
        let shrunk = growth_a_day(now, None, 100, copies.into_iter());
        assert_eq!(shrunk.map(|(a_day, _)| a_day), Some(0));
    }
}
