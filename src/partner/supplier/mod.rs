//! Operations for suppliers: one file for each operation or noun.

mod audit;
mod bulk;
mod events;
pub mod files;
mod health;
mod links;
pub(super) mod orders;
mod payments;
mod products;
mod remind;
mod totals;
mod trigger;
mod usage;

use super::operation::{Declared, Effect, posts, posts_in_tests, posts_rarely, reads, sends};
use super::webhooks::ListWebhookDeliveries;
use super::webhooks::operations::{
    GetWebhook, ListWebhooks, NewWebhook, Of, WebhookChange, WebhookRemoval, WebhookTest,
};
use crate::identity::Supplier;

/// Name and path of each operation.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub static OPERATIONS: &[Declared<Supplier>] = &[
    reads::<health::GetDropHealth>("drop_health", "/api/v1/partner/drop/health"),
    reads::<audit::AuditCatalog>("drop_audit_catalog", "/api/v1/partner/drop/catalog/audit"),
    reads::<products::ListSuppliersProducts>("drop_list_products", "/api/v1/partner/drop/catalog/products"),
    reads::<links::ListLinks>("drop_list_links", "/api/v1/partner/drop/catalog/links"),
    posts::<links::NewListingLink>("drop_link_listing", "/api/v1/partner/drop/catalog/links", Effect::Adds),
    posts::<bulk::LinkList>("drop_link_listings_bulk", "/api/v1/partner/drop/catalog/links/bulk", Effect::Adds),
    posts::<links::OldListingLink>("drop_unlink_listing", "/api/v1/partner/drop/catalog/links/unlink", Effect::Removes),
    reads::<orders::ListDropOrders>("drop_list_orders", "/api/v1/partner/drop/orders"),
    reads::<events::ListDropEvents>("drop_list_events", "/api/v1/partner/drop/events"),
    reads::<totals::GetDropTotals>("drop_get_totals", "/api/v1/partner/drop/orders/totals"),
    posts::<payments::MarkPaid>("drop_mark_paid", "/api/v1/partner/drop/orders/paid", Effect::Adds),
    posts::<payments::MarkUnpaid>("drop_mark_unpaid", "/api/v1/partner/drop/orders/unpaid", Effect::Removes),
    posts::<payments::MarkManyPaid>("drop_mark_paid_bulk", "/api/v1/partner/drop/orders/paid/bulk", Effect::Adds),
    posts::<payments::MarkManyUnpaid>("drop_mark_unpaid_bulk", "/api/v1/partner/drop/orders/unpaid/bulk", Effect::Removes),
    posts::<remind::Reminder>("drop_remind_order", "/api/v1/partner/drop/orders/remind", Effect::Sends),
    posts_rarely::<remind::Nothing>("drop_remind_all", "/api/v1/partner/drop/orders/remind-all", Effect::Sends),
    sends::<files::GetLabel>("drop_get_label", "/api/v1/partner/drop/ml/label"),
    sends::<files::GetInvoice>("drop_get_invoice", "/api/v1/partner/drop/ml/invoice"),
    posts_in_tests::<trigger::TriggerDropEvent>("drop_trigger_event", "/api/v1/partner/drop/sandbox/events", Effect::Makes),
    reads::<Of<Supplier, ListWebhooks>>("drop_list_webhooks", "/api/v1/partner/drop/webhooks"),
    posts::<Of<Supplier, NewWebhook>>("drop_create_webhook", "/api/v1/partner/drop/webhooks", Effect::Makes),
    reads::<Of<Supplier, GetWebhook>>("drop_get_webhook", "/api/v1/partner/drop/webhooks/{webhook_id}"),
    posts::<Of<Supplier, WebhookChange>>("drop_change_webhook", "/api/v1/partner/drop/webhooks/change", Effect::Changes),
    posts::<Of<Supplier, WebhookTest>>("drop_test_webhook", "/api/v1/partner/drop/webhooks/test", Effect::Sends),
    posts::<Of<Supplier, WebhookRemoval>>("drop_remove_webhook", "/api/v1/partner/drop/webhooks/remove", Effect::Removes),
    reads::<Of<Supplier, ListWebhookDeliveries>>("drop_list_webhook_deliveries", "/api/v1/partner/drop/webhooks/{webhook_id}/deliveries"),
    reads::<usage::GetDropUsage>("drop_get_usage", "/api/v1/partner/drop/usage"),
];
