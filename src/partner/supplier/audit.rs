//! `drop_audit_catalog`: listings for which no product of the supplier is found.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::ids::UserId;
use crate::dropshipping::unmatched::{self, Reason, Unmatched, UnmatchedQuery};
use crate::http::input::Check;
use crate::identity::Supplier;
use crate::list_arguments;
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::{Begun, Operation};
use crate::wire;

list_arguments! {
    /// Which listings are asked for.
    pub struct AuditCatalog {
        /// Number of a seller, to see that seller's only.
        seller_id: UserId,
    }
}

wire! {
    /// A listing that matches no product.
    #[derive(Serialize, JsonSchema)]
    pub struct UnmatchedListing of(listing: Unmatched) after {
        let reason = listing.reason().name();
    } {
        /// Number of the seller whose listing it is.
        seller_id: UserId = listing.seller_id,
        /// Marketplace listing id, such as `MLB123`.
        ml_id: String = listing.ml_id,
        /// Title of the listing.
        title: String = listing.title,
        /// SKU of the listing; empty when it has none.
        sku: String = listing.sku,
        /// EAN of the listing; empty when it has none.
        ean: String = listing.ean,
        /// `no_sku`: it has neither; `sku_unknown`: nor is its EAN known; `ean_unknown`: its only code.
        #[schemars(extend("enum" = Reason::ALL.map(Reason::name)))]
        reason: &'static str = reason,
    }
}

impl Operation for AuditCatalog {
    type By = Supplier;
    type Reply = ListOf<UnmatchedListing>;

    fn begin(self, app: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let seller = check.optional("seller_id", self.seller_id);
        let window = Window::read(&mut check, self.limit, self.offset);
        check.finish()?;
        let wanted = UnmatchedQuery {
            supplier: supplier.account.user_id,
            seller,
            reason: None,
            foreign: None,
        };
        // Slow: every listing of every linked seller is read.
        reading(app, true, move |app, lane| {
            let page = app.db.read(lane, |tx| unmatched::page(tx, &wanted, window.rows()))?;
            Ok(ListOf::of(page, window, UnmatchedListing::of))
        })
    }
}
