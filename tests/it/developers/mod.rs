//! What integrators read.

pub mod input; // The server accepts what the OpenAPI document allows.
pub mod pages; // OpenAPI, the developer pages, the public state.
