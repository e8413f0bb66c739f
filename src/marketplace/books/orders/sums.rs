//! What a list of orders comes to: sales, and what is left of them.
//!
//! `sold_sum` has the sales by account, state, time and what was sold. Costs are those
//! of the moment, so a cost that is typed counts for all sales at once. A filter adds
//! up whole months and the days beside them, whatever the number of orders.

use std::collections::{HashMap, HashSet};

use super::cost::Costs;
use super::left::Earned;
use super::lines::{baskets_with, of_basket};
use super::list::{Filter, numbers};
use super::runs::kinds;
use super::sold::SoldKey;
use super::{StoredOrder, is_sale_status};
use crate::base::{Cents, Day, Instant, UserId, Zone};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::books::words::Words;
use crate::marketplace::tools::fees::remains::share;

/// The span that holds all days.
const ALL: i64 = -1;

/// What sales of one thing come to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sold {
    pub(super) orders: i64,
    pub(super) gross: i64,
    /// Things sold.
    pub(super) things: i64,
    /// Of orders whose commission and freight are known: how many, their units, their
    /// value, and what the marketplace took.
    pub(super) told: i64,
    pub(super) units: i64,
    pub(super) value: i64,
    pub(super) charged: i64,
}

/// The key of what a row sold: of several lines that of their basket, whose number stands
/// below zero.
const fn key(row: &StoredOrder) -> SoldKey {
    match row.basket {
        Some(basket) => (-basket, 0, 0),
        None => (row.item_id, row.variation_id, row.item_version),
    }
}

/// The basket of a key; `None` for a single listing.
pub(super) const fn basket_of(key: SoldKey) -> Option<i64> {
    if key.0 < 0 { Some(-key.0) } else { None }
}

/// What a filter comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Orders that count as a sale.
    pub sales: i64,
    pub gross: Cents,
    /// What is left of those of which everything is known.
    pub left: Cents,
    pub known: i64,
    /// Sales of things without a cost.
    pub uncosted: i64,
    /// Others whose commission or freight the marketplace has not told.
    pub untold: i64,
}

impl Sum {
    /// The same with one more sale.
    #[must_use]
    pub fn with(mut self, earned: &Earned) -> Self {
        self.sales += 1;
        self.gross.0 += earned.price.0;
        match earned.left() {
            Some(left) => {
                self.known += 1;
                self.left.0 += left.0;
            }
            None if earned.cost.is_none() => self.uncosted += 1,
            None => self.untold += 1,
        }
        self
    }
}

/// The month of a day, as a span.
fn month(day: Day) -> i64 {
    let date = day.date();
    -(12 * i64::from(date.year()) + i64::from(date.month()))
}

/// Updates the sums by the difference between an order's old and new row.
pub(super) fn follow(
    tx: &WriteTx<'_>,
    zone: Zone,
    owner: UserId,
    before: Option<&StoredOrder>,
    after: &StoredOrder,
) -> Result<()> {
    let place = |row: &StoredOrder| {
        is_sale_status(row.status)
            .then(|| (row.ml_user_id, row.status, zone.day(row.created_at), key(row)))
    };
    let was = before.and_then(|row| Some((place(row)?, Sold::of(row))));
    let is = place(after).map(|place| (place, Sold::of(after)));
    if was == is {
        return Ok(());
    }
    for ((seller, status, day, (item, variation, version)), sold, sign) in
        was.map(|(at, sold)| (at, sold, -1)).into_iter().chain(is.map(|(at, sold)| (at, sold, 1)))
    {
        for span in [ALL, month(day), day.0] {
            tx.execute(
                "INSERT INTO sold_sum (owner_id, ml_user_id, status, span, item_id, variation_id, item_version,
                                       orders, gross_cents, told, told_units, told_cents, charged_cents, units)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
                 ON CONFLICT (owner_id, ml_user_id, status, span, item_id, variation_id, item_version) DO UPDATE
                 SET orders = orders + ?8, gross_cents = gross_cents + ?9, told = told + ?10,
                     told_units = told_units + ?11, told_cents = told_cents + ?12,
                     charged_cents = charged_cents + ?13, units = units + ?14",
                rusqlite::params![
                    owner, seller, status, span, item, variation, version, sign * sold.orders, sign * sold.gross,
                    sign * sold.told, sign * sold.units, sign * sold.value, sign * sold.charged,
                    sign * sold.things
                ],
            )?;
            if sign < 0 {
                tx.execute(
                    "DELETE FROM sold_sum
                     WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND span = ?4 AND item_id = ?5
                         AND variation_id = ?6 AND item_version = ?7 AND orders = 0",
                    (owner, seller, status, span, item, variation, version),
                )?;
            }
        }
    }
    Ok(())
}

impl Sold {
    fn of(row: &StoredOrder) -> Self {
        let gross = row.reais();
        let sold = Self { orders: 1, gross: gross.0, things: row.quantity, ..Self::default() };
        match (row.fee, row.freight) {
            (Some(fee), Some(freight)) if gross == row.total => Self {
                told: 1,
                units: row.quantity,
                // What the buyer got back earns nothing.
                value: gross.0 - row.refunded.0,
                charged: fee.0.saturating_add(freight.0),
                ..sold
            },
            _ => sold,
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.orders += other.orders;
        self.gross += other.gross;
        self.things += other.things;
        self.told += other.told;
        self.units += other.units;
        self.value += other.value;
        self.charged += other.charged;
    }
}

/// The spans of `sold_sum`, from and to, that make up the days of a filter.
fn spans(from: Option<Day>, to: Option<Day>, today: Day) -> Vec<(i64, i64)> {
    if from.is_none() && to.is_none() {
        return vec![(ALL, ALL)];
    }
    // Nothing was sold before 1970, nor long after today.
    let first = from.unwrap_or(Day(0)).0.max(0);
    let last = to.unwrap_or_else(|| today.plus(2)).0;
    let start = Day(first).plus(-1).next_month_start();
    let end = Day(last).plus(1).month_start();
    if start >= end {
        return vec![(first, last)];
    }
    let whole = (month(end.plus(-1)), month(start));
    [(first, start.0 - 1), whole, (end.0, last)].into_iter().filter(|(a, b)| a <= b).collect()
}

/// The accounts and states of sales that a filter asks for.
fn wanted(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    filter: &Filter,
) -> Result<Vec<(i64, i64)>> {
    let states = numbers(tx, words, &filter.status)?;
    let mut wanted = kinds(tx, owner)?;
    wanted.retain(|(seller, of_status)| {
        is_sale_status(*of_status)
            && filter.store.is_none_or(|store| store == *seller)
            && (filter.status.is_empty() || states.contains(of_status))
    });
    Ok(wanted)
}

/// What a filter's orders come to, by what was sold.
pub(super) fn sold_by_key(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    filter: &Filter,
) -> Result<HashMap<SoldKey, Sold>> {
    let (from, to) = filter.days;
    let spans = spans(from, to, filter.zone.day(tx.now()));
    let wanted_items = WantedItems::of(tx, filter)?;
    let mut sold: HashMap<SoldKey, Sold> = HashMap::new();
    for (seller, of_status) in wanted(tx, words, owner, filter)? {
        for (from, to) in &spans {
            tx.each(
                "SELECT item_id, variation_id, item_version, orders, gross_cents, told, told_units, told_cents,
                        charged_cents, units
                 FROM sold_sum WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND span BETWEEN ?4 AND ?5",
                (owner, seller, of_status, from, to),
                |row| {
                    let key: SoldKey = (row.get(0)?, row.get(1)?, row.get(2)?);
                    if wanted_items.holds(key.0) {
                        sold.entry(key).or_default().add(Sold {
                            orders: row.get(3)?,
                            gross: row.get(4)?,
                            told: row.get(5)?,
                            units: row.get(6)?,
                            value: row.get(7)?,
                            charged: row.get(8)?,
                            things: row.get(9)?,
                        });
                    }
                    Ok(())
                },
            )?;
        }
    }
    Ok(sold)
}

/// The listings of a filter, and the baskets that hold one of them.
struct WantedItems<'f> {
    items: Option<&'f [i64]>,
    baskets: HashSet<i64>,
}

impl<'f> WantedItems<'f> {
    fn of(tx: &ReadTx<'_>, filter: &'f Filter) -> Result<Self> {
        let items = filter.items.as_deref();
        let baskets = baskets_with(tx, items.unwrap_or_default())?.into_iter().collect();
        Ok(Self { items, baskets })
    }

    /// Whether it has what a key begins with: a listing, or below zero a basket.
    fn holds(&self, item: i64) -> bool {
        self.items.is_none_or(|items| match item {
            ..0 => self.baskets.contains(&-item),
            item => items.contains(&item),
        })
    }
}

/// What a filter's orders come to for a seller with a tax in percent.
pub fn of(tx: &ReadTx<'_>, words: &Words, owner: UserId, filter: &Filter, tax: f64) -> Result<Sum> {
    let sold = sold_by_key(tx, words, owner, filter)?;
    let mut costs = Costs::of(tx, words, owner);
    // Wordings of single listings are read together.
    let single: Vec<SoldKey> = sold.keys().filter(|key| key.0 > 0).copied().collect();
    costs.learn(&single)?;
    let mut sum = Sum::default();
    for (key, one) in &sold {
        let cost = match basket_of(*key) {
            None => costs.unit(*key)?.map(|unit| unit.cents.0.saturating_mul(one.units)),
            Some(basket) => {
                let cost = costs.of_lines(&of_basket(tx, basket)?)?;
                cost.map(|cost| cost.0.saturating_mul(one.told))
            }
        };
        sum.add(*one, cost.map(Cents), tax);
    }
    Ok(sum)
}

impl Sum {
    /// Adds what was sold of one thing; `cost` is that of all told orders.
    pub(super) fn add(&mut self, sold: Sold, cost: Option<Cents>, tax: f64) {
        self.sales += sold.orders;
        self.gross.0 += sold.gross;
        let Some(cost) = cost else {
            self.uncosted += sold.orders;
            return;
        };
        self.known += sold.told;
        self.untold += sold.orders - sold.told;
        let taxed = share(Cents(sold.value), tax).0;
        self.left.0 += sold.value - sold.charged - taxed - cost.0;
    }
}

/// Gross sales of a filter by civil day of creation, one value a day from `first` on.
pub fn by_day(
    tx: &ReadTx<'_>,
    words: &Words,
    owner: UserId,
    filter: &Filter,
    first: Day,
    days: usize,
) -> Result<Vec<i64>> {
    let mut gross = vec![0; days];
    let wanted_items = WantedItems::of(tx, filter)?;
    let last = first.0 + i64::try_from(days).unwrap_or(0) - 1;
    for (seller, of_status) in wanted(tx, words, owner, filter)? {
        tx.each(
            "SELECT span, item_id, gross_cents FROM sold_sum
             WHERE owner_id = ?1 AND ml_user_id = ?2 AND status = ?3 AND span BETWEEN ?4 AND ?5",
            (owner, seller, of_status, first, last),
            |row| {
                let item: i64 = row.get(1)?;
                let place = usize::try_from(row.get::<_, i64>(0)? - first.0).ok();
                if let Some(sum) = place.and_then(|place| gross.get_mut(place))
                    && wanted_items.holds(item)
                {
                    *sum += row.get::<_, i64>(2)?;
                }
                Ok(())
            },
        )?;
    }
    Ok(gross)
}

/// When a filter's chart begins and how many days it has: the filter's own days, at
/// most the last `most` of them, or the last thirty.
pub fn chart_days(filter: &Filter, now: Instant, usual: i64, most: i64) -> (Day, usize) {
    let today = filter.zone.day(now);
    let last = filter.days.1.unwrap_or(today).0.min(today.0);
    let first = filter.days.0.map_or(last + 1 - usual, |day| day.0).max(last + 1 - most).min(last);
    (Day(first), usize::try_from(last - first + 1).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn days_are_months_and_the_days_beside_them() {
        let today = day("2026-11-20");
        let spans = |from: &str, to: &str| spans(Day::parse(from), Day::parse(to), today);
        let (a, b) = (day("2026-09-15"), day("2026-11-20"));
        let month = |text| month(day(text));
        assert_eq!(
            spans("2026-09-15", "2026-11-20"),
            [
                (a.0, day("2026-09-30").0),
                (month("2026-10-01"), month("2026-10-31")),
                (day("2026-11-01").0, b.0)
            ]
        );
        assert_eq!(spans("2026-11-01", "2026-11-20"), [(day("2026-11-01").0, b.0)]);
        assert_eq!(spans("2026-01-01", "2026-02-28"), [(month("2026-02-01"), month("2026-01-01"))]);
        assert_eq!(spans("", ""), [(ALL, ALL)]);
        let open = spans("", "2026-01-31");
        assert_eq!(open, [(month("2026-01-01"), month("1970-01-01"))]);
    }
}
