-- Whatever happens is an event of its own: nothing that waits to be told takes its place.
ALTER TABLE webhook_event RENAME TO webhook_event_once;
CREATE TABLE webhook_event (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id  INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    kind     INTEGER NOT NULL,
    object   INTEGER NOT NULL,
    movement INTEGER,
    at       INTEGER NOT NULL,
    data     TEXT
) STRICT;
INSERT INTO webhook_event (event_id, user_id, kind, object, movement, at, data)
    SELECT event_id, user_id, kind, object,
           CASE kind WHEN 40 THEN (SELECT max(movement_id) FROM stock_movement WHERE product_id = object) END,
           at, data
    FROM webhook_event_once;
DROP TABLE webhook_event_once;
CREATE INDEX webhook_event_of_user ON webhook_event (user_id, event_id);
DROP INDEX webhook_delivery_once;
ALTER TABLE webhook_delivery DROP COLUMN occasion;
