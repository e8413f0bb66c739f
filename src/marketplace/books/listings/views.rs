//! What the page of listings prints.

use askama::Template;

use crate::marketplace::books::spoken::Spoken;
use crate::panel::{Badge, Layout, Table, When};

/// `GET /painel/anuncios`: the seller's listings.
#[derive(Template)]
#[template(path = "listings.html", config = "assets/askama.toml")]
pub struct ListingsPage {
    pub layout: Layout,
    /// Whether an account is linked.
    pub has_stores: bool,
    pub table: Table,
    pub listings: Vec<ListingLine>,
}

/// A listing in the list.
pub struct ListingLine {
    /// Such as `MLB123`.
    pub id: String,
    pub title: String,
    /// The seller's own code; may be empty.
    pub sku: String,
    /// Its page at the marketplace; may be empty.
    pub permalink: String,
    /// Its small picture; may be empty.
    pub thumbnail: String,
    /// Nickname of the selling account.
    pub store: String,
    pub state: Badge,
    /// Why, and what to do; may be empty.
    pub why: Spoken,
    /// `R$ 59,90`.
    pub price: String,
    /// Such as `Clássico`.
    pub kind: Spoken,
    pub available: String,
    pub sold: String,
    pub changed: When,
    /// The calculator with its price and category in it.
    pub fees: String,
}
