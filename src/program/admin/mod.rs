//! The program in the administration: its rules, milestones and challenges,
//! what students have, and the two commands that go over all of them.

pub mod calendar;
pub mod challenges;
pub mod milestones;
pub mod overview;
mod preview;
pub mod rules;
#[cfg(test)]
pub mod samples;
pub mod students;
pub mod views;

/// The page of the program.
pub const PATH: &str = "/admin/gamificacao";
