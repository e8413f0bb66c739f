//! Strict mode: parameters that the marketplace does not know are silently
//! ignored by it, and noted here, because a client that sends them believes
//! something that is not so.

use super::http::Request;
use super::routes::{Call, Resource};
use super::state::World;

const ITEM_IDS: &[&str] = &[
    "status",
    "sku",
    "seller_sku",
    "listing_type_id",
    "sub_status",
    "logistic_type",
    "labels",
    "missing_product_identifiers",
    "reputation_health_gauge",
    "orders",
    "limit",
    "offset",
    "search_type",
    "scroll_id",
    "include_filters",
];

const ORDER_SEARCH: &[&str] = &[
    "seller",
    "order.status",
    "order.date_created.from",
    "order.date_created.to",
    "order.date_closed.from",
    "order.date_closed.to",
    "order.date_last_updated.from",
    "order.date_last_updated.to",
    "q",
    "item",
    "tags",
    "tags.not",
    "mediations.status",
    "mediations.stage",
    "sort",
    "limit",
    "offset",
];

const QUESTION_SEARCH: &[&str] = &[
    "seller_id",
    "item",
    "item_id",
    "from",
    "status",
    "api_version",
    "sort_fields",
    "sort_types",
    "limit",
    "offset",
    "search_type",
    "scroll_id",
];

const CLAIM_SEARCH: &[&str] = &[
    "id",
    "type",
    "stage",
    "status",
    "resource",
    "resource_id",
    "reason_id",
    "order_id",
    "pack_id",
    "parent_id",
    "site_id",
    "players.role",
    "players.user_id",
    "range",
    "sort",
    "limit",
    "offset",
];

const FEES: &[&str] =
    &["price", "currency_id", "category_id", "listing_type_id", "logistic_type", "shipping_mode"];

/// Notes parameters that a resource does not know or has twice.
pub fn check_parameters(world: &mut World, call: Call, request: &Request, of: &Resource<'_>) {
    let known = parameters(of);
    for (index, (name, _)) in request.query.iter().enumerate() {
        // A token in the query is noted for every path already.
        let is_token = name == "access_token";
        if !is_token && !known.contains(&name.as_str()) {
            let detail = format!("{} {}: {name}", request.method, request.path);
            world.violation(call.now, "unknown_parameter", detail);
        }
        if request.query[..index].iter().any(|(before, _)| before == name) {
            let detail = format!("{} {}: {name}", request.method, request.path);
            world.violation(call.now, "doubled_parameter", detail);
        }
    }
}

fn parameters(of: &Resource<'_>) -> &'static [&'static str] {
    match of {
        Resource::Aside(asked) => asked.parameters(),
        Resource::Users => &["ids"],
        Resource::ItemIds(_) => ITEM_IDS,
        Resource::Item(_) => &["attributes", "include_attributes"],
        Resource::Items | Resource::ItemsRetired => &["ids", "attributes", "include_attributes"],
        Resource::OrderSearch => ORDER_SEARCH,
        Resource::Labels => &["shipment_ids", "response_type"],
        Resource::QuestionSearch => QUESTION_SEARCH,
        Resource::Question(_) => &["api_version"],
        Resource::ClaimSearch => CLAIM_SEARCH,
        Resource::Fees => FEES,
        Resource::MissedFeeds => &["app_id", "topic", "site_id", "offset", "limit"],
        Resource::Me
        | Resource::User(_)
        | Resource::Order(_)
        | Resource::OrderShipments(_)
        | Resource::Pack(_)
        | Resource::Shipment(_)
        | Resource::ShipmentOrders(_)
        | Resource::Invoices(..)
        | Resource::FiscalDocuments(_)
        | Resource::FiscalDocument(..)
        | Resource::Answer
        | Resource::Claim(_)
        | Resource::ClaimDetail(_)
        | Resource::EndGrant { .. } => &[],
    }
}
