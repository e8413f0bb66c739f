//! Sums of drop orders: what is owed by whom, and what a list comes to.

use super::orders::{DropOrderQuery, DropOrderStatus, StatusFilter, Whose};
use crate::base::{Cents, Day, Instant, UserId, Zone};
use crate::db::{ReadTx, Result};
use crate::row;

/// A number of drop orders, and their total amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub orders: i64,
    pub amount: Cents,
}

/// Amounts that are not paid yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owed {
    /// Not due yet.
    pub pending: Sum,
    pub overdue: Sum,
}

/// What is owed to a supplier, or by a seller.
pub fn owed(tx: &ReadTx<'_>, whose: Whose, now: Instant) -> Result<Owed> {
    let mut owed = Owed::default();
    for (_, one) in owed_by_other(tx, whose, now)? {
        owed = owed.and(one);
    }
    Ok(owed)
}

/// The same for each person on the other side, the largest sum first.
pub fn owed_by_other(tx: &ReadTx<'_>, whose: Whose, now: Instant) -> Result<Vec<(UserId, Owed)>> {
    let (own, other) = match whose {
        Whose::Seller(_) => ("seller_id", "supplier_id"),
        Whose::Supplier(_) | Whose::Related(_) => ("supplier_id", "seller_id"),
    };
    let wanted = DropOrderQuery::all(whose, now);
    let filters = wanted.filters();
    let (matching, mut values) = (filters.sql(), filters.values().to_vec());
    values.push((":now", &wanted.now));
    debug_assert!(matching.starts_with(own));
    tx.all(
        &format!(
            "SELECT {other}, count(*), sum(amount_cents),
                    count(*) FILTER (WHERE due_at <= :now),
                    coalesce(sum(amount_cents) FILTER (WHERE due_at <= :now), 0)
             FROM drop_order WHERE {matching} AND state = 1
             GROUP BY {other} ORDER BY sum(amount_cents) DESC, {other}"
        ),
        &values[..],
        |row| {
            let (id, orders, cents, late, late_cents): (UserId, i64, i64, i64, i64) =
                row.try_into()?;
            Ok((
                id,
                Owed {
                    pending: Sum { orders: orders - late, amount: Cents(cents - late_cents) },
                    overdue: Sum { orders: late, amount: Cents(late_cents) },
                },
            ))
        },
    )
}

/// What was paid to a supplier from a civil day on.
pub fn paid_since(tx: &ReadTx<'_>, supplier: UserId, zone: Zone, from: Day) -> Result<Sum> {
    let (orders, cents) = tx
        .tuple(
            "SELECT count(*), coalesce(sum(amount_cents), 0) FROM drop_order
             WHERE supplier_id = ?1 AND state = 2 AND paid_at >= ?2",
            (supplier, zone.start_of(from)),
        )?
        .unwrap_or_default();
    Ok(Sum { orders, amount: Cents(cents) })
}

/// The drop orders of a filter by their status, which the filter's own does not
/// narrow: the counts of its values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub owed: Owed,
    pub paid: Sum,
    pub cancelled: Sum,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub const fn and(self, more: Self) -> Self {
        Self {
            owed: self.owed.and(more.owed),
            paid: self.paid.and(more.paid),
            cancelled: self.cancelled.and(more.cancelled),
        }
    }

    /// What is not paid yet.
    pub fn open(&self) -> Sum {
        self.owed.open()
    }

    /// What a status comes to; all for none.
    pub fn of(&self, status: Option<StatusFilter>) -> Sum {
        match status {
            None => {
                [self.open(), self.paid, self.cancelled].into_iter().fold(Sum::default(), Sum::and)
            }
            Some(StatusFilter::Open) => self.open(),
            Some(StatusFilter::Of(DropOrderStatus::Pending)) => self.owed.pending,
            Some(StatusFilter::Of(DropOrderStatus::Overdue)) => self.owed.overdue,
            Some(StatusFilter::Of(DropOrderStatus::Paid)) => self.paid,
            Some(StatusFilter::Of(DropOrderStatus::Cancelled)) => self.cancelled,
        }
    }
}

impl Sum {
    /// Both together.
    #[must_use]
    pub const fn and(self, more: Self) -> Self {
        Self { orders: self.orders + more.orders, amount: Cents(self.amount.0 + more.amount.0) }
    }

    const fn without(self, part: Self) -> Self {
        Self { orders: self.orders - part.orders, amount: Cents(self.amount.0 - part.amount.0) }
    }
}

impl Owed {
    /// Both together.
    #[must_use]
    pub const fn and(self, more: Self) -> Self {
        Self { pending: self.pending.and(more.pending), overdue: self.overdue.and(more.overdue) }
    }

    /// Due or not.
    pub const fn open(&self) -> Sum {
        self.pending.and(self.overdue)
    }
}

/// Counts and sums by status. Without a search or days they come from the totals
/// that are kept, and from what is overdue.
pub fn tally(tx: &ReadTx<'_>, wanted: &DropOrderQuery) -> Result<Tally> {
    let filters = wanted.others();
    let (by_state, overdue) = if wanted.is_narrow() {
        let sql = format!(
            "SELECT state, state = 1 AND due_at <= :now, count(*), coalesce(sum(amount_cents), 0)
             FROM drop_order WHERE {} GROUP BY 1, 2",
            filters.sql()
        );
        let mut values = filters.values().to_vec();
        values.push((":now", &wanted.now));
        let rows: Vec<(i64, bool, i64, i64)> = tx.tuples(&sql, &values[..])?;
        let late = rows.iter().find(|row| row.1).map(|row| (row.2, row.3));
        (rows.into_iter().map(|(state, _, orders, cents)| (state, orders, cents)).collect(), late)
    } else {
        let sql = format!(
            "SELECT state, sum(orders), sum(cents) FROM drop_order_count WHERE {} GROUP BY 1",
            filters.sql()
        );
        let by_state: Vec<(i64, i64, i64)> = tx.tuples(&sql, filters.values())?;
        let wanted = DropOrderQuery {
            status: Some(StatusFilter::Of(DropOrderStatus::Overdue)),
            ..wanted.clone()
        };
        let filters = wanted.filters();
        let sql = format!(
            "SELECT count(*), coalesce(sum(amount_cents), 0) FROM drop_order WHERE {}",
            filters.sql()
        );
        (by_state, tx.tuple(&sql, filters.values())?)
    };
    let sum = |(orders, cents): (i64, i64)| Sum { orders, amount: Cents(cents) };
    let of = |state: i64| {
        let rows = by_state.iter().filter(|row| row.0 == state);
        rows.map(|row| sum((row.1, row.2))).fold(Sum::default(), Sum::and)
    };
    let overdue = sum(overdue.unwrap_or_default());
    Ok(Tally {
        owed: Owed { pending: of(1).without(overdue), overdue },
        paid: of(2),
        cancelled: of(3),
    })
}

/// Ids of the open drop orders of a filter up to `newest`.
pub(super) fn open_ids(tx: &ReadTx<'_>, wanted: &DropOrderQuery, newest: i64) -> Result<Vec<i64>> {
    let Some(wanted) = wanted.open() else { return Ok(Vec::new()) };
    let mut filters = wanted.filters();
    filters.and("drop_order_id <= :newest", &[(":newest", &newest)]);
    let sql = format!("SELECT drop_order_id FROM drop_order WHERE {}", filters.sql());
    tx.values(&sql, filters.values())
}

/// The last drop order that arose, whoever's it is.
pub fn newest(tx: &ReadTx<'_>) -> Result<i64> {
    tx.value("SELECT coalesce(max(drop_order_id), 0) FROM drop_order", [])
}

row! {
    /// Somebody who owes a supplier.
    #[derive(Clone, Debug)]
    pub struct Debtor {
        pub id: UserId = "d.seller_id",
        pub name: String = "coalesce((SELECT name FROM user u WHERE u.user_id = d.seller_id), '')",
        pub orders: i64 = "d.orders",
        pub amount: Cents = "d.cents",
        pub late_orders: i64 = "d.late_orders",
        pub late: Cents = "d.late_cents",
        /// When the debt that is oldest became or becomes due.
        pub oldest: Instant = "d.oldest",
        /// When the next becomes due; `None` when all is overdue.
        pub next: Option<Instant> = "d.next",
        /// When the overdue order that was reminded of longest ago was; `None` when one
        /// never was.
        pub reminded_at: Option<Instant> = "nullif(d.reminded_at, 0)",
        /// Whether the two still do business: only then can they be reminded.
        pub is_related: bool = "EXISTS (SELECT 1 FROM drop_relation r
            WHERE r.supplier_id = d.supplier_id AND r.seller_id = d.seller_id AND r.state = 2)",
    }
}

/// Who owes a supplier, the longest overdue first; `most` of them.
pub fn debtors(tx: &ReadTx<'_>, supplier: UserId, now: Instant, most: u32) -> Result<Vec<Debtor>> {
    tx.records(
        "FROM (SELECT supplier_id, seller_id, count(*) AS orders, sum(amount_cents) AS cents,
                      count(*) FILTER (WHERE due_at <= ?2) AS late_orders,
                      coalesce(sum(amount_cents) FILTER (WHERE due_at <= ?2), 0) AS late_cents,
                      min(due_at) AS oldest, min(due_at) FILTER (WHERE due_at > ?2) AS next,
                      min(coalesce(reminded_at, 0)) FILTER (WHERE due_at <= ?2) AS reminded_at
               FROM drop_order WHERE supplier_id = ?1 AND state = 1
               GROUP BY seller_id ORDER BY oldest, seller_id LIMIT ?3) AS d
         ORDER BY d.oldest, d.seller_id",
        (supplier, now, most),
    )
}

/// The same for each seller who has some, by name. Without a search or days it comes from
/// the totals that are kept, from which what is overdue is taken out.
pub fn by_seller(tx: &ReadTx<'_>, wanted: &DropOrderQuery) -> Result<Vec<(UserId, String, Tally)>> {
    let filters = wanted.others();
    let matching = filters.sql();
    let parts = if wanted.is_narrow() {
        format!(
            "SELECT seller_id, state, state = 1 AND due_at <= :now AS late,
                    count(*) AS orders, sum(amount_cents) AS cents
             FROM drop_order WHERE {matching} GROUP BY 1, 2, 3"
        )
    } else {
        let overdue = format!("FROM drop_order WHERE {matching} AND state = 1 AND due_at <= :now");
        format!(
            "SELECT seller_id, state, 0 AS late, orders, cents FROM drop_order_count WHERE {matching}
             UNION ALL
             SELECT seller_id, 1, 0, -count(*), -sum(amount_cents) {overdue} GROUP BY seller_id
             UNION ALL
             SELECT seller_id, 1, 1, count(*), sum(amount_cents) {overdue} GROUP BY seller_id"
        )
    };
    let sql = format!(
        "SELECT seller_id, coalesce((SELECT name FROM user u WHERE u.user_id = seller_id), ''),
                state, late, sum(orders), sum(cents)
         FROM ({parts}) GROUP BY 1, 3, 4 HAVING sum(orders) > 0 ORDER BY 2, 1"
    );
    let mut values = filters.values().to_vec();
    values.push((":now", &wanted.now));
    let rows: Vec<(UserId, String, i64, bool, i64, i64)> = tx.tuples(&sql, &values[..])?;
    let mut sellers: Vec<(UserId, String, Tally)> = Vec::new();
    for (id, name, state, is_late, orders, cents) in rows {
        if sellers.last().is_none_or(|last| last.0 != id) {
            sellers.push((id, name, Tally::default()));
        }
        let Some((_, _, tally)) = sellers.last_mut() else { continue };
        let place = match (state, is_late) {
            (1, true) => &mut tally.owed.overdue,
            (1, false) => &mut tally.owed.pending,
            (2, _) => &mut tally.paid,
            _ => &mut tally.cancelled,
        };
        *place = Sum { orders, amount: Cents(cents) };
    }
    Ok(sellers)
}
