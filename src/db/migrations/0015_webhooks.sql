-- Webhooks: endpoints, what waits to be told to them, and what became of it.

CREATE TABLE webhook_endpoint (
    endpoint_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id       INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    url           TEXT NOT NULL,
    events        INTEGER NOT NULL,
    secret        BLOB NOT NULL,
    old_secret    BLOB,
    old_until     INTEGER,
    created_at    INTEGER NOT NULL,
    state         INTEGER NOT NULL,
    off_at        INTEGER,
    failing_since INTEGER,
    error         TEXT,
    delivered_at  INTEGER,
    lost          INTEGER NOT NULL DEFAULT 0,
    last_number   INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER
) STRICT;

CREATE INDEX webhook_endpoint_of_user ON webhook_endpoint (user_id, endpoint_id);
CREATE INDEX webhook_endpoint_due ON webhook_endpoint (next_at) WHERE next_at IS NOT NULL AND state = 1;

CREATE TABLE webhook_event (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id  INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    kind     INTEGER NOT NULL,
    object   INTEGER NOT NULL,
    occasion INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    UNIQUE (user_id, kind, object, occasion)
) STRICT;

CREATE TABLE webhook_delivery (
    endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoint (endpoint_id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,
    message     BLOB NOT NULL,
    kind        INTEGER NOT NULL,
    object      INTEGER NOT NULL,
    occasion    INTEGER NOT NULL,
    body        TEXT NOT NULL,
    state       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    run_at      INTEGER NOT NULL,
    tries       INTEGER NOT NULL DEFAULT 0,
    tried_at    INTEGER,
    status      INTEGER,
    ms          INTEGER,
    answer      TEXT,
    error       TEXT,
    PRIMARY KEY (endpoint_id, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX webhook_delivery_once ON webhook_delivery (endpoint_id, kind, object, occasion);
CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, run_at, number) WHERE state = 0;
CREATE INDEX webhook_delivery_in_line ON webhook_delivery (endpoint_id, kind / 10, object, number) WHERE state = 0;
CREATE INDEX webhook_delivery_by_state ON webhook_delivery (endpoint_id, state, number);
CREATE INDEX webhook_delivery_by_kind ON webhook_delivery (endpoint_id, kind, number);
CREATE INDEX webhook_delivery_by_age ON webhook_delivery (created_at);
CREATE INDEX webhook_delivery_by_time ON webhook_delivery (endpoint_id, created_at, number);

CREATE TABLE webhook_count (
    endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoint (endpoint_id) ON DELETE CASCADE,
    state       INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    deliveries  INTEGER NOT NULL,
    PRIMARY KEY (endpoint_id, state, kind)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER webhook_delivery_comes AFTER INSERT ON webhook_delivery
BEGIN
    INSERT INTO webhook_count (endpoint_id, state, kind, deliveries) VALUES (NEW.endpoint_id, NEW.state, NEW.kind, 1)
    ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
END;
CREATE TRIGGER webhook_delivery_goes AFTER DELETE ON webhook_delivery
BEGIN
    UPDATE webhook_count SET deliveries = deliveries - 1
    WHERE endpoint_id = OLD.endpoint_id AND state = OLD.state AND kind = OLD.kind;
END;
CREATE TRIGGER webhook_delivery_moves AFTER UPDATE OF state ON webhook_delivery WHEN NEW.state <> OLD.state
BEGIN
    UPDATE webhook_count SET deliveries = deliveries - 1
    WHERE endpoint_id = OLD.endpoint_id AND state = OLD.state AND kind = OLD.kind;
    INSERT INTO webhook_count (endpoint_id, state, kind, deliveries) VALUES (NEW.endpoint_id, NEW.state, NEW.kind, 1)
    ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
END;
