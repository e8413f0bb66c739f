//! `top_products`: what sold most in a period.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{Cents, Day, MlUserId, UserId};
use crate::db::Lane;
use crate::edge::route::Todo;
use crate::http::schema::DAY;
use crate::http::{Check, Code, Field, Problem};
use crate::identity::Seller;
use crate::marketplace::account::stores;
use crate::marketplace::books::orders::list::Filter;
use crate::marketplace::books::orders::top::{self, ProductSum, Rank};
use crate::marketplace::tools::fees;
use crate::partner::list::period;
use crate::partner::operation::{Begun, Operation};
use crate::wire;

/// Products of an answer, unless told otherwise, and at most.
const USUAL_PRODUCTS: i64 = 10;
const MOST_PRODUCTS: i64 = 50;

/// Which sales, and what makes a product come first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopProducts {
    /// First civil day; 29 days before the last one unless it is given.
    #[serde(default)]
    #[schemars(extend("format" = "date", "pattern" = DAY))]
    from: Field<String>,
    /// Last civil day, at most 366 days with the first; today unless it is given.
    #[serde(default)]
    #[schemars(extend("format" = "date", "pattern" = DAY))]
    to: Field<String>,
    /// Marketplace seller id of a connected account, for its sales alone.
    #[serde(default)]
    store: Field<MlUserId>,
    /// What the order goes by.
    #[serde(default)]
    #[schemars(extend("enum" = Rank::ALL.map(Rank::name), "default" = Rank::Revenue.name()))]
    by: Field<String>,
    /// Most products.
    #[serde(default)]
    #[schemars(range(min = 1, max = MOST_PRODUCTS), extend("default" = USUAL_PRODUCTS))]
    limit: Field<i64>,
}

/// The products that sold most, the first one first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TopProducts")]
pub struct TopProductsReply {
    /// First civil day.
    from: String,
    /// Last civil day.
    to: String,
    /// Products that were sold at all.
    total: u64,
    /// Those that come first.
    data: Vec<TopProduct>,
}

wire! {
    /// A product by SKU, or a listing that has none.
    #[derive(Serialize, JsonSchema)]
    struct TopProduct of(product: ProductSum) {
        /// SKU; empty for a listing that has none.
        sku: String = product.sku,
        /// Title of the listing that sold most of it.
        title: String = product.title,
        /// Marketplace id of that listing.
        ml_id: String = product.ml_id,
        /// Listings that sold it.
        listings: u64 = product.listings,
        /// Orders that count as a sale, by the day they were made.
        orders: i64 = product.sum.sales,
        /// Units of these orders.
        units: i64 = product.units,
        /// Their value in BRL, without shipping.
        revenue: Cents = product.sum.gross,
        /// What is left in BRL after cost, commission, freight and tax, of the orders of which all of that is known; null without any.
        margin: Option<Cents> = Some(product.sum.left).filter(|_| product.sum.known > 0),
        /// How many orders the margin is of.
        margin_orders: i64 = product.sum.known,
    }
}

/// The arguments, read and checked.
struct Asked {
    owner: UserId,
    store: Option<MlUserId>,
    days: (Day, Day),
    by: Rank,
    most: usize,
}

impl Operation for TopProducts {
    type By = Seller;
    type Reply = TopProductsReply;

    /// The account is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let today = app.day(seller.called_at);
        let (from, to) = period(&mut check, self.from, self.to, today);
        let store = check.optional("store", self.store);
        let by = check.one_of("by", self.by, &Rank::ALL.map(|rank| (rank.name(), rank)));
        let limit = check.number("limit", self.limit, 1..=MOST_PRODUCTS).unwrap_or(USUAL_PRODUCTS);
        check.finish()?;
        let asked = Asked {
            owner: seller.account.user_id,
            store,
            days: (from, to),
            by: by.unwrap_or(Rank::Revenue),
            most: usize::try_from(limit).unwrap_or(0),
        };
        // Slow: a row is read for each thing that was sold.
        Ok(Todo::Slow(Box::new(move |app| asked.read(app))))
    }
}

impl Asked {
    fn read(&self, app: &App) -> Result<TopProductsReply, Problem> {
        let (owner, (from, to)) = (self.owner, self.days);
        let filter = Filter {
            store: self.store.map(|store| store.0),
            days: (Some(from), Some(to)),
            ..Filter::all(app.zone(), 0)
        };
        let (products, total) = app.db.read(Lane::Slow, |tx| {
            stores::require(tx, owner, self.store)?;
            let tax = fees::tax_rate(app, fees::store::own_tax(tx, owner)?);
            let words = &app.marketplace.words;
            top::products(tx, words, owner, &filter, tax, self.by, self.most).map_err(Problem::from)
        })?;
        Ok(TopProductsReply {
            from: from.iso(),
            to: to.iso(),
            total,
            data: products.into_iter().map(TopProduct::of).collect(),
        })
    }
}
