//! `get_store_metrics`: the sums of one connected account.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::base::{Cents, Day, MlUserId, UserId};
use crate::db::{Lane, ReadTx, Result as DbResult};
use crate::edge::route::Todo;
use crate::http::schema::DAY;
use crate::http::{Check, Code, Field, Problem};
use crate::identity::Seller;
use crate::marketplace::books::order_status::OrderStatus;
use crate::partner::list::period;
use crate::partner::operation::{Begun, Operation};
use crate::{row, wire};

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
    /// Cancelled orders, by the day they were made.
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
                let reputation: Option<SellerReputation> = tx.record(
                    "FROM ml_account WHERE ml_user_id = ?2 AND owner_id = ?1",
                    (owner, account),
                )?;
                let reputation = reputation.ok_or_else(Problem::not_found)?;
                let (sales, daily) = sales(tx, owner, account, from, to)?;
                Ok(StoreMetrics {
                    ml_user_id: account,
                    period: Period { from: from.iso(), to: to.iso() },
                    sales,
                    daily,
                    reputation: Reputation::of(reputation),
                    listings: listings(tx, owner, account)?,
                })
            })
        })))
    }
}

row! {
    /// The stored reputation of an account.
    struct SellerReputation {
        reputation: String,
        power_seller: String,
        claims_rate: Option<i64>,
        late_rate: Option<i64>,
        cancel_rate: Option<i64>,
    }
}

fn sales(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    from: Day,
    to: Day,
) -> DbResult<(Sales, Vec<DailySales>)> {
    let sold: Vec<(Day, i64, i64, Cents)> = tx.all(
        "SELECT day, orders, units, gross_cents FROM sales_day
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND day BETWEEN ?3 AND ?4",
        (owner, account, from, to),
        |row| row.try_into(),
    )?;
    let cancelled = tx.value(
        "SELECT coalesce(sum(orders), 0) FROM order_count
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?5 AND day BETWEEN ?3 AND ?4",
        (owner, account, from, to, OrderStatus::Cancelled),
    )?;
    let count = sold.iter().map(|(_, orders, ..)| orders).sum();
    let gross = sold.iter().fold(Cents(0), |sum, (.., gross)| sum + *gross);
    let sales = Sales {
        count,
        units: sold.iter().map(|(_, _, units, _)| units).sum(),
        gross,
        average_ticket: (count > 0).then(|| Cents((gross.0 + count / 2) / count)),
        cancelled,
    };
    let by_day: HashMap<Day, (i64, Cents)> =
        sold.into_iter().map(|(day, orders, _, gross)| (day, (orders, gross))).collect();
    let days = (from.0..=to.0).map(Day);
    let daily = days.map(|day| {
        let (count, gross) = by_day.get(&day).copied().unwrap_or_default();
        DailySales { date: day.iso(), count, gross }
    });
    Ok((sales, daily.collect()))
}

fn listings(tx: &ReadTx<'_>, owner: UserId, account: MlUserId) -> DbResult<Listings> {
    let counted: Vec<(String, i64)> = tx.all(
        "SELECT (SELECT text FROM word WHERE word_id = status), listings FROM listing_count
         WHERE owner_id = ?1 AND ml_user_id = ?2",
        (owner, account),
        |row| row.try_into(),
    )?;
    let of = |wanted: &str| {
        counted.iter().find(|(status, _)| status == wanted).map_or(0, |(_, listings)| *listings)
    };
    let out_of_stock = tx.value(
        "SELECT count(*) FROM listing
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND available < 1
             AND status IN (SELECT word_id FROM word WHERE text IN ('active', 'paused'))",
        (owner, account),
    )?;
    Ok(Listings {
        active: of("active"),
        paused: of("paused"),
        total: counted.iter().map(|(_, listings)| listings).sum(),
        out_of_stock,
    })
}
