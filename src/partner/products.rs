//! How products are asked for in lists and named in bodies, for sellers and for suppliers.

use schemars::Schema;
use serde_json::json;

use crate::base::UserId;
use crate::catalog::LONGEST_SKU;
use crate::catalog::store::{ByProduct, ProductQuery};
use crate::http::{Check, Problem, RowNumber};
use crate::list_arguments;
use crate::partner::list::{LONGEST_SEARCH, Window};

list_arguments! {
    /// Which products are asked for.
    pub struct ProductsQuery {
        /// Words that title, SKU or EAN hold.
        #[schemars(length(min = 1, max = LONGEST_SEARCH))]
        q: String,
        /// A SKU, as a whole.
        #[schemars(length(min = 1, max = LONGEST_SKU))]
        sku: String,
    }
}

/// Reads how a body names a product: by its id or by its SKU, and by one of them.
pub fn named_once(check: &mut Check, id: Option<RowNumber>, sku: String) -> ByProduct {
    match id {
        Some(_) if !sku.is_empty() => check.fail("sku", "must not be there beside product_id"),
        None if sku.is_empty() => check.fail("product_id", "is required, or sku"),
        _ => {}
    }
    id.map_or(ByProduct::Sku(sku), |RowNumber(id)| ByProduct::Id(id))
}

/// Says in the schema of a body that it does so.
pub fn names_once(schema: &mut Schema) {
    schema.insert("if".to_owned(), json!({ "required": ["product_id"] }));
    schema.insert("then".to_owned(), json!({ "not": { "required": ["sku"] } }));
    schema.insert("else".to_owned(), json!({ "required": ["sku"] }));
}

pub struct AskedProducts {
    search: Option<String>,
    sku: Option<String>,
    pub window: Window,
}

impl ProductsQuery {
    pub fn read(self, mut check: Check) -> Result<AskedProducts, Problem> {
        let asked = AskedProducts {
            search: check.search("q", self.q, LONGEST_SEARCH),
            sku: check.search("sku", self.sku, LONGEST_SKU),
            window: Window::read(&mut check, self.limit, self.offset),
        };
        check.finish().map(|()| asked)
    }
}

impl AskedProducts {
    /// Whether reading takes long: a search looks at every product.
    pub const fn is_slow(&self) -> bool {
        self.search.is_some() || self.window.is_far()
    }

    /// The query for the products of an owner, by SKU.
    pub fn of(&self, owner: UserId) -> ProductQuery<'_> {
        ProductQuery {
            owner,
            search: self.search.as_deref().unwrap_or_default(),
            sku: self.sku.as_deref(),
            level: None,
            order: "sku",
            descending: false,
            after: None,
        }
    }
}
