//! What one listing sold: its last orders, what a parcel of it costs, and its sales by day.

use crate::base::{Cents, Day, Instant, OrderId, UserId, Zone};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::words::BRL;
use crate::row;

/// SQL for the sales of a listing from `?3` on with what each sold of it: orders of one
/// line, and of baskets those lines that are the listing's.
const SOLD_OF_LISTING: &str = "
    SELECT created_at, order_id, status, currency, buyer_nickname, quantity AS units, total_cents AS cents
    FROM sale_order INDEXED BY sale_order_of_item
    WHERE owner_id = ?1 AND item_id = ?2 AND created_at >= ?3 AND basket_id IS NULL
    UNION ALL
    SELECT o.created_at, o.order_id, o.status, o.currency, o.buyer_nickname, sum(b.units), sum(b.units * b.unit_cents)
    FROM (SELECT created_at, order_id FROM sale_order INDEXED BY sale_order_of_item
          WHERE owner_id = ?1 AND item_id = ?2 AND created_at >= ?3 AND basket_id IS NOT NULL
          UNION ALL
          SELECT created_at, order_id FROM sale_line
          WHERE owner_id = ?1 AND item_id = ?2 AND created_at >= ?3) known
    CROSS JOIN sale_order o ON o.owner_id = ?1 AND o.created_at = known.created_at AND o.order_id = known.order_id
    CROSS JOIN basket_line b ON b.basket_id = o.basket_id AND b.item_id = ?2
    GROUP BY o.created_at, o.order_id";

row! {
    pub struct ListingOrder {
        pub id: OrderId = "order_id",
        pub created_at: Instant,
        pub quantity: i64 = "units",
        pub total: Cents = "cents",
        pub currency: String = "(SELECT text FROM word WHERE word_id = currency)",
        /// The marketplace's name of the state.
        pub status: String = "(SELECT text FROM word WHERE word_id = status)",
        /// Empty when the marketplace does not say.
        pub buyer: String = "buyer_nickname",
    }
}

/// Newest sales of a listing among which one that tells its freight is looked for.
const LOOKED_AT: u32 = 50;

/// Units and value that were sold on each of some days.
#[derive(Debug, PartialEq, Eq)]
pub struct DailySales {
    pub units: Vec<i64>,
    pub gross: Vec<i64>,
}

/// The last orders of a listing, newest first; of each the units and the value of this
/// listing alone.
pub fn last(tx: &ReadTx<'_>, owner: UserId, item: i64, most: u32) -> Result<Vec<ListingOrder>> {
    let rest = format!(
        "FROM ({SOLD_OF_LISTING} ORDER BY created_at DESC, order_id DESC LIMIT ?4) sale
         ORDER BY created_at DESC, order_id DESC"
    );
    tx.records(&rest, (owner, item, i64::MIN, most))
}

/// What the last sale of one unit of a listing paid for its parcel; `None` when none tells.
pub fn last_freight(tx: &ReadTx<'_>, owner: UserId, item: i64) -> Result<Option<Cents>> {
    let sales: Vec<(Option<Cents>, i64)> = tx.tuples(
        "SELECT freight_cents, quantity FROM sale_order INDEXED BY sale_order_of_item
         WHERE owner_id = ?1 AND item_id = ?2 AND basket_id IS NULL
         ORDER BY created_at DESC, order_id DESC LIMIT ?3",
        (owner, item, LOOKED_AT),
    )?;
    Ok(sales.into_iter().filter(|(_, units)| *units == 1).find_map(|(freight, _)| freight))
}

/// What a listing sold on each of so many days from a first one on, by the day of its
/// orders as their list shows it.
pub fn by_day(
    tx: &ReadTx<'_>,
    owner: UserId,
    item: i64,
    zone: Zone,
    first: Day,
    days: usize,
) -> Result<DailySales> {
    let starts: Vec<Instant> =
        (first.0..).take(days + 1).map(|day| zone.start_of(Day(day))).collect();
    let mut sold = DailySales { units: vec![0; days], gross: vec![0; days] };
    let sql = format!(
        "SELECT created_at, units, iif(currency = {BRL}, cents, 0) FROM ({SOLD_OF_LISTING}) WHERE status IN ({})",
        OrderStatus::sales_in_sql(),
    );
    tx.each(&sql, (owner, item, zone.start_of(first)), |row| {
        let (at, units, gross): (Instant, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let day = starts.partition_point(|start| *start <= at).checked_sub(1);
        if let Some(day) = day.filter(|day| *day < days) {
            sold.units[day] = sold.units[day].saturating_add(units);
            sold.gross[day] = sold.gross[day].saturating_add(gross);
        }
        Ok(())
    })?;
    Ok(sold)
}
