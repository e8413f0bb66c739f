-- Programs that people connect to their account of the Partner API by OAuth.

CREATE TABLE oauth_client (
    client_no   INTEGER PRIMARY KEY,
    client_id   TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    redirects   TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    fresh_until INTEGER,
    keep_until  INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_client_by_end ON oauth_client (keep_until);

CREATE TABLE oauth_request (
    request_hash BLOB PRIMARY KEY,
    client_no    INTEGER NOT NULL REFERENCES oauth_client (client_no) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,
    state        BLOB,
    challenge    BLOB NOT NULL,
    may_write    INTEGER NOT NULL CHECK (may_write IN (0, 1)),
    session_hash BLOB,
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_request_by_end ON oauth_request (expires_at);
CREATE INDEX oauth_request_by_client ON oauth_request (client_no);

CREATE TABLE oauth_grant (
    grant_id     INTEGER PRIMARY KEY,
    user_id      INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE,
    client_no    INTEGER NOT NULL REFERENCES oauth_client (client_no) ON DELETE CASCADE,
    client_name  TEXT NOT NULL,
    may_write    INTEGER NOT NULL CHECK (may_write IN (0, 1)),
    created_at   INTEGER NOT NULL,
    ends_at      INTEGER NOT NULL,
    last_used_at INTEGER,
    last_address TEXT,
    code_hash    BLOB NOT NULL UNIQUE,
    redirect_uri TEXT NOT NULL,
    challenge    BLOB NOT NULL,
    family_hash  BLOB UNIQUE,
    refresh_hash BLOB
) STRICT;
CREATE INDEX oauth_grant_by_user ON oauth_grant (user_id, grant_id);
CREATE INDEX oauth_grant_by_client ON oauth_grant (client_no);
CREATE INDEX oauth_grant_by_end ON oauth_grant (ends_at);

CREATE TABLE oauth_token (
    token_hash BLOB PRIMARY KEY,
    grant_id   INTEGER NOT NULL REFERENCES oauth_grant (grant_id) ON DELETE CASCADE,
    may_write  INTEGER NOT NULL CHECK (may_write IN (0, 1)),
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_token_by_grant ON oauth_token (grant_id, expires_at);
CREATE INDEX oauth_token_by_end ON oauth_token (expires_at);
