-- Messages and the clock: what the delivery of messages notes on them.

ALTER TABLE outbox ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN lease INTEGER;
ALTER TABLE outbox ADD COLUMN provider TEXT;

DROP INDEX outbox_waiting;
CREATE INDEX outbox_due ON outbox (channel, run_at, message_id) WHERE state = 0;
CREATE INDEX outbox_in_line ON outbox (user_id, channel, message_id) WHERE state = 0;
CREATE INDEX outbox_leased ON outbox (message_id) WHERE lease IS NOT NULL;


-- Runs of the periodic tasks, one row a run; archived after 90 days.
CREATE TABLE cron_run (
    run_id     INTEGER PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    ms         INTEGER NOT NULL,
    origin     TEXT NOT NULL CHECK (origin IN ('relogio', 'endereco', 'painel')),
    outcome    INTEGER NOT NULL,
    counts     TEXT NOT NULL,
    errors     TEXT NOT NULL
) STRICT;

CREATE INDEX cron_run_by_outcome ON cron_run (outcome, run_id);

-- Number of runs by outcome, kept by triggers: the totals of their list.
CREATE TABLE cron_run_count (
    outcome INTEGER PRIMARY KEY,
    runs    INTEGER NOT NULL
) STRICT;

CREATE TRIGGER cron_run_comes AFTER INSERT ON cron_run
BEGIN
    INSERT INTO cron_run_count (outcome, runs) VALUES (NEW.outcome, 1)
    ON CONFLICT DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER cron_run_goes AFTER DELETE ON cron_run
BEGIN
    UPDATE cron_run_count SET runs = runs - 1 WHERE outcome = OLD.outcome;
END;

-- Periodic tasks as they last ran. A task has a row once it ran or was paused.
CREATE TABLE cron_task (
    name       TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    started_at INTEGER,
    ended_at   INTEGER,
    ms         INTEGER,
    failures   INTEGER NOT NULL DEFAULT 0,
    error      TEXT,
    failed_at  INTEGER,
    paused_at  INTEGER
) STRICT, WITHOUT ROWID;

-- How far a task has come with what it does once for many people; removed when its time is over.
CREATE TABLE cron_mark (
    name       TEXT PRIMARY KEY,
    position   INTEGER NOT NULL,
    done       INTEGER NOT NULL CHECK (done IN (0, 1)),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The newest inactivity alert of each student: one for each stretch without activity.
CREATE TABLE inactivity_alert (
    user_id   INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE,
    active_at INTEGER NOT NULL,
    queued_at INTEGER NOT NULL
) STRICT;

-- Old entries of logs, packed by civil day and kept. Large days have several parts.
CREATE TABLE log_batch (
    batch_id   INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    day        INTEGER NOT NULL,
    part       INTEGER NOT NULL,
    entries    INTEGER NOT NULL,
    first_id   INTEGER NOT NULL,
    last_id    INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    digest     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    body       BLOB NOT NULL,
    UNIQUE (kind, day, part)
) STRICT;
