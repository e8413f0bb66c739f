//! Check-ins, points, milestones, challenges and the ranking.

mod points; // Check-ins, points, milestones, challenges and the ranking.
