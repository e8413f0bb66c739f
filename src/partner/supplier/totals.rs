//! `drop_get_totals`: what drop orders come to, by seller and state.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::base::UserId;
use crate::base::money::{BRL, Cents};
use crate::db::RowWindow;
use crate::dropshipping::debts::{self, Sum, Tally};
use crate::dropshipping::orders::{DropOrderQuery, Whose};
use crate::http::input::Check;
use crate::http::schema::DAY;
use crate::identity::Supplier;
use crate::partner::list::{ListOf, Window, days, reading, span};
use crate::partner::operation::{Begun, Operation};
use crate::{list_arguments, wire};

list_arguments! {
    /// Which drop orders are added up.
    pub struct GetDropTotals {
        /// Number of a seller, to see that seller's only.
        seller_id: UserId,
        /// First civil day on which the order was made.
        #[schemars(extend("format" = "date", "pattern" = DAY))]
        from: String,
        /// Last civil day on which the order was made.
        #[schemars(extend("format" = "date", "pattern" = DAY))]
        to: String,
    }
}

/// Sums by seller, and of all of them.
#[derive(Serialize, JsonSchema)]
pub struct DropTotals {
    #[serde(flatten)]
    sellers: ListOf<SellerTotals>,
    /// All sellers of the filter together, also those of other pages.
    total: DropSums,
    /// Currency of all amounts.
    #[schemars(extend("const" = BRL))]
    currency: &'static str,
}

/// The drop orders of a seller.
#[derive(Serialize, JsonSchema)]
pub struct SellerTotals {
    /// Number of the seller who owes.
    seller_id: UserId,
    /// Name of that seller.
    seller_name: String,
    #[serde(flatten)]
    sums: DropSums,
}

wire! {
    /// Drop orders by state.
    #[derive(Serialize, JsonSchema)]
    struct DropSums of(tally: Tally) {
        /// To be paid, and not due yet.
        pending: DropSum = DropSum::of(tally.owed.pending),
        /// To be paid, and due.
        overdue: DropSum = DropSum::of(tally.owed.overdue),
        /// Marked as paid.
        paid: DropSum = DropSum::of(tally.paid),
        /// Cancelled with their orders; they are owed no more.
        cancelled: DropSum = DropSum::of(tally.cancelled),
    }
}

wire! {
    /// A number of drop orders with what they come to.
    #[derive(Serialize, JsonSchema)]
    struct DropSum of(sum: Sum) {
        /// How many.
        orders: i64 = sum.orders,
        /// What they come to, in `currency`.
        amount: Cents = sum.amount,
    }
}

impl Operation for GetDropTotals {
    type By = Supplier;
    type Reply = DropTotals;

    fn begin(self, app: &App, supplier: &Supplier, mut check: Check) -> Begun<Self> {
        let seller = check.optional("seller_id", self.seller_id);
        let days = days(&mut check, self.from, self.to);
        let window = Window::read(&mut check, self.limit, self.offset);
        check.finish()?;
        let wanted = DropOrderQuery {
            other: seller,
            span: span(app.zone(), days),
            ..DropOrderQuery::all(Whose::Related(supplier.account.user_id), supplier.called_at)
        };
        // Slow: what is overdue, or what a period has, is added up row by row.
        reading(app, true, move |app, lane| {
            let sellers = app.db.read(lane, |tx| debts::by_seller(tx, &wanted))?;
            let all = sellers.iter().fold(Tally::default(), |sum, (.., tally)| sum.and(*tally));
            let (total, RowWindow { limit, offset }) = (sellers.len() as u64, window.rows());
            let page = sellers.into_iter().skip(offset as usize).take(limit as usize).collect();
            let shown = |(seller_id, seller_name, tally)| SellerTotals {
                seller_id,
                seller_name,
                sums: DropSums::of(tally),
            };
            Ok(DropTotals {
                sellers: ListOf::of((page, total), window, shown),
                total: DropSums::of(all),
                currency: BRL,
            })
        })
    }
}
