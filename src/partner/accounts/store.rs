//! Accounts of the Partner API in the database.

use super::{Listed, PlanState, QuotaThresholds};
use crate::accounts::Account;
use crate::base::{Day, UserId, search_key};
use crate::db::{Filters, ReadTx, Result, RowWindow, sorted};

/// Parameters for the words of a search; further words are ignored.
const WORDS: [&str; 6] = [":word1", ":word2", ":word3", ":word4", ":word5", ":word6"];
/// Most months of an account to choose from.
const MONTHS: u32 = 24;

/// A plan that is in force on `:today`.
const IN_FORCE: &str =
    "party.plan IS NOT NULL AND (party.until_day IS NULL OR party.until_day >= :today)";
/// An account that is near its quota. The first conditions are a range of an index.
const IS_NEAR: &str = "party.month = :month AND party.calls >= :least
    AND party.calls >= CASE party.plan WHEN 'starter' THEN :starter WHEN 'pro' THEN :pro ELSE :scale END";

/// Filters and order of the list.
pub struct AccountQuery<'q> {
    /// Words of names or e-mail addresses.
    pub search: &'q str,
    pub plan: Option<&'static str>,
    pub state: Option<PlanState>,
    /// Only accounts near their quota.
    pub thresholds: bool,
    /// The order, by its name in the list's query.
    pub order: &'static str,
    pub descending: bool,
    /// Limit and offset.
    pub window: RowWindow,
}

/// One page of accounts with the number of all that match.
pub fn page(
    tx: &ReadTx<'_>,
    wanted: &AccountQuery<'_>,
    thresholds: &QuotaThresholds,
) -> Result<(Vec<Listed>, u64)> {
    let words: Vec<String> =
        search_key(wanted.search).split_whitespace().map(str::to_owned).collect();
    let today: (&str, &dyn rusqlite::ToSql) = (":today", &thresholds.today);
    let mut filters = Filters::new("TRUE", &[]);
    filters.and_if("party.plan = :plan", ":plan", &wanted.plan);
    // `:today` is bound once, although two filters may use it.
    if wanted.thresholds || matches!(wanted.state, Some(PlanState::InForce)) {
        filters.and(IN_FORCE, &[today]);
    }
    match wanted.state {
        Some(PlanState::Ended) if wanted.thresholds => filters.and("FALSE", &[]),
        Some(PlanState::Ended) => filters.and("party.until_day < :today", &[today]),
        Some(PlanState::None) => filters.and("party.plan IS NULL", &[]),
        Some(PlanState::InForce) | None => {}
    }
    if wanted.thresholds {
        filters.and(IS_NEAR, &thresholds.values());
    }
    for (name, word) in WORDS.into_iter().zip(&words) {
        filters.and(&format!("instr(party.search, {name}) > 0"), &[(name, word)]);
    }
    // Each order has an index.
    let order = match wanted.order {
        "nome" => "party.name_key, party.user_id",
        "fim" => "coalesce(party.until_day,1000000), party.user_id",
        _ => "party.month, party.calls, party.user_id",
    };
    let order = sorted(order, wanted.descending);
    let total = filters.count(tx, "SELECT count(*) FROM partner_summary party")?;
    let RowWindow { limit, offset } = wanted.window;
    let rest = format!(
        "FROM partner_summary party CROSS JOIN user u ON u.user_id = party.user_id
         WHERE {} ORDER BY {order} LIMIT :limit OFFSET :offset",
        filters.sql()
    );
    filters.bind(&[(":limit", &limit), (":offset", &offset)]);
    Ok((tx.records(&rest, filters.values())?, total))
}

/// How many accounts are near their quota.
pub fn near_quota(tx: &ReadTx<'_>, thresholds: &QuotaThresholds) -> Result<i64> {
    let mut near = Filters::new(IN_FORCE, &[(":today", &thresholds.today)]);
    near.and(IS_NEAR, &thresholds.values());
    let sql = format!("SELECT count(*) FROM partner_summary party WHERE {}", near.sql());
    tx.value(&sql, near.values())
}

/// An account that is not removed.
pub fn account(tx: &ReadTx<'_>, id: UserId) -> Result<Option<Account>> {
    tx.record("FROM user u WHERE u.user_id = ?1 AND u.removed_at IS NULL", [id])
}

/// First days of the months with calls of an account, newest first. Reads one
/// index entry per month, however many years of calls there are.
pub fn months(tx: &ReadTx<'_>, id: UserId) -> Result<Vec<Day>> {
    tx.values(
        "WITH RECURSIVE months (month) AS (
             SELECT unixepoch(max(day) * 86400, 'unixepoch', 'start of month') / 86400
             FROM partner_usage WHERE user_id = ?1
             UNION ALL
             SELECT (SELECT unixepoch(max(day) * 86400, 'unixepoch', 'start of month') / 86400
                     FROM partner_usage WHERE user_id = ?1 AND day < month)
             FROM months WHERE month IS NOT NULL LIMIT ?2)
         SELECT month FROM months WHERE month IS NOT NULL",
        (id, MONTHS),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{TestApp, config};

    #[test]
    fn months_with_calls_are_found_newest_first_and_no_more_than_a_few() {
        let test = TestApp::new(config(&[]));
        test.write(|tx| {
            tx.run(
                "INSERT INTO user (user_id, email, name, role, created_at)
                 VALUES (1, 'a@x.com', 'A', 'pro', 1), (2, 'b@x.com', 'B', 'pro', 1)",
                [],
            )?;
            // Every third month of ten years, on its last day and its first.
            tx.run(
                "WITH RECURSIVE n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 39)
                 INSERT INTO partner_usage (user_id, day, operation, calls)
                 SELECT 1, unixepoch('2016-01-01', (3 * n) || ' months', d) / 86400, 'x', 1
                 FROM n, (SELECT '0 days' AS d UNION SELECT '27 days')",
                [],
            )
        });
        let found = test.read(|tx| months(tx, UserId(1)));
        let said: Vec<String> = found.iter().map(|month| month.iso()).collect();
        assert_eq!(said.len(), MONTHS as usize);
        assert_eq!(said[..2], ["2025-10-01", "2025-07-01"]);
        assert!(test.read(|tx| months(tx, UserId(2))).is_empty());
    }

    #[test]
    fn every_order_walks_an_index_of_its_own() {
        let test = TestApp::new(config(&[]));
        for (order, index) in [
            ("party.name_key, party.user_id", "partner_summary_by_name"),
            ("party.month DESC, party.calls DESC, party.user_id DESC", "partner_summary_by_use"),
            ("coalesce(party.until_day,1000000), party.user_id", "partner_summary_by_end"),
        ] {
            let sql = format!(
                "EXPLAIN QUERY PLAN SELECT u.name, party.calls FROM partner_summary party
                 CROSS JOIN user u ON u.user_id = party.user_id ORDER BY {order} LIMIT 20"
            );
            let plan: Vec<String> = test.ask(&sql, |row| row.get(3));
            assert!(plan[0].contains(index), "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
    }
}
