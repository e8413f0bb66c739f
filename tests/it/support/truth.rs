//! Compares the mirror with what the marketplace has: every table, column by
//! column, and every sum with its recount.

use std::collections::BTreeMap;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::site::Site;
use crate::support::world::World;

/// Differences that a message shows.
const SHOWN: usize = 25;

/// A verified copy of a site's database.
pub struct Mirror {
    copy: Connection,
    _folder: TempDir,
}

/// A table of the mirror: its name at the marketplace, its id, and its rows as
/// JSON.
struct Table {
    name: &'static str,
    id: &'static str,
    rows: &'static str,
}

#[rustfmt::skip] // A table.
const TABLES: [Table; 4] = [
    Table { name: "orders", id: "order_id", rows: "
        SELECT json_object(
            'order_id', o.order_id, 'ml_user_id', o.ml_user_id, 'status', w.text,
            'created_at', o.created_at, 'closed_at', o.closed_at, 'updated_at', o.updated_at,
            'total_cents', o.total_cents, 'currency', c.text, 'item_id', o.item_id,
            'variation_id', o.variation_id, 'quantity', o.quantity, 'buyer_nickname', o.buyer_nickname,
            'shipping_id', o.shipping_id, 'shipping_status', s.text, 'logistic_type', l.text)
        FROM sale_order o
        JOIN sold_item i ON i.item_id = o.item_id AND i.variation_id = o.variation_id AND i.version = o.item_version
        JOIN word w ON w.word_id = o.status JOIN word c ON c.word_id = o.currency
        LEFT JOIN word s ON s.word_id = o.shipping_status LEFT JOIN word l ON l.word_id = o.logistic_type" },
    Table { name: "listings", id: "item_id", rows: "
        SELECT json_object(
            'item_id', o.item_id, 'ml_user_id', o.ml_user_id, 'site', o.site, 'title', o.title,
            'status', w.text, 'sub_status', o.sub_status, 'price_cents', o.price_cents,
            'currency', c.text, 'available', o.available, 'sold', o.sold, 'listing_type', k.text,
            'logistic_type', l.text, 'category', o.category, 'sku', o.sku, 'ean', o.ean,
            'permalink', o.permalink, 'created_at', o.created_at, 'updated_at', o.updated_at)
        FROM listing o
        JOIN word w ON w.word_id = o.status JOIN word c ON c.word_id = o.currency
        JOIN word k ON k.word_id = o.listing_type LEFT JOIN word l ON l.word_id = o.logistic_type" },
    Table { name: "questions", id: "question_id", rows: "
        SELECT json_object(
            'question_id', o.question_id, 'ml_user_id', o.ml_user_id, 'item_id', o.item_id,
            'asked_at', o.asked_at, 'state', o.state, 'status', o.status, 'text', o.text,
            'answer', o.answer, 'answered_at', o.answered_at, 'asker_id', o.asker_id)
        FROM question o" },
    Table { name: "claims", id: "claim_id", rows: "
        SELECT json_object(
            'claim_id', o.claim_id, 'ml_user_id', o.ml_user_id, 'opened_at', o.opened_at,
            'state', o.state, 'kind', o.kind, 'stage', o.stage, 'reason', o.reason,
            'resource', o.resource, 'resource_id', o.resource_id, 'due_at', o.due_at,
            'action', o.action, 'resolution', o.resolution, 'updated_at', o.updated_at)
        FROM claim o" },
];

/// Queries that must find nothing: sums that differ from a recount, effects
/// that happened twice, rows that were left behind. Days are those of São
/// Paulo, which has had no summer time since 2019.
#[rustfmt::skip] // A table.
const NOTHING: &[(&str, &str)] = &[
    ("orders by store, state and day", "
        WITH counted AS (
            SELECT owner_id, ml_user_id, status, (created_at - 10800) / 86400 AS day, count(*) AS n FROM sale_order GROUP BY 1, 2, 3, 4
            UNION ALL SELECT owner_id, ml_user_id, status, -1, count(*) FROM sale_order GROUP BY 1, 2, 3
            UNION ALL SELECT owner_id, 0, 0, (created_at - 10800) / 86400, count(*) FROM sale_order GROUP BY 1, 4
            UNION ALL SELECT owner_id, 0, 0, -1, count(*) FROM sale_order GROUP BY 1)
        SELECT 'counted ' || concat_ws(' ', owner_id, ml_user_id, status, day, n) FROM (
            SELECT * FROM counted EXCEPT SELECT owner_id, ml_user_id, status, day, orders FROM order_count)
        UNION ALL
        SELECT 'kept ' || concat_ws(' ', owner_id, ml_user_id, status, day, orders) FROM (
            SELECT owner_id, ml_user_id, status, day, orders FROM order_count EXCEPT SELECT * FROM counted)" ),
    ("sales by day", "
        WITH counted AS (
            SELECT owner_id, ml_user_id, (coalesce(closed_at, created_at) - 10800) / 86400 AS day,
                count(*) AS n, sum(quantity) AS units, sum(total_cents) AS gross
            FROM sale_order JOIN word ON word_id = status
            WHERE text IN ('paid', 'partially_refunded') GROUP BY 1, 2, 3)
        SELECT 'counted ' || concat_ws(' ', owner_id, ml_user_id, day, n, units, gross) FROM (
            SELECT * FROM counted EXCEPT SELECT owner_id, ml_user_id, day, orders, units, gross_cents FROM sales_day)
        UNION ALL
        SELECT 'kept ' || concat_ws(' ', owner_id, ml_user_id, day, orders, units, gross_cents) FROM (
            SELECT owner_id, ml_user_id, day, orders, units, gross_cents FROM sales_day EXCEPT SELECT * FROM counted)" ),
    ("listings by state", "
        WITH counted AS (SELECT owner_id, ml_user_id, status, count(*) AS n FROM listing GROUP BY 1, 2, 3)
        SELECT concat_ws(' ', owner_id, ml_user_id, status, n) FROM (
            SELECT * FROM counted EXCEPT SELECT owner_id, ml_user_id, status, listings FROM listing_count)
        UNION ALL
        SELECT concat_ws(' ', owner_id, ml_user_id, status, listings) FROM (
            SELECT owner_id, ml_user_id, status, listings FROM listing_count WHERE listings <> 0 EXCEPT SELECT * FROM counted)" ),
    ("an order twice", "
        SELECT concat_ws(' ', owner_id, order_id) FROM sale_order GROUP BY owner_id, order_id HAVING count(*) > 1" ),
    ("a question twice", "
        SELECT concat_ws(' ', owner_id, question_id) FROM question GROUP BY owner_id, question_id HAVING count(*) > 1" ),
    ("a claim twice", "
        SELECT concat_ws(' ', owner_id, claim_id) FROM claim GROUP BY owner_id, claim_id HAVING count(*) > 1" ),
    ("a sale, question or claim told twice", "
        SELECT concat_ws(' ', owner_id, title, reference) FROM notification
        WHERE title IN ('Nova venda', 'Nova pergunta', 'Nova reclamação')
        GROUP BY owner_id, title, reference HAVING count(*) > 1" ),
    ("notifications without their cause", "
        SELECT concat_ws(' ', notification_id, title) FROM notification n
        WHERE NOT EXISTS (SELECT 1 FROM notification_key k WHERE k.owner_id = n.owner_id AND k.notification_id = n.notification_id)" ),
    ("numbers of notifications", "
        SELECT concat_ws(' ', n.owner_id, n.unread, n.told) FROM notification_count n
        WHERE n.told <> (SELECT count(*) FROM notification m WHERE m.owner_id = n.owner_id)
            OR n.unread <> (SELECT count(*) FROM notification m WHERE m.owner_id = n.owner_id AND m.read_at IS NULL)" ),
    ("received notifications by state", "
        SELECT concat_ws(' ', state, sum(notifications)) FROM ml_notification_count GROUP BY state
        HAVING sum(notifications) <> (SELECT count(*) FROM ml_notification n WHERE n.state = ml_notification_count.state)" ),
    ("movements of stock that share a number", "
        SELECT concat_ws(' ', 'movement', number) FROM stock_movement GROUP BY number HAVING count(*) > 1 OR number = 0
        UNION ALL SELECT concat_ws(' ', 'last', number) FROM stock_movement_last WHERE number < (SELECT max(number) FROM stock_movement)" ),
    ("stock that is not the sum of its movements", "
        SELECT concat_ws(' ', p.sku, p.stock) FROM product p
        WHERE p.stock <> (SELECT coalesce(sum(change), 0) FROM stock_movement m WHERE m.product_id = p.product_id)" ),
    // Goods that left before they were called off, and those of the marketplace's warehouse, may
    // be learned of after the order was.
    ("stock moved twice by an order", "
        SELECT concat_ws(' ', p.owner_id, m.order_id, m.kind) FROM stock_movement m JOIN product p USING (product_id)
        JOIN sale_order o ON o.order_id = m.order_id AND o.owner_id = p.owner_id
        LEFT JOIN word l ON l.word_id = o.logistic_type
        WHERE NOT (o.status IN (8, 9) AND (o.sent_at IS NOT NULL OR o.stage IN (6, 7, 8)))
          AND l.text IS NOT 'fulfillment'
        GROUP BY p.owner_id, m.order_id, m.kind, m.product_id HAVING count(*) > 1" ),
    ("stock that an order did not move as it should", "
        WITH line AS (
            SELECT o.*, o.item_id AS item, o.variation_id AS variation, o.item_version AS wording, o.quantity AS units
            FROM sale_order o WHERE o.basket_id IS NULL
            UNION ALL
            SELECT o.*, b.item_id, b.variation_id, b.item_version, b.units
            FROM sale_order o JOIN basket_line b USING (basket_id)),
        wanted AS (
            SELECT o.order_id, w.text AS status, p.product_id,
                   sum(CASE WHEN l.text = 'fulfillment' THEN 0
                       WHEN w.text IN ('paid', 'partially_refunded') THEN -o.units
                       WHEN w.text IN ('cancelled', 'invalid') AND (o.sent_at IS NOT NULL OR o.stage IN (6, 7, 8))
                           AND o.marks & 12 = 0 AND f.text IS NOT 'returned' THEN -o.units
                       WHEN w.text IN ('cancelled', 'invalid') THEN 0 END) AS change
            FROM line o JOIN word w ON w.word_id = o.status
            LEFT JOIN word l ON l.word_id = o.logistic_type
            LEFT JOIN word f ON f.word_id = o.substatus
            JOIN sold_item i ON i.item_id = o.item AND i.variation_id = o.variation AND i.version = o.wording
            JOIN product p ON p.owner_id = o.owner_id AND p.sku = i.sku AND p.created_at <= o.created_at
            GROUP BY o.order_id, p.product_id)
        SELECT concat_ws(' ', order_id, status, wanted.change, moved.change) FROM wanted
        LEFT JOIN (SELECT order_id, product_id, sum(change) AS change FROM stock_movement GROUP BY 1, 2) moved
            USING (order_id, product_id)
        WHERE wanted.change IS NOT NULL AND wanted.change <> coalesce(moved.change, 0)" ),
    ("messages queued twice", "
        SELECT dedup_key FROM outbox GROUP BY dedup_key HAVING count(*) > 1" ),
    ("what was read of accounts that are not linked", "
        SELECT DISTINCT concat_ws(' ', ml_user_id, 'listing') FROM listing l WHERE NOT EXISTS (
            SELECT 1 FROM ml_account a WHERE a.ml_user_id = l.ml_user_id AND a.owner_id = l.owner_id)
        UNION SELECT concat_ws(' ', ml_user_id, 'question') FROM question l WHERE NOT EXISTS (
            SELECT 1 FROM ml_account a WHERE a.ml_user_id = l.ml_user_id AND a.owner_id = l.owner_id)
        UNION SELECT concat_ws(' ', ml_user_id, 'claim') FROM claim l WHERE NOT EXISTS (
            SELECT 1 FROM ml_account a WHERE a.ml_user_id = l.ml_user_id AND a.owner_id = l.owner_id)
        UNION SELECT concat_ws(' ', ml_user_id, 'note') FROM ml_unlinked
        UNION SELECT concat_ws(' ', ml_user_id, 'note of a scan') FROM ml_seen" ),
    ("accounts that are not linked well", "
        SELECT concat_ws(' ', ml_user_id, error) FROM ml_account WHERE token_ok = 0 OR error IS NOT NULL" ),
    ("a sale that was not told", "
        SELECT o.order_id || ' ' || w.text FROM sale_order o JOIN word w ON w.word_id = o.status
        JOIN ml_account a ON a.ml_user_id = o.ml_user_id AND a.owner_id = o.owner_id
        WHERE w.text IN ('paid', 'partially_refunded') AND coalesce(o.closed_at, o.created_at) >= a.linked_at
            AND NOT EXISTS (SELECT 1 FROM notification_key k WHERE k.owner_id = o.owner_id AND k.cause = 'venda:' || o.order_id)" ),
    ("a question that was not told", "
        SELECT o.question_id || '' FROM question o
        JOIN ml_account a ON a.ml_user_id = o.ml_user_id AND a.owner_id = o.owner_id
        WHERE o.state = 1 AND o.asked_at >= a.linked_at
            AND NOT EXISTS (SELECT 1 FROM notification_key k WHERE k.owner_id = o.owner_id AND k.cause = 'pergunta:' || o.question_id)" ),
    ("a claim that was not told", "
        SELECT o.claim_id || '' FROM claim o
        JOIN ml_account a ON a.ml_user_id = o.ml_user_id AND a.owner_id = o.owner_id
        WHERE o.state = 1 AND o.opened_at >= a.linked_at
            AND NOT EXISTS (SELECT 1 FROM notification_key k WHERE k.owner_id = o.owner_id AND k.cause || ':' LIKE 'reclamacao:' || o.claim_id || ':%')" ),
];

impl Mirror {
    /// A copy as the database is now.
    #[track_caller]
    pub fn of(site: &Site) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy.db");
        site.command(&["backup", &path.display().to_string()]).ok();
        let copy = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        Self { copy, _folder: folder }
    }

    /// The result of a statement, one text per row.
    #[track_caller]
    pub fn texts(&self, sql: &str) -> Vec<String> {
        let mut statement = self.copy.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    /// All differences from what the marketplace has of these sellers, and from
    /// the mirror's own recounts.
    #[track_caller]
    pub fn differences(&self, world: &World, sellers: &[u64]) -> Vec<String> {
        let mut found = Vec::new();
        for seller in sellers {
            let truth = world.truth(*seller);
            self.compare_account(*seller, &truth["account"], &mut found);
            for table in &TABLES {
                self.compare_table(*seller, table, &truth[table.name], &mut found);
            }
        }
        for (what, sql) in NOTHING {
            let rows = self.texts(sql);
            found.extend(rows.into_iter().map(|row| format!("{what}: {row}")));
        }
        let more = found.len().saturating_sub(SHOWN);
        found.truncate(SHOWN);
        if more > 0 {
            found.push(format!("and {more} more"));
        }
        found
    }

    fn compare_account(&self, seller: u64, truth: &Value, found: &mut Vec<String>) {
        let rows = self.texts(&format!(
            "SELECT json_object('nickname', nickname, 'reputation', reputation, 'listings', listings,
                 'open_questions', open_questions, 'open_claims', open_claims)
             FROM ml_account WHERE ml_user_id = {seller}"
        ));
        let row = rows.first().map(|row| json(row)).unwrap_or_default();
        compare(&format!("account {seller}"), &row, truth, found);
    }

    fn compare_table(&self, seller: u64, table: &Table, truth: &Value, found: &mut Vec<String>) {
        let of_owner = format!(
            "{} WHERE o.ml_user_id = {seller}
                 AND o.owner_id = (SELECT owner_id FROM ml_account WHERE ml_user_id = {seller})",
            table.rows
        );
        let key = |row: &Value| row[table.id].as_i64().unwrap();
        let rows = self.texts(&of_owner);
        let mut rows: BTreeMap<i64, Value> =
            rows.iter().map(|row| json(row)).map(|row| (key(&row), row)).collect();
        for truth in truth.as_array().unwrap() {
            let what = format!("{} {}", table.name, key(truth));
            match rows.remove(&key(truth)) {
                Some(row) => compare(&what, &row, truth, found),
                None => found.push(format!("{what} is missing: {truth}")),
            }
        }
        let extra = rows.into_values().map(|row| format!("{} has too much: {row}", table.name));
        found.extend(extra);
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Compares the columns that the mirror has.
fn compare(what: &str, row: &Value, truth: &Value, found: &mut Vec<String>) {
    let Some(columns) = row.as_object() else {
        found.push(format!("{what} is missing"));
        return;
    };
    for (column, here) in columns {
        let there = &truth[column];
        // Searches do not return the name of a buyer.
        let is_untold = column == "buyer_nickname" && here == "";
        if here != there && !is_untold {
            found.push(format!("{what}: {column} is {here}, not {there}"));
        }
    }
}
