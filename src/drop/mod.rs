//! Drop: suppliers, the sellers who sell what they supply, and what is owed.
//!
//! A supplier invites a seller, who accepts: that relation is what lets a
//! supplier see anything of a seller (`relations.rs`). Within it, listings of
//! the seller are linked to products of the supplier (`links.rs`, `bulk.rs`),
//! and a paid order of a linked listing becomes a drop order, which the seller
//! owes (`orders.rs`). Ending the relation ends its links; what is owed stays.
//!
//! Every statement carries the person who asks. What programs of suppliers read
//! also carries an active relation, in the same statement.

pub mod bulk;
pub mod links;
pub mod orders;
pub mod relations;
pub mod reminders;
pub mod unmatched;
pub mod views;

/// A condition on sellers: those with whom `:supplier` has an active relation.
pub const RELATED: &str = "seller_id IN (SELECT seller_id FROM drop_relation WHERE supplier_id = :supplier AND state = 2)";
