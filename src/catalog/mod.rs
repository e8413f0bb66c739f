//! Products of sellers and suppliers, and what is in stock of them.
//!
//! A product belongs to one person and is known by its SKU, which that person
//! chooses. Its stock is the balance of its movements (`stock/`), which are
//! only ever added. A file brings many products at once, or none (`import/`).

pub mod entry;
pub mod import;
pub mod pages;
#[cfg(test)]
pub mod samples;
pub mod stock;
pub mod store;
pub mod views;
pub mod wire;

use serde::Serialize;

use crate::accounts::Role;
use crate::base::text::search_key;
use crate::base::{Cents, Instant};

/// Most products of a person.
pub const MOST: usize = 20_000;
/// Longest SKU and title.
pub const LONGEST_SKU: usize = 80;
pub const LONGEST_TITLE: usize = 200;
/// Highest cost and price, in centavos: ten million reais.
pub const MOST_CENTS: i64 = 1_000_000_000;
/// Most units of a product that somebody can enter.
pub const MOST_UNITS: i64 = 10_000_000;

/// A product as it is stored.
#[derive(Clone, Debug)]
pub struct Product {
    pub id: i64,
    pub entry: ProductEntry,
    /// The balance of its movements. Below zero when more was sold than there was.
    pub stock: i64,
    pub created_at: Instant,
    pub updated_at: Instant,
}

/// What its owner enters of a product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProductEntry {
    pub sku: String,
    /// Empty without one.
    pub ean: String,
    #[serde(rename = "titulo")]
    pub title: String,
    #[serde(rename = "custo")]
    pub cost: Cents,
    #[serde(rename = "preco")]
    pub price: Cents,
}

impl ProductEntry {
    /// What searches look at and titles are sorted by.
    pub fn search_key(&self) -> String {
        search_key(&format!("{} {} {}", self.title, self.sku, self.ean))
    }
}

/// Whether a text can be a product's EAN: 8 to 14 digits. Check digits are
/// not asked for, because shops number their own things too.
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

/// Where the products of a person are; `None` for those who have none.
pub const fn path_of(role: Role) -> Option<&'static str> {
    match role {
        Role::Drop => Some("/fornecedor/produtos"),
        Role::Admin => None,
        _ => Some("/painel/produtos"),
    }
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
    fn skus_and_titles_are_one_line_of_a_sensible_length() {
        assert!(is_sku("A") && is_sku(&"é".repeat(LONGEST_SKU)));
        assert!(!is_sku("") && !is_sku("a\nb") && !is_sku(&"a".repeat(LONGEST_SKU + 1)));
        assert!(is_title("Garrafa") && !is_title("") && !is_title("a\u{7}b"));
    }
}
