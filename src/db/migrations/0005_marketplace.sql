-- The marketplace, complete: listings, questions, claims, fees, and the catalog.

-- How far an account is mirrored, by area.
CREATE TABLE ml_sync (
    ml_user_id INTEGER NOT NULL REFERENCES ml_account (ml_user_id) ON DELETE CASCADE,
    area       INTEGER NOT NULL,
    good_until INTEGER,
    started_at INTEGER,
    ended_at   INTEGER,
    position   TEXT NOT NULL DEFAULT '',
    done       INTEGER NOT NULL DEFAULT 0,
    expected   INTEGER,
    next_at    INTEGER NOT NULL,
    at_once    INTEGER NOT NULL CHECK (at_once IN (0, 1)),
    asked_at   INTEGER,
    attempts   INTEGER NOT NULL DEFAULT 0,
    error      TEXT,
    PRIMARY KEY (ml_user_id, area)
) STRICT, WITHOUT ROWID;

CREATE INDEX ml_sync_due ON ml_sync (at_once, next_at, ml_user_id, area);

-- Accounts linked before: their orders are read on from where they are, back
-- to twelve months; where the sixty days of before are here, from there.
INSERT INTO ml_sync (ml_user_id, area, started_at, position, next_at, at_once)
SELECT ml_user_id, 1, coalesce(synced_at, linked_at), coalesce(history_from, linked_at - 5184000), 0, 1
FROM ml_account;
INSERT INTO ml_sync (ml_user_id, area, next_at, at_once)
SELECT ml_user_id, column1, 0, 1 FROM ml_account, (VALUES (5));
DROP INDEX ml_account_unread;
ALTER TABLE ml_account DROP COLUMN history_from;

-- Listings of linked accounts, as the marketplace shows them to their seller.
CREATE TABLE listing (
    owner_id      INTEGER NOT NULL,
    item_id       INTEGER NOT NULL,
    ml_user_id    INTEGER NOT NULL,
    site          TEXT NOT NULL,
    title         TEXT NOT NULL,
    status        INTEGER NOT NULL,
    sub_status    TEXT NOT NULL,
    price_cents   INTEGER NOT NULL,
    currency      INTEGER NOT NULL,
    available     INTEGER NOT NULL,
    sold          INTEGER NOT NULL,
    listing_type  INTEGER NOT NULL,
    logistic_type INTEGER,
    category      TEXT NOT NULL,
    sku           TEXT NOT NULL,
    ean           TEXT NOT NULL,
    permalink     TEXT NOT NULL,
    thumbnail     TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    PRIMARY KEY (owner_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX listing_run ON listing (owner_id, ml_user_id, status, updated_at, item_id);
CREATE INDEX listing_by_change ON listing (owner_id, updated_at, item_id);
CREATE INDEX listing_by_number ON listing (item_id);
CREATE INDEX listing_by_sku ON listing (owner_id, sku) WHERE sku <> '';

-- Listings by account and state, kept by triggers: the totals of their list.
CREATE TABLE listing_count (
    owner_id   INTEGER NOT NULL,
    ml_user_id INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    listings   INTEGER NOT NULL,
    PRIMARY KEY (owner_id, ml_user_id, status)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER listing_comes AFTER INSERT ON listing
BEGIN
    INSERT INTO listing_count (owner_id, ml_user_id, status, listings)
    VALUES (NEW.owner_id, NEW.ml_user_id, NEW.status, 1)
    ON CONFLICT DO UPDATE SET listings = listings + 1;
END;
CREATE TRIGGER listing_goes AFTER DELETE ON listing
BEGIN
    UPDATE listing_count SET listings = listings - 1
    WHERE owner_id = OLD.owner_id AND ml_user_id = OLD.ml_user_id AND status = OLD.status;
END;
CREATE TRIGGER listing_moves AFTER UPDATE OF ml_user_id, status ON listing
WHEN NEW.status <> OLD.status OR NEW.ml_user_id <> OLD.ml_user_id
BEGIN
    UPDATE listing_count SET listings = listings - 1
    WHERE owner_id = OLD.owner_id AND ml_user_id = OLD.ml_user_id AND status = OLD.status;
    INSERT INTO listing_count (owner_id, ml_user_id, status, listings)
    VALUES (NEW.owner_id, NEW.ml_user_id, NEW.status, 1)
    ON CONFLICT DO UPDATE SET listings = listings + 1;
END;

-- Questions of buyers, clustered by owner and time.
CREATE TABLE question (
    owner_id    INTEGER NOT NULL,
    asked_at    INTEGER NOT NULL,
    question_id INTEGER NOT NULL,
    ml_user_id  INTEGER NOT NULL,
    item_id     INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    status      TEXT NOT NULL,
    text        TEXT NOT NULL,
    answer      TEXT,
    answered_at INTEGER,
    asker_id    INTEGER,
    updated_at  INTEGER,
    PRIMARY KEY (owner_id, asked_at, question_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX question_by_number ON question (question_id);
CREATE INDEX question_run ON question (owner_id, state, ml_user_id, asked_at, question_id);

-- Claims of buyers, clustered by owner and time.
CREATE TABLE claim (
    owner_id    INTEGER NOT NULL,
    opened_at   INTEGER NOT NULL,
    claim_id    INTEGER NOT NULL,
    ml_user_id  INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    stage       TEXT NOT NULL,
    reason      TEXT NOT NULL,
    resource    TEXT NOT NULL,
    resource_id INTEGER,
    due_at      INTEGER,
    action      TEXT NOT NULL,
    resolution  TEXT NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (owner_id, opened_at, claim_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_by_number ON claim (claim_id);
CREATE INDEX claim_run ON claim (owner_id, state, ml_user_id, opened_at, claim_id);

-- Accounts that were unlinked and whose listings, questions and claims are being removed.
CREATE TABLE ml_unlinked (
    owner_id   INTEGER NOT NULL,
    ml_user_id INTEGER NOT NULL,
    PRIMARY KEY (owner_id, ml_user_id)
) STRICT, WITHOUT ROWID;

ALTER TABLE ml_account ADD COLUMN power_seller TEXT NOT NULL DEFAULT '';
ALTER TABLE ml_account ADD COLUMN claims_rate INTEGER;
ALTER TABLE ml_account ADD COLUMN late_rate INTEGER;
ALTER TABLE ml_account ADD COLUMN cancel_rate INTEGER;
ALTER TABLE sale_order ADD COLUMN shipment_at INTEGER;

-- What came before there was a handler for it is worked now.
UPDATE ml_notification SET state = 0
WHERE state = 4 AND topic IN ('items', 'questions', 'claims', 'post_purchase');

-- Fees as the marketplace last told them, kept for a day.
CREATE TABLE ml_fee (
    question   TEXT PRIMARY KEY,
    answer     TEXT NOT NULL,
    fetched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;


-- Products of sellers and suppliers.
CREATE TABLE product (
    product_id  INTEGER PRIMARY KEY,
    owner_id    INTEGER NOT NULL REFERENCES user (user_id),
    sku         TEXT NOT NULL CHECK (sku <> ''),
    ean         TEXT NOT NULL,
    title       TEXT NOT NULL CHECK (title <> ''),
    cost_cents  INTEGER NOT NULL,
    price_cents INTEGER NOT NULL,
    stock       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    search_key  TEXT NOT NULL,
    UNIQUE (owner_id, sku)
) STRICT;

CREATE INDEX product_by_title ON product (owner_id, search_key, product_id);
CREATE INDEX product_by_stock ON product (owner_id, stock, product_id);
CREATE INDEX product_by_change ON product (owner_id, updated_at, product_id);
CREATE INDEX product_by_ean ON product (owner_id, ean) WHERE ean <> '';

-- What came in and went out of a product's stock; only ever added.
CREATE TABLE stock_movement (
    product_id  INTEGER NOT NULL REFERENCES product (product_id) ON DELETE CASCADE,
    movement_id INTEGER NOT NULL,
    kind        INTEGER NOT NULL CHECK (kind IN (1, 2, 3)),
    quantity    INTEGER NOT NULL CHECK (quantity >= 0),
    change      INTEGER NOT NULL,
    balance     INTEGER NOT NULL,
    reason      TEXT NOT NULL,
    order_id    INTEGER,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (product_id, movement_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX stock_movement_of_order ON stock_movement (order_id, product_id, kind) WHERE order_id IS NOT NULL;
