-- Answers that are kept for calls with an Idempotency-Key have a place each, so that the oldest of an account give way.
ALTER TABLE partner_call ADD COLUMN kept_from INTEGER NOT NULL DEFAULT 0;
UPDATE partner_call SET kept_from = placed.start FROM (
    SELECT call_id, sum(length(reply)) OVER (PARTITION BY user_id ORDER BY call_id) - length(reply) AS start
    FROM partner_call) AS placed
WHERE placed.call_id = partner_call.call_id;
CREATE INDEX partner_call_kept ON partner_call (user_id, kept_from) WHERE reply <> x'';
