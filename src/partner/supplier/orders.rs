//! `drop_list_orders`: what linked sellers owe, newest first.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::{Instant, Zone};
use crate::base::ids::{OrderId, UserId};
use crate::base::money::Cents;
use crate::dropshipping::orders::{
    self, DropOrder, DropOrderQuery, DropOrderStatus, Standing, Whose,
};
use crate::http::input::Check;
use crate::identity::Supplier;
use crate::list_arguments;
use crate::partner::cursor::{CursorListOf, LONGEST, ListScope, Walk};
use crate::partner::list::{Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

list_arguments! {
    /// Which drop orders are asked for.
    pub struct ListDropOrders {
        /// A state of drop orders.
        #[schemars(extend("enum" = DropOrderStatus::ALL.map(DropOrderStatus::name)))]
        status: String,
        /// Number of a seller, to see that seller's only.
        seller_id: UserId,
        /// `pagination.next_cursor` of the page before, beside the same filters.
        #[schemars(length(max = LONGEST))]
        cursor: String,
    }
}

wire! {
    /// What a seller owes for an order of a linked listing.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "DropOrder")]
    pub struct WireDropOrder of(order: DropOrder, now: Instant, zone: Zone) after {
        let when = |at: Option<Instant>| at.map(|at| zone.partner(at));
        let status = order.standing(now).name();
    } {
        /// Number of the drop order.
        drop_order_id: String = order.id.to_string(),
        /// The marketplace's order.
        order_id: OrderId = order.order_id,
        /// Number of the seller who owes.
        seller_id: UserId = order.seller_id,
        /// Name of that seller.
        seller_name: String = order.seller,
        /// What was sold of the supplier.
        items: Vec<DropItem> = vec![DropItem {
            sku: order.sku,
            title: order.title,
            quantity: order.quantity,
            unit_cost: order.unit,
        }],
        /// What the seller owes for it.
        amount_due: Cents = order.amount,
        /// `overdue` once `due_at` has passed unpaid.
        #[schemars(extend("enum" = DropOrderStatus::ALL.map(DropOrderStatus::name)))]
        status: &'static str = status,
        /// When it is to be paid.
        due_at: String = zone.partner(order.due_at),
        /// When it was marked as paid; null before.
        paid_at: Option<String> = when(order.paid_at),
        /// The last reminder; null before.
        reminded_at: Option<String> = when(order.reminded_at),
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
    /// The supplier's price of one.
    unit_cost: Cents,
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
        let standing = status.as_deref().map(DropOrderStatus::from_name);
        if standing == Some(None) {
            let known = DropOrderStatus::ALL.map(DropOrderStatus::name).join(", ");
            check.fail("status", format!("must be one of {known}"));
        }
        let seller = check.optional("seller_id", self.seller_id);
        let window = Window::read(&mut check, self.limit, self.offset);
        let filters = format!("{:?}", (&status, seller));
        let scope = ListScope::of(app, supplier.account.user_id, "drop_orders", &filters);
        let walk: Walk<(i64, i64)> = Walk::read(&mut check, scope, self.cursor, window);
        check.finish()?;
        let now = supplier.called_at;
        let wanted = DropOrderQuery {
            standing: standing.flatten().map(Standing::Of),
            other: seller,
            after: walk.after,
            ..DropOrderQuery::all(Whose::Related(supplier.account.user_id), now)
        };
        reading(app, window.is_far(), move |app, lane| {
            let page = app.db.read(lane, |tx| orders::page(tx, &wanted, walk.rows()))?;
            let place = |row: &DropOrder| (row.ordered_at.0, row.id);
            Ok(walk.page(page, place, |row| WireDropOrder::of(row, now, app.zone())))
        })
    }
}
