//! Other numbers by which an order is named: that of its cart, and those of its payments.
//! Claims name it by them, and people search for them.

use super::store;
use crate::base::{OrderId, UserId};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::books::document::OrderDocument;
use crate::named;

named! {
    /// What a number is of.
    pub enum NumberKind: number {
        Pack = 1, "pack";
        Payment = 2, "payment";
    }
}

/// Notes the numbers of a document that are not known yet, in the place of the cart that
/// the order belonged to before.
pub(super) fn note(
    tx: &WriteTx<'_>,
    owner: UserId,
    order: &OrderDocument,
    former_pack: Option<i64>,
) -> Result<()> {
    if let Some(former) = former_pack.filter(|_| former_pack != order.pack_id) {
        tx.execute(
            "DELETE FROM sale_number WHERE owner_id = ?1 AND number = ?2 AND order_id = ?3",
            (owner, former, order.id),
        )?;
        store::name_in_claims(tx, owner, NumberKind::Pack.resource(), former)?;
    }
    let pack = order.pack_id.map(|pack| (pack, NumberKind::Pack));
    let payments = order.payments.iter().map(|payment| (*payment, NumberKind::Payment));
    for (number, kind) in pack.into_iter().chain(payments) {
        let added = tx.execute(
            "INSERT OR IGNORE INTO sale_number (owner_id, number, order_id, ml_user_id, kind) VALUES (?1, ?2, ?3, ?4, ?5)",
            (owner, number, order.id, order.seller, kind),
        )?;
        if added > 0 {
            store::name_in_claims(tx, owner, kind.resource(), number)?;
        }
    }
    Ok(())
}

impl NumberKind {
    /// What claims call it.
    pub const fn resource(self) -> &'static str {
        match self {
            Self::Pack => "purchase",
            Self::Payment => "payment",
        }
    }
}

/// The first of an owner's orders that a number names, as claims call it; a cart of one
/// order may be named by that order's number.
pub fn first_with(
    tx: &ReadTx<'_>,
    owner: UserId,
    resource: &str,
    number: i64,
) -> Result<Option<OrderId>> {
    let kind = NumberKind::ALL.into_iter().find(|kind| kind.resource() == resource);
    let Some(kind) = kind else { return Ok(None) };
    let named: Option<OrderId> = tx.maybe(
        "SELECT order_id FROM sale_number WHERE owner_id = ?1 AND number = ?2 AND kind = ?3
         ORDER BY order_id LIMIT 1",
        (owner, number, kind),
    )?;
    match (named, kind) {
        (None, NumberKind::Pack) => tx.maybe(
            "SELECT order_id FROM sale_order WHERE order_id = ?2 AND owner_id = ?1",
            (owner, number),
        ),
        (named, _) => Ok(named),
    }
}

/// The orders of an owner that a number names, as claims call it.
pub fn all_with(
    tx: &ReadTx<'_>,
    owner: UserId,
    resource: &str,
    number: i64,
) -> Result<Vec<OrderId>> {
    let kind = NumberKind::ALL.into_iter().find(|kind| kind.resource() == resource);
    let named =
        "SELECT order_id FROM sale_number WHERE owner_id = ?1 AND number = ?2 AND kind = ?3";
    let all: Vec<OrderId> = match kind {
        Some(kind) => tx.values(named, (owner, number, kind))?,
        None => Vec::new(),
    };
    if all.is_empty() {
        first_with(tx, owner, resource, number).map(|one| one.into_iter().collect())
    } else {
        Ok(all)
    }
}

/// Whether a claim that was read before a new order tells that its goods are back.
pub(super) fn came_back(tx: &ReadTx<'_>, owner: UserId, order: &OrderDocument) -> Result<bool> {
    // Hardly any owner has such a claim.
    let any = "SELECT EXISTS (SELECT 1 FROM claim WHERE owner_id = ?1 AND came_back = 1)";
    if !tx.value::<bool>(any, [owner])? {
        return Ok(false);
    }
    let own = [("order", Some(order.id.0)), ("purchase", Some(order.id.0))];
    let others = [("shipment", order.shipping_id), ("purchase", order.pack_id)];
    let payments = order.payments.iter().map(|payment| ("payment", Some(*payment)));
    for (resource, number) in own.into_iter().chain(others).chain(payments) {
        let told = "SELECT EXISTS (SELECT 1 FROM claim
                        WHERE owner_id = ?1 AND came_back = 1 AND resource_id = ?2 AND resource = ?3)";
        if number.is_some() && tx.value::<bool>(told, (owner, number, resource))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An owner's orders that a number names: their own, that of their cart, of a payment or
/// of their parcel; at most `most`.
pub fn of_number(tx: &ReadTx<'_>, owner: UserId, number: i64, most: u32) -> Result<Vec<OrderId>> {
    tx.values(
        "SELECT order_id FROM sale_order WHERE order_id = ?2 AND +owner_id = ?1
         UNION SELECT order_id FROM sale_number WHERE owner_id = ?1 AND number = ?2
         UNION SELECT order_id FROM sale_order WHERE owner_id = ?1 AND shipping_id = ?2
         LIMIT ?3",
        (owner, number, most),
    )
}
