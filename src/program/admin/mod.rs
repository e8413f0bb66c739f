//! The program in the administration: its rules, milestones and challenges, the
//! ledgers of students, and two commands that process all students.

pub mod calendar;
pub mod pages;
mod preview;
pub mod views;

/// The page of the program.
pub const PATH: &str = "/admin/gamificacao";
