-- Until when a parcel is to be handed over, and which labels were printed when.
ALTER TABLE sale_order ADD COLUMN dispatch_by INTEGER;

CREATE TABLE label_batch (
    batch_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    ml_user_id INTEGER NOT NULL,
    printed_at INTEGER NOT NULL,
    printed_by INTEGER NOT NULL
) STRICT;

CREATE INDEX label_batch_of_store ON label_batch (owner_id, ml_user_id, batch_id);
CREATE INDEX label_batch_by_age ON label_batch (printed_at);

CREATE TABLE label_print (
    owner_id    INTEGER NOT NULL,
    ml_user_id  INTEGER NOT NULL,
    shipping_id INTEGER NOT NULL,
    batch_id    INTEGER NOT NULL REFERENCES label_batch (batch_id) ON DELETE CASCADE,
    place       INTEGER NOT NULL,
    order_id    INTEGER NOT NULL,
    PRIMARY KEY (owner_id, ml_user_id, shipping_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX label_print_of_batch ON label_print (batch_id, place);
