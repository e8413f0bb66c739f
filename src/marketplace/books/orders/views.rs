//! What the pages of sales print.

use askama::Template;

use super::left::Earned;
use super::list::OrderPage;
use crate::marketplace::account::stores::Stores;
use crate::panel::chart::BarChart;
use crate::panel::{Layout, PageTime, Table};

/// `GET /painel/vendas`: the seller's orders.
#[derive(Template)]
#[template(path = "sales.html", config = "assets/askama.toml")]
pub struct SalesPage {
    pub layout: Layout,
    /// What is filtered, in one line.
    pub sum: String,
    /// Sales by day; `None` when there are none.
    pub chart: Option<BarChart>,
    pub table: Table,
    pub page: OrderPage,
    /// What each order has earned, in the order of the page; `None` for no sale.
    pub earned: Vec<Option<Earned>>,
    pub stores: Stores,
    pub time: PageTime,
}
