-- Payments noted by one press are undone by one, and listings that sell nothing of a supplier are put aside.
ALTER TABLE drop_order ADD COLUMN batch INTEGER;
CREATE INDEX drop_order_of_batch ON drop_order (supplier_id, batch) WHERE batch IS NOT NULL;

CREATE TABLE drop_foreign (
    supplier_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    seller_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    item_id     INTEGER NOT NULL,
    noted_at    INTEGER NOT NULL,
    PRIMARY KEY (supplier_id, seller_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX drop_foreign_of_seller ON drop_foreign (seller_id);
