-- Channels: how people are reached, what they choose, what messages say; the log of requests.

-- What somebody wants or does not want of messages that can be done without; without a row, the platform's custom.
CREATE TABLE message_choice (
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    about   TEXT NOT NULL,
    wanted  INTEGER NOT NULL CHECK (wanted IN (0, 1)),
    PRIMARY KEY (user_id, about)
) STRICT, WITHOUT ROWID;

-- Texts of messages that staff has changed; without a row, the text that ships.
CREATE TABLE message_text (
    kind       TEXT PRIMARY KEY,
    subject    TEXT NOT NULL,
    body       TEXT NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Messages that were done with, by quarter of an hour, kept by triggers: the figures by civil day of any zone.
CREATE TABLE outbox_done_count (
    quarter  INTEGER NOT NULL,
    channel  TEXT NOT NULL,
    state    INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (quarter, channel, state)
) STRICT, WITHOUT ROWID;

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

-- Messages whose texts can still be filled, of those that were done with.
CREATE INDEX outbox_bodies ON outbox (done_at) WHERE done_at IS NOT NULL AND params <> '{}';

-- Private Telegram chats that people have linked.
CREATE TABLE telegram_chat (
    user_id    INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE,
    chat_id    INTEGER NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    linked_at  INTEGER NOT NULL,
    blocked_at INTEGER
) STRICT;

-- Codes of links that tie a Telegram chat to a person, each used once; at most one a person.
CREATE TABLE telegram_code (
    user_id    INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE,
    hash       BLOB NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL
) STRICT;

-- Browsers in which people have switched messages on.
CREATE TABLE push_device (
    device_id  INTEGER PRIMARY KEY,
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    endpoint   TEXT NOT NULL UNIQUE,
    p256dh     BLOB NOT NULL CHECK (length(p256dh) = 65),
    auth       BLOB NOT NULL CHECK (length(auth) = 16),
    agent      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    sent_at    INTEGER
) STRICT;

CREATE INDEX push_device_by_person ON push_device (user_id, device_id);

-- Answers to requests: all of them up to a rate, a sample above it; archived after 90 days, or earlier when there are too many.
CREATE TABLE request_log (
    entry_id   INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    method     TEXT NOT NULL,
    path       TEXT NOT NULL,
    status     INTEGER NOT NULL,
    us         INTEGER NOT NULL,
    caller     TEXT NOT NULL,
    caller_id  INTEGER,
    address    TEXT NOT NULL,
    sampled    INTEGER NOT NULL
) STRICT;

CREATE INDEX request_log_by_class ON request_log (status / 100, entry_id, caller);
CREATE INDEX request_log_by_caller ON request_log (caller, entry_id);

-- Entries of the request log by class of status and by caller, kept by triggers: the totals of the list.
CREATE TABLE request_log_count (
    class   INTEGER NOT NULL,
    caller  TEXT NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (class, caller)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER request_log_comes AFTER INSERT ON request_log
BEGIN
    INSERT INTO request_log_count (class, caller, entries) VALUES (NEW.status / 100, NEW.caller, 1)
    ON CONFLICT DO UPDATE SET entries = entries + 1;
END;
CREATE TRIGGER request_log_goes AFTER DELETE ON request_log
BEGIN
    UPDATE request_log_count SET entries = entries - 1
    WHERE class = OLD.status / 100 AND caller = OLD.caller;
END;

-- The days of all logs together.
CREATE INDEX log_batch_by_day ON log_batch (day, kind, part);
