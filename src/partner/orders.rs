//! Orders of a page on the wire of the Partner API.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::ids::{MlUserId, OrderId};
use crate::base::money::Cents;
use crate::marketplace::books::orders::list::{Order, OrderPage};

/// An order on the wire (specification, "Partner order"; contract §9).
#[derive(Serialize, JsonSchema)]
pub struct OrderItem<'o> {
    order_id: OrderId,
    /// Marketplace listing id.
    ml_id: &'o str,
    ml_user_id: MlUserId,
    status: &'o str,
    total_amount: Cents,
    currency: &'o str,
    quantity: i64,
    title: &'o str,
    sku: &'o str,
    buyer_nickname: &'o str,
    /// Civil time.
    date_created: String,
    shipping: Shipping<'o>,
}

/// The shipment of an order; nulls until there is one.
#[derive(Serialize, JsonSchema)]
struct Shipping<'o> {
    id: Option<String>,
    status: Option<&'o str>,
    logistic_type: Option<&'o str>,
}

/// The orders of a page as they go on the wire.
pub fn items<'o>(page: &'o OrderPage, app: &App) -> Vec<OrderItem<'o>> {
    let orders = page.orders.iter();
    orders.map(|order| item(page, order, app.zone())).collect()
}

fn item<'o>(page: &'o OrderPage, order: &'o Order, zone: Zone) -> OrderItem<'o> {
    let word = |place: usize| page.word(place);
    OrderItem {
        order_id: order.order_id,
        ml_id: &order.ml_id,
        ml_user_id: order.ml_user_id,
        status: word(order.status),
        total_amount: order.total,
        currency: word(order.currency),
        quantity: order.quantity,
        title: &order.title,
        sku: &order.sku,
        buyer_nickname: &order.buyer_nickname,
        date_created: zone.partner(order.created_at),
        shipping: Shipping {
            id: order.shipping_id.map(|id| id.to_string()),
            status: order.shipping_status.map(word),
            logistic_type: order.logistic_type.map(word),
        },
    }
}
