//! What the page of listings prints.

use askama::Template;

use super::store::SellerListing;
use crate::marketplace::books::listed::Found;
use crate::panel::Layout;

/// `GET /painel/anuncios`: the seller's listings.
#[derive(Template)]
#[template(path = "listings.html", config = "assets/askama.toml")]
pub struct ListingsPage {
    pub layout: Layout,
    pub found: Found<SellerListing>,
}
