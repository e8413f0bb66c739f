-- Sessions are limited for a person, and the oldest end.

ALTER TABLE session ADD COLUMN ordinal INTEGER NOT NULL DEFAULT 0;

CREATE INDEX session_open ON session (user_id, ordinal) WHERE ended_at IS NULL;

-- The newest addresses of good logins are kept in memory.
CREATE INDEX good_login_by_time ON good_login (last_at);
