//! `drop_audit_catalog`: listings for which no product of the supplier is found.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::ids::UserId;
use crate::dropshipping::unmatched::{self, Reason, Unmatched, UnmatchedQuery};
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::Check;
use crate::identity::Supplier;
use crate::list_arguments;
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::Operation;

pub struct AuditCatalog;

list_arguments! {
    /// Which listings are asked for.
    pub struct AuditQuery {
        /// Number of a seller, to see that seller's only.
        seller_id: UserId,
    }
}

/// A listing that matches no product.
#[derive(Serialize, JsonSchema)]
pub struct UnmatchedListing {
    /// Number of the seller whose listing it is.
    seller_id: UserId,
    /// Marketplace listing id, such as `MLB123`.
    ml_id: String,
    /// Title of the listing.
    title: String,
    /// SKU of the listing; empty when it has none.
    sku: String,
    /// EAN of the listing; empty when it has none.
    ean: String,
    /// `no_sku`: it has neither; `sku_unknown`: nor is its EAN known; `ean_unknown`: its only code.
    #[schemars(extend("enum" = Reason::ALL.map(Reason::name)))]
    reason: &'static str,
}

impl Operation for AuditCatalog {
    type By = Supplier;
    type Args = AuditQuery;
    type Reply = ListOf<UnmatchedListing>;

    fn begin(
        app: &App,
        supplier: &Supplier,
        query: AuditQuery,
        mut check: Check,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let seller = check.optional("seller_id", query.seller_id);
        let window = Window::read(&mut check, query.limit, query.offset);
        check.finish()?;
        let wanted = UnmatchedQuery { supplier: supplier.account.user_id, seller, reason: None };
        // Slow: every listing of every linked seller is read.
        reading(app, true, move |app, lane| {
            let (rows, total) =
                app.db.read(lane, |tx| unmatched::page(tx, &wanted, window.pair()))?;
            Ok(ListOf::of(rows.into_iter().map(UnmatchedListing::of), total, window))
        })
    }
}

impl UnmatchedListing {
    fn of(listing: Unmatched) -> Self {
        let reason = listing.reason().name();
        Self {
            seller_id: listing.seller_id,
            ml_id: listing.ml_id,
            title: listing.title,
            sku: listing.sku,
            ean: listing.ean,
            reason,
        }
    }
}
