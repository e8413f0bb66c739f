//! Seller Platform: one executable, one SQLite file.
//!
//! The map: `routes.rs` lists every address; `edge/` handles each request;
//! `app.rs` is the state that handlers share. `base/`, `http/`, `db/` and
//! `panel/` know no domain. The folders named after nouns (`accounts`, `people`,
//! `keys`, `checkout`, `content`, `marketplace`, `messages`, `partner` and so
//! on) are the domains. `cron/` is their periodic work; `sandbox/` simulates the
//! services outside; `cli/` has one file for each command.

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
mod copies;
mod cron;
mod db;
mod developers;
mod diagnostics;
mod dropshipping;
mod edge;
mod effects;
mod events;
mod extension;
mod find;
#[cfg(test)]
mod fixture;
mod home;
mod http;
mod https;
mod identity;
mod integration;
mod invalidation;
mod journal;
mod keys;
mod live;
mod marketplace;
mod messages;
mod noun;
mod operations;
mod outbox;
mod panel;
mod partner;
mod people;
mod photos;
mod privacy;
mod profile;
mod program;
mod replica;
mod routes;
mod sale;
mod sandbox;
mod saved;
mod services;
mod settings;
mod suppliers;

/// Building pages and JSON makes many small allocations.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::main()
}
