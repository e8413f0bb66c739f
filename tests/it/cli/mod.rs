//! The command line, configuration and installation.

mod check_outside; // `check` calls each outside service, and names settings without effect.
mod check_upkeep; // `check` of what an installation needs over time.
mod commands; // What the commands print, and that a running server notices what they change.
mod config; // Starting with a wrong configuration: one clear line, nothing touched.
mod demo; // The demonstration: what it prints, what it logs, what it leaves behind.
mod files; // Which files commands make, replace, reject and leave alone.
mod installer; // `install.sh`: what an update keeps, and when it goes back.
mod texts; // The command line: help, options, texts for people, addresses.
mod unread; // A log and an output that nobody reads, or that cannot be written.
