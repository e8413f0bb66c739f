//! Operations for sellers: one file for each operation or noun.

pub(super) mod announcements;
mod answer;
pub(super) mod claims;
mod events;
mod files;
pub mod health;
mod metrics;
mod notifications;
mod notify;
pub(super) mod orders;
mod product_changes;
mod products;
pub(super) mod questions;
pub(super) mod stock;
mod stores;
mod summary;
mod top_products;
mod trigger;
pub(super) mod usage;

#[cfg(test)]
mod model;

use super::operation::{Declared, Effect, posts, posts_in_tests, reads, sends};
use super::webhooks::ListWebhookDeliveries;
use super::webhooks::operations::{
    GetWebhook, ListWebhooks, NewWebhook, Of, WebhookChange, WebhookRemoval, WebhookTest,
};
use crate::identity::Seller;

/// Name and path of each operation.
#[rustfmt::skip] // A table: one entry a row, columns in the same order.
pub static OPERATIONS: &[Declared<Seller>] = &[
    reads::<health::GetHealth>("health", "/api/v1/partner/health"),
    reads::<stores::ListStores>("list_stores", "/api/v1/partner/stores"),
    reads::<metrics::GetStoreMetrics>("get_store_metrics", "/api/v1/partner/stores/{ml_id}/metrics"),
    reads::<orders::ListOrders>("list_orders", "/api/v1/partner/orders"),
    reads::<orders::GetOrder>("get_order", "/api/v1/partner/orders/{order_id}"),
    reads::<products::ListProducts>("list_products", "/api/v1/partner/products"),
    reads::<announcements::ListAnnouncements>("list_announcements", "/api/v1/partner/announcements"),
    reads::<stock::GetStock>("get_stock", "/api/v1/partner/stock"),
    reads::<notifications::ListNotifications>("list_notifications", "/api/v1/partner/notifications"),
    posts::<notify::NotificationRequest>("notify_seller", "/api/v1/partner/notify", Effect::Sends),
    reads::<events::ListEvents>("list_events", "/api/v1/partner/events"),
    reads::<summary::GetSummary>("summary", "/api/v1/partner/summary"),
    reads::<top_products::TopProducts>("top_products", "/api/v1/partner/top-products"),
    reads::<questions::ListQuestions>("list_questions", "/api/v1/partner/questions"),
    reads::<questions::GetQuestion>("get_question", "/api/v1/partner/questions/{question_id}"),
    posts::<answer::AnswerQuestion>("answer_question", "/api/v1/partner/questions/answer", Effect::Answers).for_writers(),
    reads::<claims::ListClaims>("list_claims", "/api/v1/partner/claims"),
    reads::<claims::GetClaim>("get_claim", "/api/v1/partner/claims/{claim_id}"),
    posts::<product_changes::SetStock>("set_stock", "/api/v1/partner/stock/set", Effect::Sets).for_writers(),
    posts::<product_changes::AdjustStock>("adjust_stock", "/api/v1/partner/stock/adjust", Effect::Moves).for_writers(),
    posts::<product_changes::SetPrice>("set_product_price", "/api/v1/partner/products/price", Effect::Sets).for_writers(),
    sends::<files::GetLabel>("get_label", "/api/v1/partner/orders/{order_id}/label").for_writers(),
    sends::<files::GetInvoice>("get_invoice", "/api/v1/partner/orders/{order_id}/invoice").for_writers(),
    sends::<files::GetLabels>("get_labels", "/api/v1/partner/labels").for_writers(),
    posts::<files::MarkPrinted>("mark_labels_printed", "/api/v1/partner/labels/printed", Effect::Adds).for_writers(),
    posts_in_tests::<trigger::TriggerEvent>("trigger_event", "/api/v1/partner/sandbox/events", Effect::Makes),
    reads::<Of<Seller, ListWebhooks>>("list_webhooks", "/api/v1/partner/webhooks"),
    posts::<Of<Seller, NewWebhook>>("create_webhook", "/api/v1/partner/webhooks", Effect::Makes),
    reads::<Of<Seller, GetWebhook>>("get_webhook", "/api/v1/partner/webhooks/{webhook_id}"),
    posts::<Of<Seller, WebhookChange>>("change_webhook", "/api/v1/partner/webhooks/change", Effect::Changes),
    posts::<Of<Seller, WebhookTest>>("test_webhook", "/api/v1/partner/webhooks/test", Effect::Sends),
    posts::<Of<Seller, WebhookRemoval>>("remove_webhook", "/api/v1/partner/webhooks/remove", Effect::Removes),
    reads::<Of<Seller, ListWebhookDeliveries>>("list_webhook_deliveries", "/api/v1/partner/webhooks/{webhook_id}/deliveries"),
    reads::<usage::GetUsage>("get_usage", "/api/v1/partner/usage"),
];
