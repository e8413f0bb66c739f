-- Messages have names that no other message in the world has, and numbers that
-- are never given again: a table that grows so has to be built anew.
CREATE TABLE outbox_named (
    message_id INTEGER PRIMARY KEY AUTOINCREMENT,
    channel    TEXT NOT NULL CHECK (channel IN ('chat', 'telegram', 'email', 'push')),
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    kind       TEXT NOT NULL,
    params     TEXT NOT NULL,
    dedup_key  TEXT NOT NULL UNIQUE,
    state      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    run_at     INTEGER NOT NULL,
    expires_at INTEGER,
    done_at    INTEGER,
    outcome    TEXT,
    attempts   INTEGER NOT NULL DEFAULT 0,
    lease      INTEGER,
    provider   TEXT,
    global_id  TEXT NOT NULL DEFAULT (lower(hex(randomblob(16))))
) STRICT;
INSERT INTO outbox_named (message_id, channel, user_id, kind, params, dedup_key, state, created_at,
    run_at, expires_at, done_at, outcome, attempts, lease, provider)
SELECT message_id, channel, user_id, kind, params, dedup_key, state, created_at,
    run_at, expires_at, done_at, outcome, attempts, lease, provider
FROM outbox ORDER BY message_id;
DROP TABLE outbox;
ALTER TABLE outbox_named RENAME TO outbox;

-- Numbers of messages that are in the archive are taken, too.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'outbox', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'outbox');
UPDATE sqlite_sequence
SET seq = max(seq, (SELECT coalesce(max(last_id), 0) FROM log_batch WHERE kind = 'mensagens'))
WHERE name = 'outbox';

CREATE INDEX outbox_due ON outbox (channel, run_at, message_id) WHERE state = 0;
CREATE INDEX outbox_in_line ON outbox (user_id, channel, message_id) WHERE state = 0;
CREATE INDEX outbox_leased ON outbox (message_id) WHERE lease IS NOT NULL;
CREATE INDEX outbox_by_person ON outbox (user_id, message_id);
CREATE INDEX outbox_by_state ON outbox (state, message_id);
CREATE INDEX outbox_by_channel ON outbox (channel, message_id);
CREATE INDEX outbox_by_kind ON outbox (kind, message_id);
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL;
CREATE INDEX outbox_bodies ON outbox (done_at) WHERE done_at IS NOT NULL AND params <> '{}';

CREATE TRIGGER outbox_comes AFTER INSERT ON outbox
BEGIN
    INSERT INTO outbox_count (channel, kind, state, messages) VALUES (NEW.channel, NEW.kind, NEW.state, 1)
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;
CREATE TRIGGER outbox_goes AFTER DELETE ON outbox
BEGIN
    UPDATE outbox_count SET messages = messages - 1
    WHERE channel = OLD.channel AND kind = OLD.kind AND state = OLD.state;
END;
CREATE TRIGGER outbox_moves AFTER UPDATE OF state ON outbox WHEN NEW.state <> OLD.state
BEGIN
    UPDATE outbox_count SET messages = messages - 1
    WHERE channel = OLD.channel AND kind = OLD.kind AND state = OLD.state;
    INSERT INTO outbox_count (channel, kind, state, messages) VALUES (NEW.channel, NEW.kind, NEW.state, 1)
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;
CREATE TRIGGER outbox_ends AFTER UPDATE OF state ON outbox WHEN NEW.state <> OLD.state AND NEW.done_at IS NOT NULL
BEGIN
    INSERT INTO outbox_done_count (quarter, channel, state, messages)
    VALUES (NEW.done_at / 900, NEW.channel, NEW.state, 1)
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;
CREATE TRIGGER outbox_begins_again AFTER UPDATE OF state ON outbox WHEN NEW.state <> OLD.state AND OLD.done_at IS NOT NULL
BEGIN
    UPDATE outbox_done_count SET messages = messages - 1
    WHERE quarter = OLD.done_at / 900 AND channel = OLD.channel AND state = OLD.state;
END;

-- Domains beyond ASCII are stored as people read them, however they were typed.
UPDATE OR IGNORE user SET email = stored_email(email)
WHERE (email LIKE '%xn--%' OR email GLOB '*[^ -~]*') AND email <> stored_email(email);
UPDATE checkout_event SET email = stored_email(email)
WHERE (email LIKE '%xn--%' OR email GLOB '*[^ -~]*') AND email <> stored_email(email);

-- Accounts that have to be linked again, for the operator's home.
CREATE INDEX ml_account_refused ON ml_account (ml_user_id) WHERE token_ok = 0;
