//! Check-ins, points, milestones, challenges and the ranking.

pub mod points; // Check-ins, points, milestones, challenges and the ranking.
