//! Products of sellers and suppliers, and their stock.
//!
//! A product belongs to one person. That person chooses its SKU, which
//! identifies the product. Its stock is the balance of its movements
//! (`stock/`); movements are added and never changed. An import brings in all
//! products of a file, or none of them (`import/`).

pub mod calculator;
pub mod entry;
pub mod import;
pub mod listing;
pub mod pages;
pub mod stock;
pub mod store;
pub mod views;
pub mod wire;

use serde::Serialize;

use crate::accounts::Role;
use crate::base::{Cents, Instant, grouped, search_key};
use crate::row;

/// Most products of a person.
pub const MAX_PRODUCTS: usize = 20_000;
/// Longest SKU and title.
pub const LONGEST_SKU: usize = 80;
pub const LONGEST_TITLE: usize = 200;
/// Highest cost and price, in centavos: ten million reais.
pub const MOST_CENTS: i64 = 1_000_000_000;
/// Most units of a product that a person can enter.
pub const MOST_UNITS: i64 = 10_000_000;

row! {
    /// A product as it is stored.
    #[derive(Clone, Debug)]
    pub struct Product {
        pub id: i64 = "product_id",
        pub entry: ProductEntry as row,
        /// The balance of its movements. Below zero when more units were sold than
        /// were in stock.
        pub stock: i64,
        pub created_at: Instant,
        pub updated_at: Instant,
    }
}

row! {
    /// The fields of a product that its owner enters.
    #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct ProductEntry: stored {
        pub sku: String,
        /// Empty when the product has none.
        pub ean: String,
        #[serde(rename = "titulo")]
        pub title: String,
        #[serde(rename = "custo")]
        pub cost: Cents = "cost_cents",
        #[serde(rename = "preco")]
        pub price: Cents = "price_cents",
        /// The owner is warned when so many units are left, or fewer; never
        /// without.
        #[serde(rename = "estoque_baixo")]
        pub low_stock: Option<i64>,
    }
}

impl Product {
    /// Whether so little is left that its owner wants to know.
    pub fn is_low(&self) -> bool {
        self.entry.low_stock.is_some_and(|low| self.stock <= low)
    }
}

impl ProductEntry {
    /// What is left of its price after its cost; `None` while one of them is
    /// not known.
    pub fn margin(&self) -> Option<Margin> {
        Margin::of(self.price, self.cost)
    }

    /// The text that searches look into and that lists by title are sorted by.
    pub fn search_key(&self) -> String {
        search_key(&format!("{} {} {}", self.title, self.sku, self.ean))
    }
}

/// What is left of a price after the cost of what is sold, before what the
/// marketplace and taxes take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margin {
    pub amount: Cents,
    /// Tenths of a percent of the price.
    pub per_mille: i64,
}

impl Margin {
    /// An amount of 0 was not entered, so there is no margin to tell.
    pub fn of(price: Cents, cost: Cents) -> Option<Self> {
        if price.0 <= 0 || cost.0 <= 0 {
            return None;
        }
        let amount = price.0.checked_sub(cost.0)?;
        let (twice, whole) = (2000 * i128::from(amount), i128::from(price.0));
        // To the nearest tenth, halves away from zero.
        let tenths = (twice + whole * twice.signum()) / (2 * whole);
        Some(Self { amount: Cents(amount), per_mille: i64::try_from(tenths).ok()? })
    }

    /// `54,9%`, `−12%`.
    pub fn percent(self) -> String {
        let sign = if self.per_mille < 0 { "−" } else { "" };
        let (whole, tenth) = (self.per_mille.abs() / 10, self.per_mille.abs() % 10);
        let whole = grouped(whole.unsigned_abs());
        if tenth == 0 { format!("{sign}{whole}%") } else { format!("{sign}{whole},{tenth}%") }
    }
}

/// Whether a text can be a product's EAN: 8 to 14 digits. The check digit is
/// not verified, because shops also use numbers of their own.
pub fn is_ean(text: &str) -> bool {
    (8..=14).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text can be a SKU.
pub fn is_sku(text: &str) -> bool {
    (1..=LONGEST_SKU).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// Whether a text can be a title.
pub fn is_title(text: &str) -> bool {
    (1..=LONGEST_TITLE).contains(&text.chars().count()) && !text.chars().any(char::is_control)
}

/// Whether an amount can be a cost or a price.
pub fn is_amount(amount: Cents) -> bool {
    (0..=MOST_CENTS).contains(&amount.0)
}

/// Address of the list of products in the panel of a role.
pub const fn path_for(role: Role) -> &'static str {
    match role {
        Role::Drop => "/fornecedor/produtos",
        _ => "/painel/produtos",
    }
}

/// Whether people of a role have products: sellers and suppliers.
pub const fn has_products(role: Role) -> bool {
    !matches!(role, Role::Admin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eans_have_eight_to_fourteen_digits() {
        for good in ["12345670", "7891234567895", "17891234567892"] {
            assert!(is_ean(good), "{good}");
        }
        for bad in ["", "1234567", "123456789012345", "789123456789a", "٧٨٩١٢٣٤٥"] {
            assert!(!is_ean(bad), "{bad}");
        }
    }

    #[test]
    fn a_margin_is_rounded_and_needs_both_amounts() {
        for (price, cost, text) in [
            (6_990, 3_150, "54,9%"),
            (10_000, 5_000, "50%"),
            (100, 112, "−12%"),
            (3, 2, "33,3%"),
            (1, 1, "0%"),
            (1, 1_000_000_000, "−99.999.999.900%"),
        ] {
            let margin = Margin::of(Cents(price), Cents(cost)).unwrap();
            assert_eq!((margin.amount.0, &*margin.percent()), (price - cost, text));
        }
        assert_eq!(Margin::of(Cents(0), Cents(1)), None);
        assert_eq!(Margin::of(Cents(1), Cents(0)), None);
    }

    #[test]
    fn skus_and_titles_are_one_line_of_a_sensible_length() {
        assert!(is_sku("A") && is_sku(&"é".repeat(LONGEST_SKU)));
        assert!(!is_sku("") && !is_sku("a\nb") && !is_sku(&"a".repeat(LONGEST_SKU + 1)));
        assert!(is_title("Garrafa") && !is_title("") && !is_title("a\u{7}b"));
    }
}
