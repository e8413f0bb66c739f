//! The parcels of accounts in the database: which can be printed, and which are to be.

use rusqlite::{Params, params_from_iter};

use super::Parcel;
use crate::base::{DAY_S, Instant, MlUserId, OrderId, UserId};
use crate::db::{Json, ReadTx, Record, Result, RowWindow, in_list};
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::parcel::{Marks, ParcelStage, TO_SEND};
use crate::row;

row! {
    /// A parcel whose label is to be printed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ToPrint {
        pub shipment: i64 = "o.shipping_id",
        /// Its first order.
        pub order: OrderId = "min(o.order_id)",
        pub due: Option<Instant> = "min(o.dispatch_by)",
        pub sold_at: Instant = "min(o.created_at)",
        /// Whether it is to leave within minutes of its sale.
        pub is_same_day: bool = "max(o.marks & 2) > 0",
    }
}
const _: () = assert!(Marks::SAME_DAY == 2);

/// SQL for the orders of one account.
const OF_ACCOUNT: [&str; 2] = ["sale_order o", "o.owner_id = ?1 AND o.ml_user_id = ?2"];

/// The same of all accounts that `?1` names, as owner and number.
const OF_GIVEN: [&str; 2] = [
    "json_each(?1) given CROSS JOIN sale_order o",
    "o.owner_id = given.value ->> 0 AND o.ml_user_id = given.value ->> 1",
];

/// SQL for the parcels of accounts that are to be sent, in one of some stages. A parcel
/// with an order that must not be sent is none of them.
fn to_send([orders, condition]: [&str; 2], stages: &[ParcelStage]) -> String {
    let stages: Vec<u8> = stages.iter().map(|stage| stage.number()).collect();
    // The range is a literal, so that the index of parcels to be sent is used.
    format!(
        "FROM {orders}
    LEFT JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
    WHERE {condition} AND o.{TO_SEND} AND o.stage IN ({stages}) AND o.shipping_id > 0
      AND o.status IN ({sales})
      AND NOT EXISTS (SELECT 1 FROM sale_order risk
          WHERE risk.owner_id = o.owner_id AND risk.shipping_id = o.shipping_id AND risk.stage = {risk})",
        stages = in_list(&stages),
        sales = OrderStatus::sales_in_sql(),
        risk = ParcelStage::DoNotSend.number(),
    )
}

/// SQL for the parcels whose labels can be printed, for the first time or again.
fn printable(of: [&str; 2]) -> String {
    to_send(of, &[ParcelStage::ToPrint, ParcelStage::Printed])
}

/// Some of an account's parcels, newest first, and how many there are.
pub fn parcels(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    RowWindow { limit, offset }: RowWindow,
) -> Result<(Vec<Parcel>, u64)> {
    let printable = printable(OF_ACCOUNT);
    let total =
        tx.count(&format!("SELECT count(DISTINCT o.shipping_id) {printable}"), (owner, account))?;
    let rest = format!(
        "{printable} GROUP BY o.shipping_id ORDER BY o.shipping_id DESC LIMIT ?3 OFFSET ?4"
    );
    Ok((tx.records(&rest, (owner, account, limit, offset))?, total))
}

/// The parcels that are named by owner, account and shipment, as far as they can be
/// printed, in that order; each with its place among the names.
pub fn named_parcels(tx: &ReadTx<'_>, named: Vec<(i64, i64, i64)>) -> Result<Vec<(usize, Parcel)>> {
    let rest = format!(
        "{} AND o.shipping_id = given.value ->> 2 GROUP BY given.key ORDER BY given.key",
        printable(OF_GIVEN)
    );
    placed(tx, &rest, [Json(named)])
}

/// Records, each with the place of what it belongs to among what the statement was given
/// as JSON; `rest` is the SELECT from FROM on.
pub(super) fn placed<R: Record>(
    tx: &ReadTx<'_>,
    rest: &str,
    params: impl Params,
) -> Result<Vec<(usize, R)>> {
    let sql = format!("SELECT given.key, {} {rest}", R::COLUMNS);
    tx.all(&sql, params, |row| Ok((row.get::<_, u32>(0)? as usize, R::read_at(row, &mut 1)?)))
}

/// SQL for the parcels whose label is to be printed. One that was printed here is not, also
/// before the marketplace says so.
fn not_printed(of: [&str; 2]) -> String {
    format!(
        "{} AND NOT EXISTS (SELECT 1 FROM label_print p
             WHERE p.owner_id = o.owner_id AND p.ml_user_id = o.ml_user_id AND p.shipping_id = o.shipping_id)",
        to_send(of, &[ParcelStage::ToPrint])
    )
}

row! {
    /// How many parcels of some accounts wait beside those whose label is to be printed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct WaitingElse {
        /// They lack their fiscal note.
        pub without_note: i64 = "count(DISTINCT iif(o.stage = 3, o.shipping_id, NULL))",
        /// Their labels were printed elsewhere.
        pub printed_elsewhere: i64 = "count(DISTINCT iif(o.stage = 5 AND NOT EXISTS (SELECT 1 FROM label_print p
            WHERE p.owner_id = o.owner_id AND p.ml_user_id = o.ml_user_id AND p.shipping_id = o.shipping_id), o.shipping_id, NULL))",
    }
}
const _: () = assert!(ParcelStage::NeedsNote as u8 == 3 && ParcelStage::Printed as u8 == 5);

/// How many parcels of accounts, given as owner and number, wait for something else.
pub fn waiting_else(tx: &ReadTx<'_>, accounts: &[(i64, i64)]) -> Result<WaitingElse> {
    let rest = to_send(OF_GIVEN, &[ParcelStage::NeedsNote, ParcelStage::Printed]);
    Ok(tx.record(&rest, [Json(accounts)])?.unwrap_or_default())
}

/// The parcels of accounts whose labels are to be printed, each with the place of its
/// account among them.
pub fn to_print(tx: &ReadTx<'_>, accounts: &[(i64, i64)]) -> Result<Vec<(usize, ToPrint)>> {
    let rest = format!("{} GROUP BY given.key, o.shipping_id", not_printed(OF_GIVEN));
    placed(tx, &rest, [Json(accounts)])
}

/// How many those are, and until when the first is to be handed over.
pub fn count_to_print(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
) -> Result<(u64, Option<Instant>)> {
    let sql = format!(
        "SELECT count(DISTINCT o.shipping_id), min(o.dispatch_by) {}",
        not_printed(OF_ACCOUNT)
    );
    let (parcels, due): (i64, Option<Instant>) =
        tx.one(&sql, (owner, account), |row| row.try_into())?;
    Ok((parcels.unsigned_abs(), due))
}

/// Which of an account's parcels have an order that must not be sent.
pub fn barred(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    shipments: &[i64],
) -> Result<Vec<i64>> {
    tx.values(
        &format!(
            "SELECT given.value FROM json_each(?3) given
             WHERE EXISTS (SELECT 1 FROM sale_order o WHERE o.owner_id = ?1 AND o.ml_user_id = ?2
                           AND o.shipping_id = given.value AND o.stage = {risk})",
            risk = ParcelStage::DoNotSend.number()
        ),
        (owner, account, Json(shipments)),
    )
}

/// How far back orders are searched for a parcel that is no longer to be sent:
/// labels of older ones are not requested.
const LOOKED_BACK_S: i64 = 60 * DAY_S;

/// Which of some shipments are in none of the owner's orders of this account.
pub fn unknown(
    tx: &ReadTx<'_>,
    owner: UserId,
    account: MlUserId,
    shipments: &[i64],
) -> Result<Vec<i64>> {
    // The range is a literal, so that the index of parcels to be sent is used.
    let to_be_sent = format!(
        "SELECT EXISTS (SELECT 1 FROM sale_order
             WHERE owner_id = ?1 AND ml_user_id = ?2 AND shipping_id = ?3 AND {TO_SEND})"
    );
    let mut unknown = Vec::new();
    for shipment in shipments {
        if !tx.value::<bool>(&to_be_sent, (owner, account, shipment))? {
            unknown.push(*shipment);
        }
    }
    if unknown.is_empty() {
        return Ok(unknown);
    }
    // Few of the requested parcels have left, so this needs no index.
    let places = vec!["?"; unknown.len()].join(", ");
    let since = tx.now().minus(LOOKED_BACK_S);
    let values = [owner.0, since.0, account.0].into_iter();
    let left = tx.values::<i64>(
        &format!(
            "SELECT shipping_id FROM sale_order
             WHERE owner_id = ? AND created_at >= ? AND ml_user_id = ? AND shipping_id IN ({places})"
        ),
        params_from_iter(values.chain(unknown.iter().copied()))
    )?;
    unknown.retain(|shipment| !left.contains(shipment));
    Ok(unknown)
}
