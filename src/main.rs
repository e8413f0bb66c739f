//! Seller Platform: one executable, one SQLite file.
//!
//! The map: `routes.rs` lists every address; `edge/` is the way of a request;
//! `app.rs` is what handlers may use. `base/`, `http/`, `db/` and `panel/`
//! know no domain; the folders named after nouns (`accounts`, `people`,
//! `keys`, `checkout`, `content`, `marketplace`, `messages`, `partner` and so
//! on) are the domains; `cron/` is their periodic work; `sandbox/` is a
//! stand-in for the world outside; `cli/` has one file a command.

mod accounts;
mod agency;
mod app;
mod audit;
mod base;
mod behind;
mod catalog;
mod changes;
mod checkout;
mod cli;
mod config;
mod content;
mod cron;
mod db;
mod developers;
mod drop;
mod edge;
mod extension;
#[cfg(test)]
mod fixture;
mod home;
mod http;
mod integration;
mod keys;
mod marketplace;
mod messages;
mod operations;
mod outbox;
#[cfg(test)]
mod page_samples;
mod panel;
mod partner;
mod people;
mod photos;
mod profile;
mod program;
mod routes;
mod sandbox;
mod stale;
mod suppliers;
mod webhooks;

/// Pages and JSON are many small pieces of memory.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
