//! Operation of the service: health probes, metrics, backup by HTTP, the request
//! log and the operator's home.

pub mod api;
pub mod channel_tests;
pub mod disk;
pub mod findings;
pub mod https;
mod month;
mod needs;
pub mod open_items;
pub mod outside;
pub mod pages;
mod palette;
pub mod queues;
pub mod requests;
pub mod rounds;
mod setup;
pub mod soundness;
pub mod store;
pub mod style;
pub mod traffic;
pub mod views;
pub mod way;
