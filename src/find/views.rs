//! What the page of the search prints.

use askama::Template;

use super::Hits;
use crate::panel::Layout;

/// `GET /painel/buscar`, and the same of the other menus.
#[derive(Template)]
#[template(path = "find.html", config = "assets/askama.toml")]
pub struct FindPage {
    pub layout: Layout,
    /// The address of the search.
    pub path: String,
    pub search: String,
    pub groups: Vec<Hits>,
}

/// `GET /sem-conexao`: what the service worker keeps.
#[derive(Template)]
#[template(path = "offline.html", config = "assets/askama.toml")]
pub struct OfflinePage {
    pub layout: Layout,
}
