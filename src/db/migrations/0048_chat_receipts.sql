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
