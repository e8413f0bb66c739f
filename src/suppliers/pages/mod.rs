//! Handlers of people's pages.

pub mod home;
pub mod links;
pub mod list;
pub mod orders;
pub mod owed;
pub mod payments;
pub mod reminders;
pub mod sellers;
pub mod statement;
pub mod unmatched;
