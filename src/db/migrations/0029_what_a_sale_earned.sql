ALTER TABLE sale_order ADD COLUMN fee_cents INTEGER;
ALTER TABLE sale_order ADD COLUMN freight_cents INTEGER;
ALTER TABLE sale_order ADD COLUMN paid_at INTEGER;
ALTER TABLE sale_order ADD COLUMN printed_at INTEGER;
ALTER TABLE sale_order ADD COLUMN sent_at INTEGER;
ALTER TABLE sale_order ADD COLUMN delivered_at INTEGER;

CREATE TABLE sold_sum (
    owner_id      INTEGER NOT NULL,
    ml_user_id    INTEGER NOT NULL,
    status        INTEGER NOT NULL,
    span          INTEGER NOT NULL,
    item_id       INTEGER NOT NULL,
    variation_id  INTEGER NOT NULL,
    item_version  INTEGER NOT NULL,
    orders        INTEGER NOT NULL,
    gross_cents   INTEGER NOT NULL,
    told          INTEGER NOT NULL,
    told_units    INTEGER NOT NULL,
    told_cents    INTEGER NOT NULL,
    charged_cents INTEGER NOT NULL,
    PRIMARY KEY (owner_id, ml_user_id, status, span, item_id, variation_id, item_version)
) STRICT, WITHOUT ROWID;

-- Orders of before have no commission and no freight yet. Their civil days are those of `order_count`, which are of the
-- configured time zone: sales in order of time fill one day after the other. A sale that is not counted there gets the
-- day of Brasília.
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

INSERT INTO sold_sum
SELECT owner_id, ml_user_id, status, coalesce((
           SELECT f.day FROM filled_day f
           WHERE f.owner_id = o.owner_id AND f.ml_user_id = o.ml_user_id AND f.status = o.status AND f.sales >= o.place
           ORDER BY f.sales LIMIT 1), (created_at - 10800) / 86400) AS span,
       item_id, variation_id, item_version, count(*), sum(total_cents), 0, 0, 0, 0
FROM (
    SELECT owner_id, ml_user_id, status, created_at, item_id, variation_id, item_version, total_cents,
           row_number() OVER (PARTITION BY owner_id, ml_user_id, status ORDER BY created_at, order_id) AS place
    FROM sale_order WHERE status IN (5, 6)) o
GROUP BY owner_id, ml_user_id, status, span, item_id, variation_id, item_version;
DROP TABLE filled_day;

INSERT INTO sold_sum
SELECT owner_id, ml_user_id, status, -(12 * CAST(strftime('%Y', span * 86400, 'unixepoch') AS INTEGER)
                                       + CAST(strftime('%m', span * 86400, 'unixepoch') AS INTEGER)) AS month,
       item_id, variation_id, item_version, sum(orders), sum(gross_cents), 0, 0, 0, 0
FROM sold_sum
GROUP BY owner_id, ml_user_id, status, month, item_id, variation_id, item_version;
INSERT INTO sold_sum
SELECT owner_id, ml_user_id, status, -1, item_id, variation_id, item_version, sum(orders), sum(gross_cents), 0, 0, 0, 0
FROM sold_sum WHERE span >= 0
GROUP BY owner_id, ml_user_id, status, item_id, variation_id, item_version;

CREATE TABLE listing_cost (
    owner_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    item_id    INTEGER NOT NULL,
    cost_cents INTEGER NOT NULL CHECK (cost_cents > 0),
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (owner_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_by_deadline ON claim (owner_id, state, iif(state = 1, coalesce(due_at, 9000000000), -updated_at), claim_id);
CREATE INDEX claim_of_resource ON claim (owner_id, resource_id) WHERE resource_id IS NOT NULL;
