-- Orders have lines, and their parcels the marketplace's finer states. What is stored already is read again.
ALTER TABLE sale_order ADD COLUMN basket_id INTEGER;
ALTER TABLE sale_order ADD COLUMN pack_id INTEGER;
ALTER TABLE sale_order ADD COLUMN substatus INTEGER;
ALTER TABLE sale_order ADD COLUMN stage INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sale_order ADD COLUMN marks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sale_order ADD COLUMN refunded_cents INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sale_order ADD COLUMN deadline_asked_at INTEGER;
-- Until they are read again: what was ready is to be printed, but for what is known to be printed, or is not the seller's.
UPDATE sale_order SET stage = CASE
    WHEN (SELECT text FROM word WHERE word_id = logistic_type) = 'fulfillment' THEN 1
    WHEN (SELECT text FROM word WHERE word_id = logistic_type)
        NOT IN ('drop_off', 'xd_drop_off', 'cross_docking', 'self_service') THEN 2
    WHEN printed_at IS NOT NULL THEN 5
    ELSE 4
END
WHERE shipping_status = 10;
-- And what left at a time that nobody told has left all the same.
UPDATE sale_order SET stage = CASE (SELECT text FROM word WHERE word_id = shipping_status)
    WHEN 'shipped' THEN 7
    WHEN 'delivered' THEN 8
    WHEN 'not_delivered' THEN 9
    WHEN 'cancelled' THEN 9
    ELSE 0
END
WHERE sent_at IS NULL AND shipping_status <> 10;
-- What was called off came back into the stock at once until now.
UPDATE sale_order SET marks = 4 WHERE status IN (8, 9) AND (sent_at IS NOT NULL OR stage IN (7, 8));
DROP INDEX sale_order_to_ship;
CREATE INDEX sale_order_to_send ON sale_order (owner_id, ml_user_id, shipping_id) WHERE stage BETWEEN 2 AND 5;
CREATE INDEX sale_order_divided ON sale_order (owner_id, ml_user_id, created_at, status) WHERE marks & 8;
CREATE TABLE basket (
    basket_id INTEGER PRIMARY KEY,
    digest    BLOB NOT NULL UNIQUE
) STRICT;
CREATE TABLE basket_line (
    basket_id    INTEGER NOT NULL,
    line         INTEGER NOT NULL,
    item_id      INTEGER NOT NULL,
    variation_id INTEGER NOT NULL,
    item_version INTEGER NOT NULL,
    units        INTEGER NOT NULL,
    unit_cents   INTEGER NOT NULL,
    fee_cents    INTEGER,
    PRIMARY KEY (basket_id, line)
) STRICT, WITHOUT ROWID;
CREATE INDEX basket_line_of_item ON basket_line (item_id, basket_id);
CREATE TABLE sale_line (
    owner_id   INTEGER NOT NULL,
    item_id    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    order_id   INTEGER NOT NULL,
    ml_user_id INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    PRIMARY KEY (owner_id, item_id, created_at, order_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE sale_number (
    owner_id INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    order_id INTEGER NOT NULL,
    ml_user_id INTEGER NOT NULL,
    kind     INTEGER NOT NULL CHECK (kind IN (1, 2)),
    PRIMARY KEY (owner_id, number, order_id)
) STRICT, WITHOUT ROWID;
ALTER TABLE drop_order ADD COLUMN item_id INTEGER NOT NULL DEFAULT 0;
UPDATE drop_order SET item_id = coalesce((SELECT o.item_id FROM sale_order o
    WHERE o.order_id = drop_order.order_id AND o.owner_id = drop_order.seller_id), 0);
CREATE TABLE drop_order_line (
    drop_order_id INTEGER NOT NULL REFERENCES drop_order (drop_order_id) ON DELETE CASCADE,
    line          INTEGER NOT NULL,
    item_id       INTEGER NOT NULL,
    sku           TEXT NOT NULL,
    title         TEXT NOT NULL,
    quantity      INTEGER NOT NULL,
    unit_cents    INTEGER NOT NULL,
    PRIMARY KEY (drop_order_id, line)
) STRICT, WITHOUT ROWID;
DROP TRIGGER drop_order_moves;
CREATE TRIGGER drop_order_moves AFTER UPDATE OF state, amount_cents ON drop_order
WHEN NEW.state <> OLD.state OR NEW.amount_cents <> OLD.amount_cents
BEGIN
    UPDATE drop_order_count SET orders = orders - 1, cents = cents - OLD.amount_cents
    WHERE supplier_id = OLD.supplier_id AND seller_id = OLD.seller_id AND state = OLD.state;
    INSERT INTO drop_order_count (supplier_id, seller_id, state, orders, cents)
    VALUES (NEW.supplier_id, NEW.seller_id, NEW.state, 1, NEW.amount_cents)
    ON CONFLICT DO UPDATE SET orders = orders + 1, cents = cents + NEW.amount_cents;
END;
ALTER TABLE claim ADD COLUMN came_back INTEGER NOT NULL DEFAULT 0 CHECK (came_back IN (0, 1));
CREATE INDEX claim_came_back ON claim (owner_id, resource_id) WHERE came_back = 1;
CREATE INDEX claim_of_order ON claim (owner_id, order_id) WHERE order_id IS NOT NULL;
-- Orders and their parcels are read again from the newest on, a page at a time.
UPDATE ml_sync SET position = '', started_at = NULL, ended_at = NULL, good_until = NULL, done = 0, expected = NULL, next_at = 0
WHERE area = 1;
UPDATE ml_sync SET next_at = 0 WHERE area = 6;
