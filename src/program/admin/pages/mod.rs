//! Handlers of people's pages.

pub mod challenges;
pub mod milestones;
pub mod overview;
pub mod rules;
pub mod students;
