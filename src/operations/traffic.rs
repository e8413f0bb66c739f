//! Counts of responses since the start, by group of routes and class of status.

use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;

use crate::edge::route::{Call, Route};

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

/// Counts of one process.
pub struct Traffic {
    /// Group of each row of the route table.
    groups: Vec<usize>,
    counts: [[AtomicU64; CLASSES.len()]; GROUPS.len()],
}

impl Traffic {
    /// Counts for the routes of a table.
    pub fn new(routes: &[Route]) -> Self {
        Self { groups: routes.iter().map(group).collect(), counts: Default::default() }
    }

    /// Counts a response. `row` is `None` when no route matched.
    pub fn count(&self, row: Option<usize>, status: StatusCode) {
        let group = row.and_then(|row| self.groups.get(row)).copied();
        let class = usize::from(status.as_u16() / 100).clamp(2, CLASSES.len() + 1) - 2;
        self.counts[group.unwrap_or(UNKNOWN)][class].fetch_add(1, Ordering::Relaxed);
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

fn group(route: &Route) -> usize {
    let under = |prefixes: &[&str]| prefixes.iter().any(|prefix| route.path.starts_with(prefix));
    let name = if under(&["/healthz", "/readyz", "/metrics", "/api/v1/admin/", "/api/v1/cron"]) {
        "operations"
    } else if matches!(route.call, Call::Key(..)) {
        "integration"
    } else if under(&["/api/ext/"]) {
        "extension"
    } else if under(&["/api/v1/partner/"]) {
        "partner"
    } else if under(&["/ml/", "/api/v1/webhook/"]) {
        "webhooks"
    } else if under(&["/api/"]) {
        "public"
    } else if under(&["/admin"]) {
        "administration"
    } else if under(&["/assets/", "/favicon"]) {
        "assets"
    } else {
        "pages"
    };
    let index = GROUPS.iter().position(|known| *known == name);
    index.unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_rows_and_counts_apart() {
        let routes = crate::routes::all();
        let traffic = Traffic::new(&routes);
        for (row, _) in routes.iter().enumerate() {
            traffic.count(Some(row), StatusCode::OK);
        }
        traffic.count(None, StatusCode::NOT_FOUND);
        for name in GROUPS {
            let counted: u64 =
                traffic.all().filter(|(group, ..)| *group == name).map(|(.., count)| count).sum();
            assert!(counted > 0, "{name}");
        }
        let all: u64 = traffic.all().map(|(.., count)| count).sum();
        assert_eq!(all, routes.len() as u64 + 1);
    }
}
