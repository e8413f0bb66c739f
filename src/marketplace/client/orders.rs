//! Orders, and those that a shipment carries.

use serde_json::json;

use super::{Answer, Caller, Client, Page, asked_for};
use crate::base::{Instant, OrderId};
use crate::marketplace::books::document::{OrderDocument, positive};
use crate::marketplace::books::order_status::OrderStatus;

/// Most orders per page of a search; the marketplace rejects more.
pub const ORDERS_PAGE: usize = 50;

/// A span of dates in whole hours, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Of `date_created`.
    Created(Instant, Instant),
    /// Of `date_last_updated`.
    Updated(Instant, Instant),
}

/// The parameters of a search for orders.
#[derive(Clone, Copy, Debug)]
pub struct OrderSearch {
    /// Finds orders whose dates lie in this span.
    pub span: Span,
    /// Finds the orders that a search leaves out unless it names their states, and
    /// only these.
    pub left_out: bool,
    /// Starts with the orders that were closed last.
    pub newest_first: bool,
}

impl Client {
    pub fn order(&self, caller: &Caller<'_>, order: OrderId) -> Answer<OrderDocument> {
        let found = OrderDocument::read(&self.get(caller, &format!("/orders/{order}"), &[])?)?;
        asked_for(found.id == order, found)
    }

    /// A page of an account's orders, beginning at `offset`.
    pub fn orders(
        &self,
        caller: &Caller<'_>,
        search: &OrderSearch,
        offset: usize,
    ) -> Answer<Page<OrderDocument>> {
        let ([begins, ends], from, to) = match search.span {
            Span::Created(from, to) => {
                (["order.date_created.from", "order.date_created.to"], from, to)
            }
            // Without `date_` the marketplace would ignore the parameter.
            Span::Updated(from, to) => {
                (["order.date_last_updated.from", "order.date_last_updated.to"], from, to)
            }
        };
        let sort = if search.newest_first { "date_desc" } else { "date_asc" };
        let mut query = vec![
            ("seller", caller.ml_user_id.to_string()),
            (begins, from.rfc3339()),
            (ends, to.rfc3339()),
            ("sort", sort.to_owned()),
            ("limit", ORDERS_PAGE.to_string()),
            ("offset", offset.to_string()),
        ];
        if search.left_out {
            query.push(("order.status", OrderStatus::left_out()));
        }
        let answer = self.get(caller, "/orders/search", &query)?;
        Page::read(&answer, "results", |order| {
            if positive(&order["seller"]["id"]).is_some() {
                return OrderDocument::read(order);
            }
            // The search finds only the caller's orders.
            let mut order = order.clone();
            order["seller"] = json!({ "id": caller.ml_user_id });
            OrderDocument::read(&order)
        })
    }

    /// The caller's orders that a shipment carries.
    pub fn orders_of_shipment(&self, caller: &Caller<'_>, shipment: i64) -> Answer<Vec<OrderId>> {
        let answer = self.get(caller, &format!("/shipments/{shipment}/orders"), &[])?;
        let lines = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        let own = lines.iter().filter(|line| {
            positive(&line["seller_id"]).is_none_or(|seller| seller == caller.ml_user_id.0)
        });
        let mut orders: Vec<OrderId> =
            own.filter_map(|line| positive(&line["order_id"])).map(OrderId).collect();
        orders.sort_unstable();
        orders.dedup();
        Ok(orders)
    }
}
