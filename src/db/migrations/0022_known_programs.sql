-- What strangers register and ask does not displace what people who are known bring.
ALTER TABLE oauth_client ADD COLUMN known INTEGER NOT NULL DEFAULT 0 CHECK (known IN (0, 1));
CREATE INDEX oauth_client_unused ON oauth_client (known, keep_until);
ALTER TABLE oauth_request ADD COLUMN known INTEGER NOT NULL DEFAULT 0 CHECK (known IN (0, 1));
CREATE INDEX oauth_request_waiting ON oauth_request (known, expires_at);
