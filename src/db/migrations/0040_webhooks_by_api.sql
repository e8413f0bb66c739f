-- Webhooks by API: what is told of what is gone by then, every attempt of a delivery, pauses that receivers ask for,
-- and endpoints that go with the app that made them.
ALTER TABLE webhook_event ADD COLUMN data TEXT;

ALTER TABLE webhook_endpoint ADD COLUMN paused_until INTEGER;
ALTER TABLE webhook_endpoint ADD COLUMN client_no INTEGER;
CREATE TRIGGER webhook_endpoint_loses_app AFTER DELETE ON oauth_grant
WHEN NOT EXISTS (SELECT 1 FROM oauth_grant WHERE user_id = OLD.user_id AND client_no = OLD.client_no)
BEGIN
    UPDATE webhook_endpoint
    SET state = 2, off_at = unixepoch(), error = 'o aplicativo que o criou foi desconectado'
    WHERE user_id = OLD.user_id AND client_no = OLD.client_no AND state = 1;
    UPDATE webhook_endpoint SET client_no = NULL WHERE user_id = OLD.user_id AND client_no = OLD.client_no;
END;

ALTER TABLE webhook_delivery ADD COLUMN early INTEGER NOT NULL DEFAULT 0;
CREATE TABLE webhook_attempt (
    endpoint_id INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    ms          INTEGER NOT NULL,
    status      INTEGER,
    error       TEXT,
    PRIMARY KEY (endpoint_id, number, attempt),
    FOREIGN KEY (endpoint_id, number) REFERENCES webhook_delivery (endpoint_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- Of deliveries so far the last attempt alone is known.
INSERT INTO webhook_attempt
SELECT endpoint_id, number, max(tries, 1), tried_at, coalesce(ms, 0), status, error
FROM webhook_delivery WHERE tried_at IS NOT NULL;
