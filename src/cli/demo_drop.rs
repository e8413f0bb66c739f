//! The business between the demonstration's supplier and seller: a relation,
//! linked listings, and what was owed and paid in the last weeks.

use crate::base::{DAY_S, Instant, OrderId, UserId};
use crate::db::{Result, WriteTx};
use crate::dropshipping::links::{self, ByProduct, NewLink};
use crate::dropshipping::{orders, relations};
use crate::marketplace::books::order_status::{OrderStatus, SaleState};
use crate::marketplace::books::orders::change::SoldOrder;

/// SKU of a listing, and of the supplier's product that it sells.
const LINKED: [(&str, &str); 3] =
    [("GAR-INX-1L", "RP-GARRAFA-1L"), ("POT-HER-10", "RP-POTES-10"), ("MOP-GIR-08", "RP-MOP-8L")];
/// How long the two have worked together.
const SINCE_S: i64 = 40 * DAY_S;
/// Amounts that became due longer ago than this are paid, except for a few.
const PAID_S: i64 = 2 * DAY_S;
/// One in so many is still unpaid.
const FORGOTTEN: i64 = 9;

/// Relates the two, and creates what the relation would have made of the seller's
/// orders.
pub fn fill(
    tx: &WriteTx<'_>,
    supplier: UserId,
    seller: UserId,
    (email, payment_days): (&str, u32),
) -> Result<()> {
    let since = tx.now().minus(SINCE_S);
    relations::relate(tx, supplier, seller, email)?;
    tx.run(
        "UPDATE drop_relation SET invited_at = ?2, since = ?2 WHERE supplier_id = ?1",
        (supplier, since),
    )?;
    for (listing, product) in LINKED {
        let items: Vec<i64> = tx.values(
            "SELECT item_id FROM listing WHERE owner_id = ?1 AND sku = ?2",
            (seller, listing),
        )?;
        for item in items {
            let new = NewLink { seller, item, product: ByProduct::Sku(product.to_owned()) };
            if links::make(tx, supplier, &new)?.is_ok() {
                tx.run(
                    "UPDATE drop_link SET created_at = ?3 WHERE seller_id = ?1 AND item_id = ?2",
                    (seller, item, since),
                )?;
                bill(tx, seller, (item, since), payment_days)?;
            }
        }
    }
    let due = tx.now().minus(PAID_S);
    tx.run(
        "UPDATE drop_order SET state = 2, paid_at = due_at - ?3
         WHERE supplier_id = ?1 AND state = 1 AND due_at < ?2 AND drop_order_id % ?4 <> 0",
        (supplier, due, DAY_S / 2, FORGOTTEN),
    )
}

/// Makes the drop orders of a listing's sales.
fn bill(
    tx: &WriteTx<'_>,
    seller: UserId,
    (item, since): (i64, Instant),
    payment_days: u32,
) -> Result<()> {
    let sales: Vec<(OrderId, Instant, i64, String)> = tx.tuples(
        "SELECT o.order_id, o.created_at, o.quantity, w.text
         FROM sale_order o JOIN word w ON w.word_id = o.status
         WHERE o.owner_id = ?1 AND o.item_id = ?2 AND o.created_at >= ?3 ORDER BY o.created_at",
        (seller, item, since),
    )?;
    for (id, created_at, quantity, status) in sales {
        let order = |sale| SoldOrder { id, created_at, item, sku: "", quantity, sale };
        let became: &[SaleState] = match OrderStatus::from_name(&status) {
            Some(OrderStatus::Paid) => &[SaleState::Paid],
            Some(OrderStatus::Cancelled) => &[SaleState::Paid, SaleState::Cancelled],
            _ => &[],
        };
        for sale in became {
            orders::follow(tx, seller, &order(*sale), payment_days)?;
        }
    }
    Ok(())
}
