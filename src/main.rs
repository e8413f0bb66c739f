//! Seller Platform: one executable, one SQLite file.
//!
//! The map: `routes.rs` lists every address; `edge/mod.rs` tells the life of a
//! request; `guard.rs` makes identities; `app.rs` is what handlers may use.
//! `http/` and `db/` know no domain; the folders named after nouns
//! (`accounts`, `people`, `keys`, `integration`, `checkout`, `content`,
//! `marketplace`, `messages`, `partner`, `program`, `trail`, `operations`) are
//! the domains; `cron/` is their periodic work; `sandbox/` is a stand-in for the world
//! outside; `cli/` has one file a command.

mod accounts;
mod app;
mod audit;
mod behind;
mod cache;
mod catalog;
mod changes;
mod checkout;
mod cli;
mod clock;
mod config;
mod content;
mod cron;
mod db;
mod edge;
mod export;
mod guard;
mod http;
mod ids;
mod integration;
mod keys;
mod lanes;
mod marketplace;
mod messages;
mod money;
mod operations;
mod outbox;
#[cfg(test)]
mod page_samples;
mod partner;
mod people;
mod phone;
mod photos;
mod profile;
mod program;
mod requests;
mod retention;
mod route;
mod routes;
mod sandbox;
mod secrets;
mod stamp;
mod text;
mod trail;
mod worker;

/// Pages and JSON are many small pieces of memory.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
