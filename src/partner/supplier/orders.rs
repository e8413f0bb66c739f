//! `drop_list_orders`: what linked sellers owe, newest first.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::money::BRL;
use crate::base::{Cents, Instant, OffsetTime, OrderId, UserId, Zone};
use crate::dropshipping::orders::{
    self, DropLine, DropOrder, DropOrderQuery, DropOrderStatus, StatusFilter, Whose,
};
use crate::http::input::Check;
use crate::http::schema::DAY;
use crate::identity::Supplier;
use crate::list_arguments;
use crate::partner::cursor::{CursorListOf, LONGEST, ListScope, Walk};
use crate::partner::list::{Window, days, reading, span};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

/// Everything that is still to be paid, as a state to ask for.
const OPEN: &str = "open";
/// The states that can be asked for.
const STATES: [&str; 5] = [
    OPEN,
    DropOrderStatus::Pending.name(),
    DropOrderStatus::Overdue.name(),
    DropOrderStatus::Paid.name(),
    DropOrderStatus::Cancelled.name(),
];

list_arguments! {
    /// Which drop orders are asked for.
    pub struct ListDropOrders {
        /// A state of drop orders; `open` is `pending` and `overdue` together.
        #[schemars(extend("enum" = STATES))]
        status: String,
        /// Number of a seller, to see that seller's only.
        seller_id: UserId,
        /// `pagination.next_cursor` of the page before, beside the same filters.
        #[schemars(length(max = LONGEST))]
        cursor: String,
        /// First civil day on which the order was made.
        #[schemars(extend("format" = "date", "pattern" = DAY))]
        from: String,
        /// Last civil day on which the order was made.
        #[schemars(extend("format" = "date", "pattern" = DAY))]
        to: String,
    }
}

wire! {
    /// What a seller owes for an order of a linked listing.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "DropOrder")]
    pub struct WireDropOrder of(order: DropOrder, now: Instant, zone: Zone) after {
        let when = |at: Option<Instant>| at.map(|at| zone.partner(at));
        let exactly = |at: Option<Instant>| at.map(|at| zone.with_offset(at));
        let status = order.status(now).name();
        let items = order.lines().into_iter().map(DropItem::of).collect();
    } {
        /// Number of the drop order.
        drop_order_id: String = order.id.to_string(),
        /// The marketplace's order.
        order_id: OrderId = order.order_id,
        /// Marketplace listing id of what was sold; null once the seller's account is unlinked.
        ml_id: Option<String> = order.ml_id,
        /// When the order was made, as civil time.
        date_created: String = zone.partner(order.ordered_at),
        /// The same instant with its offset from UTC.
        date_created_at: OffsetTime = zone.with_offset(order.ordered_at),
        /// Number of the seller who owes.
        seller_id: UserId = order.seller_id,
        /// Name of that seller.
        seller_name: String = order.seller,
        /// What was sold of the supplier.
        items: Vec<DropItem> = items,
        /// What the seller owes for it, in `currency`.
        amount_due: Cents = order.amount,
        /// Currency of all amounts of the drop order.
        #[schemars(extend("const" = BRL))]
        currency: &'static str = BRL,
        /// `overdue` once `due_at` has passed unpaid.
        #[schemars(extend("enum" = DropOrderStatus::ALL.map(DropOrderStatus::name)))]
        status: &'static str = status,
        /// When it is to be paid.
        due_at: String = zone.partner(order.due_at),
        /// The same instant with its offset from UTC.
        due_at_rfc3339: OffsetTime = zone.with_offset(order.due_at),
        /// When it was marked as paid; null before.
        paid_at: Option<String> = when(order.paid_at),
        /// The same instant with its offset from UTC, or null.
        paid_at_rfc3339: Option<OffsetTime> = exactly(order.paid_at),
        /// The last reminder; null before.
        reminded_at: Option<String> = when(order.reminded_at),
        /// The same instant with its offset from UTC, or null.
        reminded_at_rfc3339: Option<OffsetTime> = exactly(order.reminded_at),
        /// The parcel; nulls until there is one.
        shipping: DropShipping = DropShipping {
            id: order.shipping_id.map(|id| id.to_string()),
            status: order.shipping_status,
            logistic_type: order.logistic_type,
        },
    }
}

/// What was sold, at the supplier's price when the order arose.
#[derive(Serialize, JsonSchema)]
struct DropItem {
    /// SKU of the supplier's product.
    sku: String,
    /// Title of the supplier's product.
    title: String,
    /// Units sold.
    quantity: i64,
    /// The supplier's price of one, in `currency` of the drop order.
    unit_cost: Cents,
}

impl DropItem {
    fn of(line: DropLine) -> Self {
        let DropLine { sku, title, quantity, unit, .. } = line;
        Self { sku, title, quantity, unit_cost: unit }
    }
}

/// The parcel of an order; nulls until there is one.
#[derive(Serialize, JsonSchema)]
struct DropShipping {
    /// Number of the shipment, which `drop_get_label` takes.
    id: Option<String>,
    /// State at the marketplace, such as `ready_to_ship`.
    status: Option<String>,
    /// Kind of shipping, such as `drop_off`.
    logistic_type: Option<String>,
}

impl Operation for ListDropOrders {
    type By = Supplier;
    type Reply = CursorListOf<WireDropOrder>;

    fn begin(self, app: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let status: Option<String> = check.optional("status", self.status);
        let filter = status.as_deref().map(|name| match name {
            OPEN => Some(StatusFilter::Open),
            name => DropOrderStatus::from_name(name).map(StatusFilter::Of),
        });
        if filter == Some(None) {
            check.fail("status", format!("must be one of {}", STATES.join(", ")));
        }
        let seller = check.optional("seller_id", self.seller_id);
        let days = days(&mut check, self.from, self.to);
        let window = Window::read(&mut check, self.limit, self.offset);
        let filters = format!("{:?}", (&status, seller, days));
        let scope = ListScope::of(app, supplier.account.user_id, "drop_orders", &filters);
        let walk: Walk<(i64, i64)> = Walk::read(&mut check, scope, self.cursor, window);
        check.finish()?;
        let now = supplier.called_at;
        let wanted = DropOrderQuery {
            status: filter.flatten(),
            other: seller,
            span: span(app.zone(), days),
            after: walk.after,
            ..DropOrderQuery::all(Whose::Related(supplier.account.user_id), now)
        };
        // Rows of a period are looked at to count them.
        let is_slow = window.is_far() || days.0.is_some() || days.1.is_some();
        reading(app, is_slow, move |app, lane| {
            let page = app.db.read(lane, |tx| orders::page(tx, &wanted, walk.rows()))?;
            let place = |row: &DropOrder| (row.ordered_at.0, row.id);
            Ok(walk.page(page, place, |row| WireDropOrder::of(row, now, app.zone())))
        })
    }
}
