//! `drop_audit_catalog`: listings for which no product of the supplier is found.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::ids::UserId;
use crate::drop::unmatched::{self, Reason, Unmatched, Wanted};
use crate::edge::docs::Example;
use crate::edge::guard::Supplier;
use crate::edge::route::Todo;
use crate::http::Problem;
use crate::http::input::{Check, RowNumber};
use crate::list_arguments;
use crate::partner::list::{ListOf, Window, reading};
use crate::partner::operation::{Effect, Operation, Tool};

pub struct AuditCatalog;

list_arguments! {
    /// Which listings are asked for.
    pub struct AuditQuery {
        /// Number of a seller, to see that seller's only.
        seller_id: RowNumber,
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

    const DETAILS: &'static str = "\
        Active and paused listings of all linked sellers that have no link, and neither a \
        SKU nor an EAN that the catalog knows. Give the product the SKU or EAN, or link \
        the listing, and it is gone from here.";
    const EXAMPLE: Example = Example {
        sent: "",
        answer: r#"{
  "data": [
    {
      "seller_id": "42",
      "ml_id": "MLB3508419013",
      "title": "Copo térmico com tampa",
      "sku": "COPO-1",
      "ean": "",
      "reason": "sku_unknown"
    }
  ],
  "pagination": {"total": 1, "limit": 50, "offset": 0}
}"#,
    };
    const TOOL: Tool = Tool {
        title: "Listings without a product",
        when: "\
            Use it to find what sellers offer that no product of the supplier answers for, and \
            why (`reason`). The way on is `drop_link_listing`, or the missing SKU or EAN in the \
            catalog.",
        effect: Effect::Reads,
    };

    fn begin(
        app: &App,
        supplier: &Supplier,
        query: AuditQuery,
    ) -> Result<Todo<Self::Reply>, Problem> {
        let mut check = Check::query();
        let seller = check.optional("seller_id", query.seller_id);
        let seller = seller.map(|RowNumber(seller)| UserId(seller));
        let window = Window::read(&mut check, query.limit, query.offset);
        check.finish()?;
        let wanted = Wanted { supplier: supplier.account.user_id, seller, reason: None };
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
