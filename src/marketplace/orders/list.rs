//! Pages of orders, at a cost that does not grow with their number.
//!
//! Without filter by state or store a page is a range of the clustered table.
//! With one it is merged from runs of `sale_order_run`: one run for each
//! store and state that has orders, each read no further than the page's end.
//! Totals come from `order_count`, which every write keeps.

use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::Type;

use super::EVERY_KIND;
use crate::clock::{Day, Instant};
use crate::db::{ReadTx, Result};
use crate::ids::{MlUserId, OrderId, UserId};
use crate::marketplace::words::Words;
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

#[expect(
    clippy::struct_field_names,
    reason = "the marketplace calls it the order id"
)]
/// An order as lists show it.
pub struct Order {
    pub created_at: Instant,
    pub order_id: OrderId,
    pub ml_user_id: MlUserId,
    /// Places among the page's words, as the others below.
    pub status: usize,
    pub total: Cents,
    pub currency: usize,
    pub quantity: i64,
    /// Empty when the marketplace does not say.
    pub buyer_nickname: String,
    pub shipping_id: Option<i64>,
    pub shipping_status: Option<usize>,
    pub logistic_type: Option<usize>,
    /// Marketplace listing id.
    pub ml_id: String,
    pub title: String,
    pub sku: String,
}

/// A page as it was read.
#[derive(Default)]
pub struct OrderPage {
    pub total: i64,
    pub orders: Vec<Order>,
    /// The words of its orders, which are few, each once.
    words: Vec<(i64, Arc<str>)>,
}

impl OrderPage {
    /// The word at a place among the page's.
    pub fn word(&self, place: usize) -> &str {
        &self.words[place].1
    }
}

/// SQL for the orders that `source` selects, each with what was sold. The
/// limit belongs into `source`, so that nothing is looked up for orders that
/// are passed over.
fn with_items(source: &str) -> String {
    format!(
        "SELECT o.created_at, o.order_id, o.ml_user_id, o.status, o.total_cents, o.currency, o.quantity,
                o.buyer_nickname, o.shipping_id, o.shipping_status, o.logistic_type,
                o.item_id, i.site, i.title, i.sku
         FROM (SELECT * FROM sale_order {source}) AS o
         LEFT JOIN sold_item AS i ON i.item_id = o.item_id AND i.variation_id = o.variation_id"
    )
}

/// Reads one page of an owner's orders, newest first, with their total.
pub fn read_page(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    filter: &Filter,
) -> Result<OrderPage> {
    let mut page = OrderPage {
        total: 0,
        orders: Vec::with_capacity(usize::try_from(filter.limit).unwrap_or(0)),
        words: Vec::new(),
    };
    let (from, before) = span(filter);
    if let Some(item) = filter.item_id {
        return read_listing(tx, words, owner, filter, item);
    }
    if filter.status.is_none() && filter.store.is_none() {
        page.total = count_run(tx, owner, EVERY_KIND, counted_days(filter))?;
        let sql = with_items(
            "WHERE owner_id = ?1 AND created_at >= ?2 AND created_at < ?3
             ORDER BY created_at DESC, order_id DESC
             LIMIT ?4 OFFSET ?5",
        );
        tx.each(
            &sql,
            (owner, from, before, filter.limit, filter.offset),
            |row| page.take(tx, words, row),
        )?;
        return Ok(page.newest_first());
    }
    let runs = runs(tx, words, owner, filter)?;
    page.total = runs.iter().map(|run| run.orders).sum();
    let sql = with_items("WHERE owner_id = ?1 AND created_at = ?2 AND order_id = ?3");
    for (created_at, order_id) in merged(tx, owner, filter, &runs)? {
        tx.each(&sql, (owner, created_at, order_id), |row| {
            page.take(tx, words, row)
        })?;
    }
    Ok(page)
}

/// One order of an owner, as a page of at most one.
pub fn read_one(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    order: OrderId,
) -> Result<OrderPage> {
    let mut page = OrderPage::default();
    // The plus sign keeps the search on the number.
    let sql = with_items("WHERE order_id = ?1 AND +owner_id = ?2");
    tx.each(&sql, (order, owner), |row| page.take(tx, words, row))?;
    page.total = i64::try_from(page.orders.len()).unwrap_or(0);
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

fn count_run(tx: &ReadTx<'_>, owner: UserId, kind: (i64, i64), days: (i64, i64)) -> Result<i64> {
    tx.one(
        "SELECT coalesce(sum(orders), 0) FROM order_count
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND day BETWEEN ?4 AND ?5",
        (owner, kind.0, kind.1, days.0, days.1),
        |row| row.get(0),
    )
}

/// Every store and state an owner has orders in; real ones come behind
/// [`EVERY_KIND`]. Each is found by one seek
/// from the one before, however many days it has.
fn kinds(tx: &ReadTx<'_>, owner: UserId) -> Result<Vec<(i64, i64)>> {
    let mut kinds = Vec::new();
    let mut last = EVERY_KIND;
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

fn runs(tx: &ReadTx<'_>, words: &Words, owner: UserId, filter: &Filter) -> Result<Vec<OrderRun>> {
    let status = match &filter.status {
        None => None,
        Some(text) => match words.known(tx, text)? {
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
    words: &Words,
    owner: UserId,
    filter: &Filter,
    item: i64,
) -> Result<OrderPage> {
    let status = match &filter.status {
        None => None,
        Some(text) => Some(words.known(tx, text)?.unwrap_or(-1)),
    };
    let mut condition =
        "WHERE owner_id = :owner AND created_at >= :from AND created_at < :before AND item_id = :item"
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
    let sql = format!("SELECT count(*) FROM sale_order {condition}");
    let total = tx.one(&sql, &*params, |row| row.get(0))?;
    let mut page = OrderPage {
        total,
        orders: Vec::new(),
        words: Vec::new(),
    };
    params.push((":limit", &filter.limit));
    params.push((":offset", &filter.offset));
    condition.push_str(" ORDER BY created_at DESC, order_id DESC LIMIT :limit OFFSET :offset");
    tx.each(&with_items(&condition), &*params, |row| {
        page.take(tx, words, row)
    })?;
    Ok(page.newest_first())
}

impl OrderPage {
    fn take(&mut self, tx: &ReadTx<'_>, words: &Words, row: &Row<'_>) -> rusqlite::Result<()> {
        let status = self.place(tx, words, row.get(3)?)?;
        let currency = self.place(tx, words, row.get(5)?)?;
        let mut optional = |column: usize| {
            row.get::<_, Option<i64>>(column)?
                .map(|number| self.place(tx, words, number))
                .transpose()
        };
        let (shipping_status, logistic_type) = (optional(9)?, optional(10)?);
        let text = |column: usize| -> rusqlite::Result<String> {
            Ok(row.get::<_, Option<_>>(column)?.unwrap_or_default())
        };
        let ml_id = match row.get_ref(12)?.as_str_or_null()? {
            Some(site) => format!("{site}{}", row.get::<_, i64>(11)?),
            None => String::new(),
        };
        self.orders.push(Order {
            created_at: Instant(row.get(0)?),
            order_id: row.get(1)?,
            ml_user_id: row.get(2)?,
            status,
            total: Cents(row.get(4)?),
            currency,
            quantity: row.get(6)?,
            buyer_nickname: row.get(7)?,
            shipping_id: row.get(8)?,
            shipping_status,
            logistic_type,
            ml_id,
            title: text(13)?,
            sku: text(14)?,
        });
        Ok(())
    }

    /// The place of a word among this page's.
    fn place(&mut self, tx: &ReadTx<'_>, words: &Words, number: i64) -> rusqlite::Result<usize> {
        if let Some(place) = self.words.iter().position(|(known, _)| *known == number) {
            return Ok(place);
        }
        let text = words.text(tx, number).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(0, Type::Integer, Box::new(error))
        })?;
        self.words.push((number, text));
        Ok(self.words.len() - 1)
    }

    /// SQL promises an order only of the outermost query.
    fn newest_first(mut self) -> Self {
        self.orders
            .sort_by_key(|order| std::cmp::Reverse((order.created_at, order.order_id)));
        self
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
