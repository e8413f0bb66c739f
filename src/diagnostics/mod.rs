//! `/admin/diagnostico`: what the service is like inside, on one page.
//!
//! It stands above the domains, because it shows something of each. What it reads is
//! found by an index, read from totals or held in memory, however large the database is.

mod facts;
pub mod pages;
mod views;
mod work;

use serde::Serialize;

use crate::operations::views::Fact;

/// Some facts about one thing.
#[derive(Serialize)]
pub struct Section {
    /// Its name in the page's address and in JSON.
    nome: &'static str,
    titulo: &'static str,
    linhas: Vec<Fact>,
}
