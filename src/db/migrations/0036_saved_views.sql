-- People keep the filters of a list under a name.
CREATE TABLE saved_view (
    view_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    path       TEXT NOT NULL,
    name       TEXT NOT NULL,
    query      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (user_id, path, name)
) STRICT;
