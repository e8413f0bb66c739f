//! What the page of one sale prints.

use askama::Template;

use crate::base::{Cents, grouped};
use crate::dropshipping::orders::DropOrder;
use crate::marketplace::account::stores::Stores;
use crate::marketplace::books::claims::views::ShownClaim;
use crate::marketplace::books::orders::left::Earned;
use crate::marketplace::books::orders::list::{Order, OrderPage};
use crate::marketplace::books::parcel::Marks;
use crate::panel::{FormView, Happened, Layout, Notice, PageTime, Tone};

/// `GET /painel/vendas/{id}`: one order.
#[derive(Template)]
#[template(path = "sale.html", config = "assets/askama.toml")]
pub struct SalePage {
    pub layout: Layout,
    pub order: Order,
    /// Words of the order, and what was sold.
    pub page: OrderPage,
    /// Its lines, when it has several.
    pub lines: Vec<SaleLine>,
    /// What its seller must know first.
    pub warning: Option<Notice>,
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

/// A line of a sale with several.
pub struct SaleLine {
    /// Listing id.
    pub ml_id: String,
    pub title: String,
    /// Empty when it has none.
    pub sku: String,
    pub units: i64,
    /// Of all units, with its currency.
    pub price: String,
    /// Of all units; `None` while it is not known.
    pub cost: Option<Cents>,
    pub has_listing: bool,
}

impl SalePage {
    /// How many of what.
    pub fn title(&self) -> String {
        let sold = self.page.sold(&self.order);
        let title = if sold.title.is_empty() { "Anúncio sem título" } else { sold.title };
        let units = grouped(self.page.first_units(&self.order).unsigned_abs());
        format!("{units}× {title}{}", self.page.and_more(&self.order))
    }
}

/// What the seller of an order must know before anything else.
pub fn warning(order: &Order, is_barred: bool) -> Option<Notice> {
    let is_over = order.stage.is_over() || order.sent_at.is_some();
    if order.marks.has(Marks::FRAUD) && order.is_sale() && !is_over {
        return Some(Notice::new(
            Tone::Bad,
            "Não envie esta venda; cancele",
            "O marketplace suspeita de fraude. Cancele a venda no marketplace: o que for enviado se perde.",
        ));
    }
    if is_barred && order.is_sale() && !is_over {
        return Some(Notice::new(
            Tone::Bad,
            "Não envie este pacote",
            "O marketplace suspeita de fraude em outra venda do mesmo pacote. Cancele aquela no marketplace antes.",
        ));
    }
    order.marks.has(Marks::SPLIT).then(|| {
        Notice::new(
            Tone::Info,
            "O envio foi dividido",
            "Esta venda foi trocada por outras, uma para cada pacote. Nada foi perdido nem devolvido.",
        )
    })
}
