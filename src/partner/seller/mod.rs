//! Operations for sellers: one file an operation or noun.

mod health;
mod orders;

use super::operation::{Declared, reads};
use crate::edge::guard::Seller;

/// Name, path and purpose of each operation.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub static OPERATIONS: &[Declared<Seller>] = &[
    reads::<health::Health>("health", "/api/v1/partner/health", "Says who the token belongs to and what its plan allows."),
    reads::<orders::ListOrders>("list_orders", "/api/v1/partner/orders", "The seller's orders, newest first."),
];
