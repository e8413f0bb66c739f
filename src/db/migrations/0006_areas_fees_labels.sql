-- Accounts are read by more areas; fees and labels.

-- Listings that a reading under way has met at the marketplace.
CREATE TABLE ml_seen (
    ml_user_id INTEGER NOT NULL REFERENCES ml_account (ml_user_id) ON DELETE CASCADE,
    item_id    INTEGER NOT NULL,
    site       TEXT NOT NULL,
    looked     INTEGER NOT NULL CHECK (looked IN (0, 1, 2)),
    PRIMARY KEY (ml_user_id, item_id)
) STRICT, WITHOUT ROWID;

-- Accounts linked before: their listings, questions and claims are read soon,
-- missed notifications after the first sweep.
INSERT OR IGNORE INTO ml_sync (ml_user_id, area, next_at, at_once)
SELECT ml_user_id, column1, column2, 1
FROM ml_account, (VALUES (2, 0), (3, 0), (4, 0), (6, 9223372036854775807));

-- Answers to questions that were sent and of which nobody saw yet whether they arrived.
CREATE TABLE answer_sent (
    question_id INTEGER PRIMARY KEY,
    sent_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX answer_sent_by_time ON answer_sent (sent_at);

-- Fees are only remembered for a day; the place is made by what is asked.
DROP TABLE ml_fee;
CREATE TABLE ml_fee (
    slot       INTEGER PRIMARY KEY,
    question   TEXT NOT NULL,
    answer     TEXT NOT NULL,
    fetched_at INTEGER NOT NULL
) STRICT;

-- Tax rates that students set for their own calculations.
CREATE TABLE own_tax (
    user_id    INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE,
    rate_bp    INTEGER NOT NULL CHECK (rate_bp BETWEEN 0 AND 10000),
    updated_at INTEGER NOT NULL
) STRICT;

-- A word that had a number of its own gets the one that is fixed.
UPDATE sale_order SET shipping_status = 10
WHERE shipping_status = (SELECT word_id FROM word WHERE text = 'ready_to_ship');
DELETE FROM word WHERE text = 'ready_to_ship';
INSERT INTO word (word_id, text) VALUES (10, 'ready_to_ship');

-- Orders whose parcel is to be sent.
CREATE INDEX sale_order_to_ship ON sale_order (owner_id, ml_user_id, shipping_id) WHERE shipping_status = 10;
CREATE INDEX sale_order_of_item ON sale_order (owner_id, item_id, created_at, order_id, status);

-- Orders keep the words that they were sold with.
ALTER TABLE sold_item RENAME TO sold_item_once;
CREATE TABLE sold_item (
    item_id      INTEGER NOT NULL,
    variation_id INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    site         TEXT NOT NULL,
    title        TEXT NOT NULL,
    sku          TEXT NOT NULL,
    PRIMARY KEY (item_id, variation_id, version)
) STRICT, WITHOUT ROWID;
INSERT INTO sold_item (item_id, variation_id, version, site, title, sku)
SELECT item_id, variation_id, 0, site, title, sku FROM sold_item_once;
DROP TABLE sold_item_once;
ALTER TABLE sale_order ADD COLUMN item_version INTEGER NOT NULL DEFAULT 0;
