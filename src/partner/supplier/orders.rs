//! `drop_list_orders`: what linked sellers owe, newest first.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::{Instant, Zone};
use crate::base::ids::{OrderId, UserId};
use crate::base::money::Cents;
use crate::dropshipping::orders::{self, DropOrder, DropOrderQuery, DropOrderStatus, Whose};
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::Supplier;
use crate::list_arguments;
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::Operation;

pub struct ListDropOrders;

list_arguments! {
    /// Which drop orders are asked for.
    pub struct DropOrdersQuery {
        /// A state of drop orders.
        #[schemars(extend("enum" = DropOrderStatus::ALL.map(DropOrderStatus::name)))]
        status: String,
        /// Number of a seller, to see that seller's only.
        seller_id: UserId,
    }
}

/// What a seller owes for an order of a linked listing.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DropOrder")]
pub struct WireDropOrder {
    /// Number of the drop order.
    drop_order_id: String,
    /// The marketplace's order.
    order_id: OrderId,
    /// Number of the seller who owes.
    seller_id: UserId,
    /// Name of that seller.
    seller_name: String,
    /// What was sold of the supplier.
    items: Vec<DropItem>,
    /// What the seller owes for it.
    amount_due: Cents,
    /// `overdue` once `due_at` has passed unpaid.
    #[schemars(extend("enum" = DropOrderStatus::ALL.map(DropOrderStatus::name)))]
    status: &'static str,
    /// When it is to be paid.
    due_at: String,
    /// When it was marked as paid; null before.
    paid_at: Option<String>,
    /// The last reminder; null before.
    reminded_at: Option<String>,
    /// The parcel; nulls until there is one.
    shipping: DropShipping,
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
    type Args = DropOrdersQuery;
    type Reply = ListOf<WireDropOrder>;

    fn begin(
        app: &App,
        supplier: &Supplier,
        query: DropOrdersQuery,
        mut check: Check,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let status: Option<String> = check.optional("status", query.status);
        let standing = status.as_deref().map(DropOrderStatus::from_name);
        if standing == Some(None) {
            let known = DropOrderStatus::ALL.map(DropOrderStatus::name).join(", ");
            check.fail("status", format!("must be one of {known}"));
        }
        let seller = check.optional("seller_id", query.seller_id);
        let window = Window::read(&mut check, query.limit, query.offset);
        check.finish()?;
        let now = supplier.called_at;
        let wanted = DropOrderQuery {
            standing: standing.flatten(),
            other: seller,
            ..DropOrderQuery::all(Whose::Related(supplier.account.user_id), now)
        };
        reading(app, window.is_far(), move |app, lane| {
            let (rows, total) = app.db.read(lane, |tx| orders::page(tx, &wanted, window.pair()))?;
            let rows = rows.into_iter().map(|row| WireDropOrder::of(row, now, app.zone()));
            Ok(ListOf::of(rows, total, window))
        })
    }
}

impl WireDropOrder {
    pub(in crate::partner) fn of(order: DropOrder, now: Instant, zone: Zone) -> Self {
        let when = |at: Option<Instant>| at.map(|at| zone.partner(at));
        let status = order.standing(now).name();
        Self {
            drop_order_id: order.id.to_string(),
            order_id: order.order_id,
            seller_id: order.seller_id,
            seller_name: order.seller,
            items: vec![DropItem {
                sku: order.sku,
                title: order.title,
                quantity: order.quantity,
                unit_cost: order.unit,
            }],
            amount_due: order.amount,
            status,
            due_at: zone.partner(order.due_at),
            paid_at: when(order.paid_at),
            reminded_at: when(order.reminded_at),
            shipping: DropShipping {
                id: order.shipping_id.map(|id| id.to_string()),
                status: order.shipping_status,
                logistic_type: order.logistic_type,
            },
        }
    }
}
