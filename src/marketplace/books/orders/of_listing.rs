//! What one listing sold: its last orders, what a parcel of it costs, and its sales by day.

use crate::base::{Cents, Day, Instant, OrderId, UserId, Zone};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::order_status::OrderStatus;
use crate::row;

row! {
    pub struct ListingOrder {
        pub id: OrderId = "order_id",
        pub created_at: Instant,
        pub quantity: i64,
        pub total: Cents = "total_cents",
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

/// The last orders of a listing, newest first.
pub fn last(tx: &ReadTx<'_>, owner: UserId, item: i64, most: u32) -> Result<Vec<ListingOrder>> {
    tx.records(
        "FROM sale_order WHERE owner_id = ?1 AND item_id = ?2
         ORDER BY created_at DESC, order_id DESC LIMIT ?3",
        (owner, item, most),
    )
}

/// What the last sale of one unit of a listing paid for its parcel; `None` when none tells.
pub fn last_freight(tx: &ReadTx<'_>, owner: UserId, item: i64) -> Result<Option<Cents>> {
    let sales: Vec<(Option<Cents>, i64)> = tx.tuples(
        "SELECT freight_cents, quantity FROM sale_order INDEXED BY sale_order_of_item
         WHERE owner_id = ?1 AND item_id = ?2 ORDER BY created_at DESC, order_id DESC LIMIT ?3",
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
    // Left to itself, SQLite reads the owner's orders of these days, of all listings.
    let sql = format!(
        "SELECT created_at, quantity, total_cents FROM sale_order INDEXED BY sale_order_of_item
         WHERE owner_id = ?1 AND item_id = ?2 AND created_at >= ?3 AND status IN ({})",
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
