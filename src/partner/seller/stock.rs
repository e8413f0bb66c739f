//! `get_stock`: the balance of each product, with its newest movements.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::ids::OrderId;
use crate::catalog::Product;
use crate::catalog::stock::{self, Movement, StockMovementKind};
use crate::catalog::store::{self, ProductQuery};
use crate::db;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::list_arguments;
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::Operation;

/// Default number of movements of each product, and the most that a caller may
/// ask for.
const MOVEMENTS: i64 = 20;
const MOST_MOVEMENTS: i64 = 100;
/// Answers that may have more movements are read in the slow lane.
const MANY: i64 = 1_000;

pub struct GetStock;

list_arguments! {
    /// How much is asked for of each product.
    pub struct StockQuery {
        /// Newest movements of each product.
        #[schemars(range(min = 0, max = MOST_MOVEMENTS), extend("default" = MOVEMENTS))]
        movements: i64,
    }
}

/// What is in stock of a product.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Stock")]
pub struct ProductStock {
    /// The seller's own code of the product.
    sku: String,
    /// Number of the product on this platform.
    product_id: String,
    /// What the seller calls it.
    title: String,
    /// Units there are; below zero when more was sold than there was.
    balance: i64,
    /// Its movements, the newest first.
    movements: Vec<StockMovement>,
}

#[derive(Serialize, JsonSchema)]
struct StockMovement {
    /// Number of the movement; no other has it.
    id: String,
    /// `in`, `out`, or `adjust` after a count.
    #[serde(rename = "type")]
    kind: MovementType,
    /// Units; the type says which way they went.
    quantity: u64,
    /// Why, in the words of whoever moved it.
    reason: String,
    /// The order that moved it; null otherwise.
    order_id: Option<OrderId>,
    /// When, as civil time of the service.
    created_at: String,
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
    type Args = StockQuery;
    type Reply = ListOf<ProductStock>;

    fn begin(
        app: &App,
        seller: &Seller,
        query: StockQuery,
        mut check: Check,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let movements = check.number("movements", query.movements, 0..=MOST_MOVEMENTS);
        let movements = movements.unwrap_or(MOVEMENTS);
        let window = Window::read(&mut check, query.limit, query.offset);
        check.finish()?;
        let most = u32::try_from(movements).unwrap_or(0);
        let owner = seller.account.user_id;
        let is_much = window.is_far() || window.limit * movements > MANY;
        reading(app, is_much, move |app, lane| {
            let wanted = ProductQuery {
                owner,
                search: "",
                sku: None,
                in_stock: None,
                order: "sku",
                descending: false,
            };
            let (products, total) = app.db.read(lane, |tx| {
                let (products, total) = store::page(tx, &wanted, window.pair())?;
                let products = products.into_iter().map(|product| {
                    let movements = match most {
                        0 => Vec::new(),
                        most => stock::page(tx, product.id, 0, most)?,
                    };
                    Ok((product, movements))
                });
                Ok::<_, db::DbError>((products.collect::<db::Result<Vec<_>>>()?, total))
            })?;
            let zone = app.zone();
            let products = products
                .into_iter()
                .map(|(product, movements)| ProductStock::of(product, movements, zone));
            Ok(ListOf::of(products, total, window))
        })
    }
}

impl ProductStock {
    /// A product with some of its movements.
    pub(in crate::partner) fn of(product: Product, movements: Vec<Movement>, zone: Zone) -> Self {
        Self {
            sku: product.entry.sku,
            product_id: product.id.to_string(),
            title: product.entry.title,
            balance: product.stock,
            movements: movements.into_iter().map(|one| StockMovement::of(one, zone)).collect(),
        }
    }
}

impl StockMovement {
    fn of(movement: Movement, zone: Zone) -> Self {
        Self {
            id: movement.id.to_string(),
            kind: match movement.kind {
                StockMovementKind::In => MovementType::In,
                StockMovementKind::Out => MovementType::Out,
                StockMovementKind::Adjust => MovementType::Adjust,
            },
            quantity: movement.change.unsigned_abs(),
            reason: movement.reason,
            order_id: movement.order_id,
            created_at: zone.partner(movement.created_at),
        }
    }
}
