//! Pages of orders, at a cost that does not grow with their number.
//!
//! Without filter by state or store a page is a range of the clustered table.
//! With one it is merged from runs of `sale_order_run`: one run for each
//! store and state that has orders, each read no further than the page's end.
//! Totals come from `order_count`, which every write keeps.

use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::Type;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::clock::{Day, Instant, Zone};
use crate::db::{ReadTx, Result};
use crate::ids::{MlUserId, OrderId, UserId};
use crate::money::Cents;

/// What a caller asked for.
pub struct Filter {
    pub status: Option<String>,
    /// Marketplace seller id.
    pub store: Option<i64>,
    /// First and last civil day of creation.
    pub days: (Option<Day>, Option<Day>),
    /// The same as instants: from, and before.
    pub created: (Option<Instant>, Option<Instant>),
    /// Number of a listing.
    pub item_id: Option<i64>,
    pub limit: i64,
    pub offset: i64,
}

/// The number of a listing id, such as 123 of `MLB123`.
pub fn item_number(listing: &str) -> Option<i64> {
    let digits = listing.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let known = !digits.is_empty()
        && digits.len() < listing.len()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    known.then(|| digits.parse().ok()).flatten()
}

/// An order on the wire (specification, "Partner order"; contract §9).
#[derive(Serialize, JsonSchema)]
pub struct OrderItem<'o> {
    order_id: OrderId,
    /// Marketplace listing id.
    ml_id: String,
    ml_user_id: MlUserId,
    status: &'o str,
    total_amount: Cents,
    currency: &'o str,
    quantity: i64,
    title: &'o str,
    sku: &'o str,
    buyer_nickname: &'o str,
    /// Civil time.
    date_created: String,
    shipping: Shipping<'o>,
}

/// The shipment of an order; nulls until there is one.
#[derive(Serialize, JsonSchema)]
struct Shipping<'o> {
    id: Option<String>,
    status: Option<&'o str>,
    logistic_type: Option<&'o str>,
}

#[expect(
    clippy::struct_field_names,
    reason = "the marketplace calls it the order id"
)]
struct Order {
    created_at: Instant,
    order_id: OrderId,
    ml_user_id: MlUserId,
    status: Arc<str>,
    total: Cents,
    currency: Arc<str>,
    item: usize,
    quantity: i64,
    buyer_nickname: String,
    shipping_id: Option<i64>,
    shipping_status: Option<Arc<str>>,
    logistic_type: Option<Arc<str>>,
}

/// What was sold; orders of a page share it.
struct SoldItem {
    key: (i64, i64),
    ml_id: String,
    title: String,
    sku: String,
}

/// A page as it was read.
pub struct OrderPage {
    pub total: i64,
    orders: Vec<Order>,
    items: Vec<SoldItem>,
}

impl OrderPage {
    /// The orders as they go on the wire.
    pub fn items(&self, app: &App) -> Vec<OrderItem<'_>> {
        self.orders
            .iter()
            .map(|order| order.wire(&self.items[order.item], app.zone()))
            .collect()
    }
}

impl Order {
    fn wire<'o>(&'o self, item: &'o SoldItem, zone: Zone) -> OrderItem<'o> {
        OrderItem {
            order_id: self.order_id,
            ml_id: item.ml_id.clone(),
            ml_user_id: self.ml_user_id,
            status: &self.status,
            total_amount: self.total,
            currency: &self.currency,
            quantity: self.quantity,
            title: &item.title,
            sku: &item.sku,
            buyer_nickname: &self.buyer_nickname,
            date_created: zone.partner(self.created_at),
            shipping: Shipping {
                id: self.shipping_id.map(|id| id.to_string()),
                status: self.shipping_status.as_deref(),
                logistic_type: self.logistic_type.as_deref(),
            },
        }
    }
}

const COLUMNS: &str =
    "created_at, order_id, ml_user_id, status, total_cents, currency, item_id, variation_id,
    quantity, buyer_nickname, shipping_id, shipping_status, logistic_type";

/// Reads one page of an owner's orders, newest first, with their total.
pub fn read_page(tx: &ReadTx<'_>, app: &App, owner: UserId, filter: &Filter) -> Result<OrderPage> {
    let mut page = OrderPage {
        total: 0,
        orders: Vec::new(),
        items: Vec::new(),
    };
    let (from, before) = span(filter);
    if let Some(item) = filter.item_id {
        return read_listing(tx, app, owner, filter, item);
    }
    if filter.status.is_none() && filter.store.is_none() {
        page.total = count_all(tx, owner, filter)?;
        let sql = format!(
            "SELECT {COLUMNS} FROM sale_order
             WHERE owner_id = ?1 AND created_at >= ?2 AND created_at < ?3
             ORDER BY created_at DESC, order_id DESC
             LIMIT ?4 OFFSET ?5"
        );
        tx.each(
            &sql,
            (owner, from, before, filter.limit, filter.offset),
            |row| page.take(tx, app, row),
        )?;
        return Ok(page);
    }
    let runs = runs(tx, app, owner, filter)?;
    page.total = runs.iter().map(|run| run.orders).sum();
    let sql = format!(
        "SELECT {COLUMNS} FROM sale_order WHERE owner_id = ?1 AND created_at = ?2 AND order_id = ?3"
    );
    for (created_at, order_id) in merged(tx, owner, filter, &runs)? {
        tx.each(&sql, (owner, created_at, order_id), |row| {
            page.take(tx, app, row)
        })?;
    }
    Ok(page)
}

/// A store and state that has orders in the asked span.
struct OrderRun {
    ml_user_id: i64,
    status: i64,
    orders: i64,
}

fn span(filter: &Filter) -> (i64, i64) {
    (
        filter.created.0.map_or(i64::MIN, |at| at.0),
        filter.created.1.map_or(i64::MAX, |at| at.0),
    )
}

/// Days to sum of `order_count`: those asked for, or the row that holds all.
fn counted_days(filter: &Filter) -> (i64, i64) {
    match filter.days {
        (None, None) => (-1, -1),
        (from, to) => (
            from.map_or(0, |day| day.0.max(0)),
            to.map_or(i64::MAX, |day| day.0),
        ),
    }
}

fn count_all(tx: &ReadTx<'_>, owner: UserId, filter: &Filter) -> Result<i64> {
    let (first, last) = counted_days(filter);
    let mut total = 0;
    for (store, status) in kinds(tx, owner)? {
        total += count_run(tx, owner, (store, status), (first, last))?;
    }
    Ok(total)
}

fn count_run(tx: &ReadTx<'_>, owner: UserId, kind: (i64, i64), days: (i64, i64)) -> Result<i64> {
    tx.one(
        "SELECT coalesce(sum(orders), 0) FROM order_count
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND day BETWEEN ?4 AND ?5",
        (owner, kind.0, kind.1, days.0, days.1),
        |row| row.get(0),
    )
}

/// Every store and state an owner has orders in. Each is found by one seek
/// from the one before, however many days it has.
fn kinds(tx: &ReadTx<'_>, owner: UserId) -> Result<Vec<(i64, i64)>> {
    let mut kinds = Vec::new();
    let mut last = (i64::MIN, i64::MIN);
    while let Some(next) = tx.optional(
        "SELECT ml_user_id, status FROM order_count
         WHERE owner_id = ?1 AND (ml_user_id, status) > (?2, ?3)
         ORDER BY ml_user_id, status
         LIMIT 1",
        (owner, last.0, last.1),
        |row| Ok((row.get(0)?, row.get(1)?)),
    )? {
        kinds.push(next);
        last = next;
    }
    Ok(kinds)
}

fn runs(tx: &ReadTx<'_>, app: &App, owner: UserId, filter: &Filter) -> Result<Vec<OrderRun>> {
    let status = match &filter.status {
        None => None,
        Some(text) => match app.marketplace.words.known(tx, text)? {
            Some(number) => Some(number),
            None => return Ok(Vec::new()),
        },
    };
    let mut runs = Vec::new();
    for (ml_user_id, of_status) in kinds(tx, owner)? {
        let asked = filter.store.is_none_or(|store| store == ml_user_id)
            && status.is_none_or(|one| one == of_status);
        if asked {
            let orders = count_run(tx, owner, (ml_user_id, of_status), counted_days(filter))?;
            if orders > 0 {
                runs.push(OrderRun {
                    ml_user_id,
                    status: of_status,
                    orders,
                });
            }
        }
    }
    Ok(runs)
}

/// Keys of the page's orders, merged from all runs.
fn merged(
    tx: &ReadTx<'_>,
    owner: UserId,
    filter: &Filter,
    runs: &[OrderRun],
) -> Result<Vec<(i64, i64)>> {
    let (from, before) = span(filter);
    // One run can pass over rows itself; several must be merged from their start.
    let alone = runs.len() == 1;
    let (limit, offset) = if alone {
        (filter.limit, filter.offset)
    } else {
        (filter.limit + filter.offset, 0)
    };
    let mut keys: Vec<(i64, i64)> = Vec::new();
    for run in runs {
        tx.each(
            "SELECT created_at, order_id FROM sale_order
             WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND created_at >= ?4 AND created_at < ?5
             ORDER BY created_at DESC, order_id DESC
             LIMIT ?6 OFFSET ?7",
            (owner, run.ml_user_id, run.status, from, before, limit, offset),
            |row| {
                keys.push((row.get(0)?, row.get(1)?));
                Ok(())
            },
        )?;
    }
    if alone {
        return Ok(keys);
    }
    keys.sort_unstable_by(|one, other| other.cmp(one));
    let passed = usize::try_from(filter.offset)
        .unwrap_or(usize::MAX)
        .min(keys.len());
    keys.drain(..passed);
    keys.truncate(usize::try_from(filter.limit).unwrap_or(0));
    Ok(keys)
}

/// Orders of one listing: a walk over the owner's orders, on the slow pool.
fn read_listing(
    tx: &ReadTx<'_>,
    app: &App,
    owner: UserId,
    filter: &Filter,
    item: i64,
) -> Result<OrderPage> {
    let status = match &filter.status {
        None => None,
        Some(text) => Some(app.marketplace.words.known(tx, text)?.unwrap_or(-1)),
    };
    let mut condition =
        "FROM sale_order WHERE owner_id = :owner AND created_at >= :from AND created_at < :before AND item_id = :item"
            .to_owned();
    let (from, before) = span(filter);
    let mut params: Vec<(&str, &dyn rusqlite::ToSql)> = vec![
        (":owner", &owner),
        (":from", &from),
        (":before", &before),
        (":item", &item),
    ];
    if let Some(status) = &status {
        condition.push_str(" AND status = :status");
        params.push((":status", status));
    }
    if let Some(store) = &filter.store {
        condition.push_str(" AND ml_user_id = :store");
        params.push((":store", store));
    }
    let total = tx.one(&format!("SELECT count(*) {condition}"), &*params, |row| {
        row.get(0)
    })?;
    let mut page = OrderPage {
        total,
        orders: Vec::new(),
        items: Vec::new(),
    };
    params.push((":limit", &filter.limit));
    params.push((":offset", &filter.offset));
    let sql = format!(
        "SELECT {COLUMNS} {condition} ORDER BY created_at DESC, order_id DESC LIMIT :limit OFFSET :offset"
    );
    tx.each(&sql, &*params, |row| page.take(tx, app, row))?;
    Ok(page)
}

impl OrderPage {
    fn take(&mut self, tx: &ReadTx<'_>, app: &App, row: &Row<'_>) -> rusqlite::Result<()> {
        let words = &app.marketplace.words;
        let inner = |error: crate::db::DbError| {
            rusqlite::Error::FromSqlConversionFailure(0, Type::Integer, Box::new(error))
        };
        let word = |column: usize| -> rusqlite::Result<Option<Arc<str>>> {
            row.get::<_, Option<i64>>(column)?
                .map(|number| words.text(tx, number).map_err(inner))
                .transpose()
        };
        let required = |column| word(column).map(|word| word.unwrap_or_else(|| Arc::from("")));
        let item = self.item(tx, (row.get(6)?, row.get(7)?)).map_err(inner)?;
        self.orders.push(Order {
            created_at: Instant(row.get(0)?),
            order_id: row.get(1)?,
            ml_user_id: row.get(2)?,
            status: required(3)?,
            total: Cents(row.get(4)?),
            currency: required(5)?,
            item,
            quantity: row.get(8)?,
            buyer_nickname: row.get(9)?,
            shipping_id: row.get(10)?,
            shipping_status: word(11)?,
            logistic_type: word(12)?,
        });
        Ok(())
    }

    /// The place of what was sold among this page's items.
    fn item(&mut self, tx: &ReadTx<'_>, key: (i64, i64)) -> Result<usize> {
        if let Some(place) = self.items.iter().position(|item| item.key == key) {
            return Ok(place);
        }
        let found = tx.optional(
            "SELECT site, title, sku FROM sold_item WHERE item_id = ?1 AND variation_id = ?2",
            key,
            |row| {
                let site: String = row.get(0)?;
                Ok(SoldItem {
                    key,
                    ml_id: format!("{site}{}", key.0),
                    title: row.get(1)?,
                    sku: row.get(2)?,
                })
            },
        )?;
        let unknown = || SoldItem {
            key,
            ml_id: String::new(),
            title: String::new(),
            sku: String::new(),
        };
        self.items.push(found.unwrap_or_else(unknown));
        Ok(self.items.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_ids_have_a_site_and_a_number() {
        assert_eq!(item_number("MLB123"), Some(123));
        for other in [
            "",
            "123",
            "MLB",
            "mlb1",
            "MLB1x",
            "MLB-1",
            "MLB99999999999999999999",
        ] {
            assert_eq!(item_number(other), None, "{other}");
        }
    }
}
