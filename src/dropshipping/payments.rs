//! What a supplier says of payments: that drop orders were paid, one or many at a
//! time, and that this was a mistake.
//!
//! What is noted by one press is a batch and is taken back by one. Decision suppliers-7.

use std::sync::Arc;

use rusqlite::ToSql;

use super::RELATED;
use super::debts::Sum;
use super::orders::{DropOrderQuery, DropState, Whose};
use crate::base::{Cents, OrderId, UserId, secrets};
use crate::db::{Db, DbError, Lane, Result, WriteTx};
use crate::events::{self, EventType};

/// Tells the payments that were noted by one press from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch(pub i64);

impl Batch {
    /// A new one.
    pub fn draw() -> Self {
        Self(i64::from_be_bytes(secrets::random()) & i64::MAX)
    }
}

/// What a payment was noted of: the state before, and the amount that is owed.
pub type Noted = (DropState, Cents);

/// Marks a drop order that is pending as paid; `None` when the supplier has no such
/// drop order.
pub fn pay(
    tx: &WriteTx<'_>,
    supplier: UserId,
    id: i64,
    batch: Option<Batch>,
) -> Result<Option<Noted>> {
    let found: Option<Noted> = tx.tuple(
        "SELECT state, amount_cents FROM drop_order WHERE drop_order_id = ?2 AND supplier_id = ?1",
        (supplier, id),
    )?;
    if matches!(found, Some((DropState::Pending, _))) {
        tx.run(
            "UPDATE drop_order SET state = ?4, paid_at = ?3, batch = ?5
             WHERE drop_order_id = ?2 AND supplier_id = ?1",
            (supplier, id, tx.now(), DropState::Paid, batch.map(|batch| batch.0)),
        )?;
        events::raise(tx, supplier, EventType::DropOrderPaid, id)?;
    }
    Ok(found)
}

/// Undoes a payment that was marked by mistake; false when there is none.
pub fn unpay(tx: &WriteTx<'_>, supplier: UserId, id: i64) -> Result<bool> {
    let changed = tx.execute(
        "UPDATE drop_order SET state = ?3, paid_at = NULL, batch = NULL
         WHERE drop_order_id = ?2 AND supplier_id = ?1 AND state = ?4",
        (supplier, id, DropState::Pending, DropState::Paid),
    )?;
    Ok(changed > 0)
}

/// Marks all open drop orders of a filter as paid, some in each job. `newest` is the
/// last that the supplier had seen: what arose after it is left.
pub fn pay_all(
    db: &Db,
    supplier: UserId,
    wanted: &DropOrderQuery,
    newest: i64,
    batch: Batch,
) -> Result<Sum> {
    let ids = db.read(Lane::Slow, |tx| super::debts::open_ids(tx, wanted, newest))?;
    let ids = Arc::new(ids);
    let (mut next, mut done) = (0, Sum::default());
    while next < ids.len() {
        let ids = Arc::clone(&ids);
        (next, done) = db.write_piece(move |tx| {
            let (mut next, mut done) = (next, done);
            while let Some(id) = ids.get(next) {
                if let Some((DropState::Pending, amount)) = pay(tx, supplier, *id, Some(batch))? {
                    done.orders += 1;
                    done.amount.0 += amount.0;
                }
                next += 1;
                if tx.is_spent() {
                    break;
                }
            }
            Ok::<_, DbError>((next, done))
        })?;
    }
    Ok(done)
}

/// Takes back the payments of a batch, some in each job; returns how many there were.
/// A drop order that was cancelled since stays so, and is owed again should its order
/// come back.
pub fn unpay_all(db: &Db, supplier: UserId, batch: Batch) -> Result<usize> {
    let mut all = 0;
    loop {
        let (undone, is_empty) = db.write_piece(move |tx| {
            let mut undone = 0;
            let is_empty = tx.work_off(|most| {
                let some = unpay_some(tx, Whose::Supplier(supplier), batch, most)?.len();
                undone += some;
                Ok::<_, DbError>(some)
            })?;
            Ok::<_, DbError>((undone, is_empty))
        })?;
        all += undone;
        if is_empty {
            return Ok(all);
        }
    }
}

/// Takes back at most `most` payments of a batch of a supplier; returns the numbers of
/// their drop orders and orders.
pub fn unpay_some(
    tx: &WriteTx<'_>,
    whose: Whose,
    batch: Batch,
    most: usize,
) -> Result<Vec<(i64, OrderId)>> {
    let (supplier, related) = match whose {
        Whose::Related(supplier) => (supplier, RELATED),
        Whose::Supplier(supplier) => (supplier, "1"),
        Whose::Seller(_) => return Ok(Vec::new()),
    };
    let sql = format!(
        "UPDATE drop_order SET state = iif(state = 2, 1, state), paid_at = NULL, batch = NULL
         WHERE drop_order_id IN (
             SELECT drop_order_id FROM drop_order
             WHERE supplier_id = :supplier AND batch = :batch AND {related} LIMIT :most)
         RETURNING drop_order_id, order_id"
    );
    let most = i64::try_from(most).unwrap_or(1);
    let values: [(&str, &dyn ToSql); 3] =
        [(":supplier", &supplier), (":batch", &batch.0), (":most", &most)];
    tx.tuples(&sql, &values[..])
}
