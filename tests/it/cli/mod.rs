//! The command line, configuration and installation.

pub mod check_outside; // `check` calls each outside service, and names settings without effect.
pub mod check_upkeep; // `check` of what an installation needs over time.
pub mod commands; // What the commands print, and that a running server notices what they change.
pub mod config; // Starting with a wrong configuration: one clear line, nothing touched.
pub mod demo; // The demonstration: what it prints, what it logs, what it leaves behind.
pub mod files; // Which files commands make, replace, reject and leave alone.
pub mod installer; // `install.sh`: what an update keeps, and when it goes back.
pub mod texts; // The command line: help, options, texts for people, addresses.
