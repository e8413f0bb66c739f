//! `get_store_metrics`: the sums of one connected account.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{Cents, Day, MlUserId};
use crate::db::Lane;
use crate::edge::route::Todo;
use crate::http::schema::DAY;
use crate::http::{Check, Code, Field, Problem};
use crate::identity::Seller;
use crate::marketplace::account::store::{self, AccountDay, SellerReputation};
use crate::marketplace::books::listings::store as listings;
use crate::partner::list::period;
use crate::partner::operation::{Begun, Operation};
use crate::wire;

/// Rates are stored in millionths.
const MILLION: f64 = 1_000_000.0;

/// Which account, and which days.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetStoreMetrics {
    /// Marketplace seller id of a connected account.
    #[schemars(extend("examples" = ["123456789"]))]
    ml_id: Field<MlUserId>,
    /// First civil day; 29 days before the last one unless it is given.
    #[serde(default)]
    #[schemars(extend("format" = "date", "pattern" = DAY))]
    from: Field<String>,
    /// Last civil day, at most 366 days with the first; today unless it is given.
    #[serde(default)]
    #[schemars(extend("format" = "date", "pattern" = DAY))]
    to: Field<String>,
}

/// An account's sales in a period, and how it stands now.
#[derive(Serialize, JsonSchema)]
pub struct StoreMetrics {
    /// Marketplace seller id of the account.
    ml_user_id: MlUserId,
    /// The civil days that are added up.
    period: Period,
    /// The sales of the period.
    sales: Sales,
    /// Each day of the period, the first one first.
    daily: Vec<DailySales>,
    /// How the account stands at the marketplace now.
    reputation: Reputation,
    /// Its listings now.
    listings: Listings,
}

/// Civil days, both included.
#[derive(Serialize, JsonSchema)]
struct Period {
    /// First day.
    from: String,
    /// Last day.
    to: String,
}

#[derive(Serialize, JsonSchema)]
struct Sales {
    /// Orders that count as a sale, by the day they were closed.
    count: i64,
    /// Units of them.
    units: i64,
    /// Their value without shipping, in BRL.
    gross: Cents,
    /// Their value by their number, in BRL; null without any.
    average_ticket: Option<Cents>,
    /// Cancelled orders, by the day they were made; not those that were divided into others.
    cancelled: i64,
}

#[derive(Serialize, JsonSchema)]
struct DailySales {
    /// Civil day.
    date: String,
    /// Orders that count as a sale.
    count: i64,
    /// Their value without shipping, in BRL.
    gross: Cents,
}

wire! {
    /// What the marketplace says of the seller; null where it says nothing.
    #[derive(Serialize, JsonSchema)]
    struct Reputation of(reputation: SellerReputation) after {
        let said = |text: String| Some(text).filter(|text| !text.is_empty());
        #[expect(clippy::cast_precision_loss, reason = "at most a million")]
        let rate = |millionths: i64| millionths as f64 / MILLION;
    } {
        /// Level of the seller, such as `5_green`.
        level: Option<String> = said(reputation.reputation),
        /// Rank among large sellers, such as `platinum`.
        power_seller: Option<String> = said(reputation.power_seller),
        /// Share of sales with a claim, from 0 to 1.
        claims_rate: Option<f64> = reputation.claims_rate.map(rate),
        /// Share of sales that were sent late.
        late_rate: Option<f64> = reputation.late_rate.map(rate),
        /// Share of sales that the seller cancelled.
        cancel_rate: Option<f64> = reputation.cancel_rate.map(rate),
    }
}

#[derive(Serialize, JsonSchema)]
struct Listings {
    /// For sale.
    active: i64,
    /// Taken out of sale by the seller or the marketplace.
    paused: i64,
    /// Listings of any state.
    total: i64,
    /// Active and paused ones without a unit to sell.
    out_of_stock: i64,
}

impl Operation for GetStoreMetrics {
    type By = Seller;
    type Reply = StoreMetrics;

    /// The account is not the caller's.
    const ERRORS: &'static [Code] = &[Code::NotFound];

    fn begin(self, app: &App, seller: &Seller, mut check: Check) -> Begun<Self> {
        let account: MlUserId = check.required("ml_id", self.ml_id);
        let today = app.day(seller.called_at);
        let (from, to) = period(&mut check, self.from, self.to, today);
        check.finish()?;
        let owner = seller.account.user_id;
        // Slow: listings without stock are counted row by row.
        Ok(Todo::Slow(Box::new(move |app| {
            app.db.read(Lane::Slow, |tx| {
                let reputation = store::reputation(tx, owner, account)?;
                let reputation = reputation.ok_or_else(Problem::not_found)?;
                let days = store::sold_by_day(tx, owner, account, from, to)?;
                let cancelled = store::cancelled(tx, app.zone(), owner, account, (from, to))?;
                Ok(StoreMetrics {
                    ml_user_id: account,
                    period: Period { from: from.iso(), to: to.iso() },
                    sales: Sales::of(&days, cancelled),
                    daily: daily(&days, from, to),
                    reputation: Reputation::of(reputation),
                    listings: Listings::of(
                        &listings::by_state(tx, owner, account)?,
                        listings::out_of_stock(tx, owner, account)?,
                    ),
                })
            })
        })))
    }
}

impl Sales {
    fn of(days: &[AccountDay], cancelled: i64) -> Self {
        let count = days.iter().map(|day| day.orders).sum();
        let gross = days.iter().fold(Cents(0), |sum, day| sum + day.gross);
        Self {
            count,
            units: days.iter().map(|day| day.units).sum(),
            gross,
            average_ticket: (count > 0).then(|| Cents((gross.0 + count / 2) / count)),
            cancelled,
        }
    }
}

/// Each day of a period, also those without sales.
fn daily(days: &[AccountDay], from: Day, to: Day) -> Vec<DailySales> {
    let by_day: HashMap<Day, &AccountDay> = days.iter().map(|day| (day.day, day)).collect();
    let each = (from.0..=to.0).map(Day).map(|day| {
        let sold = by_day.get(&day);
        DailySales {
            date: day.iso(),
            count: sold.map_or(0, |sold| sold.orders),
            gross: sold.map_or(Cents(0), |sold| sold.gross),
        }
    });
    each.collect()
}

impl Listings {
    fn of(by_state: &[(String, i64)], out_of_stock: i64) -> Self {
        let of = |wanted: &str| {
            by_state.iter().find(|(state, _)| state == wanted).map_or(0, |(_, listings)| *listings)
        };
        Self {
            active: of("active"),
            paused: of("paused"),
            total: by_state.iter().map(|(_, listings)| listings).sum(),
            out_of_stock,
        }
    }
}
