-- The operator tells students something, and sees who read it; a purchase says what it was and for how much.
CREATE TABLE announcement (
    announcement_id INTEGER PRIMARY KEY AUTOINCREMENT,
    title      TEXT NOT NULL,
    body       TEXT NOT NULL,
    roles      TEXT NOT NULL,
    channels   TEXT NOT NULL,
    state      INTEGER NOT NULL,
    by_name    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    send_at    INTEGER,
    begun_at   INTEGER,
    done_at    INTEGER,
    position   INTEGER NOT NULL DEFAULT 0,
    audience   INTEGER NOT NULL DEFAULT 0,
    told       INTEGER NOT NULL DEFAULT 0,
    messages   INTEGER NOT NULL DEFAULT 0,
    readers    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX announcement_due ON announcement (send_at, announcement_id) WHERE state IN (2, 3);

CREATE TABLE announcement_told (
    announcement_id INTEGER NOT NULL REFERENCES announcement (announcement_id) ON DELETE CASCADE,
    user_id         INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    notification_id INTEGER NOT NULL,
    read_at         INTEGER,
    PRIMARY KEY (announcement_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX announcement_told_by_person ON announcement_told (user_id, notification_id);
CREATE INDEX announcement_told_by_reading ON announcement_told (announcement_id, read_at, user_id);

CREATE TRIGGER announcement_is_read AFTER UPDATE OF read_at ON notification
WHEN OLD.read_at IS NULL AND NEW.read_at IS NOT NULL AND NEW.reference GLOB '/painel/comunicados/*'
BEGIN
    UPDATE announcement SET readers = readers + 1 WHERE announcement_id IN (
        SELECT announcement_id FROM announcement_told
        WHERE user_id = NEW.owner_id AND notification_id = NEW.notification_id AND read_at IS NULL);
    UPDATE announcement_told SET read_at = NEW.read_at
    WHERE user_id = NEW.owner_id AND notification_id = NEW.notification_id AND read_at IS NULL;
END;

-- Looks at the operator's pages, which a list of theirs leaves out and counts.
CREATE INDEX request_log_of_operators ON request_log (caller_id, entry_id)
    WHERE caller = 'sessao' AND method = 'GET' AND path >= '/admin' AND path < '/admin0';

ALTER TABLE checkout_event ADD COLUMN product_name TEXT NOT NULL DEFAULT '';
ALTER TABLE checkout_event ADD COLUMN currency TEXT NOT NULL DEFAULT '';

-- What bodies that are still kept say of it.
UPDATE checkout_event SET (product_name, amount_cents, currency) = (
    SELECT substr(trim(name), 1, 120),
           CASE WHEN price GLOB '[0-9]*' AND price + 0 < 9e11 THEN CAST(round(price * 100) AS INTEGER) END,
           currency
    FROM (
        SELECT coalesce(body ->> '$.data.product.name', body ->> '$.prod_name', '') AS name,
               replace(trim(coalesce(body ->> '$.data.purchase.price.value',
                   body ->> '$.data.purchase.full_price.value', body ->> '$.price')), ',', '.') AS price,
               coalesce(body ->> '$.data.purchase.price.currency_value', body ->> '$.currency', '') AS currency
        FROM checkout_body WHERE checkout_body.event_id = checkout_event.event_id))
WHERE event_id IN (SELECT event_id FROM checkout_body WHERE json_valid(body));

-- Messages that failed lately, which the menu of operators counts.
CREATE INDEX outbox_failed ON outbox (done_at) WHERE state = 3;

CREATE INDEX checkout_event_paid ON checkout_event (happened_ms, role, amount_cents, currency, purchase) WHERE kind = 1 AND state <> 3;
