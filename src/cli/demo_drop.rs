//! The business between the demonstration's supplier and seller: a relation,
//! linked listings, and what was owed and paid in the last weeks.

use crate::accounts::store as accounts;
use crate::base::{DAY_S, Instant, OrderId, UserId};
use crate::catalog::store::ByProduct;
use crate::db::{Result, WriteTx};
use crate::dropshipping::links::{self, NewLink};
use crate::dropshipping::{orders, relations};
use crate::marketplace::books::order_status::{OrderStatus, SaleState};
use crate::marketplace::books::orders::change::{SoldGoods, SoldOrder};

/// SKU of a listing, and of the supplier's product that it sells.
const LINKED: [(&str, &str); 3] =
    [("GAR-INX-1L", "RP-GARRAFA-1L"), ("POT-HER-10", "RP-POTES-10"), ("MOP-GIR-08", "RP-MOP-8L")];
/// How long the two have worked together.
const SINCE_S: i64 = 40 * DAY_S;
/// Amounts that became due longer ago than this are paid, except for a few.
const PAID_S: i64 = 2 * DAY_S;
/// One in so many is still unpaid.
const FORGOTTEN: i64 = 9;

/// A further seller: e-mail, the business of a day for so many days, how many of the
/// last days are not paid, and listings without a product, each with its SKU.
type Seller = (&'static str, i64, i64, &'static [(&'static str, &'static str)]);

#[rustfmt::skip] // A table.
const OTHERS: [Seller; 4] = [
    ("aluno1@exemplo.com", 34, 12, &[
        ("Copo Térmico 473ml Com Tampa Inox Cerveja", ""),
        ("Caneca Cerâmica Branca 300ml Sublimação", "CAN-300"),
        ("Suporte De Celular Para Bicicleta", ""),
    ]),
    ("aluno2@exemplo.com", 20, 5, &[("Tábua De Corte Bambu Grande Churrasco", "LOJA-RP-TABUA-G")]),
    ("aluno14@exemplo.com", 45, 21, &[
        ("Avental De Cozinha Sarja Preto Ajustável", ""),
        ("Balde Dobrável De Silicone 10 Litros", "BD10"),
    ]),
    ("aluno18@exemplo.com", 26, 0, &[]),
];
/// Products that the further sellers sell, with their prices in centavos.
const SOLD: [(&str, &str, i64); 4] = [
    ("RP-GARRAFA-1L", "Garrafa térmica inox 1 litro", 3_150),
    ("RP-COPO-473", "Copo térmico 473 ml com tampa", 3_890),
    ("RP-CANECA-300", "Caneca de cerâmica 300 ml", 1_490),
    ("RP-TABUA-G", "Tábua de bambu grande", 3_290),
];

/// Relates the supplier with further sellers, who have no linked accounts: what they
/// owe and their listings are entered as they would be stored.
pub fn fill_others(tx: &WriteTx<'_>, supplier: UserId, payment_days: u32) -> Result<()> {
    for (place, (email, days, open, listings)) in (0..).zip(OTHERS) {
        let Some(seller) = accounts::by_email(tx, email)?.map(|one| one.user_id) else {
            continue;
        };
        relations::relate(tx, supplier, seller, email)?;
        for day in 0..days {
            let goods = usize::try_from(day + place).unwrap_or(0) % SOLD.len();
            let (sku, title, price) = SOLD[goods];
            let quantity = 1 + (day + place) % 3;
            let sold_at = tx.now().minus(day * DAY_S + place * 3_600 + 1_200);
            let due_at = sold_at.plus(i64::from(payment_days) * DAY_S);
            let paid_at = (day >= open).then(|| due_at.minus(DAY_S / 3).min(tx.now()));
            tx.run(
                "INSERT INTO drop_order (supplier_id, seller_id, order_id, ordered_at, sku, title, quantity,
                                         unit_cents, amount_cents, state, due_at, paid_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?7 * ?8, iif(?10 IS NULL, 1, 2), ?9, ?10)",
                rusqlite::params![
                    supplier,
                    seller,
                    2_000_009_000_000 + place * 1_000 + day,
                    sold_at,
                    sku,
                    title,
                    quantity,
                    price,
                    due_at,
                    paid_at
                ],
            )?;
        }
        for (number, (title, sku)) in (0..).zip(listings) {
            tx.run(
                "INSERT INTO listing (owner_id, item_id, ml_user_id, site, title, status, sub_status, price_cents,
                     currency, available, sold, listing_type, logistic_type, category, sku, ean, permalink,
                     thumbnail, created_at, updated_at)
                 SELECT ?1, ?2, 0, 'MLB', ?3, status, '', 5990, currency, 12, 3, listing_type, NULL, '', ?4, '', '',
                     '', ?5, ?5
                 FROM listing JOIN word w ON w.word_id = status AND w.text = 'active' LIMIT 1",
                (seller, 4_700_000_000 + place * 100 + number, *title, *sku, tx.now().minus(DAY_S)),
            )?;
        }
    }
    Ok(())
}

/// Relates the two, and creates what the relation would have made of the seller's
/// orders.
pub fn fill(
    tx: &WriteTx<'_>,
    supplier: UserId,
    seller: UserId,
    email: &str,
    payment_days: u32,
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
                bill(tx, seller, item, since, payment_days)?;
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
    item: i64,
    since: Instant,
    payment_days: u32,
) -> Result<()> {
    let sales: Vec<(OrderId, Instant, i64, String)> = tx.tuples(
        "SELECT o.order_id, o.created_at, o.quantity, w.text
         FROM sale_order o JOIN word w ON w.word_id = o.status
         WHERE o.owner_id = ?1 AND o.item_id = ?2 AND o.created_at >= ?3 ORDER BY o.created_at",
        (seller, item, since),
    )?;
    for (id, created_at, quantity, status) in sales {
        let goods = vec![SoldGoods { item, variation: 0, sku: String::new(), units: quantity }];
        let order = |sale| SoldOrder {
            id,
            created_at,
            goods: goods.clone(),
            sale,
            is_out: false,
            is_divided: false,
        };
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
