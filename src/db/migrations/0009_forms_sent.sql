-- Forms do their work once.

CREATE TABLE form_sent (
    form_id INTEGER PRIMARY KEY,
    digest  BLOB NOT NULL UNIQUE,
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    sent_at INTEGER NOT NULL,
    reply   BLOB NOT NULL
) STRICT;

CREATE INDEX form_sent_by_user ON form_sent (user_id, form_id);
