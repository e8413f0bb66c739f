//! Operation of the service: health probes, metrics, backup by HTTP, the request
//! log and the operator's home.

pub mod api;
pub mod copies;
mod https;
pub mod metrics;
mod open_items;
pub mod pages;
mod palette;
pub mod requests;
pub mod soundness;
pub mod store;
pub mod style;
pub mod traffic;
pub mod views;
