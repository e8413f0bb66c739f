-- Sessions are limited for a person, and the oldest end.

ALTER TABLE session ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0;

CREATE INDEX session_open ON session (user_id, ordinal) WHERE ended_at IS NULL;
