//! `drop_list_products`: the supplier's products, by SKU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{Cents, OffsetTime, Zone};
use crate::catalog::Product;
use crate::catalog::store;
use crate::dropshipping::links;
use crate::http::{Check, Problem};
use crate::identity::Supplier;
use crate::partner::list::{ListOf, reading};
use crate::partner::operation::{Begun, Operation};
use crate::partner::products::ProductsQuery;
use crate::wire;

#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ListSuppliersProducts(ProductsQuery);

wire! {
    /// A product of a supplier.
    #[derive(Serialize, JsonSchema)]
    pub struct SuppliersProduct of(product: Product, links: i64, zone: Zone) {
        /// Number of the product.
        id: String = product.id.to_string(),
        /// The supplier's own code, unique in the catalog.
        sku: String = product.entry.sku,
        /// Empty when it has none.
        ean: String = product.entry.ean,
        /// What the supplier calls it.
        title: String = product.entry.title,
        /// What sellers pay for it, in BRL.
        price: Cents = product.entry.price,
        /// Balance of its movements.
        stock: i64 = product.stock,
        /// Listings of sellers that are linked to it.
        links: i64 = links,
        /// When it or its stock last changed.
        updated_at: String = zone.partner(product.updated_at),
        /// The same instant with its offset from UTC.
        updated_at_rfc3339: OffsetTime = zone.with_offset(product.updated_at),
    }
}

impl Operation for ListSuppliersProducts {
    type By = Supplier;
    type Reply = ListOf<SuppliersProduct>;

    fn begin(self, app: &App, supplier: &Supplier, check: Check) -> Begun<Self> {
        let asked = self.0.read(check)?;
        let owner = supplier.account.user_id;
        reading(app, asked.is_slow(), move |app, lane| {
            let (wanted, window) = (asked.of(owner), asked.window);
            let page = app.db.read(lane, |tx| {
                let (products, total) = store::page(tx, &wanted, window.rows())?;
                let ids: Vec<i64> = products.iter().map(|product| product.id).collect();
                let links = links::by_product(tx, owner, &ids)?;
                Ok::<_, Problem>((products.into_iter().zip(links).collect::<Vec<_>>(), total))
            })?;
            let shown = |(one, links)| SuppliersProduct::of(one, links, app.zone());
            Ok(ListOf::of(page, window, shown))
        })
    }
}
