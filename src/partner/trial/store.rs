//! Test shops in their database: two people each, found by the address of the seller.

use super::{MOST_SHOPS, UNUSED_S};
use crate::accounts::{Account, Role, store as accounts};
use crate::base::{Cents, Day, Instant, MlUserId, OrderId, UserId};
use crate::catalog::store as products;
use crate::db::{DbError, ReadTx, Result, WriteTx};
use crate::marketplace::account::store as linked;
use crate::marketplace::books::document::{OrderDocument, SoldItem, SoldLine};
use crate::marketplace::books::order_status::OrderStatus;
use crate::marketplace::books::parcel::TO_SEND;
use crate::messages::store as messages;
use crate::row;

/// Where the addresses of a shop's people are; nobody receives anything there.
const DOMAIN: &str = "loja-de-teste.invalid";
/// What the addresses of sellers and suppliers begin with.
const SELLER: &str = "vendedor";
const SUPPLIER: &str = "fornecedor";
/// Rows of a kind that are removed at a time.
const STEP: usize = 1000;

/// Whose shop it is: the owner's number, and when that account was made, because an older copy
/// of the real database may give a number again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShopKey {
    pub owner: UserId,
    made: Instant,
}

/// The two people of a shop.
#[derive(Clone, Copy, Debug)]
pub struct Cast {
    pub seller: UserId,
    pub supplier: UserId,
}

impl ShopKey {
    fn address(self, part: &str) -> String {
        format!("{part}.{}.{}@{DOMAIN}", self.owner, self.made.0)
    }

    fn read(address: &str) -> Option<Self> {
        let (name, _) = address.split_once('@')?;
        let mut parts = name.split('.').skip(1).map(str::parse);
        let (owner, made) = (parts.next()?.ok()?, parts.next()?.ok()?);
        Some(Self { owner: UserId(owner), made: Instant(made) })
    }

    /// The address of the seller.
    pub fn seller(self) -> String {
        self.address(SELLER)
    }
}

impl Cast {
    /// The accounts of both.
    pub fn accounts(self, tx: &ReadTx<'_>) -> Result<(Account, Account)> {
        let one = |id| accounts::by_id(tx, id)?.ok_or(DbError::Stopped);
        Ok((one(self.seller)?, one(self.supplier)?))
    }

    const fn both(self) -> [UserId; 2] {
        [self.seller, self.supplier]
    }
}

/// In the real database: the key of a person's shop; `None` for somebody who is gone.
pub fn key(tx: &ReadTx<'_>, owner: UserId) -> Result<Option<ShopKey>> {
    let made: Option<Instant> =
        tx.maybe("SELECT created_at FROM user WHERE user_id = ?1 AND removed_at IS NULL", [owner])?;
    Ok(made.map(|made| ShopKey { owner, made }))
}

/// A shop that is there.
pub fn find(tx: &ReadTx<'_>, key: &ShopKey) -> Result<Option<Cast>> {
    let one = |part| accounts::by_email(tx, &key.address(part));
    Ok(match (one(SELLER)?, one(SUPPLIER)?) {
        (Some(seller), Some(supplier)) => {
            Some(Cast { seller: seller.user_id, supplier: supplier.user_id })
        }
        _ => None,
    })
}

/// All shops, with their last use.
pub fn all(tx: &ReadTx<'_>) -> Result<Vec<(ShopKey, Cast, Instant)>> {
    let sellers: Vec<(String, Instant)> = tx.tuples(
        "SELECT email, coalesce(last_access_at, created_at) FROM user WHERE email LIKE ?1",
        [format!("{SELLER}.%@{DOMAIN}")],
    )?;
    let mut shops = Vec::with_capacity(sellers.len());
    for (address, used_at) in sellers {
        if let Some(key) = ShopKey::read(&address)
            && let Some(cast) = find(tx, &key)?
        {
            shops.push((key, cast, used_at));
        }
    }
    Ok(shops)
}

/// Whether there is room for another shop; removes the one that was not used for longest, if
/// that was long ago.
pub fn makes_room(tx: &WriteTx<'_>) -> Result<bool> {
    let people = tx.count("SELECT count(*) FROM partner_account", [])?;
    if people / 2 < MOST_SHOPS {
        return Ok(true);
    }
    let oldest = all(tx)?.into_iter().min_by_key(|(_, _, used_at)| *used_at);
    match oldest.filter(|(_, _, used_at)| *used_at < tx.now().minus(UNUSED_S)) {
        Some((_, cast, _)) => remove(tx, cast).map(|()| true),
        None => Ok(false),
    }
}

/// The people of a new shop; those of an old one get their numbers again.
pub fn insert(tx: &WriteTx<'_>, key: &ShopKey, numbers: Option<Cast>) -> Result<Cast> {
    let one = |number: Option<UserId>, part, name, role: Role| {
        tx.insert(
            "INSERT INTO user (user_id, email, name, role, created_at, last_access_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
            (number, key.address(part), name, role, tx.now()),
        )
    };
    let seller =
        one(numbers.map(|cast| cast.seller), SELLER, "Vendedora de teste", Role::PilotoPro)?;
    let supplier =
        one(numbers.map(|cast| cast.supplier), SUPPLIER, "Fornecedor de teste", Role::Drop)?;
    Ok(Cast { seller: UserId(seller), supplier: UserId(supplier) })
}

/// Links a store to a seller. It has no access to the marketplace.
pub fn open_store(tx: &WriteTx<'_>, seller: UserId, store: MlUserId, since: Instant) -> Result<()> {
    tx.run(
        "INSERT INTO ml_account (ml_user_id, owner_id, nickname, token_expires_at, token_ok, reputation, linked_at, synced_at)
         VALUES (?1, ?2, 'LOJA DE TESTE', 0, 1, '5_green', ?3, ?4)",
        (store, seller, since, tx.now()),
    )
}

/// Makes what was entered now as old as the shop, so that its orders come after it.
pub fn date_back(tx: &WriteTx<'_>, cast: Cast, since: Instant) -> Result<()> {
    tx.run("UPDATE drop_link SET created_at = ?2 WHERE supplier_id = ?1", (cast.supplier, since))?;
    tx.run(
        "UPDATE drop_relation SET invited_at = ?2, since = ?2 WHERE supplier_id = ?1",
        (cast.supplier, since),
    )
}

/// What is owed for orders of before an instant.
pub fn owed_before(tx: &ReadTx<'_>, supplier: UserId, before: Instant) -> Result<Vec<i64>> {
    tx.values(
        "SELECT drop_order_id FROM drop_order WHERE supplier_id = ?1 AND ordered_at < ?2 AND state = 1",
        (supplier, before),
    )
}

/// Notes the use of a shop.
pub fn note_use(tx: &WriteTx<'_>, seller: UserId, at: Instant) -> Result<()> {
    tx.run("UPDATE user SET last_access_at = ?2 WHERE user_id = ?1", (seller, at))
}

/// Removes a shop with all that is in it.
pub fn remove(tx: &WriteTx<'_>, cast: Cast) -> Result<()> {
    for person in cast.both() {
        while linked::forget_accounts(tx, person, STEP)?
            + linked::forget_history(tx, person, STEP)?
            + products::forget(tx, person, STEP)?
            + messages::forget(tx, person, STEP)?
            > 0
        {}
    }
    for person in cast.both() {
        tx.run("DELETE FROM drop_order WHERE supplier_id = ?1", [person])?;
        // Its triggers leave the rows, with 0.
        tx.run("DELETE FROM drop_order_count WHERE supplier_id = ?1", [person])?;
        tx.run("DELETE FROM user WHERE user_id = ?1", [person])?;
    }
    Ok(())
}

/// Calls of a person by day and operation, as they are counted.
pub type Calls = Vec<(UserId, Day, String, i64)>;

/// The calls of a shop's people.
pub fn calls(tx: &ReadTx<'_>, cast: Cast) -> Result<Calls> {
    tx.tuples(
        "SELECT user_id, day, operation, calls FROM partner_usage WHERE user_id IN (?1, ?2)",
        (cast.seller, cast.supplier),
    )
}

/// Puts calls back that were counted.
pub fn put_calls(tx: &WriteTx<'_>, calls: &[(UserId, Day, String, i64)]) -> Result<()> {
    calls.iter().try_for_each(|(user, day, operation, calls)| {
        tx.run(
            "INSERT INTO partner_usage (user_id, day, operation, calls) VALUES (?1, ?2, ?3, ?4)",
            (user, day, operation, calls),
        )
    })
}

/// The shop of one of its people.
pub fn cast_of(tx: &ReadTx<'_>, person: UserId) -> Result<Option<Cast>> {
    let address = accounts::by_id(tx, person)?.map(|account| account.email);
    match address.as_deref().and_then(ShopKey::read) {
        Some(key) => find(tx, &key),
        None => Ok(None),
    }
}

/// How many events a person had.
pub fn newest_event(tx: &ReadTx<'_>, person: UserId) -> Result<i64> {
    tx.value("SELECT coalesce(max(number), 0) FROM partner_event WHERE user_id = ?1", [person])
}

/// The next number of a kind of record, from the first on.
pub fn next_place(
    tx: &ReadTx<'_>,
    table: &str,
    key: &str,
    owner: UserId,
    first: i64,
) -> Result<i64> {
    let sql =
        format!("SELECT max(?2, coalesce(max({key}) + 1, 0)) FROM {table} WHERE owner_id = ?1");
    tx.value(&sql, (owner, first))
}

/// A product whose stock is counted.
pub fn some_product(tx: &ReadTx<'_>, owner: UserId) -> Result<Option<i64>> {
    tx.maybe(
        "SELECT product_id FROM product WHERE owner_id = ?1 ORDER BY product_id LIMIT 1",
        [owner],
    )
}

row! {
    /// An order as the books have it.
    struct KnownOrder {
        id: OrderId = "o.order_id",
        seller: MlUserId = "o.ml_user_id",
        status: String = "s.text",
        created_at: Instant = "o.created_at",
        closed_at: Option<Instant> = "o.closed_at",
        updated_at: Instant = "o.updated_at",
        total: Cents = "o.total_cents",
        currency: String = "c.text",
        item: SoldGoods as row,
        quantity: i64 = "o.quantity",
        buyer_nickname: String = "o.buyer_nickname",
        shipping_id: Option<i64> = "o.shipping_id",
        fee: Option<Cents> = "o.fee_cents",
        paid_at: Option<Instant> = "o.paid_at",
    }
}

row! {
    struct SoldGoods {
        site: String = "i.site",
        number: i64 = "i.item_id",
        variation: i64 = "i.variation_id",
        title: String = "i.title",
        sku: String = "i.sku",
    }
}

const KNOWN: &str = "FROM sale_order o
    JOIN word s ON s.word_id = o.status JOIN word c ON c.word_id = o.currency
    JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version";

impl From<KnownOrder> for OrderDocument {
    fn from(known: KnownOrder) -> Self {
        let SoldGoods { site, number, variation, title, sku } = known.item;
        Self {
            id: known.id,
            seller: known.seller,
            status: known.status,
            created_at: known.created_at,
            closed_at: known.closed_at,
            updated_at: known.updated_at,
            total: known.total,
            currency: known.currency,
            refunded: Cents(0),
            lines: vec![SoldLine {
                item: SoldItem { site, number, variation, title, sku },
                units: known.quantity,
                unit_price: Cents(known.total.0 / known.quantity.max(1)),
                fee: known.fee,
            }],
            pack_id: None,
            payments: Vec::new(),
            is_to_agree: false,
            is_fraud_risk: false,
            is_split: false,
            buyer_id: None,
            buyer_nickname: known.buyer_nickname,
            shipping_id: known.shipping_id,
            shipment: None,
            paid_at: known.paid_at,
        }
    }
}

/// The newest order that is paid.
pub fn newest_sale(tx: &ReadTx<'_>, owner: UserId) -> Result<Option<OrderDocument>> {
    let sql = format!(
        "{KNOWN} WHERE o.owner_id = ?1 AND o.status = ?2 ORDER BY o.created_at DESC, o.order_id DESC LIMIT 1"
    );
    Ok(tx.record::<KnownOrder>(&sql, (owner, OrderStatus::Paid.number()))?.map(Into::into))
}

pub fn order(tx: &ReadTx<'_>, owner: UserId, id: OrderId) -> Result<Option<OrderDocument>> {
    let sql = format!("{KNOWN} WHERE o.order_id = ?2 AND o.owner_id = ?1");
    Ok(tx.record::<KnownOrder>(&sql, (owner, id))?.map(Into::into))
}

/// The newest sale whose parcel is to be sent, and the parcel.
pub fn newest_to_ship(tx: &ReadTx<'_>, owner: UserId) -> Result<Option<(OrderId, i64)>> {
    tx.tuple(
        &format!(
            "SELECT order_id, shipping_id FROM sale_order
             WHERE owner_id = ?1 AND status = ?2 AND {TO_SEND} AND shipping_id IS NOT NULL
             ORDER BY created_at DESC, order_id DESC LIMIT 1"
        ),
        (owner, OrderStatus::Paid.number()),
    )
}

/// The newest drop order of a supplier that is to be paid, and its order.
pub fn newest_owed(tx: &ReadTx<'_>, supplier: UserId) -> Result<Option<(i64, OrderId)>> {
    tx.tuple(
        "SELECT drop_order_id, order_id FROM drop_order WHERE supplier_id = ?1 AND state = 1
         ORDER BY ordered_at DESC, drop_order_id DESC LIMIT 1",
        [supplier],
    )
}
