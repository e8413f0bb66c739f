//! Operations for sellers: one file for each operation or noun.

mod announcements;
pub mod health;
mod metrics;
mod notifications;
mod notify;
pub(super) mod orders;
mod products;
pub(super) mod stock;
mod stores;
mod usage;

use super::operation::{Declared, posts, reads};
use crate::edge::guard::Seller;

/// Name, path and purpose of each operation.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub static OPERATIONS: &[Declared<Seller>] = &[
    reads::<health::Health>("health", "/api/v1/partner/health", "Says who the token belongs to and what its plan allows."),
    reads::<stores::ListStores>("list_stores", "/api/v1/partner/stores", "The connected marketplace accounts."),
    reads::<metrics::GetStoreMetrics>("get_store_metrics", "/api/v1/partner/stores/{ml_id}/metrics", "One connected account's sales in a period, its reputation and its listings."),
    reads::<orders::ListOrders>("list_orders", "/api/v1/partner/orders", "The seller's orders, newest first."),
    reads::<products::ListProducts>("list_products", "/api/v1/partner/products", "The seller's internal catalog, by SKU."),
    reads::<announcements::ListAnnouncements>("list_announcements", "/api/v1/partner/announcements", "The seller's listings at the marketplace, those that changed last first."),
    reads::<stock::GetStock>("get_stock", "/api/v1/partner/stock", "The balance of each product, with its newest movements."),
    reads::<notifications::ListNotifications>("list_notifications", "/api/v1/partner/notifications", "Notifications that were sent through the API, newest first, and what became of them."),
    posts::<notify::NotifySeller>("notify_seller", "/api/v1/partner/notify", "Sends a notification to the owner of the token, by Telegram, e-mail or browser."),
    reads::<usage::GetUsage>("get_usage", "/api/v1/partner/usage", "The calls of the current month, by day and by operation."),
];
