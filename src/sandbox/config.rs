//! The sandbox's switches: how notifications go out and which of the
//! marketplace's odd habits show.

use serde::{Deserialize, Serialize};

/// Switches of the sandbox. All have the real marketplace's most usual
/// behaviour as their default, signed notifications excepted: the platform's
/// receiver asks for the signature.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct Config {
    /// The platform's receiver; none keeps notifications in the queue.
    pub notify_url: Option<String>,
    /// Registered return addresses; empty accepts any loopback address.
    pub redirect_uris: Vec<String>,
    /// Sign notifications.
    pub signed: bool,
    /// Between the parts of `X-Signature`.
    pub separator: char,
    /// `ts` in milliseconds instead of seconds.
    pub ts_milliseconds: bool,
    /// How often each notification is sent in addition.
    pub duplicates: u8,
    /// Newest first.
    pub reorder: bool,
    /// Keep notifications back until this is off again.
    pub hold: bool,
    /// `user_id` and `application_id` as text.
    pub string_ids: bool,
    /// `resource` without its leading slash.
    pub missing_slash: bool,
    /// Deliveries of one notification before it counts as missed.
    pub attempts: u32,
    /// Pauses between attempts, as a share of the real ones (28 s, 57 s … 30 min).
    pub retry_scale: f64,
    /// How long the receiver may take.
    pub answer_within_ms: u64,
    /// Answer `GET /items?ids=`, which the marketplace has retired.
    pub old_multiget: bool,
    /// `GET /items/bulk` in the elements of the retired path.
    pub old_elements: bool,
    /// Many listings at once never tell the codes of variations.
    pub bulk_hides_codes: bool,
    /// Each page of a scan has a scroll id of its own.
    pub new_scroll_ids: bool,
    /// Accounts come as 206 without reputation.
    pub partial_users: bool,
    /// Shipments in their old flat shape.
    pub flat_shipments: bool,
    /// How fees are wrapped.
    pub fees_shape: FeesShape,
    /// Fiscal notes point to another host.
    pub foreign_invoices: bool,
    /// Every call of the marketplace is answered 503.
    pub down: bool,
    /// What every answer of the marketplace takes on its way.
    pub delay_ms: u64,
    /// Claims go out under their old topic `claims`.
    pub legacy_claims: bool,
    /// Topics the application has subscribed to.
    pub topics: Vec<String>,
    /// A topic is switched off once so many of its notifications in a row
    /// were given up; 0 never.
    pub silence_after: u32,
    /// Orders come as 206 without buyer and feedback.
    pub partial_orders: bool,
    /// Orders that a search can be paged to.
    pub orders_reach: usize,
    /// Pages beyond are empty instead of refused.
    pub silent_reach: bool,
    /// Dates in all the forms that have been seen.
    pub mixed_dates: bool,
    /// Token and bearer errors in their older shapes.
    pub old_errors: bool,
    /// A refresh ends the access token before it.
    pub refresh_ends_access: bool,
}

/// How `listing_prices` has been seen to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeesShape {
    /// An array, as documented.
    #[default]
    Array,
    /// A bare object when one kind of listing is asked for.
    Object,
    /// An array in an array.
    Nested,
}

/// Topics that the platform's application listens to.
const TOPICS: [&str; 5] = ["orders_v2", "items", "questions", "post_purchase", "claims"];

impl Default for Config {
    fn default() -> Self {
        Self {
            notify_url: None,
            redirect_uris: Vec::new(),
            signed: true,
            separator: ';',
            ts_milliseconds: false,
            duplicates: 0,
            reorder: false,
            hold: false,
            string_ids: false,
            missing_slash: false,
            attempts: 8,
            retry_scale: 0.01,
            answer_within_ms: 500,
            old_multiget: false,
            old_elements: false,
            bulk_hides_codes: false,
            new_scroll_ids: false,
            partial_users: false,
            flat_shipments: false,
            fees_shape: FeesShape::Array,
            foreign_invoices: false,
            down: false,
            delay_ms: 0,
            legacy_claims: false,
            topics: TOPICS.map(str::to_owned).to_vec(),
            silence_after: 0,
            partial_orders: false,
            orders_reach: 10_000,
            silent_reach: false,
            mixed_dates: false,
            old_errors: false,
            refresh_ends_access: false,
        }
    }
}
