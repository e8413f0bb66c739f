//! What other rooms do about changes of the marketplace: every effect, in one
//! list each. A further effect is a function in the room whose rule it is, and
//! a line here.

use crate::catalog;
use crate::dropshipping;
use crate::marketplace::books::orders::effects::{self as books, Effects};
use crate::partner;
use crate::program;

/// The effects, in the order in which they run.
pub const EFFECTS: Effects = Effects {
    orders: &[
        books::count_orders,
        books::name_in_claims,
        books::sum_sales,
        books::sum_sold,
        catalog::stock::follow_sale,
        dropshipping::orders::follow_sale,
        books::stamp,
        books::notify,
        books::warn_of_fraud,
        books::raise_webhook_events,
        program::sales::reward_sale,
    ],
    links: &[program::sales::reward_link],
    gone_listings: &[partner::webhooks::tell_gone_listing],
};
