//! The calculator: what remains of a sale, and the price that leaves what its
//! seller wants. It starts from a listing or a product.
//!
//! Fees are the marketplace's (`marketplace/tools/fees/`); cost and price come
//! from the product.

pub mod origin;
pub mod pages;
pub mod views;

use crate::panel::view::address;

/// The path of the calculator.
pub const PATH: &str = "/painel/ml/calculadora";

/// The address of the calculator for a listing, such as `MLB123`.
pub fn address_for_listing(id: &str) -> String {
    address(PATH, &[("anuncio", id)])
}

/// The address of the calculator for a product.
pub fn address_for_product(id: &i64) -> String {
    address(PATH, &[("produto", &id.to_string())])
}
