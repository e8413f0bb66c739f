//! Labels that were printed, in the database: which parcels, when, in which batch.

use super::store::placed;
use crate::base::retention::LABELS;
use crate::base::{Instant, MlUserId, OrderId, UserId};
use crate::db::{Json, ReadTx, Result, RowWindow, WriteTx};
use crate::marketplace::books::orders;
use crate::marketplace::books::orders::effects::and_more;
use crate::row;

row! {
    /// Labels that were printed as one file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Batch {
        pub id: i64 = "b.batch_id",
        pub owner: UserId = "b.owner_id",
        pub account: MlUserId = "b.ml_user_id",
        pub printed_at: Instant = "b.printed_at",
        pub printed_by: UserId = "b.printed_by",
    }
}

row! {
    /// A label of a batch.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PrintedLabel {
        pub shipment: i64 = "p.shipping_id",
        pub order: OrderId = "p.order_id",
        /// What its first order sold; may be empty.
        pub title: String = "coalesce(i.title, '')",
        /// How many things its first order sold.
        lines: i64 = "(SELECT count(*) FROM basket_line l WHERE l.basket_id = o.basket_id)",
        pub buyer: String = "coalesce(o.buyer_nickname, '')",
        /// Whether the parcel is still to be handed over.
        pub waits: bool = WAITS,
    }
}

impl PrintedLabel {
    /// `Garrafa e mais 1 produto`.
    pub fn words(&self) -> String {
        let title = if self.title.is_empty() { "Venda" } else { &self.title };
        format!("{title}{}", and_more(usize::try_from(self.lines).unwrap_or_default()))
    }
}

/// Whether an order's parcel is to be handed over.
const WAITS: &str = "coalesce(o.stage BETWEEN 2 AND 5, 0)";

/// Notes labels that were printed as one file, in the order of its pages; returns
/// the number of the batch. A label that was printed before belongs to the newer file.
pub fn add(
    tx: &WriteTx<'_>,
    owner: UserId,
    account: MlUserId,
    by: UserId,
    printed: &[(i64, OrderId)],
) -> Result<i64> {
    let batch = tx.insert(
        "INSERT INTO label_batch (owner_id, ml_user_id, printed_at, printed_by) VALUES (?1, ?2, ?3, ?4)",
        (owner, account, tx.now(), by),
    )?;
    for (place, (shipment, order)) in printed.iter().enumerate() {
        let before: Option<i64> = tx.maybe(
            "SELECT batch_id FROM label_print WHERE owner_id = ?1 AND ml_user_id = ?2 AND shipping_id = ?3",
            (owner, account, shipment),
        )?;
        tx.execute(
            "INSERT OR REPLACE INTO label_print (owner_id, ml_user_id, shipping_id, batch_id, place, order_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (owner, account, shipment, batch, i64::try_from(place).unwrap_or(0), order),
        )?;
        orders::mark_reprint(tx, owner, account, *shipment, false)?;
        if let Some(before) = before {
            tx.execute(
                "DELETE FROM label_batch WHERE batch_id = ?1
                 AND NOT EXISTS (SELECT 1 FROM label_print WHERE batch_id = ?1)",
                [before],
            )?;
        }
    }
    Ok(batch)
}

/// Whether the label of a parcel was printed.
pub fn is_printed(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    shipment: i64,
) -> Result<bool> {
    tx.value(
        "SELECT EXISTS (SELECT 1 FROM label_print
             WHERE owner_id = ?1 AND ml_user_id = ?2 AND shipping_id = ?3)",
        (owner, account, shipment),
    )
}

pub fn one(tx: &ReadTx<'_>, batch: i64) -> Result<Option<Batch>> {
    tx.record("FROM label_batch b WHERE b.batch_id = ?1", [batch])
}

/// The batches of a page of accounts, given as owner and number, each with the place of
/// its account among them: the newest first, those of one press in their order.
pub fn page(
    tx: &ReadTx<'_>,
    accounts: &[(i64, i64)],
    RowWindow { limit, offset }: RowWindow,
) -> Result<Vec<(usize, Batch)>> {
    // Of each account no more than the page reaches to.
    placed(
        tx,
        "FROM json_each(?1) given CROSS JOIN label_batch b
         WHERE b.batch_id IN (SELECT n.batch_id FROM label_batch n
             WHERE n.owner_id = given.value ->> 0 AND n.ml_user_id = given.value ->> 1
             ORDER BY n.batch_id DESC LIMIT ?2 + ?3)
         ORDER BY b.printed_at DESC, b.batch_id LIMIT ?2 OFFSET ?3",
        (Json(accounts), limit, offset),
    )
}

/// How many batches accounts have, given as owner and number.
pub fn count(tx: &ReadTx<'_>, accounts: &[(i64, i64)]) -> Result<u64> {
    tx.count(
        "SELECT count(*) FROM json_each(?1) given CROSS JOIN label_batch b
         WHERE b.owner_id = given.value ->> 0 AND b.ml_user_id = given.value ->> 1",
        [Json(accounts)],
    )
}

/// The labels of batches, each with the place of its batch among them, in the order of
/// the files' pages.
pub fn labels_of(tx: &ReadTx<'_>, batches: &[i64]) -> Result<Vec<(usize, PrintedLabel)>> {
    placed(
        tx,
        "FROM json_each(?1) given CROSS JOIN label_print p ON p.batch_id = given.value
         LEFT JOIN sale_order o ON o.order_id = p.order_id AND o.owner_id = p.owner_id
         LEFT JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
         ORDER BY given.key, p.place",
        [Json(batches)],
    )
}

/// The labels of a batch, in the order of the file's pages.
pub fn labels(tx: &ReadTx<'_>, batch: i64) -> Result<Vec<PrintedLabel>> {
    Ok(labels_of(tx, &[batch])?.into_iter().map(|(_, label)| label).collect())
}

/// Takes back that labels were printed; returns how many are to be printed again.
pub fn undo(tx: &WriteTx<'_>, batch: i64) -> Result<u64> {
    let mut waiting = 0;
    if let Some(Batch { owner, account, .. }) = one(tx, batch)? {
        for label in labels(tx, batch)?.iter().filter(|label| label.waits) {
            orders::mark_reprint(tx, owner, account, label.shipment, true)?;
            waiting += 1;
        }
    }
    tx.run("DELETE FROM label_batch WHERE batch_id = ?1", [batch])?;
    Ok(waiting)
}

/// Removes what was printed long ago, at most `most` batches; returns how many.
pub fn forget(tx: &WriteTx<'_>, most: usize) -> Result<usize> {
    tx.execute(
        "DELETE FROM label_batch WHERE batch_id IN
             (SELECT batch_id FROM label_batch WHERE printed_at <= ?1 ORDER BY printed_at LIMIT ?2)",
        (LABELS.before(tx.now()), i64::try_from(most).unwrap_or(1)),
    )
}
