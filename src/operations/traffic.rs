//! Counts of responses since the start: by group of routes and class of status, and
//! by surface with their errors and durations.

use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;

/// Classes of final statuses.
pub const CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// Groups of routes, as the metrics name them.
pub const GROUPS: [&str; 10] = [
    "extension",
    "integration",
    "partner",
    "public",
    "webhooks",
    "operations",
    "administration",
    "pages",
    "assets",
    "unknown",
];

/// The group of requests that match no route.
const UNKNOWN: usize = GROUPS.len() - 1;

/// Surfaces of the service, as people speak of them.
pub const SURFACES: [&str; 10] = [
    "panel",
    "extension",
    "partner",
    "mcp",
    "integration",
    "webhooks",
    "public",
    "operations",
    "assets",
    "unknown",
];

/// Upper bounds of the durations that are counted apart: microseconds, and the same in
/// seconds as the metrics write it.
pub const BOUNDS: [(i64, &str); 10] = [
    (1_000, "0.001"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (1_000_000, "1"),
    (5_000_000, "5"),
    (30_000_000, "30"),
];

/// Counts of one process.
pub struct Traffic {
    /// Group and surface of each row of the route table.
    rows: Vec<(usize, usize)>,
    counts: [[AtomicU64; CLASSES.len()]; GROUPS.len()],
    surfaces: [Surface; SURFACES.len()],
}

/// Counts of one surface. Aligned, so that surfaces share no line of the cache.
#[derive(Default)]
#[repr(align(128))]
struct Surface {
    /// Responses by duration; the last are those above all bounds.
    durations: [AtomicU64; BOUNDS.len() + 1],
    /// Sum of the durations, in microseconds.
    sum_us: AtomicU64,
    /// Responses of the classes 4xx and 5xx.
    refused: AtomicU64,
    failed: AtomicU64,
}

/// What was counted of one surface.
pub struct SurfaceFigures {
    pub name: &'static str,
    /// Responses that took at most each of [`BOUNDS`].
    pub within: [u64; BOUNDS.len()],
    pub all: u64,
    pub sum_us: u64,
    pub refused: u64,
    pub failed: u64,
}

impl Traffic {
    /// Counts for the rows of a table: the names of the group and of the surface in which
    /// each is counted.
    pub fn new(rows: impl Iterator<Item = (&'static str, &'static str)>) -> Self {
        let index = |all: &[&str], name| all.iter().position(|known| *known == name);
        let place = |(group, surface)| {
            (
                index(&GROUPS, group).unwrap_or(UNKNOWN),
                index(&SURFACES, surface).unwrap_or(SURFACES.len() - 1),
            )
        };
        Self {
            rows: rows.map(place).collect(),
            counts: Default::default(),
            surfaces: Default::default(),
        }
    }

    /// Counts a response that took so many microseconds. `row` is `None` when no route
    /// matched.
    pub fn count(&self, row: Option<usize>, status: StatusCode, us: i64) {
        let found = row.and_then(|row| self.rows.get(row)).copied();
        let (group, surface) = found.unwrap_or((UNKNOWN, SURFACES.len() - 1));
        let class = usize::from(status.as_u16() / 100).clamp(2, CLASSES.len() + 1) - 2;
        self.counts[group][class].fetch_add(1, Ordering::Relaxed);
        let surface = &self.surfaces[surface];
        let place = BOUNDS.partition_point(|(bound, _)| *bound < us);
        surface.durations[place].fetch_add(1, Ordering::Relaxed);
        surface.sum_us.fetch_add(us.max(0).cast_unsigned(), Ordering::Relaxed);
        if status.is_server_error() {
            surface.failed.fetch_add(1, Ordering::Relaxed);
        } else if status.is_client_error() {
            surface.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Every surface with its counts.
    pub fn surfaces(&self) -> impl Iterator<Item = SurfaceFigures> {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        SURFACES.into_iter().zip(&self.surfaces).map(move |(name, surface)| {
            let mut all = 0;
            let mut within = [0; BOUNDS.len()];
            for (place, count) in surface.durations.iter().enumerate() {
                all += read(count);
                if let Some(bound) = within.get_mut(place) {
                    *bound = all;
                }
            }
            let (sum_us, refused, failed) =
                (read(&surface.sum_us), read(&surface.refused), read(&surface.failed));
            SurfaceFigures { name, within, all, sum_us, refused, failed }
        })
    }

    /// Every group and class with its count.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let groups = GROUPS.into_iter().zip(&self.counts);
        groups.flat_map(|(group, counts)| {
            let classes = CLASSES.into_iter().zip(counts);
            classes.map(move |(class, count)| (group, class, count.load(Ordering::Relaxed)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_rows_and_counts_apart() {
        let routes = crate::routes::all();
        let traffic = Traffic::new(routes.iter().map(crate::edge::route::Route::counted_in));
        for (row, _) in routes.iter().enumerate() {
            traffic.count(Some(row), StatusCode::OK, 700);
        }
        traffic.count(None, StatusCode::NOT_FOUND, 40_000_000);
        for name in GROUPS {
            let counted: u64 =
                traffic.all().filter(|(group, ..)| *group == name).map(|(.., count)| count).sum();
            assert!(counted > 0, "{name}");
        }
        let all: u64 = traffic.all().map(|(.., count)| count).sum();
        assert_eq!(all, routes.len() as u64 + 1);
    }

    #[test]
    fn every_surface_has_rows_errors_and_durations() {
        let routes = crate::routes::all();
        let traffic = Traffic::new(routes.iter().map(crate::edge::route::Route::counted_in));
        for (row, _) in routes.iter().enumerate() {
            traffic.count(Some(row), StatusCode::OK, 1_000);
            traffic.count(Some(row), StatusCode::BAD_GATEWAY, 1_001);
        }
        traffic.count(None, StatusCode::NOT_FOUND, 40_000_000);
        for surface in traffic.surfaces() {
            let SurfaceFigures { name, within, all, sum_us, refused, failed } = surface;
            if name == "unknown" {
                assert_eq!((within, all, refused, failed), ([0; BOUNDS.len()], 1, 1, 0));
                continue;
            }
            assert!(all > 0 && refused == 0, "{name}");
            // A duration equal to a bound is within it.
            assert_eq!((within[0], failed), (all / 2, all / 2), "{name}");
            assert!(within[1..].iter().all(|count| *count == all), "{name}");
            assert_eq!(sum_us, all / 2 * 2_001, "{name}");
        }
    }
}
