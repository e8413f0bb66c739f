//! Copies of the database that the service makes by itself.

pub mod astray; // Copies from a wrong clock, of another key, made by a command.
pub mod making; // Copies that the service makes by itself.
