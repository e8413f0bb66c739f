//! What the pages of sales print.

use askama::Template;

use super::list::{Order, OrderPage};
use crate::marketplace::account::stores::Stores;
use crate::panel::PageTime;
use crate::panel::chart::BarChart;
use crate::panel::{Layout, Table};

/// `GET /painel/vendas`: the seller's orders.
#[derive(Template)]
#[template(path = "sales.html", config = "assets/askama.toml")]
pub struct SalesPage {
    pub layout: Layout,
    /// Sales by day and account; `None` when there are none, or the list is
    /// filtered.
    pub chart: Option<BarChart>,
    pub table: Table,
    pub page: OrderPage,
    pub stores: Stores,
    pub time: PageTime,
}

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
    /// Whether there may be a fiscal note.
    pub is_paid: bool,
    /// Address of the label of its parcel; empty when there is none to print.
    pub label: String,
}
