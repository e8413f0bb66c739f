//! What the pages of claims print.

use askama::Template;

use super::store::Claim;
use crate::marketplace::books::listed::Found;
use crate::panel::Layout;

/// `GET /painel/reclamacoes`: the claims of buyers.
#[derive(Template)]
#[template(path = "claims.html", config = "assets/askama.toml")]
pub struct ClaimsPage {
    pub layout: Layout,
    pub found: Found<Claim>,
}
