//! `list_products`: the seller's internal catalog, by SKU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{Cents, OffsetTime, Zone};
use crate::catalog::Product;
use crate::catalog::store;
use crate::http::input::Check;
use crate::identity::Seller;
use crate::partner::list::{ListOf, reading};
use crate::partner::operation::{Begun, Operation};
use crate::partner::products::ProductsQuery;
use crate::wire;

#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ListProducts(ProductsQuery);

wire! {
    /// A product of the seller's internal catalog.
    #[derive(Serialize, JsonSchema)]
    #[schemars(rename = "Product")]
    pub struct WireProduct of(product: Product, zone: Zone) {
        /// Number of the product on this platform.
        id: String = product.id.to_string(),
        /// The seller's own code, unique in the catalog.
        sku: String = product.entry.sku,
        /// Barcode number (GTIN); empty when it has none.
        ean: String = product.entry.ean,
        /// What the seller calls it.
        title: String = product.entry.title,
        /// What it costs the seller, in BRL.
        cost: Cents = product.entry.cost,
        /// What the seller asks for it, in BRL.
        price: Cents = product.entry.price,
        /// Balance of its movements; below zero when more was sold than there was.
        stock: i64 = product.stock,
        /// When it last changed, as civil time of the service.
        updated_at: String = zone.partner(product.updated_at),
        /// The same instant with its offset from UTC.
        updated_at_rfc3339: OffsetTime = zone.with_offset(product.updated_at),
    }
}

impl Operation for ListProducts {
    type By = Seller;
    type Reply = ListOf<WireProduct>;

    fn begin(self, app: &App, seller: &Seller, check: Check) -> Begun<Self> {
        let asked = self.0.read(check)?;
        let owner = seller.account.user_id;
        reading(app, asked.is_slow(), move |app, lane| {
            let (wanted, window) = (asked.of(owner), asked.window);
            let page = app.db.read(lane, |tx| store::page(tx, &wanted, window.rows()))?;
            Ok(ListOf::of(page, window, |one| WireProduct::of(one, app.zone())))
        })
    }
}
