//! The lines of an order.
//!
//! One line is the usual case: it stands in the order's row. Several lines are a basket,
//! stored once for all orders that have the same. Decision marketplace-42.

use sha2::{Digest as _, Sha256};

use super::StoredOrder;
use super::sold::SoldKey;
use crate::base::{Cents, OrderId, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::row;

row! {
    /// A line as it is stored; what was sold is a row of `sold_item`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StoredLine {
        pub item_id: i64,
        pub variation_id: i64,
        pub item_version: i64,
        pub units: i64,
        /// Price of one.
        pub unit: Cents = "unit_cents",
        /// Commission for all of them; `None` until the marketplace tells.
        pub fee: Option<Cents> = "fee_cents",
    }
}

impl StoredLine {
    /// What it sold.
    pub const fn key(&self) -> SoldKey {
        (self.item_id, self.variation_id, self.item_version)
    }

    /// What was sold, how many and for how much: all but what the marketplace takes.
    pub(super) const fn goods(&self) -> (SoldKey, i64, Cents) {
        (self.key(), self.units, self.unit)
    }

    /// The variation, as programs name it; `None` of a listing without variations.
    pub fn variation(&self) -> Option<String> {
        (self.variation_id != 0).then(|| self.variation_id.to_string())
    }
}

/// What a basket that is stored once is found by.
fn digest(lines: &[StoredLine]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for line in lines {
        let StoredLine { item_id, variation_id, item_version, units, unit, fee } = *line;
        let fee = fee.map_or(-1, |fee| fee.0);
        for part in [item_id, variation_id, item_version, units, unit.0, fee] {
            hash.update(part.to_le_bytes());
        }
    }
    let (mut first, whole) = ([0; 16], hash.finalize());
    first.copy_from_slice(&whole[..16]);
    first
}

/// The number of the basket with these lines, which is stored unless it is known.
pub(super) fn ensure_basket(tx: &WriteTx<'_>, lines: &[StoredLine]) -> Result<i64> {
    let digest = digest(lines);
    let known = tx.maybe("SELECT basket_id FROM basket WHERE digest = ?1", [digest])?;
    if let Some(known) = known {
        return Ok(known);
    }
    let basket = tx.insert("INSERT INTO basket (digest) VALUES (?1)", [digest])?;
    for (place, line) in lines.iter().enumerate() {
        tx.execute(
            "INSERT INTO basket_line (basket_id, line, item_id, variation_id, item_version, units, unit_cents, fee_cents)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                basket,
                i64::try_from(place).unwrap_or(i64::MAX),
                line.item_id,
                line.variation_id,
                line.item_version,
                line.units,
                line.unit,
                line.fee,
            ),
        )?;
    }
    Ok(basket)
}

/// The lines of a basket.
pub fn of_basket(tx: &ReadTx<'_>, basket: i64) -> Result<Vec<StoredLine>> {
    tx.records("FROM basket_line WHERE basket_id = ?1 ORDER BY line", [basket])
}

/// The commission of all lines, once that of each is known.
pub(super) fn fee(lines: &[StoredLine]) -> Option<Cents> {
    lines.iter().try_fold(Cents(0), |sum, line| Some(Cents(sum.0 + line.fee?.0)))
}

/// Whether two rows of an order sold the same.
pub(super) fn are_same_goods(
    tx: &ReadTx<'_>,
    before: &StoredOrder,
    after: &StoredOrder,
) -> Result<bool> {
    if before.basket == after.basket {
        return Ok(true);
    }
    let (before, after) = (before.lines(tx)?, after.lines(tx)?);
    Ok(before.iter().map(StoredLine::goods).eq(after.iter().map(StoredLine::goods)))
}

/// The baskets that hold one of some listings.
pub(super) fn baskets_with(tx: &ReadTx<'_>, items: &[i64]) -> Result<Vec<i64>> {
    let mut baskets = Vec::new();
    for item in items {
        let with = "SELECT DISTINCT basket_id FROM basket_line WHERE item_id = ?1";
        baskets.extend(tx.values::<i64>(with, [item])?);
    }
    Ok(baskets)
}

/// The listings of an order beside that of its first line, each once.
fn further_items(tx: &ReadTx<'_>, order: &StoredOrder) -> Result<Vec<i64>> {
    let Some(basket) = order.basket else { return Ok(Vec::new()) };
    let mut items: Vec<i64> = of_basket(tx, basket)?.into_iter().map(|line| line.item_id).collect();
    items.retain(|item| *item != order.item_id);
    items.sort_unstable();
    items.dedup();
    Ok(items)
}

/// Makes an order be found by the listings of all its lines.
pub(super) fn index(
    tx: &WriteTx<'_>,
    owner: UserId,
    order: OrderId,
    before: Option<&StoredOrder>,
    after: &StoredOrder,
) -> Result<()> {
    let key = |row: &StoredOrder| (row.basket, row.item_id, row.created_at, row.status);
    let had_lines = before.is_some_and(|before| before.basket.is_some());
    if before.map(key) == Some(key(after)) || !had_lines && after.basket.is_none() {
        return Ok(());
    }
    if let Some(before) = before {
        for item in further_items(tx, before)? {
            tx.execute(
                "DELETE FROM sale_line WHERE owner_id = ?1 AND item_id = ?2 AND created_at = ?3 AND order_id = ?4",
                (owner, item, before.created_at, order),
            )?;
        }
    }
    for item in further_items(tx, after)? {
        tx.execute(
            "INSERT OR REPLACE INTO sale_line (owner_id, item_id, created_at, order_id, ml_user_id, status)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (owner, item, after.created_at, order, after.ml_user_id, after.status),
        )?;
    }
    Ok(())
}

impl StoredOrder {
    /// What it sold.
    pub(super) fn lines(&self, tx: &ReadTx<'_>) -> Result<Vec<StoredLine>> {
        match self.basket {
            Some(basket) => of_basket(tx, basket),
            None => Ok(vec![StoredLine {
                item_id: self.item_id,
                variation_id: self.variation_id,
                item_version: self.item_version,
                units: self.quantity,
                unit: Cents(self.total.0 / self.quantity.max(1)),
                fee: self.fee,
            }]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marketplace::books::orders::Applied;
    use crate::marketplace::books::orders::tests::{NEVER, World, order};

    #[test]
    fn a_commission_that_comes_late_is_no_news_and_stays() {
        let world = World::new();
        let ana = UserId(1);
        let told = |fees: [Option<i64>; 2]| {
            let mut document = order(1);
            document.lines.push(document.lines[0].clone());
            document.lines[1].item.number = 2;
            for (line, fee) in document.lines.iter_mut().zip(fees) {
                line.fee = fee.map(Cents);
            }
            document
        };
        let fee = || world.dump("SELECT fee_cents FROM sale_order WHERE owner_id = ?1", ana);
        for (fees, applied, sum) in [
            ([None, None], Applied::Stored, "Null "),
            ([Some(300), None], Applied::Unchanged, "Null "),
            // What was told of a line stays when another document leaves it out.
            ([None, Some(50)], Applied::Unchanged, "Integer(350) "),
            ([None, None], Applied::Unchanged, "Integer(350) "),
            ([Some(200), None], Applied::Unchanged, "Integer(250) "),
        ] {
            assert_eq!(world.apply(ana, vec![told(fees)], NEVER), [applied]);
            assert_eq!(fee(), [sum]);
        }
    }
}
