//! `list_products`: the seller's internal catalog, by SKU.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::clock::Zone;
use crate::base::money::Cents;
use crate::catalog::Product;
use crate::catalog::store;
use crate::edge::docs::Example;
use crate::edge::guard::Seller;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::partner::list::{ListOf, reading};
use crate::partner::operation::{Effect, Operation, Tool};
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

    const DETAILS: &'static str = "\
        What the seller keeps in the panel under Produtos, or imported from a file; not \
        the listings at the marketplace, which `list_announcements` has.";
    const EXAMPLE: Example = Example {
        sent: "",
        answer: r#"{
  "data": [
    {
      "id": "7",
      "sku": "GAR-500",
      "ean": "7891234567895",
      "title": "Garrafa térmica 500 ml",
      "cost": 31.5,
      "price": 89.9,
      "stock": 42,
      "updated_at": "2026-11-19T17:20:45"
    }
  ],
  "pagination": {"total": 1, "limit": 50, "offset": 0}
}"#,
    };
    const TOOL: Tool = Tool {
        title: "List products",
        when: "\
            Use it for cost, price and stock of the seller's own catalog, by SKU (`sku`, exact) \
            or by words of the title or code (`q`). The margin is `price` less `cost`.",
        effect: Effect::Reads,
    };

    fn begin(
        app: &App,
        seller: &Seller,
        query: ProductsQuery,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let asked = query.read()?;
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
