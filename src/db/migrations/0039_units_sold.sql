-- How many things were sold, which was known for orders with commission and freight alone. The civil days are those of
-- `order_count`, as in the step that made this table; what is not found there counts one thing an order.
ALTER TABLE sold_sum ADD COLUMN units INTEGER NOT NULL DEFAULT 0;

CREATE TEMP TABLE filled_day (
    owner_id   INTEGER NOT NULL,
    ml_user_id INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    sales      INTEGER NOT NULL,
    day        INTEGER NOT NULL,
    PRIMARY KEY (owner_id, ml_user_id, status, sales)
) WITHOUT ROWID;
INSERT INTO filled_day
SELECT owner_id, ml_user_id, status, sum(orders) OVER (PARTITION BY owner_id, ml_user_id, status ORDER BY day), day
FROM order_count WHERE status IN (5, 6) AND day >= 0 AND orders > 0;

CREATE TEMP TABLE sold_unit (
    owner_id     INTEGER NOT NULL,
    ml_user_id   INTEGER NOT NULL,
    status       INTEGER NOT NULL,
    span         INTEGER NOT NULL,
    item_id      INTEGER NOT NULL,
    variation_id INTEGER NOT NULL,
    item_version INTEGER NOT NULL,
    units        INTEGER NOT NULL,
    PRIMARY KEY (owner_id, ml_user_id, status, span, item_id, variation_id, item_version)
) WITHOUT ROWID;
INSERT INTO sold_unit
SELECT owner_id, ml_user_id, status, coalesce((
           SELECT f.day FROM filled_day f
           WHERE f.owner_id = o.owner_id AND f.ml_user_id = o.ml_user_id AND f.status = o.status AND f.sales >= o.place
           ORDER BY f.sales LIMIT 1), (created_at - 10800) / 86400) AS span,
       item_id, variation_id, item_version, sum(quantity)
FROM (
    SELECT owner_id, ml_user_id, status, created_at, item_id, variation_id, item_version, quantity,
           row_number() OVER (PARTITION BY owner_id, ml_user_id, status ORDER BY created_at, order_id) AS place
    FROM sale_order WHERE status IN (5, 6)) o
GROUP BY owner_id, ml_user_id, status, span, item_id, variation_id, item_version;
INSERT INTO sold_unit
SELECT owner_id, ml_user_id, status, -(12 * CAST(strftime('%Y', span * 86400, 'unixepoch') AS INTEGER)
                                       + CAST(strftime('%m', span * 86400, 'unixepoch') AS INTEGER)) AS month,
       item_id, variation_id, item_version, sum(units)
FROM sold_unit
GROUP BY owner_id, ml_user_id, status, month, item_id, variation_id, item_version;
INSERT INTO sold_unit
SELECT owner_id, ml_user_id, status, -1, item_id, variation_id, item_version, sum(units)
FROM sold_unit WHERE span >= 0
GROUP BY owner_id, ml_user_id, status, item_id, variation_id, item_version;

UPDATE sold_sum SET units = coalesce((
    SELECT u.units FROM sold_unit u
    WHERE u.owner_id = sold_sum.owner_id AND u.ml_user_id = sold_sum.ml_user_id AND u.status = sold_sum.status
        AND u.span = sold_sum.span AND u.item_id = sold_sum.item_id AND u.variation_id = sold_sum.variation_id
        AND u.item_version = sold_sum.item_version), max(orders, told_units));
DROP TABLE sold_unit;
DROP TABLE filled_day;
