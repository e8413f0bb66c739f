//! Operations for suppliers: one file for each operation or noun.

mod audit;
mod bulk;
pub mod files;
mod health;
mod links;
pub(super) mod orders;
mod products;
mod remind;

use super::operation::{Declared, posts, posts_rarely, reads, sends};
use crate::edge::guard::Supplier;

/// Name, path and purpose of each operation.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub static OPERATIONS: &[Declared<Supplier>] = &[
    reads::<health::DropHealth>("drop_health", "/api/v1/partner/drop/health", "Says who the token belongs to, what its plan allows, and which sellers are linked."),
    reads::<audit::AuditCatalog>("drop_audit_catalog", "/api/v1/partner/drop/catalog/audit", "Listings of linked sellers whose SKU and EAN match no product of the supplier."),
    reads::<products::ListSuppliersProducts>("drop_list_products", "/api/v1/partner/drop/catalog/products", "The supplier's products, by SKU, with how many listings sell each."),
    posts::<links::LinkListing>("drop_link_listing", "/api/v1/partner/drop/catalog/links", "Links a seller's listing to a product of the supplier."),
    posts::<bulk::LinkListings>("drop_link_listings_bulk", "/api/v1/partner/drop/catalog/links/bulk", "Links up to 500 listings from a list in CSV."),
    posts::<links::UnlinkListing>("drop_unlink_listing", "/api/v1/partner/drop/catalog/links/unlink", "Removes the link of a listing."),
    reads::<orders::ListDropOrders>("drop_list_orders", "/api/v1/partner/drop/orders", "What linked sellers owe for orders of linked listings, newest first."),
    posts::<remind::RemindOrder>("drop_remind_order", "/api/v1/partner/drop/orders/remind", "Reminds the seller to pay one drop order."),
    posts_rarely::<remind::RemindAll>("drop_remind_all", "/api/v1/partner/drop/orders/remind-all", "Reminds all linked sellers that have overdue drop orders; once in five minutes."),
    sends::<files::GetLabel>("drop_get_label", "/api/v1/partner/drop/ml/label", "The shipping label of a drop order's parcel, as PDF."),
    sends::<files::GetInvoice>("drop_get_invoice", "/api/v1/partner/drop/ml/invoice", "The fiscal note of a drop order, as PDF or XML."),
];
