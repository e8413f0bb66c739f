//! Figures of `/metrics` about load: rate, errors and durations by surface, queues,
//! lanes and disks.

use super::metrics::Figures;
use super::traffic::BOUNDS;
use super::{disk, queues};
use crate::app::App;
use crate::base::Instant;
use crate::db::Lane;
use crate::http::Problem;
use crate::services::Services;

/// Writes them.
pub(super) fn write(figures: &mut Figures, app: &App, now: Instant) -> Result<(), Problem> {
    surfaces(figures, app);
    lanes(figures, app);
    disks(figures, app);
    waiting(figures, app, now)
}

fn surfaces(figures: &mut Figures, app: &App) {
    let seen: Vec<_> = app.health.traffic.surfaces().collect();
    let name = "seller_platform_request_errors_total";
    let help = "Answers with an error by surface: refused (4xx) or failed (5xx).";
    figures.metric("counter", name, help);
    for one in &seen {
        let surface = one.name;
        figures.value(name, &format!("{{surface=\"{surface}\",kind=\"refused\"}}"), one.refused);
        figures.value(name, &format!("{{surface=\"{surface}\",kind=\"failed\"}}"), one.failed);
    }
    let name = "seller_platform_request_duration_seconds";
    let help = "Time until the headers of answers, by surface.";
    figures.metric("histogram", name, help);
    for one in &seen {
        let surface = one.name;
        let bucket = format!("{name}_bucket");
        for ((_, bound), count) in BOUNDS.iter().zip(one.within) {
            figures.value(&bucket, &format!("{{surface=\"{surface}\",le=\"{bound}\"}}"), count);
        }
        figures.value(&bucket, &format!("{{surface=\"{surface}\",le=\"+Inf\"}}"), one.all);
        let label = format!("{{surface=\"{surface}\"}}");
        figures.seconds(&format!("{name}_sum"), &label, one.sum_us);
        figures.value(&format!("{name}_count"), &label, one.all);
    }
}

fn lanes(figures: &mut Figures, app: &App) {
    let name = "seller_platform_lane_requests";
    let help = "Requests in the lanes of slow work, running or waiting for a thread.";
    figures.metric("gauge", name, help);
    for lane in app.server.lanes.figures() {
        let label = |state: &str| format!("{{lane=\"{}\",state=\"{state}\"}}", lane.name);
        figures.value(name, &label("running"), lane.running as u64);
        figures.value(name, &label("waiting"), lane.waiting as u64);
    }
}

fn disks(figures: &mut Figures, services: &Services) {
    let disks = disk::disks(services);
    let name = "seller_platform_disk_free_bytes";
    figures.metric("gauge", name, "Free space where the database and its copies lie.");
    for disk in &disks {
        figures.value(name, &format!("{{folder=\"{}\"}}", disk.name), disk.free);
    }
    let name = "seller_platform_disk_bytes";
    figures.metric("gauge", name, "Size of the disks where the database and its copies lie.");
    for disk in &disks {
        figures.value(name, &format!("{{folder=\"{}\"}}", disk.name), disk.total);
    }
}

fn waiting(figures: &mut Figures, services: &Services, now: Instant) -> Result<(), Problem> {
    let queues = services.db.read(Lane::Slow, queues::all)?;
    let name = "seller_platform_queue_length";
    figures.metric("gauge", name, "What waits in each queue.");
    for queue in &queues {
        let label = format!("{{queue=\"{}\"}}", queue.name);
        figures.value(name, &label, u64::try_from(queue.length).unwrap_or(0));
    }
    let name = "seller_platform_queue_oldest_seconds";
    figures.metric("gauge", name, "Age of the oldest in each queue; 0 when nothing waits.");
    for queue in &queues {
        let label = format!("{{queue=\"{}\"}}", queue.name);
        figures.value(name, &label, u64::try_from(queue.age_s(now)).unwrap_or(0));
    }
    Ok(())
}
