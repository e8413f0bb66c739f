//! Operations for suppliers: one file for each operation or noun.

mod audit;
mod bulk;
mod events;
pub mod files;
mod health;
mod links;
pub(super) mod orders;
mod products;
mod remind;

use super::operation::{Declared, Effect, posts, posts_rarely, reads, sends};
use crate::identity::Supplier;

/// Name and path of each operation.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub static OPERATIONS: &[Declared<Supplier>] = &[
    reads::<health::GetDropHealth>("drop_health", "/api/v1/partner/drop/health"),
    reads::<audit::AuditCatalog>("drop_audit_catalog", "/api/v1/partner/drop/catalog/audit"),
    reads::<products::ListSuppliersProducts>("drop_list_products", "/api/v1/partner/drop/catalog/products"),
    posts::<links::NewListingLink>("drop_link_listing", "/api/v1/partner/drop/catalog/links", Effect::Adds),
    posts::<bulk::LinkList>("drop_link_listings_bulk", "/api/v1/partner/drop/catalog/links/bulk", Effect::Adds),
    posts::<links::OldListingLink>("drop_unlink_listing", "/api/v1/partner/drop/catalog/links/unlink", Effect::Removes),
    reads::<orders::ListDropOrders>("drop_list_orders", "/api/v1/partner/drop/orders"),
    reads::<events::ListDropEvents>("drop_list_events", "/api/v1/partner/drop/events"),
    posts::<remind::Reminder>("drop_remind_order", "/api/v1/partner/drop/orders/remind", Effect::Sends),
    posts_rarely::<remind::Nothing>("drop_remind_all", "/api/v1/partner/drop/orders/remind-all", Effect::Sends),
    sends::<files::GetLabel>("drop_get_label", "/api/v1/partner/drop/ml/label"),
    sends::<files::GetInvoice>("drop_get_invoice", "/api/v1/partner/drop/ml/invoice"),
];
