-- A request can be followed: calls to the outside, messages and errors carry its id.
ALTER TABLE outbox ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
CREATE INDEX outbox_of_request ON outbox (request_id) WHERE request_id <> '';

CREATE INDEX request_log_slow ON request_log (us, entry_id) WHERE us >= 100000;

CREATE TABLE outside_call (
    call_id    INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    service    TEXT NOT NULL,
    what       TEXT NOT NULL,
    status     INTEGER,
    us         INTEGER NOT NULL,
    error      TEXT NOT NULL
) STRICT;

CREATE INDEX outside_call_of_request ON outside_call (request_id);

CREATE TABLE error_log (
    error_id   INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    is_error   INTEGER NOT NULL CHECK (is_error IN (0, 1)),
    message    TEXT NOT NULL,
    cause      TEXT NOT NULL,
    request_id TEXT NOT NULL
) STRICT;

CREATE INDEX error_log_of_request ON error_log (request_id) WHERE request_id <> '';
