//! Data of the product pages' templates.

use askama::Template;

use super::Product;
use super::pages::Found;
use super::stock::StockMovementKind;
use super::stock::pages::FORM;
use crate::base::{Zone, grouped};
use crate::panel::view::Field;
use crate::panel::{Badge, FormView, Layout, Notice, PageTime, Table, Tick};

/// `GET …/produtos`: the list of products.
#[derive(Template)]
#[template(path = "products.html", config = "assets/askama.toml")]
pub struct ProductsPage {
    pub layout: Layout,
    pub base: &'static str,
    /// What the products are for, in words for this person.
    pub purpose: &'static str,
    pub table: Table,
    /// Each with the time of its last change.
    pub products: Vec<Product>,
    pub time: PageTime,
}

/// `GET …/produtos/novo` and `GET …/produtos/{id}`, also with errors in the form.
#[derive(Template)]
#[template(path = "product.html", config = "assets/askama.toml")]
pub struct ProductPage {
    pub layout: Layout,
    pub base: &'static str,
    /// The product that is changed; `None` for a new one.
    pub existing: Option<Found>,
    pub form: FormView,
    pub movement: MovementForm,
    pub time: PageTime,
}

/// The form for a movement.
pub struct MovementForm {
    pub form: FormView,
    pub kinds: Vec<Tick>,
}

impl MovementForm {
    /// An empty one.
    pub fn fresh(zone: Zone) -> Self {
        Self {
            form: FORM.show(None, zone).unfocused(),
            kinds: kind_ticks(StockMovementKind::In.name()),
        }
    }
}

/// `GET …/produtos/importar`, also with the errors of a file.
#[derive(Template)]
#[template(path = "product_import.html", config = "assets/askama.toml")]
pub struct ProductImportPage {
    pub layout: Layout,
    pub base: &'static str,
    /// The error about the rows of the file.
    pub alert: Option<Notice>,
    pub file: Field,
    /// Rows with errors: line and what to correct.
    pub faults: Vec<(usize, String)>,
    /// Number of further rows with errors, which are not shown.
    pub more: usize,
}

/// A warning badge when there is no stock, or less than none.
pub fn stock_state(stock: i64) -> Option<Badge> {
    match stock {
        ..0 => Some(Badge::Oversold),
        0 => Some(Badge::OutOfStock),
        _ => None,
    }
}

/// The badge of a movement.
pub fn kind_badge(kind: StockMovementKind) -> Badge {
    match kind {
        StockMovementKind::In => Badge::CameIn,
        StockMovementKind::Out => Badge::WentOut,
        StockMovementKind::Adjust => Badge::Counted,
    }
}

/// `1.234`, `−2`: units as people read them.
pub fn units(number: i64) -> String {
    let sign = if number < 0 { "−" } else { "" };
    format!("{sign}{}", grouped(number.unsigned_abs()))
}

/// `+3`, `−2`, `0`: what a movement adds.
pub fn signed(number: i64) -> String {
    let plus = if number > 0 { "+" } else { "" };
    format!("{plus}{}", units(number))
}

/// The choices of `tipo`.
pub fn kind_ticks(chosen: &str) -> Vec<Tick> {
    let tick = |kind: StockMovementKind| {
        let help = match kind {
            StockMovementKind::In => "Chegou mercadoria.",
            StockMovementKind::Out => "Saiu sem venda no marketplace, como perda ou venda fora.",
            StockMovementKind::Adjust => "Você contou e informa quantos há.",
        };
        Tick::new(kind.name(), kind.words(), kind.name() == chosen).help(help)
    };
    StockMovementKind::ALL.into_iter().map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_a_sign_where_it_says_something() {
        assert_eq!((units(1234), units(-2)), ("1.234".into(), "−2".into()));
        assert_eq!([signed(3), signed(-2), signed(0)], ["+3", "−2", "0"].map(String::from));
        assert_eq!(stock_state(1), None);
        assert_eq!(stock_state(-1), Some(Badge::Oversold));
    }
}
