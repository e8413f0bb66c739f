//! Runs of orders: the orders of one store and state, sorted as in the index
//! `sale_order_run`.
//!
//! A page is merged from one run for each store and state that has orders. Each
//! run is read no further than the end of the page. `order_count`, which every
//! write updates, has the totals. It also says on which day a far page begins,
//! so that at most the orders of one day are skipped one by one.

use std::collections::BTreeMap;

use super::EVERY_KIND;
use super::list::{Filter, Key, numbers};
use crate::base::{Day, UserId};
use crate::db::{ReadTx, Result};
use crate::marketplace::books::words::Words;

/// A smaller offset is skipped order by order, without `order_count`.
const FAR: i64 = 500;

/// A store and state that has orders in the requested days.
pub struct OrderRun {
    ml_user_id: i64,
    status: i64,
    pub orders: i64,
}

/// The time span of the orders to read, and the part of them that is the page.
pub struct Window {
    /// Seconds of creation: from this one on, and before this one.
    pub from: i64,
    pub before: i64,
    pub limit: i64,
    pub offset: i64,
    /// The order after which the page begins; without one, that before all.
    pub after: Key,
    pub oldest_first: bool,
}

impl Window {
    /// The window of a filter, with its whole time span.
    pub fn of(filter: &Filter) -> Self {
        let (from, before) = filter.created;
        let begin = if filter.oldest_first { i64::MIN } else { i64::MAX };
        let after = filter.after.unwrap_or((begin, begin));
        let mut window = Self {
            from: from.map_or(i64::MIN, |at| at.0),
            before: before.map_or(i64::MAX, |at| at.0),
            limit: filter.limit,
            offset: filter.offset,
            after,
            oldest_first: filter.oldest_first,
        };
        // The bounds of time alone are what some indexes serve.
        if filter.oldest_first {
            window.from = window.from.max(after.0);
        } else {
            window.before = window.before.min(after.0.saturating_add(1));
        }
        window
    }

    /// How orders of the page compare with `after` in SQL.
    pub const fn beyond(&self) -> &'static str {
        if self.oldest_first { ">" } else { "<" }
    }

    /// The condition that an order comes after `:after` and `:number`.
    pub fn is_beyond(&self) -> String {
        format!("(created_at, order_id) {} (:after, :number)", self.beyond())
    }

    /// Limit and offset for each of several lists of which the page is merged. SQL
    /// can skip rows of a single list; several must be merged from their start.
    pub const fn of_each(&self, lists: usize) -> (i64, i64) {
        if lists == 1 {
            (self.limit, self.offset)
        } else {
            (self.limit.saturating_add(self.offset), 0)
        }
    }

    /// Sorts keys of several lists, and leaves those of the page.
    pub fn cut(&self, keys: &mut Vec<Key>) {
        keys.sort_unstable();
        if !self.oldest_first {
            keys.reverse();
        }
        let passed = usize::try_from(self.offset).unwrap_or(usize::MAX);
        keys.drain(..passed.min(keys.len()));
        keys.truncate(usize::try_from(self.limit).unwrap_or(0));
    }

    /// The direction in SQL.
    pub const fn way(&self) -> &'static str {
        if self.oldest_first { "ASC" } else { "DESC" }
    }
}

/// The window of a page, narrowed to begin at the day on which the page begins;
/// `None` after the last page.
pub fn window(
    tx: &ReadTx<'_>,
    owner: UserId,
    filter: &Filter,
    runs: &[OrderRun],
    total: i64,
) -> Result<Option<Window>> {
    let mut window = Window::of(filter);
    if filter.offset >= total {
        return Ok(None);
    }
    if filter.offset < FAR {
        return Ok(Some(window));
    }
    let (first, last) = counted_days(filter);
    let mut days: BTreeMap<i64, i64> = BTreeMap::new();
    for run in runs {
        tx.each(
            "SELECT day, orders FROM order_count
             WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND day BETWEEN ?4 AND ?5",
            (
                owner,
                run.ml_user_id,
                run.status,
                first.max(0),
                if last < 0 { i64::MAX } else { last },
            ),
            |row| {
                *days.entry(row.get(0)?).or_default() += row.get::<_, i64>(1)?;
                Ok(())
            },
        )?;
    }
    let start_of = |day: i64| filter.zone.start_of(Day(day)).0;
    let mut passes = |(day, orders): (i64, i64)| {
        if orders <= window.offset {
            window.offset -= orders;
            return true;
        }
        if window.oldest_first {
            window.from = window.from.max(start_of(day));
        } else {
            window.before = window.before.min(start_of(day + 1));
        }
        false
    };
    if filter.oldest_first {
        days.into_iter().all(&mut passes);
    } else {
        days.into_iter().rev().all(&mut passes);
    }
    Ok(Some(window))
}

/// The days of `order_count` to sum: those of the filter, or the row with the
/// sum of all days.
fn counted_days(filter: &Filter) -> (i64, i64) {
    match filter.days {
        (None, None) => (-1, -1),
        (from, to) => (from.map_or(0, |day| day.0.max(0)), to.map_or(i64::MAX, |day| day.0)),
    }
}

fn count_run(tx: &ReadTx<'_>, owner: UserId, kind: (i64, i64), days: (i64, i64)) -> Result<i64> {
    tx.value(
        "SELECT coalesce(sum(orders), 0) FROM order_count
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND day BETWEEN ?4 AND ?5",
        (owner, kind.0, kind.1, days.0, days.1),
    )
}

/// Every store and state in which an owner has orders. The search starts at
/// [`EVERY_KIND`], which sorts before all real ones. Each is found by one index
/// seek, however many days it has.
pub fn kinds(tx: &ReadTx<'_>, owner: UserId) -> Result<Vec<(i64, i64)>> {
    let mut kinds = Vec::new();
    let mut last = EVERY_KIND;
    while let Some(next) = tx.tuple(
        "SELECT ml_user_id, status FROM order_count
         WHERE owner_id = ?1 AND (ml_user_id, status) > (?2, ?3)
         ORDER BY ml_user_id, status
         LIMIT 1",
        (owner, last.0, last.1),
    )? {
        kinds.push(next);
        last = next;
    }
    Ok(kinds)
}

/// The runs that match a filter; a single one when the filter has neither state
/// nor store.
pub fn matching_runs(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    filter: &Filter,
) -> Result<Vec<OrderRun>> {
    let days = counted_days(filter);
    if filter.is_whole() {
        let (ml_user_id, status) = EVERY_KIND;
        let orders = count_run(tx, owner, EVERY_KIND, days)?;
        return Ok(vec![OrderRun { ml_user_id, status, orders }]);
    }
    let states = numbers(tx, words, &filter.status)?;
    let mut runs = Vec::new();
    for (ml_user_id, of_status) in kinds(tx, owner)? {
        let is_match = filter.store.is_none_or(|store| store == ml_user_id)
            && (filter.status.is_empty() || states.contains(&of_status));
        if is_match {
            let orders = count_run(tx, owner, (ml_user_id, of_status), days)?;
            if orders > 0 {
                runs.push(OrderRun { ml_user_id, status: of_status, orders });
            }
        }
    }
    Ok(runs)
}

/// How many orders of a filter have each state, whatever state the filter asks for.
pub fn by_state(tx: &ReadTx<'_>, owner: UserId, filter: &Filter) -> Result<BTreeMap<i64, u64>> {
    let days = counted_days(filter);
    let mut counts = BTreeMap::new();
    for (seller, status) in kinds(tx, owner)? {
        if filter.store.is_none_or(|store| store == seller) {
            let orders = count_run(tx, owner, (seller, status), days)?;
            *counts.entry(status).or_default() += orders.unsigned_abs();
        }
    }
    Ok(counts)
}

/// Keys of the page's orders, merged from all runs.
pub fn merged(
    tx: &ReadTx<'_>,
    owner: UserId,
    runs: &[OrderRun],
    window: &Window,
) -> Result<Vec<Key>> {
    let (limit, offset) = window.of_each(runs.len());
    let sql = format!(
        "SELECT created_at, order_id FROM sale_order
         WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND created_at >= ?4 AND created_at < ?5
           AND (created_at, order_id) {beyond} (?8, ?9)
         ORDER BY created_at {way}, order_id {way}
         LIMIT ?6 OFFSET ?7",
        beyond = window.beyond(),
        way = window.way(),
    );
    let Window { from, before, after, .. } = *window;
    let mut keys: Vec<(i64, i64)> = Vec::new();
    for run in runs {
        let (store, status) = (run.ml_user_id, run.status);
        let params = (owner, store, status, from, before, limit, offset, after.0, after.1);
        keys.extend(tx.all::<(i64, i64)>(&sql, params, |row| row.try_into())?);
    }
    if runs.len() > 1 {
        window.cut(&mut keys);
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::{DAY_S, Instant};
    use crate::base::ids::OrderId;
    use crate::marketplace::books::orders::list::{OrderPage, read_page};
    use crate::marketplace::books::orders::tests::{NEVER, NOW, SELLER, World, order};

    const ANA: UserId = UserId(1);
    const OTHER_STORE: i64 = 778;
    const ORDERS: i64 = 3_000;

    /// Twelve orders in seven half-hours, so some have the same second.
    fn fill(world: &World) {
        let documents = (0..ORDERS).map(|number| {
            let mut document = order(number + 1);
            let at = NOW - (number * 7 / 4) / 3 * 3_600 / 2;
            document.created_at = Instant(at);
            document.lines[0].item.number = 1 + number % 3;
            // A listing belongs to one store.
            if number % 3 == 2 {
                document.seller.0 = OTHER_STORE;
            }
            if number % 5 == 0 {
                document.status = "cancelled".to_owned();
            }
            document
        });
        world.apply(ANA, documents.collect(), NEVER);
    }

    fn ids(page: &OrderPage) -> Vec<OrderId> {
        page.orders.iter().map(|order| order.order_id).collect()
    }

    #[test]
    fn pages_laid_side_by_side_are_the_whole_list() {
        let world = World::new();
        fill(&world);
        let zone = world.context.zone;
        let first = zone.day(Instant(NOW - 12 * DAY_S));
        let statuses = [None, Some("paid"), Some("cancelled"), Some("invalid")];
        let stores = [None, Some(SELLER.0), Some(OTHER_STORE), Some(1)];
        let wanted = statuses.into_iter().flat_map(|status| {
            let more = [(None, None), (None, Some(2)), (Some(first), None), (Some(first), Some(1))];
            stores.into_iter().flat_map(move |store| more.map(|more| (status, store, more)))
        });
        let mut far = 0;
        for ((status, store, (day, item_id)), oldest_first) in
            wanted.flat_map(|wanted| [(wanted, false), (wanted, true)])
        {
            let page = |limit, offset| {
                let filter = Filter {
                    status: status.map(str::to_owned).into_iter().collect(),
                    store,
                    days: (day, None),
                    created: (day.map(|day| zone.start_of(day)), None),
                    items: item_id.map(|item| vec![item]),
                    offset,
                    oldest_first,
                    ..Filter::all(zone, limit)
                };
                world.read(|tx| read_page(tx, &world.context.words, ANA, &filter))
            };
            // A page with everything skips nothing.
            let whole = page(ORDERS, 0);
            let keys = whole.orders.iter().map(|order| (order.created_at, order.order_id));
            let keys: Vec<_> = keys.collect();
            assert!(if oldest_first { keys.is_sorted() } else { keys.iter().rev().is_sorted() });
            assert_eq!(whole.total, i64::try_from(keys.len()).unwrap());
            let mut read = Vec::new();
            for offset in (0..=whole.total).step_by(70) {
                let part = page(70, offset);
                assert_eq!(part.total, whole.total);
                read.extend(ids(&part));
                far += i64::from(offset >= FAR);
            }
            assert_eq!(read, ids(&whole), "{status:?} {store:?} {day:?} {item_id:?}");
        }
        assert!(far > 100, "{far}");
    }
}
