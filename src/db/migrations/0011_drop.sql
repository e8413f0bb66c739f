-- Suppliers and sellers: relations, linked listings, and what is owed for their orders.

CREATE TABLE drop_relation (
    relation_id INTEGER PRIMARY KEY AUTOINCREMENT,
    supplier_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    seller_id   INTEGER REFERENCES user (user_id) ON DELETE CASCADE,
    email       TEXT NOT NULL,
    state       INTEGER NOT NULL CHECK (state IN (1, 2, 3, 4, 5)),
    invited_at  INTEGER NOT NULL,
    since       INTEGER,
    ended_at    INTEGER
) STRICT;

CREATE UNIQUE INDEX drop_relation_open ON drop_relation (supplier_id, email) WHERE state IN (1, 2);
CREATE UNIQUE INDEX drop_relation_active ON drop_relation (supplier_id, seller_id) WHERE state = 2;
CREATE INDEX drop_relation_of_supplier ON drop_relation (supplier_id, state);
CREATE INDEX drop_relation_of_seller ON drop_relation (seller_id, state);
CREATE INDEX drop_relation_by_email ON drop_relation (email, state);
CREATE INDEX drop_relation_by_end ON drop_relation (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE drop_link (
    link_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    supplier_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    seller_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    item_id     INTEGER NOT NULL,
    site        TEXT NOT NULL,
    product_id  INTEGER NOT NULL REFERENCES product (product_id) ON DELETE CASCADE,
    created_at  INTEGER NOT NULL,
    UNIQUE (seller_id, item_id)
) STRICT;

CREATE INDEX drop_link_of_supplier ON drop_link (supplier_id, link_id);
CREATE INDEX drop_link_of_both ON drop_link (supplier_id, seller_id, link_id);
CREATE INDEX drop_link_of_product ON drop_link (product_id);

CREATE TABLE drop_order (
    drop_order_id INTEGER PRIMARY KEY AUTOINCREMENT,
    supplier_id   INTEGER NOT NULL,
    seller_id     INTEGER NOT NULL,
    order_id      INTEGER NOT NULL,
    ordered_at    INTEGER NOT NULL,
    sku           TEXT NOT NULL,
    title         TEXT NOT NULL,
    quantity      INTEGER NOT NULL,
    unit_cents    INTEGER NOT NULL,
    amount_cents  INTEGER NOT NULL,
    state         INTEGER NOT NULL CHECK (state IN (1, 2, 3)),
    due_at        INTEGER NOT NULL,
    paid_at       INTEGER,
    reminded_at   INTEGER,
    UNIQUE (order_id, supplier_id)
) STRICT;

CREATE INDEX drop_order_of_supplier ON drop_order (supplier_id, ordered_at, drop_order_id);
CREATE INDEX drop_order_of_both ON drop_order (supplier_id, seller_id, ordered_at, drop_order_id);
CREATE INDEX drop_order_due ON drop_order (supplier_id, state, due_at, seller_id, amount_cents);
CREATE INDEX drop_order_of_seller ON drop_order (seller_id, ordered_at, drop_order_id);
CREATE INDEX drop_order_owed ON drop_order (seller_id, state, due_at, supplier_id, amount_cents);
CREATE INDEX drop_order_paid ON drop_order (supplier_id, paid_at, amount_cents) WHERE state = 2;

CREATE TABLE drop_order_count (
    supplier_id INTEGER NOT NULL,
    seller_id   INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    orders      INTEGER NOT NULL,
    cents       INTEGER NOT NULL,
    PRIMARY KEY (supplier_id, seller_id, state)
) STRICT, WITHOUT ROWID;

CREATE INDEX drop_order_count_of_seller ON drop_order_count (seller_id, state);

CREATE TRIGGER drop_order_comes AFTER INSERT ON drop_order
BEGIN
    INSERT INTO drop_order_count (supplier_id, seller_id, state, orders, cents)
    VALUES (NEW.supplier_id, NEW.seller_id, NEW.state, 1, NEW.amount_cents)
    ON CONFLICT DO UPDATE SET orders = orders + 1, cents = cents + NEW.amount_cents;
END;
CREATE TRIGGER drop_order_goes AFTER DELETE ON drop_order
BEGIN
    UPDATE drop_order_count SET orders = orders - 1, cents = cents - OLD.amount_cents
    WHERE supplier_id = OLD.supplier_id AND seller_id = OLD.seller_id AND state = OLD.state;
END;
CREATE TRIGGER drop_order_moves AFTER UPDATE OF state ON drop_order
WHEN NEW.state <> OLD.state
BEGIN
    UPDATE drop_order_count SET orders = orders - 1, cents = cents - OLD.amount_cents
    WHERE supplier_id = OLD.supplier_id AND seller_id = OLD.seller_id AND state = OLD.state;
    INSERT INTO drop_order_count (supplier_id, seller_id, state, orders, cents)
    VALUES (NEW.supplier_id, NEW.seller_id, NEW.state, 1, NEW.amount_cents)
    ON CONFLICT DO UPDATE SET orders = orders + 1, cents = cents + NEW.amount_cents;
END;
