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

-- Orders of before have no commission and no freight yet. The civil days are those of Brasília.
INSERT INTO sold_sum
SELECT owner_id, ml_user_id, status, span, item_id, variation_id, item_version, count(*), sum(total_cents), 0, 0, 0, 0
FROM (
    SELECT *, -1 AS span FROM sale_order WHERE status IN (5, 6)
    UNION ALL
    SELECT *, (created_at - 10800) / 86400 FROM sale_order WHERE status IN (5, 6)
    UNION ALL
    SELECT *, -(12 * CAST(strftime('%Y', created_at - 10800, 'unixepoch') AS INTEGER)
                + CAST(strftime('%m', created_at - 10800, 'unixepoch') AS INTEGER))
    FROM sale_order WHERE status IN (5, 6))
GROUP BY owner_id, ml_user_id, status, span, item_id, variation_id, item_version;

CREATE TABLE listing_cost (
    owner_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    item_id    INTEGER NOT NULL,
    cost_cents INTEGER NOT NULL CHECK (cost_cents > 0),
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (owner_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_by_deadline ON claim (owner_id, state, iif(state = 1, coalesce(due_at, 9000000000), -updated_at), claim_id);
CREATE INDEX claim_of_resource ON claim (owner_id, resource_id) WHERE resource_id IS NOT NULL;
