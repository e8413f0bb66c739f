//! Black-box tests: the real executable, over real sockets, on a fresh folder.
//!
//! [`support::site::Site`] starts the server and makes actors; [`support::world::World`] starts
//! the simulated marketplace. Data enters through the product itself, time moves
//! by the clock file, and every reply is checked by [`support::checks`].

#![allow(
    clippy::unwrap_used,
    reason = "in a test, unwrapping is the assertion, also in its helpers"
)]

mod support;

mod accounts; // Accounts: how people come in, what they may do, and how it ends.
mod agency; // The agency and its clients.
mod arrows; // Who may name whom in the source tree.
mod checkout; // Purchase events, and what they do to a student.
mod cli; // The command line, configuration and installation.
mod content; // Plans, teachers, courses, lessons and meets.
mod copies; // Copies of the database that the service makes by itself.
mod cron; // The periodic tasks.
mod db; // The one file: what it survives, and how statements run.
mod developers; // What integrators read.
mod dropshipping; // Products, suppliers and what is owed to them.
mod exhaustion; // One client must not stop the others.
mod extension; // The browser extension.
mod faults; // The fault plan: power cuts, disk errors, jumps of the clock, frozen processes.
mod http; // Requests and connections, whatever they ask for.
mod keys; // API keys and what they open.
mod marketplace; // Accounts at the marketplace, their books, and the seller's panel.
mod messages; // Messages to people, by every channel.
mod operations; // What the operator sees of the running service.
mod panel; // Every page: structure, forms, text of strangers, in a real browser.
mod partner; // The Partner API, with programs, assistants and webhooks.
mod people; // People in the operator's panel, and what they see of themselves.
mod program; // Check-ins, points, milestones, challenges and the ranking.
mod replica; // The replica and a second machine, by Litestream.
mod routes; // Every row of the route table.
mod tidy; // Rules about the source tree itself.
