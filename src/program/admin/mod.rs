//! The program in the administration: its rules, milestones and challenges, the
//! ledgers of students, and two commands that process all students.

pub mod calendar;
pub mod challenges;
pub mod milestones;
pub mod overview;
mod preview;
pub mod rules;
pub mod students;
pub mod views;

/// The page of the program.
pub const PATH: &str = "/admin/gamificacao";
