//! What the pages of sales print.

use askama::Template;

use crate::marketplace::books::code_text::CodeText;
use crate::marketplace::books::order_status::OrderState;
use crate::panel::chart::BarChart;
use crate::panel::{Layout, Table, When};

/// `GET /painel/vendas`: the seller's orders.
#[derive(Template)]
#[template(path = "sales.html", config = "assets/askama.toml")]
pub struct SalesPage {
    pub layout: Layout,
    /// Whether an account is linked.
    pub has_stores: bool,
    /// Sales by day and account; `None` when there are none, or the list is
    /// filtered.
    pub chart: Option<BarChart>,
    pub table: Table,
    pub sales: Vec<SaleLine>,
}

/// An order in the list.
pub struct SaleLine {
    /// The marketplace's order id.
    pub id: String,
    pub title: String,
    pub quantity: i64,
    /// The seller's own code; may be empty.
    pub sku: String,
    /// Without shipping.
    pub total: String,
    /// Nickname of the selling account.
    pub store: String,
    /// Nickname of the buyer; may be empty.
    pub buyer: String,
    pub state: OrderState,
    /// State of the shipment; empty without one.
    pub shipping: CodeText,
    pub when: When,
}

/// `GET /painel/vendas/{id}`: one order.
#[derive(Template)]
#[template(path = "sale.html", config = "assets/askama.toml")]
pub struct SalePage {
    pub layout: Layout,
    /// The order as in the list.
    pub line: SaleLine,
    /// Marketplace listing id; may be empty.
    pub listing: String,
    /// Number of the shipment; empty without one.
    pub shipping_id: String,
    /// Kind of shipping; may be empty.
    pub logistic: CodeText,
    /// Units, ready to print.
    pub quantity: String,
    /// When it was made, to the minute.
    pub exact: String,
    /// Whether there may be a fiscal note.
    pub is_paid: bool,
    /// Address of the label of its parcel; empty when there is none to print.
    pub label: String,
}
