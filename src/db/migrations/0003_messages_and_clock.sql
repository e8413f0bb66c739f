-- Messages and the clock: what the delivery of messages notes on them.

ALTER TABLE outbox ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN lease INTEGER;
ALTER TABLE outbox ADD COLUMN provider TEXT;

DROP INDEX outbox_waiting;
CREATE INDEX outbox_due ON outbox (channel, run_at, message_id) WHERE state = 0;
CREATE INDEX outbox_in_line ON outbox (user_id, channel, message_id) WHERE state = 0;
CREATE INDEX outbox_leased ON outbox (message_id) WHERE lease IS NOT NULL;
