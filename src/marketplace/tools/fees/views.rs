//! Template data of the page of the fee calculator.

use askama::Template;

use super::Remains;
use crate::base::Cents;
use crate::marketplace::client::Fee;
use crate::panel::{Badge, FormView, Layout, Notice, Pick};

/// `GET /painel/ml/calculadora`.
#[derive(Template)]
#[template(path = "calculator.html", config = "assets/askama.toml")]
pub struct CalculatorPage {
    pub layout: Layout,
    /// Whether the student's plan includes it.
    pub may: bool,
    /// What went wrong.
    pub alert: Option<Notice>,
    /// `conta`, `preco`, `categoria`, `logistica`.
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

/// What remains of a sale.
pub struct Calculated {
    pub price: String,
    /// Nickname of the account.
    pub account: String,
    pub reputation: Badge,
    /// Percent off the commission.
    pub discount: String,
    /// Percent of the price.
    pub tax: String,
    /// Classic and Premium.
    pub cards: Vec<Card>,
}

/// What remains with one kind of listing.
pub struct Card {
    pub name: &'static str,
    pub id: &'static str,
    pub left: String,
    /// Whether nothing is left.
    pub is_loss: bool,
    /// `72% do preço`.
    pub share: String,
    /// The deductions: label, note and amount.
    pub lines: Vec<(&'static str, String, String)>,
}

impl Card {
    /// The card of a kind of listing.
    pub fn new(
        name: &'static str,
        id: &'static str,
        price: Cents,
        fee: Fee,
        remains: &Remains,
    ) -> Self {
        let minus = |amount: Cents| {
            if amount.0 == 0 { amount.page() } else { format!("− {}", amount.page()) }
        };
        let mut lines = vec![("Comissão", percent(fee.percent), minus(remains.commission))];
        if remains.discount.0 > 0 {
            let amount = format!("+ {}", remains.discount.page());
            lines.push(("Desconto por reputação", String::new(), amount));
        }
        lines.push(("Taxa fixa", String::new(), minus(remains.fixed)));
        lines.push(("Imposto", String::new(), minus(remains.tax)));
        let share = remains.left.reais() / price.reais() * 100.0;
        Self {
            name,
            id,
            left: remains.left.page(),
            is_loss: remains.left.0 <= 0,
            share: format!("{} do preço", percent((share * 10.0).round() / 10.0)),
            lines,
        }
    }
}

/// `6,5%`: a share with at most two decimals.
pub fn percent(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{}%", text.replace('.', ","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_no_needless_zeros() {
        for (number, text) in
            [(14.0, "14%"), (6.5, "6,5%"), (0.0, "0%"), (12.345, "12,35%"), (-3.1, "-3,1%")]
        {
            assert_eq!(percent(number), text);
        }
    }
}
