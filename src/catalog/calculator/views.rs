//! Template data of the page of the fee calculator.

use askama::Template;

use super::origin::Hits;
use crate::base::Cents;
use crate::content::plans::views::Offer;
use crate::marketplace::client::Fee;
use crate::marketplace::tools::fees::remains::Remains;
use crate::marketplace::tools::fees::views::percent;
use crate::panel::{Badge, FormView, Layout, Notice, Pick};

/// `GET /painel/ml/calculadora`.
#[derive(Template)]
#[template(path = "calculator.html", config = "assets/askama.toml")]
pub struct CalculatorPage {
    pub layout: Layout,
    /// Whether the student's plan includes it.
    pub may: bool,
    /// The plans with it, for who may not.
    pub offer: Option<Offer>,
    /// What went wrong.
    pub alert: Option<Notice>,
    /// The listing or the product that fills the form in.
    pub origin: Option<Chosen>,
    /// What was looked for by name, and what was found; `None` without a search.
    pub search: String,
    pub hits: Option<Hits>,
    /// Names that the search suggests.
    pub names: Vec<String>,
    /// `conta`, `preco`, `categoria`, `logistica`, `frete`, `custo`, `imposto`, `margem`.
    pub form: FormView,
    /// The options of `conta`.
    pub accounts: Vec<Pick>,
    /// The options of `logistica`.
    pub logistics: Vec<Pick>,
    /// `imposto`: the student's own rate; empty for the platform's.
    pub tax: FormView,
    /// What an empty rate means.
    pub tax_help: String,
    /// What remains; `None` before a calculation.
    pub outcome: Option<Calculated>,
}

impl CalculatorPage {
    /// What an amount of freight means, and where it comes from.
    fn freight_help(&self) -> &'static str {
        match &self.origin {
            Some(Chosen { has_freight: true, .. }) => {
                "O da última venda. 0 quando o comprador paga."
            }
            _ => "0 quando o comprador paga.",
        }
    }
}

/// The listing or the product that a calculation is about.
pub struct Chosen {
    pub title: String,
    /// Path of its page.
    pub page: String,
    /// The name and the value by which the address names it.
    pub named: (&'static str, String),
    /// Whether its last sale told its freight.
    pub has_freight: bool,
}

/// What remains of a sale.
pub struct Calculated {
    pub price: Cents,
    /// Nickname of the account.
    pub account: String,
    pub reputation: Badge,
    /// Percent off the commission.
    pub discount: f64,
    /// Whether a margin is wanted.
    pub wants_margin: bool,
    /// Percent of the price.
    pub tax: Option<f64>,
    /// Classic and Premium; that of the listing first.
    pub cards: [Card; 2],
}

/// What remains with one kind of listing.
pub struct Card {
    pub name: &'static str,
    pub id: &'static str,
    /// Whether the listing that it is about is of this kind.
    pub is_own: bool,
    pub fee: Fee,
    pub remains: Remains,
    /// The price for a wanted margin, when all that goes off it is known.
    pub price_for: Option<PriceFor>,
}

/// The price that leaves a wanted margin.
pub struct PriceFor {
    /// Percent of the price.
    pub margin: f64,
    /// `None` when no price does.
    pub price: Option<Cents>,
    /// The address of the calculation with that price.
    pub href: Option<String>,
}

impl Calculated {
    /// `6,5%`; empty when it is not known.
    pub fn tax_words(&self) -> String {
        self.tax.map(percent).unwrap_or_default()
    }

    /// `sobram 72% do preço`, `faltam 3,1% do preço`.
    pub fn share(&self, card: &Card) -> String {
        let share = card.remains.left.reais() / self.price.reais() * 100.0;
        let verb = if share < 0.0 { "faltam" } else { "sobram" };
        format!("{verb} {} do preço", percent((share.abs() * 10.0).round() / 10.0))
    }
}
