//! Data of the product pages' templates.

use std::fmt::Write as _;

use askama::Template;

use super::Product;
use super::pages::Found;
use super::stock::StockMovementKind;
use super::stock::pages::FORM;
use super::store::Worth;
pub use crate::base::text::number_words as units;
use crate::base::{Cents, Zone, grouped};
use crate::panel::view::Field;
use crate::panel::{Badge, FormView, Layout, Notice, PageTime, Table, Tick};

/// `GET …/produtos`: the list of products.
#[derive(Template)]
#[template(path = "products.html", config = "assets/askama.toml")]
pub struct ProductsPage {
    pub layout: Layout,
    pub base: &'static str,
    /// What the products of the filter add up to.
    pub sum: String,
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
    /// Whether its reader sells at the marketplace.
    pub sells: bool,
    /// The product that is changed; `None` for a new one.
    pub existing: Option<Found>,
    pub form: FormView,
    pub movement: MovementForm,
    pub time: PageTime,
}

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

/// What the stock of a product is like.
pub fn stock_badge(product: &Product) -> Badge {
    match product.stock {
        ..0 => Badge::Oversold,
        0 => Badge::OutOfStock,
        _ if product.is_low() => Badge::LowStock,
        _ => Badge::InStock,
    }
}

/// The same where it is a warning.
pub fn stock_warning(product: &Product) -> Option<Badge> {
    Some(stock_badge(product)).filter(|badge| *badge != Badge::InStock)
}

/// `R$ 12,34`, `−R$ 1,50`.
pub fn money(amount: Cents) -> String {
    amount.page().replacen('-', "−", 1)
}

/// Why a product has no margin.
pub const fn no_margin(product: &Product) -> &'static str {
    if product.entry.cost.0 == 0 { "falta o custo" } else { "falta o preço" }
}

/// `14 produtos · estoque vale R$ 12.345,67 · 2 sem custo`.
pub fn worth_words(worth: Worth) -> String {
    let Worth { products, value, uncosted } = worth;
    let what = if products == 1 { "produto" } else { "produtos" };
    let mut words = format!("{} {what} · estoque vale {}", grouped(products), value.page());
    if uncosted > 0 {
        let _ = write!(words, " · {} sem custo", grouped(uncosted));
    }
    words
}

pub fn kind_badge(kind: StockMovementKind) -> Badge {
    match kind {
        StockMovementKind::In => Badge::CameIn,
        StockMovementKind::Out => Badge::WentOut,
        StockMovementKind::Adjust => Badge::Counted,
    }
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
    use crate::base::Instant;
    use crate::catalog::ProductEntry;

    #[test]
    fn units_have_a_sign_where_it_says_something() {
        assert_eq!((units(1234), units(-2)), ("1.234".into(), "−2".into()));
        assert_eq!([signed(3), signed(-2), signed(0)], ["+3", "−2", "0"].map(String::from));
        let state = |stock, low| {
            let entry = ProductEntry { low_stock: low, ..ProductEntry::default() };
            let (id, created_at, updated_at) = (1, Instant(0), Instant(0));
            stock_badge(&Product { id, entry, stock, created_at, updated_at })
        };
        for (stock, low, badge) in [
            (1, None, Badge::InStock),
            (4, Some(3), Badge::InStock),
            (3, Some(3), Badge::LowStock),
            (0, Some(3), Badge::OutOfStock),
            (-1, Some(3), Badge::Oversold),
        ] {
            assert_eq!(state(stock, low), badge, "{stock}");
        }
    }

    #[test]
    fn a_sum_says_what_is_not_known() {
        let worth = |products, uncosted| Worth { products, value: Cents(1_234), uncosted };
        assert_eq!(worth_words(worth(1, 0)), "1 produto · estoque vale R$ 12,34");
        let words = "2.000 produtos · estoque vale R$ 12,34 · 3 sem custo";
        assert_eq!(worth_words(worth(2_000, 3)), words);
    }
}
