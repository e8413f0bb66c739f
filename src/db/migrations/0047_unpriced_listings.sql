-- The marketplace may leave out the price of a listing.
ALTER TABLE listing RENAME TO listing_priced;
CREATE TABLE listing (
    owner_id      INTEGER NOT NULL,         -- the person whose account it is of
    item_id       INTEGER NOT NULL,         -- number of the listing id, without the site
    ml_user_id    INTEGER NOT NULL,         -- the selling account
    site          TEXT NOT NULL,            -- such as MLB
    title         TEXT NOT NULL,            -- as buyers see it
    status        INTEGER NOT NULL,         -- word
    sub_status    TEXT NOT NULL,            -- why, in the marketplace's words with blanks between; may be empty
    price_cents   INTEGER,                  -- what it costs; NULL when the marketplace does not say it
    currency      INTEGER NOT NULL,         -- word
    available     INTEGER NOT NULL,         -- units for sale
    sold          INTEGER NOT NULL,         -- units sold since it was published
    listing_type  INTEGER NOT NULL,         -- word, such as gold_special
    logistic_type INTEGER,                  -- word, such as drop_off
    category      TEXT NOT NULL,            -- such as MLB31447; may be empty
    sku           TEXT NOT NULL,            -- empty when it has none
    ean           TEXT NOT NULL,            -- empty when it has none
    permalink     TEXT NOT NULL,            -- its page; may be empty
    thumbnail     TEXT NOT NULL,            -- address of its small picture; may be empty
    created_at    INTEGER NOT NULL,         -- when it was published
    updated_at    INTEGER NOT NULL,         -- last_updated of the state stored here
    PRIMARY KEY (owner_id, item_id)
) STRICT, WITHOUT ROWID;
INSERT INTO listing (owner_id, item_id, ml_user_id, site, title, status, sub_status, price_cents, currency, available, sold, listing_type, logistic_type, category, sku, ean, permalink, thumbnail, created_at, updated_at)
    SELECT owner_id, item_id, ml_user_id, site, title, status, sub_status, price_cents, currency, available, sold, listing_type, logistic_type, category, sku, ean, permalink, thumbnail, created_at, updated_at FROM listing_priced;
DROP TABLE listing_priced;
CREATE INDEX listing_run ON listing (owner_id, ml_user_id, status, updated_at, item_id);
CREATE INDEX listing_by_change ON listing (owner_id, updated_at, item_id);
CREATE INDEX listing_by_number ON listing (item_id);
CREATE INDEX listing_worth ON listing (owner_id, ml_user_id, status, available, price_cents);
CREATE INDEX listing_by_sku ON listing (owner_id, sku) WHERE sku <> '';
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
-- Accounts whose link ends with its first token.
CREATE INDEX ml_account_unrenewed ON ml_account (ml_user_id) WHERE access_token IS NOT NULL AND refresh_token IS NULL;
