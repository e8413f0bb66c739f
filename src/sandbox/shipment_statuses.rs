//! Every status that a shipment may have, with its sub-statuses, as the marketplace
//! lists them.

use serde_json::{Value, json};

use super::call::{Call, HandlerResult};
use super::http::Reply;

/// A status and its sub-statuses, separated by spaces.
const STATUSES: [(&str, &str); 15] = [
    ("to_be_agreed", ""),
    (
        "pending",
        "cost_exceeded under_review reviewed fraudulent waiting_for_payment shipment_paid \
         creating_route manufacturing buffered creating_shipping_order",
    ),
    (
        "handling",
        "regenerating waiting_for_label_generation invoice_pending \
         waiting_for_return_confirmation return_confirmed manufacturing agency_unavailable",
    ),
    (
        "ready_to_ship",
        "ready_to_print invoice_pending printed in_pickup_list ready_for_pkl_creation \
         ready_for_pickup ready_for_dropoff picked_up stale dropped_off delayed claimed_me \
         waiting_for_last_mile_authorization rejected_in_hub in_transit in_warehouse \
         ready_to_pack in_hub measures_ready waiting_for_carrier_authorization \
         authorized_by_carrier in_packing_list in_plp on_hold packed on_route_to_pickup \
         picking_up shipping_order_initialized looking_for_driver",
    ),
    (
        "shipped",
        "delayed waiting_for_withdrawal contact_with_carrier_required receiver_absent reclaimed \
         not_localized forwarded_to_third soon_deliver refused_delivery bad_address \
         changed_address negative_feedback need_review stale operator_intervention claimed_me \
         retained out_for_delivery delivery_failed waiting_for_confirmation at_the_door \
         buyer_edt_limit_stale delivery_blocked awaiting_tax_documentation dangerous_area \
         buyer_rescheduled failover picked_up dropped_off at_customs delayed_at_customs \
         left_customs missing_sender_payment missing_sender_documentation \
         missing_recipient_documentation missing_recipient_payment import_taxes_paid",
    ),
    ("delivered", "damaged fulfilled_feedback no_action_taken double_refund inferred"),
    (
        "not_delivered",
        "returning_to_sender receiver_absent to_review destroyed waiting_for_withdrawal \
         negative_feedback not_localized double_refund cancelled_measurement_exceeded \
         returned_to_hub returned_to_agency picked_up_for_return claimed_me \
         returning_to_warehouse returning_to_hub soon_to_be_returned return_failed in_storage \
         pending_recovery agency_unavailable rejected_damaged refused_delivery \
         refunded_by_delay delayed delayed_to_hub shipment_stopped awaiting_tax_documentation \
         retained stolen returned confiscated damaged lost recovered returned_to_warehouse \
         not_recovered detained_at_customs detained_at_origin unclaimed import_tax_rejected \
         import_tax_expired rider_not_found",
    ),
    ("not_verified", ""),
    (
        "cancelled",
        "recovered label_expired cancelled_manually fraudulent return_expired \
         return_session_expired unfulfillable closed_by_user pack_splitted shipped_outside_me \
         shipped_outside_me_trusted inferred_shipped service_unavailable dismissed time_expired \
         pack_partially_cancelled rejected_manually closed_store out_of_range",
    ),
    ("closed", ""),
    ("error", ""),
    ("active", ""),
    ("not_specified", ""),
    ("stale_ready_to_ship", ""),
    ("stale_shipped", ""),
];

/// Whether the marketplace lists a sub-status of this status.
#[cfg(test)]
pub fn is_listed(status: &str, finer: &str) -> bool {
    let found = STATUSES.iter().find(|(name, _)| *name == status);
    found.is_some_and(|(_, listed)| finer.is_empty() || listed.split(' ').any(|one| one == finer))
}

/// `GET /shipment_statuses`.
pub fn statuses(_call: &mut Call<'_>) -> HandlerResult {
    let named = |id: &str| json!({ "id": id, "name": id.replace('_', " ") });
    let statuses = STATUSES.map(|(status, finer)| {
        let mut shown = named(status);
        let finer: Vec<Value> = finer.split_whitespace().map(named).collect();
        shown["substatuses"] = json!(finer);
        shown
    });
    Ok(Reply::json(200, &statuses))
}
