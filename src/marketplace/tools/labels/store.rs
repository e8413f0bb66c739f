//! The parcels of accounts in the database: which can be printed, and which are to be.

use rusqlite::{Params, params_from_iter};

use super::Parcel;
use crate::base::{DAY_S, Instant, MlUserId, OrderId, UserId};
use crate::db::{Json, ReadTx, Record, Result, RowWindow};
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::words::READY_TO_SHIP;
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
    }
}

/// SQL for the orders of one account.
const OF_ACCOUNT: [&str; 2] = ["sale_order o", "o.owner_id = ?1 AND o.ml_user_id = ?2"];

/// The same of all accounts that `?1` names, as owner and number.
const OF_GIVEN: [&str; 2] = [
    "json_each(?1) given CROSS JOIN sale_order o",
    "o.owner_id = given.value ->> 0 AND o.ml_user_id = given.value ->> 1",
];

/// SQL for the parcels of accounts that can be printed: those ready to be
/// sent, of the kinds that sellers print, or of a kind that is not known yet.
fn printable([orders, condition]: [&str; 2]) -> String {
    // The states are literals, so that the index of parcels to be sent is used.
    format!(
        "FROM {orders}
    LEFT JOIN word w ON w.word_id = o.logistic_type
    LEFT JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
    WHERE {condition} AND o.shipping_status = {READY_TO_SHIP} AND o.shipping_id > 0
      AND o.status IN ({sales})
      AND (w.text IS NULL OR w.text IN ('drop_off', 'xd_drop_off', 'cross_docking', 'self_service'))",
        sales = OrderStatus::sales_in_sql()
    )
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

/// SQL for those of [`printable`] whose label was not printed.
fn not_printed(of: [&str; 2]) -> String {
    format!(
        "{} AND NOT EXISTS (SELECT 1 FROM label_print p
             WHERE p.owner_id = o.owner_id AND p.ml_user_id = o.ml_user_id AND p.shipping_id = o.shipping_id)",
        printable(of)
    )
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
    // The state is a literal, so that the index of parcels to be sent is used.
    let to_be_sent = format!(
        "SELECT EXISTS (SELECT 1 FROM sale_order
             WHERE owner_id = ?1 AND ml_user_id = ?2 AND shipping_id = ?3 AND shipping_status = {READY_TO_SHIP})"
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
