//! What a parcel costs its seller, shared by the orders that it carries.

use super::{BookWrite, StoredOrder, store, sums};
use crate::base::{Cents, Instant, OrderId};
use crate::db::Result;
use crate::marketplace::books::order_status::{OrderStatus, SaleState};

/// Orders of one cart are placed within this time of each other.
const CART_S: i64 = 600;
/// Most orders of one parcel; more are a mistake.
const MOST: i64 = 50;

/// Shares the cost of a parcel by the value of its orders; the parcel was ordered
/// about `placed`. Without a new cost, an order that joined gets its share of what the
/// others have. One that was cancelled leaves its share to the others.
pub fn share(
    (tx, context, owner): BookWrite<'_, '_>,
    shipment: i64,
    placed: Instant,
    told: Option<Cents>,
) -> Result<()> {
    let carried: Vec<OrderId> = tx.values(
        "SELECT order_id FROM sale_order
         WHERE owner_id = ?1 AND created_at BETWEEN ?2 AND ?3 AND shipping_id = ?4
         ORDER BY created_at, order_id LIMIT ?5",
        (owner, placed.minus(CART_S), placed.plus(CART_S), shipment, MOST),
    )?;
    let mut rows: Vec<(OrderId, StoredOrder)> = Vec::with_capacity(carried.len());
    for order in carried {
        rows.extend(store::stored(tx, owner, order)?.map(|row| (order, row)));
    }
    let known = rows.iter().filter_map(|(_, row)| row.freight);
    let known = known.reduce(|sum, cost| Cents(sum.0.saturating_add(cost.0)));
    let Some(cost) = told.or(known) else {
        return Ok(());
    };
    let is_off = |row: &StoredOrder| OrderStatus::sale_of(row.status) == SaleState::Cancelled;
    // When all were cancelled, all have a share.
    let are_all_off = rows.iter().all(|(_, row)| is_off(row));
    let (off, out): (Vec<_>, Vec<_>) =
        rows.iter().partition(|(_, row)| is_off(row) && !are_all_off);
    let values: Vec<i64> = out.iter().map(|(_, row)| row.total.0).collect();
    let given = shares(cost, &values).into_iter().map(Some);
    let shared = out.into_iter().zip(given).chain(off.into_iter().map(|one| (one, None)));
    for ((order, before), freight) in shared {
        let after = StoredOrder { freight, ..before.clone() };
        if after != *before {
            store::put(tx, owner, *order, &after)?;
            sums::follow(tx, context.zone, owner, Some(before), &after)?;
        }
    }
    Ok(())
}

/// A cost in shares like some values; equal ones when all are zero. No centavo is lost.
pub(super) fn shares(cost: Cents, values: &[i64]) -> Vec<Cents> {
    let whole: i128 = values.iter().map(|value| i128::from(*value)).sum();
    let count = i128::try_from(values.len()).unwrap_or(1);
    let (mut passed, mut given) = (0, 0);
    let share = |value: &i64| {
        passed += if whole > 0 { i128::from(*value) } else { 1 };
        let until = i128::from(cost.0) * passed / if whole > 0 { whole } else { count };
        let share = until - given;
        given = until;
        Cents(i64::try_from(share).unwrap_or(0))
    };
    values.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_centavo_is_lost(cost in 0_i64..1_000_000_000, values in proptest::collection::vec(0_i64..1_000_000_000, 1..9)) {
            let shares = shares(Cents(cost), &values);
            prop_assert_eq!(shares.iter().map(|share| share.0).sum::<i64>(), cost);
            prop_assert!(shares.iter().all(|share| share.0 >= 0));
        }
    }
}
