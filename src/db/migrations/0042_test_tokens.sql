-- Tokens that open sample data instead of what is their owner's.
ALTER TABLE partner_token ADD COLUMN test INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1));
