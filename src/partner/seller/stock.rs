//! `get_stock`: the balance of each product, with its newest movements.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::{OffsetTime, OrderId, Zone};
use crate::catalog::Product;
use crate::catalog::stock::{self, Movement, StockMovementKind};
use crate::catalog::store::{self, ProductQuery};
use crate::db;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::list_arguments;
use crate::partner::cursor::{CursorListOf, LONGEST, ListScope, Walk};
use crate::partner::list::{Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

/// Default number of movements of each product, and the most that a caller may
/// ask for.
const MOVEMENTS: i64 = 20;
const MOST_MOVEMENTS: i64 = 100;
/// Answers that may have more movements are read in the slow lane.
const MANY: i64 = 1_000;

list_arguments! {
    /// How much is asked for of each product.
    pub struct GetStock {
        /// Newest movements of each product.
        #[schemars(range(min = 0, max = MOST_MOVEMENTS), extend("default" = MOVEMENTS))]
        movements: i64,
        /// `pagination.next_cursor` of the page before, beside the same filters.
        #[schemars(length(max = LONGEST))]
        cursor: String,
    }
}

wire! {
    /// What is in stock of a product.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "Stock")]
    pub struct ProductStock of(product: Product, movements: Vec<Movement>, zone: Zone) {
        /// The seller's own code of the product.
        sku: String = product.entry.sku,
        /// Number of the product on this platform.
        product_id: String = product.id.to_string(),
        /// What the seller calls it.
        title: String = product.entry.title,
        /// Units there are; below zero when more was sold than there was.
        balance: i64 = product.stock,
        /// Its movements, the newest first.
        movements: Vec<StockMovement> =
            movements.into_iter().map(|one| StockMovement::of(one, zone)).collect(),
    }
}

wire! {
    /// What changed the balance.
    #[derive(Serialize, JsonSchema)]
    pub(super) struct StockMovement of(movement: Movement, zone: Zone) {
        /// Number of the movement; no other has it.
        id: String = movement.id.to_string(),
        /// `in`, `out`, or `adjust` after a count.
        #[serde(rename = "type")]
        kind: MovementType = match movement.kind {
            StockMovementKind::In => MovementType::In,
            StockMovementKind::Out => MovementType::Out,
            StockMovementKind::Adjust => MovementType::Adjust,
        },
        /// Units that it moved, without a sign.
        quantity: u64 = movement.change.unsigned_abs(),
        /// What it added to the balance; below zero when units went out.
        change: i64 = movement.change,
        /// Units there were after it.
        balance_after: i64 = movement.balance,
        /// Why, in the words of whoever moved it.
        reason: String = movement.reason,
        /// The order that moved it; null otherwise.
        order_id: Option<OrderId> = movement.order_id,
        /// When, as civil time of the service.
        created_at: String = zone.partner(movement.created_at),
        /// The same instant with its offset from UTC.
        created_at_rfc3339: OffsetTime = zone.with_offset(movement.created_at),
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MovementType {
    In,
    Out,
    /// Somebody counted: units by which the balance was off.
    Adjust,
}

impl Operation for GetStock {
    type By = Seller;
    type Reply = CursorListOf<ProductStock>;

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let movements =
            check.number("movements", self.movements, 0..=MOST_MOVEMENTS).unwrap_or(MOVEMENTS);
        let window = Window::read(&mut check, self.limit, self.offset);
        let owner = seller.account.user_id;
        let scope = ListScope::of(app, owner, "stock", "");
        let walk: Walk<(String, i64)> = Walk::read(&mut check, scope, self.cursor, window);
        check.finish()?;
        let most = u32::try_from(movements).unwrap_or(0);
        let is_much = window.is_far() || window.limit * movements > MANY;
        reading(app, is_much, move |app, lane| {
            let wanted = ProductQuery {
                owner,
                search: "",
                sku: None,
                level: None,
                order: "sku",
                descending: false,
                after: walk.after.as_ref().map(|(sku, id)| (&**sku, *id)),
            };
            let page = app.db.read(lane, |tx| {
                let (products, total) = store::page(tx, &wanted, walk.rows())?;
                let products = products.into_iter().map(|product| {
                    let movements = match most {
                        0 => Vec::new(),
                        most => stock::page(tx, product.id, 0, most)?,
                    };
                    Ok((product, movements))
                });
                Ok::<_, db::DbError>((products.collect::<db::Result<Vec<_>>>()?, total))
            })?;
            let place = |(product, _): &(Product, _)| (product.entry.sku.clone(), product.id);
            let shown = |(product, movements)| ProductStock::of(product, movements, app.zone());
            Ok(walk.page(page, place, shown))
        })
    }
}
