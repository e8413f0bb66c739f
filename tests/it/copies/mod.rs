//! Copies of the database that the service makes by itself.

mod astray; // Copies from a wrong clock, of another key, made by a command.
mod making; // Copies that the service makes by itself.
