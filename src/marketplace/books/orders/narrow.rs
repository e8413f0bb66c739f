//! Orders by what has an index of its own: the state of the parcel
//! (`sale_order_by_parcel`), and when the row changed here (`sale_order_changed`).
//!
//! The further filters are looked for along the index, which holds store and states. The
//! indexes are named, because SQLite would rather sort a whole owner than walk them.

use super::first_change;
use super::list::{Filter, Key, OrderPage, numbers, one_of};
use super::runs::Window;
use crate::base::{Instant, UserId};
use crate::db::{Filters, ReadTx, Result};
use crate::marketplace::books::words::Words;

/// One page of orders that are narrowed by their parcel or their change.
pub fn read(tx: &ReadTx<'_>, words: &Words, owner: UserId, filter: &Filter) -> Result<OrderPage> {
    let window = Window::of(filter);
    let parcels = numbers(tx, words, &filter.shipping)?;
    let mut filters = Filters::new("owner_id = :owner", &[(":owner", &owner)]);
    filters.and_if("ml_user_id = :store", ":store", &filter.store);
    if !filter.status.is_empty() {
        filters.and(&one_of("status", &numbers(tx, words, &filter.status)?), &[]);
    }
    if let Some(items) = &filter.items {
        // Further lines of an order stand in its basket.
        let of_items = one_of("item_id", items);
        let condition = format!(
            "({of_items} OR basket_id IN (SELECT basket_id FROM basket_line WHERE {of_items}))"
        );
        filters.and(&condition, &[]);
    }
    let (keys, total) = match filter.changed_since {
        Some(since) => {
            if !filter.shipping.is_empty() {
                filters.and(&one_of("shipping_status", &parcels), &[]);
            }
            changed(tx, &filters, filter, since)?
        }
        None => of_parcels(tx, &filters, filter, &window, &parcels)?,
    };
    OrderPage::of_keys(tx, words, owner, filter, keys, total)
}

/// Keys of a page of what changed since, in the order of the changes, and how many did.
fn changed(
    tx: &ReadTx<'_>,
    filters: &Filters<'_>,
    filter: &Filter,
    since: Instant,
) -> Result<(Vec<Key>, i64)> {
    const TABLE: &str = "FROM sale_order INDEXED BY sale_order_changed WHERE";
    let (from, before) = filter.created;
    let (change, number) = filter.after.unwrap_or((i64::MIN, i64::MIN));
    // The bound that the index is searched with; a pair alone is not.
    let first = first_change(since).max(change);
    let mut filters = filters.clone();
    filters.and_if("created_at >= :from", ":from", &from);
    filters.and_if("created_at < :before", ":before", &before);
    filters.and("changed >= :since", &[(":since", &first)]);
    let total = match filter.after {
        Some(_) => 0,
        None => {
            tx.value(&format!("SELECT count(*) {TABLE} {}", filters.sql()), filters.values())?
        }
    };
    filters.and(
        "(changed, order_id) > (:change, :number)",
        &[(":change", &change), (":number", &number)],
    );
    filters.bind(&[(":limit", &filter.limit), (":offset", &filter.offset)]);
    let sql = format!(
        "SELECT created_at, order_id {TABLE} {} ORDER BY changed, order_id LIMIT :limit OFFSET :offset",
        filters.sql()
    );
    Ok((tx.tuples(&sql, filters.values())?, total))
}

/// Keys of a page of orders whose parcel has one of some states, merged from the runs of
/// those states, and how many there are.
fn of_parcels(
    tx: &ReadTx<'_>,
    filters: &Filters<'_>,
    filter: &Filter,
    window: &Window,
    parcels: &[i64],
) -> Result<(Vec<Key>, i64)> {
    let (limit, offset) = window.of_each(parcels.len());
    let (mut keys, mut total) = (Vec::new(), 0);
    for parcel in parcels {
        let mut run = filters.clone();
        run.and(
            "shipping_status = :parcel AND created_at >= :from AND created_at < :before",
            &[(":parcel", parcel), (":from", &window.from), (":before", &window.before)],
        );
        let table = "FROM sale_order INDEXED BY sale_order_by_parcel WHERE";
        if filter.after.is_none() {
            let count = format!("SELECT count(*) {table} {}", run.sql());
            total += tx.value::<i64>(&count, run.values())?;
        }
        let (at, number) = &window.after;
        run.and(&window.is_beyond(), &[(":after", at), (":number", number)]);
        run.bind(&[(":limit", &limit), (":offset", &offset)]);
        let way = window.way();
        let sql = format!(
            "SELECT created_at, order_id {table} {}
             ORDER BY created_at {way}, order_id {way} LIMIT :limit OFFSET :offset",
            run.sql()
        );
        keys.extend(tx.tuples::<Key>(&sql, run.values())?);
    }
    if parcels.len() > 1 {
        window.cut(&mut keys);
    }
    Ok((keys, total))
}
