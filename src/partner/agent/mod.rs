//! The agent endpoint, `POST /mcp`: the operations of the Partner API as tools of
//! assistants, by the Model Context Protocol over HTTP.
//!
//! One address serves two eras of the protocol: revisions that begin with
//! `initialize`, and the stateless revision, whose requests each name their
//! version. Both get one JSON object as the answer; there are no sessions and
//! no streams. A tool is an operation of the route table and runs by the same
//! declaration as over REST. So data, errors, limits and quota are the same.

pub mod api;
mod call;
mod compact;
mod message;
mod replies;
pub mod tools;

pub const PATH: &str = "/mcp";
/// Most bytes of a message.
pub const LARGEST: usize = 256 * 1024;
/// The stateless revision.
pub const MODERN: &str = "2026-07-28";
/// Revisions that begin with `initialize`, the newest first.
pub const LEGACY: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
