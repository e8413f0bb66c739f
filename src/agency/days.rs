//! Daily figures of clients' accounts.
//!
//! A row says what an account sold on a civil day, and how many listings,
//! claims and questions it had at the end of that day. Sales of earlier days
//! come from the books, so a new client has a history at once. The other
//! figures are known from the first day on which the agency read the account.

use super::store::JoinedAccount;
use crate::base::{Cents, Day};
use crate::db::{ReadTx, Result, WriteTx};
use crate::marketplace::kinds::RecordKind;
use crate::row;

/// Days of history that charts show.
pub const KEPT_DAYS: i64 = 730;
/// Days whose sales lists and reports show, compared with as many days before.
pub const SOLD_DAYS: i64 = 30;
/// Sales of these last days are taken from the books again at each reading,
/// because orders may be cancelled late.
const OPEN_DAYS: i64 = 35;

row! {
    /// Sales of a day, and listings, claims and questions at its end.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct DayRow {
        pub day: Day,
        pub orders: i64 = "sum(orders)",
        pub gross: Cents = "sum(gross_cents)",
        pub listings: i64 = "sum(listings)",
        pub claims: i64 = "sum(claims)",
        pub questions: i64 = "sum(questions)",
        /// Accounts that were read on that day. When it is 0, `listings`, `claims`
        /// and `questions` mean nothing.
        pub seen: i64 = "sum(seen)",
    }
}

row! {
    /// What a client sold in the last [`SOLD_DAYS`] and in as many before.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Sold {
        pub orders: i64 = "coalesce(sum(orders) FILTER (WHERE day >= ?3), 0)",
        pub gross: Cents = "coalesce(sum(gross_cents) FILTER (WHERE day >= ?3), 0)",
        pub orders_before: i64 = "coalesce(sum(orders) FILTER (WHERE day < ?3), 0)",
        pub gross_before: Cents = "coalesce(sum(gross_cents) FILTER (WHERE day < ?3), 0)",
    }
}

/// What a client sold; client 0 means all clients.
pub fn sold(tx: &ReadTx<'_>, client: i64, today: Day) -> Result<Sold> {
    let (now_from, before_from) = (today.plus(1 - SOLD_DAYS), today.plus(1 - 2 * SOLD_DAYS));
    let sold = tx.record(
        "FROM agency_day WHERE client_id = ?1 AND day BETWEEN ?2 AND ?4",
        (client, before_from, now_from, today),
    )?;
    Ok(sold.unwrap_or_default())
}

/// Days of a client in their order, both ends included; client 0 means all
/// clients.
pub fn daily_series(tx: &ReadTx<'_>, client: i64, from: Day, to: Day) -> Result<Vec<DayRow>> {
    tx.records(
        "FROM agency_day WHERE client_id = ?1 AND day BETWEEN ?2 AND ?3 GROUP BY day ORDER BY day",
        (client, from, to),
    )
}

/// Stores today's figures of an account and its sales of the last days. While
/// its orders are still being read for the first time, stores the sales of all
/// days that charts show.
pub fn note(tx: &WriteTx<'_>, account: &JoinedAccount, today: Day) -> Result<()> {
    let of = (account.client, account.ml_user_id, account.owner);
    let is_known: bool = tx.value(
        "SELECT EXISTS (SELECT 1 FROM agency_day
                        WHERE client_id = ?1 AND day BETWEEN ?3 AND ?4 AND ml_user_id = ?2 AND seen = 1)
             AND EXISTS (SELECT 1 FROM ml_sync WHERE ml_user_id = ?2 AND area = ?5 AND good_until IS NOT NULL)",
        (of.0, of.1, today.plus(-OPEN_DAYS), today.plus(-1), RecordKind::Order),
    )?;
    let back = if is_known { OPEN_DAYS } else { KEPT_DAYS };
    let window = (of.0, of.1, of.2, today.plus(-back), today);
    tx.execute(
        "INSERT INTO agency_day
             (client_id, day, ml_user_id, orders, gross_cents, listings, claims, questions, reputation, seen)
         SELECT ?1, day, ml_user_id, orders, gross_cents, 0, 0, 0, 0, 0
         FROM sales_day WHERE owner_id = ?3 AND ml_user_id = ?2 AND day BETWEEN ?4 AND ?5
         ON CONFLICT DO UPDATE SET orders = excluded.orders, gross_cents = excluded.gross_cents
         WHERE (orders, gross_cents) IS NOT (excluded.orders, excluded.gross_cents)",
        window,
    )?;
    // The books keep no row of a day whose last sale was cancelled.
    tx.execute(
        "UPDATE agency_day AS d SET orders = 0, gross_cents = 0
         WHERE client_id = ?1 AND ml_user_id = ?2 AND day BETWEEN ?4 AND ?5
             AND (orders, gross_cents) IS NOT (0, 0)
             AND NOT EXISTS (SELECT 1 FROM sales_day s
                             WHERE s.owner_id = ?3 AND s.ml_user_id = ?2 AND s.day = d.day)",
        window,
    )?;
    // No chart shows days that old.
    tx.execute(
        "DELETE FROM agency_day WHERE client_id IN (0, ?1) AND day < ?2",
        (of.0, today.plus(-KEPT_DAYS)),
    )?;
    tx.run(
        "INSERT INTO agency_day
             (client_id, day, ml_user_id, orders, gross_cents, listings, claims, questions, reputation, seen)
         SELECT ?1, ?4, a.ml_user_id, 0, 0,
                (SELECT coalesce(sum(n.listings), 0) FROM listing_count n
                 JOIN word w ON w.word_id = n.status
                 WHERE n.owner_id = ?3 AND n.ml_user_id = ?2 AND w.text = 'active'),
                a.open_claims, a.open_questions, CAST(substr(a.reputation, 1, 1) AS INTEGER), 1
         FROM ml_account a WHERE a.ml_user_id = ?2 AND a.owner_id = ?3
         ON CONFLICT DO UPDATE SET
             listings = excluded.listings, claims = excluded.claims, questions = excluded.questions,
             reputation = excluded.reputation, seen = 1",
        (of.0, of.1, of.2, today),
    )
}

/// Fills the gaps between days: a day without a row sold nothing and has the
/// other figures of the day before.
pub fn filled(rows: &[DayRow], from: Day, to: Day) -> Vec<DayRow> {
    let count = usize::try_from(to.0 - from.0 + 1).unwrap_or(0);
    let mut days = Vec::with_capacity(count);
    let mut rows = rows.iter().peekable();
    let mut last = DayRow { day: from, ..DayRow::default() };
    for number in from.0..=to.0 {
        let day = Day(number);
        let today = rows.next_if(|row| row.day == day);
        last = match today {
            Some(row) if row.seen > 0 => *row,
            Some(row) => DayRow { orders: row.orders, gross: row.gross, day, ..last },
            None => DayRow { orders: 0, gross: Cents(0), day, ..last },
        };
        days.push(last);
    }
    days
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(day: i64, orders: i64, questions: i64, seen: i64) -> DayRow {
        DayRow {
            day: Day(day),
            orders,
            gross: Cents(orders * 100),
            listings: 5 * seen,
            claims: 0,
            questions,
            seen,
        }
    }

    #[test]
    fn days_that_nobody_looked_at_end_as_the_one_before() {
        let rows = [row(3, 2, 0, 0), row(5, 1, 4, 1), row(7, 9, 0, 0)];
        let days = filled(&rows, Day(2), Day(8));
        let told: Vec<_> =
            days.iter().map(|day| (day.day.0, day.orders, day.questions, day.listings)).collect();
        let expected = [
            (2, 0, 0, 0),
            (3, 2, 0, 0),
            (4, 0, 0, 0),
            (5, 1, 4, 5),
            (6, 0, 4, 5),
            (7, 9, 4, 5),
            (8, 0, 4, 5),
        ];
        assert_eq!(told, expected);
        assert!(filled(&rows, Day(9), Day(8)).is_empty());
    }
}
