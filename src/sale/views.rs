//! What the page of one sale prints.

use askama::Template;

use crate::base::grouped;
use crate::dropshipping::orders::DropOrder;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::claims::views::ShownClaim;
use crate::marketplace::books::orders::left::Earned;
use crate::marketplace::books::orders::list::{Order, OrderPage};
use crate::panel::{FormView, Happened, Layout, PageTime};

/// `GET /painel/vendas/{id}`: one order.
#[derive(Template)]
#[template(path = "sale.html", config = "assets/askama.toml")]
pub struct SalePage {
    pub layout: Layout,
    pub order: Order,
    /// Words of the order, and what was sold.
    pub page: OrderPage,
    pub stores: Stores,
    pub time: PageTime,
    /// Its parts; `None` when it is no sale.
    pub earned: Option<Earned>,
    /// The seller's tax in percent.
    pub tax: f64,
    /// Where the cost of a unit is typed.
    pub form: FormView,
    /// Open ones first.
    pub claims: Vec<ShownClaim>,
    /// What happened, newest first.
    pub events: Vec<Happened>,
    /// What happened at a time that the marketplace does not tell; may be empty.
    pub untimed: String,
    pub supplied: Vec<DropOrder>,
    /// Whether its listing has a page; one that ended before the account was linked has none.
    pub has_listing: bool,
    /// Address of the label of its parcel; empty when there is none to print.
    pub parcel_label: String,
    /// Its page at the marketplace.
    pub outside: String,
}

impl SalePage {
    /// How many of what.
    pub fn title(&self) -> String {
        let sold = self.page.sold(&self.order);
        let title = if sold.title.is_empty() { "Anúncio sem título" } else { sold.title };
        format!("{}× {title}", grouped(self.order.quantity.unsigned_abs()))
    }
}
