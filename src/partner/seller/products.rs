//! `list_products`: the seller's internal catalog, by SKU.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::money::Cents;
use crate::catalog::Product;
use crate::catalog::store;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::partner::list::{ListOf, reading};
use crate::partner::operation::Operation;
use crate::partner::products::ProductsQuery;

pub struct ListProducts;

/// A product of the seller's internal catalog.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Product")]
pub struct WireProduct {
    /// Number of the product on this platform.
    id: String,
    /// The seller's own code, unique in the catalog.
    sku: String,
    /// Barcode number (GTIN); empty when it has none.
    ean: String,
    /// What the seller calls it.
    title: String,
    /// What it costs the seller.
    cost: Cents,
    /// What the seller asks for it.
    price: Cents,
    /// Balance of its movements; below zero when more was sold than there was.
    stock: i64,
    /// When it last changed, as civil time of the service.
    updated_at: String,
}

impl Operation for ListProducts {
    type By = Seller;
    type Args = ProductsQuery;
    type Reply = ListOf<WireProduct>;

    fn begin(
        app: &App,
        seller: &Seller,
        query: ProductsQuery,
        check: Check,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let asked = query.read(check)?;
        let owner = seller.account.user_id;
        reading(app, asked.is_slow(), move |app, lane| {
            let (wanted, window) = (asked.of(owner), asked.window);
            let (products, total) =
                app.db.read(lane, |tx| store::page(tx, &wanted, window.pair()))?;
            let products = products.into_iter().map(|one| WireProduct::of(one, app.zone()));
            Ok(ListOf::of(products, total, window))
        })
    }
}

impl WireProduct {
    fn of(product: Product, zone: Zone) -> Self {
        Self {
            id: product.id.to_string(),
            sku: product.entry.sku,
            ean: product.entry.ean,
            title: product.entry.title,
            cost: product.entry.cost,
            price: product.entry.price,
            stock: product.stock,
            updated_at: zone.partner(product.updated_at),
        }
    }
}
