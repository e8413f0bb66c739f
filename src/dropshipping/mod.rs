//! Drop: suppliers, the sellers of their products, and what sellers owe them.
//!
//! A supplier invites a seller, who accepts. Only this relation lets a supplier
//! see data of the seller (`relations.rs`). Within it, listings of the seller
//! are linked to products of the supplier (`links.rs`, `bulk.rs`). A paid order
//! of a linked listing becomes a drop order: an amount that the seller owes
//! (`orders.rs`; sums in `debts.rs`), until the supplier says that it was paid
//! (`payments.rs`). Ending the relation ends its links; what is owed stays.
//!
//! Every SQL statement is limited to the person who asks. Statements for the
//! API clients of suppliers also require an active relation.

pub mod bulk;
pub mod debts;
pub mod links;
pub mod orders;
pub mod payments;
pub mod relations;
pub mod reminders;
pub mod suggest;
pub mod unmatched;

/// A condition on sellers: those with whom `:supplier` has an active relation.
pub const RELATED: &str = "seller_id IN (SELECT seller_id FROM drop_relation WHERE supplier_id = :supplier AND state = 2)";
