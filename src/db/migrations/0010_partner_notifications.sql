-- Notifications that partner programs send, answers of calls with a key of their own, and where tokens are used.

ALTER TABLE partner_token ADD COLUMN last_address TEXT;

CREATE TABLE partner_notification (
    owner_id        INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    notification_id INTEGER NOT NULL,
    message_id      INTEGER NOT NULL UNIQUE,
    channel         TEXT NOT NULL,
    event           TEXT NOT NULL,
    title           TEXT NOT NULL,
    body            TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    state           INTEGER NOT NULL,
    done_at         INTEGER,
    outcome         TEXT,
    PRIMARY KEY (owner_id, notification_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX partner_notification_by_age ON partner_notification (created_at);

CREATE TRIGGER partner_notification_moves AFTER UPDATE OF state ON outbox
WHEN NEW.kind = 'aviso_de_parceiro' AND NEW.state <> OLD.state
BEGIN
    UPDATE partner_notification
    SET state = NEW.state, done_at = NEW.done_at, outcome = NEW.outcome
    WHERE message_id = NEW.message_id;
END;

CREATE TABLE partner_call (
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    key     BLOB NOT NULL,
    body    BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    reply   BLOB NOT NULL,
    PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX partner_call_by_age ON partner_call (made_at);
