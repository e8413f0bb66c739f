//! `drop_list_products`: the supplier's products, by SKU.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::money::Cents;
use crate::catalog::Product;
use crate::catalog::store;
use crate::dropshipping::links;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::Supplier;
use crate::partner::list::{ListOf, reading};
use crate::partner::operation::Operation;
use crate::partner::products::ProductsQuery;

pub struct ListSuppliersProducts;

/// A product of a supplier.
#[derive(Serialize, JsonSchema)]
pub struct SuppliersProduct {
    /// Number of the product.
    id: String,
    /// The supplier's own code, unique in the catalog.
    sku: String,
    /// Empty when it has none.
    ean: String,
    /// What the supplier calls it.
    title: String,
    /// What sellers pay for it.
    price: Cents,
    /// Balance of its movements.
    stock: i64,
    /// Listings of sellers that are linked to it.
    links: i64,
    /// When it or its stock last changed.
    updated_at: String,
}

impl Operation for ListSuppliersProducts {
    type By = Supplier;
    type Args = ProductsQuery;
    type Reply = ListOf<SuppliersProduct>;

    fn begin(
        app: &App,
        supplier: &Supplier,
        query: ProductsQuery,
        check: Check,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let asked = query.read(check)?;
        let owner = supplier.account.user_id;
        reading(app, asked.is_slow(), move |app, lane| {
            let (wanted, window) = (asked.of(owner), asked.window);
            let (products, counts, total) = app.db.read(lane, |tx| {
                let (products, total) = store::page(tx, &wanted, window.pair())?;
                let ids: Vec<i64> = products.iter().map(|product| product.id).collect();
                Ok::<_, Problem>((products, links::by_product(tx, owner, &ids)?, total))
            })?;
            let products = products.into_iter().zip(counts);
            let products =
                products.map(|(one, links)| SuppliersProduct::of(one, links, app.zone()));
            Ok(ListOf::of(products, total, window))
        })
    }
}

impl SuppliersProduct {
    fn of(product: Product, links: i64, zone: Zone) -> Self {
        Self {
            id: product.id.to_string(),
            sku: product.entry.sku,
            ean: product.entry.ean,
            title: product.entry.title,
            price: product.entry.price,
            stock: product.stock,
            links,
            updated_at: zone.partner(product.updated_at),
        }
    }
}
