-- Programs keep up: orders by when their row changed here and by the state of their parcel, and events to pull.
ALTER TABLE sale_order ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
-- Of what is here already, only the marketplace's own time is known.
UPDATE sale_order SET changed = min(updated_at, unixepoch()) << 20;
CREATE INDEX sale_order_changed ON sale_order (owner_id, changed, order_id, status, ml_user_id, shipping_status);
CREATE INDEX sale_order_by_parcel ON sale_order (owner_id, shipping_status, created_at, order_id, status, ml_user_id);
CREATE TABLE partner_event (
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    number  INTEGER NOT NULL,
    message BLOB NOT NULL,
    kind    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (user_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX partner_event_by_kind ON partner_event (user_id, kind, number);
CREATE INDEX partner_event_by_age ON partner_event (at);
