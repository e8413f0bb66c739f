//! What the page of listings prints.

use askama::Template;

use crate::marketplace::books::code_text::CodeText;
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
    /// Address of its page at the marketplace; may be empty.
    pub permalink: String,
    /// Address of its small picture; may be empty.
    pub thumbnail: String,
    /// Nickname of the selling account.
    pub store: String,
    pub state: Badge,
    /// Why it is in this state, and what to do; may be empty.
    pub why: CodeText,
    /// `R$ 59,90`.
    pub price: String,
    /// Such as `Clássico`.
    pub kind: CodeText,
    pub available: String,
    pub sold: String,
    pub changed: When,
    /// Address of the fee calculator, filled in with its price and category.
    pub fees: String,
}
