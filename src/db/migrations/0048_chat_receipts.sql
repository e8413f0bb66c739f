-- What becomes of a chat message after the network took it, and numbers that it does not reach.
ALTER TABLE outbox ADD COLUMN receipt INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN receipt_at INTEGER;
CREATE INDEX outbox_by_provider ON outbox (provider) WHERE channel = 'chat' AND provider IS NOT NULL;
CREATE TABLE chat_unreachable (
    user_id INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE,
    number  TEXT NOT NULL,
    times   INTEGER NOT NULL,
    since   INTEGER NOT NULL,
    reason  TEXT NOT NULL
) STRICT;
ALTER TABLE partner_notification ADD COLUMN receipt INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER partner_notification_moves;
CREATE TRIGGER partner_notification_moves AFTER UPDATE OF state, receipt ON outbox
WHEN NEW.kind = 'aviso_de_parceiro' AND (NEW.state <> OLD.state OR NEW.receipt <> OLD.receipt)
BEGIN
    UPDATE partner_notification
    SET state = NEW.state, done_at = NEW.done_at, outcome = NEW.outcome, receipt = NEW.receipt
    WHERE message_id = NEW.message_id;
END;
